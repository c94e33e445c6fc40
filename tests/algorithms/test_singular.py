"""A joint that moves no mass, or none that another one does not move as well: dynamics name it; small is not none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinetree as kt
from helpers.trees import columns, random_inertia, random_placement, toy
from kinetree import ModelError
from kinetree.algorithms import aba, crba, rnea
from kinetree.algorithms.dynamics.inverse import mass_matrix_inverse
from kinetree.algorithms.dynamics.singular import refuse_singular
from kinetree.graph import Port
from kinetree.joints import Cylindrical, Helical, Joint, Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.model.edit import regrouped
from kinetree.spatial import Inertia
from kinetree.tracing.tracer import Tracer

POINT = Inertia.from_com(1.0, [0.0, 0.0, 0.0], np.zeros((3, 3)).tolist())


def arm(leaf: Inertia | None, joint: Joint, armature: float = 0.0) -> Model:
    links = {"arm": random_inertia(np.random.default_rng(0)), "leaf": leaf}
    wrist = "wrist arm leaf", joint, {"armature": armature}
    return toy(("shoulder base arm", Revolute((0, 1, 0))), wrist, links=links)


SINGULAR = {
    "massless, revolute": arm(None, Revolute((0, 0, 1))),
    "massless, tilted": arm(None, Revolute((1, 2, 3))),
    "massless, prismatic": arm(None, Prismatic((1, 0, 0))),
    "massless, spherical": arm(None, Spherical()),
    "a point on the axis": arm(POINT, Revolute((1, 0, 0))),
}


@pytest.mark.parametrize("case", SINGULAR)
@pytest.mark.parametrize("change", [lambda m: m, regrouped])
def test_the_joint_is_named(case: str, change: object) -> None:
    model = change(SINGULAR[case])
    q = [float(x) for body in model.bodies for x in body.joint.neutral()]
    zero = [0.0] * model.nv
    message = "joint 'wrist' meets no inertia that other joints leave it: the mass matrix is singular; give the links"
    with pytest.raises(ModelError, match=message):
        aba(model, q, zero, zero)
    assert np.isfinite(rnea(model, q, zero, zero)).all()
    assert np.linalg.matrix_rank(crba(model, q)) < model.nv


def test_traced_it_is_named_too() -> None:
    model = SINGULAR["massless, revolute"]
    tracer = Tracer()
    q, v, tau = (tracer.input(Port(name, (n,))) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    with pytest.raises(ModelError, match="joint 'wrist' meets no inertia"):
        aba(model, q, v, tau)


def test_a_rotor_is_mass_enough() -> None:
    model = arm(None, Revolute((0, 0, 1)), armature=0.5)
    a = aba(model, [0.1, 0.2], [0.3, 0.4], [0.0, 1.0])
    assert a[1] == 2.0


def test_nan_stays_in_its_state() -> None:
    model = arm(POINT, Prismatic((1, 0, 0)))
    q = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, 0.1]])
    a = np.array(aba(model, columns(q), columns(0 * q), columns(0 * q + 1.0))).T
    assert np.isfinite(a).all(axis=1).tolist() == [True, False, True]


# -- two joints with nothing between --------------------------------------------------------------------------------


def turn(axis: ArrayLike, angle: float) -> np.ndarray:
    """Return the matrix of a rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def pose(R: ArrayLike, r: ArrayLike) -> list[list[float]]:
    return np.block([[np.asarray(R), np.reshape(r, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]).tolist()


def in_line(first: Joint, second: Joint, R: ArrayLike, r: ArrayLike, between: Inertia | None, seed: int) -> Model:
    """Return a shoulder, two joints with little between, and a wrist that carries a hand: all skew but the two."""
    rng = np.random.default_rng(seed)
    links = {"ring": between} | {name: random_inertia(rng) for name in ("arm", "forearm", "hand")}
    return toy(
        ("shoulder base arm", Revolute((0, 1, 0)), {"placement": random_placement(rng)}),
        ("first arm ring", first, {"placement": random_placement(rng)}),
        ("second ring forearm", second, {"placement": pose(R, r)}),
        ("wrist forearm hand", Revolute((1, 0, 0)), {"placement": random_placement(rng)}),
        links=links,
    )


SKEW = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)
ODD = np.array([0.36, -0.48, 0.8])
TILT = turn([0.6, 0.0, 0.8], 1.1)
Z = (0.0, 0.0, 1.0)
IN_LINE = {
    "aligned": (Revolute(Z), Revolute(Z), np.eye(3), (0, 0, 0.3)),
    "skew axes": (Revolute(SKEW), Revolute(SKEW), np.eye(3), 0.3 * SKEW),
    "skew axes, turned": (Revolute(SKEW), Revolute(-SKEW), turn(SKEW, 0.7), -0.2 * SKEW),
    "skew placement": (Revolute(Z), Revolute(TILT.T @ Z), TILT, (0, 0, 0.3)),
    "skew placement, aligned child": (Revolute(TILT @ Z), Revolute(Z), TILT, 0.3 * TILT @ Z),
    "upside down": (Revolute(Z), Revolute(Z), turn([1, 0, 0], np.pi), (0, 0, 0.3)),
    "parallel slides": (Prismatic(Z), Prismatic(TILT.T @ Z), TILT, (0.1, 0.2, 0.3)),
    "slide on a cylinder": (Cylindrical(ODD), Prismatic(ODD), turn(ODD, 0.4), (0.1, 0.2, 0.3)),
    "screw on a cylinder": (Cylindrical(ODD), Helical(ODD, 0.1), turn(ODD, 0.4), 0.2 * ODD),
    "hinge in a ball": (Spherical(), Revolute(ODD), TILT, (0, 0, 0)),
}


def generic(model: Model) -> np.ndarray:
    return kt.Robot(model).random_configuration(4)


@pytest.mark.parametrize("case", IN_LINE)
@pytest.mark.parametrize("change", [lambda m: m, regrouped])
@pytest.mark.parametrize("seed", range(3))
def test_two_joints_in_line_are_singular(case: str, change: object, seed: int) -> None:
    model = change(in_line(*IN_LINE[case], between=None, seed=seed))
    q, zero = list(generic(model)), [0.0] * model.nv
    for dynamics in (lambda: aba(model, q, zero, zero), lambda: mass_matrix_inverse(model, q)):
        with pytest.raises(ModelError, match="joint 'first' meets no inertia that other joints leave it"):
            dynamics()


@pytest.mark.parametrize("case", IN_LINE)
def test_compiled_functions_say_it_too(case: str) -> None:
    robot = kt.Robot(in_line(*IN_LINE[case], between=None, seed=0))
    q, v, a = robot.random_state(0)
    calls = {
        "forward_dynamics": (q, v, a),
        "hybrid_dynamics": (q, v, a, a),
        "mass_matrix_factor": (q,),
        "mass_matrix_inverse": (q,),
        "solve_mass_matrix": (q, a),
    }
    for name, arguments in calls.items():
        with pytest.raises(ModelError, match="joint 'first' meets no inertia"):
            getattr(robot, name)(*arguments)
    tau = robot.inverse_dynamics(q, v, a)
    a_known, tau_known = robot.hybrid_dynamics(q, v, a, tau, prescribed=["first"])
    # entries of order one, and M's condition number is up to 110
    np.testing.assert_allclose(a_known, a, rtol=0, atol=1e-13)
    np.testing.assert_allclose(tau_known, tau, rtol=0, atol=1e-13)


@pytest.mark.parametrize("case", IN_LINE)
def test_a_little_between_is_enough(case: str) -> None:
    """At a ratio of 1e9, the pivot has seven digits and its row of M⁻¹ as many."""
    little = Inertia.from_com(1e-9, [0.1, 0.2, 0.3], (1e-9 * np.eye(3)).tolist())
    robot = kt.Robot(in_line(*IN_LINE[case], between=little, seed=0))
    q, v, a = robot.random_state(0)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau)), tau, rtol=0, atol=1e-5)


# -- small, and regular ---------------------------------------------------------------------------------------------

SMALL = {
    "a grain": (Inertia.from_com(1e-14, [0.1, 0.2, 0.3], (1e-15 * np.eye(3)).tolist()), Revolute(SKEW)),
    "an atom": (Inertia.from_com(1e-60, [0.1, 0.2, 0.3], (1e-61 * np.eye(3)).tolist()), Revolute(SKEW)),
    "a needle about its own axis": (Inertia.from_com(1.0, [0, 0, 1.0], np.diag([1, 1, 1e-18]).tolist()), Revolute(Z)),
    "an anvil": (Inertia.from_com(1e16, [0.1, 0.2, 0.3], (1e15 * np.eye(3)).tolist()), Revolute(SKEW)),
}


@pytest.mark.parametrize("case", SMALL)
def test_a_small_inertia_is_one(case: str) -> None:
    model = arm(*SMALL[case])
    robot = kt.Robot(model)
    q, v, a = robot.random_state(0)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(rnea(model, list(q), list(v), aba(model, list(q), list(v), list(tau))), tau, rtol=1e-9)
    found = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.mass_matrix(q) @ robot.solve_mass_matrix(q, tau), tau, rtol=1e-9)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, found), tau, rtol=1e-9)


def test_what_is_given_at_run_time_may_be_inertia_enough() -> None:
    """A wrist without mass of its own that holds something; and an inertia that no real body has."""
    robot = kt.Robot(arm(None, Revolute(SKEW)))
    ball = Inertia.from_com(0.3, [0.1, 0.2, 0.3], (0.01 * np.eye(3)).tolist())
    q, v, a = robot.random_state(0)

    def dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return robot.forward_dynamics(q, v, tau)

    holding = kt.compile(robot, dynamics, inputs=[kt.payload("leaf")])
    tau = robot.attach(ball, "leaf").inverse_dynamics(q, v, a)
    # the smallest entries have lost two digits: 3e-14 here
    np.testing.assert_allclose(holding(q, v, tau, np.array(list(ball))), a, rtol=1e-12)
    odd = kt.Robot(arm(ball, Revolute(SKEW))).with_inertial_parameters(-robot.attach(ball, "leaf").inertial_parameters)
    np.testing.assert_allclose(odd.forward_dynamics(q, v, odd.inverse_dynamics(q, v, a)), a, rtol=1e-12)


@pytest.mark.parametrize("n", [100, 200, 1000])
def test_a_long_chain_is_regular(n: int) -> None:
    """Estimates of rounding must not grow along the chain beyond what they estimate."""
    link = Inertia.from_com(1.0, [0.01, 0.02, 0.03], np.diag([0.02, 0.03, 0.04]).tolist())
    at = {"placement": pose(np.eye(3), [0.1, 0.02, 0.05])}
    axes = [Revolute(tuple(axis)) for axis in np.eye(3).tolist()]
    joints = ((f"j{i} {i} {i + 1}", axes[i % 3], at) for i in range(n))
    refuse_singular(toy(*joints, links={str(i): link for i in range(n + 1)}))
