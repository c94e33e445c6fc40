"""Inverse, hybrid and reduced dynamics with constraints: by singular values, forward dynamics and what they mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import MAKERS, arms, doubled, made, near, pose, several
from helpers.exact_trees import exact_tree
from helpers.frames import times
from helpers.mechanisms import Closed, bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart
from helpers.trees import STEP, Array, columns, moved, page, random_states, random_tree, stacked
from kinetree import ContactInputs as Given
from kinetree.algorithms import crba, rnea
from kinetree.algorithms.dynamics.aba import hybrid_dynamics as tree_hybrid
from kinetree.algorithms.quantities import mechanical_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics, hybrid_dynamics, impulse, project_velocity
from kinetree.constraints.pages.equations import (
    complete_acceleration,
    complete_velocity,
    constraint_bias,
    constraint_inertia,
    constraint_jacobian,
    delassus_matrix,
    reduced_bias,
    reduced_mass_matrix,
    velocity_map,
)
from kinetree.constraints.pages.inverse import inverse_dynamics
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.model import Model

JOINTS = (FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1)))
TREE = random_tree(5, n=7, joints=JOINTS)
FOLLOWING = exact_tree("followers", 5, list(JOINTS), followers=2, straight=0.5)
N = 3


def with_passive(model: ConstrainedModel, count: int, seed: int = 0) -> ConstrainedModel:
    """Return the model with so many passive velocities, from all over the tree."""
    passive = np.random.default_rng(seed).permutation(model.nv)[:count]
    return replace(model, actuated=tuple(k for k in range(model.nv) if k not in passive))


def start(model: Model) -> Array:
    return random_states(model, 2, 1)[0]


RANDOM = {
    f"{kind}-{name}-{count}": with_passive(made(kind, tree, start(tree)[0], "cousin"), count)
    for kind, name, tree in (
        ("weld", "tree", TREE),
        ("loop-Revolute-1", "followers", FOLLOWING),
        ("wheel", "tree", TREE),
    )
    for count in (0, 2, 5, 12)
}
CASES = {**RANDOM, **{f"{name}, twice": doubled(RANDOM[name]) for name in ("weld-tree-5", "weld-tree-12")}}
every = pytest.mark.parametrize("model", CASES.values(), ids=list(CASES))


def states(model: Model) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    return np.repeat(start(model), N, axis=0), rng.normal(size=(N, model.nv)), rng.normal(size=(N, model.nv))


@every
@pytest.mark.parametrize("least", ["force", "torque"])
def test_inverse_dynamics_by_singular_values(model: ConstrainedModel, least: str) -> None:
    """The least f of those that balance the passive joints as well as can be, and then that of least τ.

    All are compared as forces, moments being divided by the mechanism's length.
    """
    q, v, a = states(model)
    tau, f, missing = several(inverse_dynamics, model, q, v, a, least=least)
    J, c = page(constraint_jacobian, model, q)[0], page(rnea, model, q, v, a)
    of_rows, of_joints = arms(model)
    scaled = J.T * of_rows / of_joints[:, None]
    A, B = scaled[list(model.passive)], scaled[list(model.actuated)]
    for k in range(N):
        c_P, c_A = ((c[k] / of_joints)[list(some)] for some in (model.passive, model.actuated))
        expected = np.linalg.pinv(A, rcond=1e-9) @ c_P if len(A) else np.zeros(len(J))
        if least == "torque":
            null = np.eye(len(J)) - (np.linalg.pinv(A, rcond=1e-9) @ A if len(A) else 0.0)
            U, s, Vt = np.linalg.svd(B @ null)
            rank = int((s > 1e-9 * np.linalg.norm(B)).sum())
            expected = expected + Vt[:rank].T / s[:rank] @ (U[:, :rank].T @ (c_A - B @ expected))
        expected = expected * of_rows
        # measured: 1e-13, and 2e-12 where rows contradict or are there twice
        np.testing.assert_allclose(f[k], expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max()))
    np.testing.assert_array_equal(tau[:, list(model.passive)], 0.0)
    np.testing.assert_array_equal(missing[:, list(model.actuated)], 0.0)
    near(tau + f @ J + missing, c, 1e-12)


def test_what_is_switched_off_bears_nothing() -> None:
    model = RANDOM["weld-tree-5"]
    both = constrained(model, [*model.constraints, *made("rod", model, start(TREE)[0], "world").constraints])
    model, both = (replace(m, actuated=RANDOM["weld-tree-5"].actuated) for m in (model, both))
    q, v, a = states(model)
    tau, f, missing = several(inverse_dynamics, both, q, v, a, contacts=Given(active=np.array([1.0, 0.0])))
    for x, y in zip((tau, f[:, :6], missing), several(inverse_dynamics, model, q, v, a), strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_array_equal(f[:, 6:], 0.0)
    tau, f, missing = several(inverse_dynamics, both, q, v, a, contacts=Given(active=np.zeros(2)))
    np.testing.assert_array_equal(f, 0.0)
    np.testing.assert_array_equal(tau + missing, page(rnea, both, q, v, a))


def driven(closed: Closed, joints: list[str]) -> Closed:
    """Return the mechanism with these joints driven."""
    return Closed(kt.Mechanism(closed.mech.tree, closed.mech.constraints, actuated=joints), closed.q)


SIDES = ("left", "right")
SLIDES = [f"slide{k}" for k in range(6)]
HIPS = ["front_hip", "back_hip"]
MOVING = {
    "four-bar": driven(four_bar(), ["motor"]),
    "four-bar by two": driven(four_bar(), ["motor", "pivot"]),
    "slider-crank by its piston": driven(slider_crank(), ["slide"]),
    "Bricard": driven(bricard(), ["hinge1"]),
    "Stewart": driven(stewart(), SLIDES),
    "Delta": driven(delta(), ["motor0", "motor1", "motor2"]),
    "leg": driven(five_bar_leg(), HIPS),
    "leg by all": driven(five_bar_leg(), [*HIPS, "front_knee", "back_knee"]),
}
mechanisms = pytest.mark.parametrize("case", MOVING.values(), ids=list(MOVING))


def motion(case: Closed) -> tuple[ConstrainedModel, Array, Array, Array]:
    """Return motions of a mechanism, (N, n) each, completed from independent velocities and accelerations."""
    model, rng = case.mech.model, np.random.default_rng(2)
    q = np.repeat(case.q[None], N, axis=0)
    y, z = rng.normal(size=(2, N, model.nindependent))
    v = page(complete_velocity, model, q, y)
    a = page(complete_acceleration, model, q, v, z)
    np.testing.assert_allclose(v[:, list(model.independent_velocities)], y)
    np.testing.assert_allclose(a[:, list(model.independent_velocities)], z)
    J, gamma = page(constraint_jacobian, model, q), page(constraint_bias, model, q, v)
    np.testing.assert_allclose(times(J, v), 0.0, atol=1e-12 * np.abs(v).max())
    np.testing.assert_allclose(times(J, a), -gamma, atol=1e-11 * np.abs(a).max())
    return model, q, v, a


@mechanisms
def test_inverse_forward_and_hybrid_dynamics_agree_and_constraints_do_no_work(case: Closed) -> None:
    model, q, v, a = motion(case)
    tau, f, missing = several(inverse_dynamics, model, q, v, a)
    np.testing.assert_allclose(missing, 0.0, atol=1e-11 * np.abs(tau).max())
    again, forces = several(forward_dynamics, model, q, v, tau)
    near(again, a, 1e-12)
    if len(model.actuated) == model.nindependent:  # as many as freedoms: f is that of forward dynamics
        near(f, forces, 1e-10)
    ahead = page(mechanical_energy, model, moved(model, q, 1j * STEP * v), v + 1j * STEP * a)
    power = np.sum(tau * v, axis=1)
    np.testing.assert_allclose(power, ahead.imag / STEP, rtol=0.0, atol=1e-11 * np.abs(tau * v).sum())
    some = case.mech.actuated[:1]
    known = [k for body in model.leading if body.joint_name in some for k in body.v_index]
    given = np.where(np.isin(np.arange(model.nv), known), a, np.nan)  # what is not given is not read
    driving = np.where(np.isin(np.arange(model.nv), known), np.nan, tau)
    a_out, tau_out, f_out = several(hybrid_dynamics, model, q, v, given, driving, prescribed=some)
    near(a_out, a, 1e-11)
    near(tau_out, tau, 1e-10)
    np.testing.assert_allclose(f_out, forces, rtol=0.0, atol=1e-9 * np.abs(tau).max())


def test_hybrid_dynamics_without_prescribed_joints_or_without_constraints() -> None:
    model = RANDOM["loop-Revolute-1-followers-2"]
    q, v, a = states(model)
    tau = 10.0 * a
    expected = several(forward_dynamics, model, q, v, tau)
    a_out, tau_out, f = several(hybrid_dynamics, model, q, v, a, tau)
    for x, y in zip((a_out, f, tau_out), (*expected, tau), strict=True):
        np.testing.assert_array_equal(x, y)
    joint = model.joint_names[1]
    got = several(hybrid_dynamics, model, q, v, a, tau, contacts=Given(active=np.zeros(1)), prescribed=[joint])
    for x, y in zip(got, several(tree_hybrid, model, q, v, a, tau, prescribed=[joint]), strict=False):
        near(x, y, 1e-11)


def test_prescribed_joints_that_depend_on_each_other_are_refused() -> None:
    mech, q = MOVING["four-bar"]
    zero = np.zeros(3)
    with pytest.raises(kt.ArgumentError, match=r"joints motor, pivot depend on each other .* for example, motor"):
        mech.hybrid_dynamics(q, zero, zero, zero, prescribed=["motor", "pivot"])
    loose = mech.hybrid_dynamics(q, zero, zero, zero, contacts=Given(active=[0]), prescribed=["motor", "pivot"])
    assert loose.a[[0, 2]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["weld", "wheel", "gear"])
def test_anchors_that_move_carry_what_they_hold(kind: str) -> None:
    model = replace(made(kind, TREE, start(TREE)[0], "world"), stabilization=3.0)
    q, v, tau = states(model)
    drift = np.random.default_rng(3).normal(size=(3, model.nrows))
    drift[0] *= 0.1
    J, gamma = page(constraint_jacobian, model, q), page(constraint_bias, model, q, v)
    known = np.array([row.phi is not None for row in model.constraint_rows(q[0].tolist())])
    a, _ = several(forward_dynamics, model, q, v, tau, contacts=Given(row_motion=drift))
    error = times(J, a) + gamma - drift[2] + 6.0 * (times(J, v) - drift[1]) - 9.0 * known * drift[0]
    np.testing.assert_allclose(error, 0.0, atol=1e-10 * np.abs(a).max())  # φ is zero at q
    kept = page(
        project_velocity, model, q, v, contacts=Given(row_motion=columns(np.broadcast_to(drift, (N, *drift.shape)), 2))
    )
    np.testing.assert_allclose(times(J, kept), np.broadcast_to(drift[1], (N, model.nrows)), atol=1e-11)
    after, _ = several(impulse, model, q, v, contacts=Given(row_motion=drift, restitution=np.array([0.5])))
    rebound = np.array([row.rebounds for row in model.constraint_rows(q[0].tolist())]) * 0.5
    np.testing.assert_allclose(times(J, after) - drift[1], -rebound * (times(J, v) - drift[1]), atol=1e-10)


def test_a_mechanism_on_an_anchor_that_moves() -> None:
    """The ground pin of the rocker is pushed about: completion and forward dynamics follow."""
    model, q, _, _ = motion(MOVING["four-bar"])
    rng = np.random.default_rng(4)
    drift = np.zeros((N, 3, 5))
    drift[:, 1:, 2] = rng.normal(size=(N, 2))  # along x
    y, z = rng.normal(size=(2, N, 1))
    v = page(complete_velocity, model, q, y, contacts=Given(row_motion=columns(drift, 2)))
    a = page(complete_acceleration, model, q, v, z, contacts=Given(row_motion=columns(drift, 2)))
    J, gamma = page(constraint_jacobian, model, q), page(constraint_bias, model, q, v)
    np.testing.assert_allclose(times(J, v), drift[:, 1], atol=1e-12)
    np.testing.assert_allclose(times(J, a) + gamma, drift[:, 2], atol=1e-11)
    tau, _, _ = several(inverse_dynamics, model, q, v, a)
    again, _ = forward_dynamics(model, *map(columns, (q, v, tau)), contacts=Given(row_motion=columns(drift, 2)))
    near(stacked(again, (N,)), a, 1e-11)


def test_a_humanoid_on_two_feet() -> None:
    """Inverse dynamics is exact, at no more than 1.6 times the operations of the tree's; torques are chosen."""
    robot = kt.load("g1")
    q, v, _ = (x.tolist() for x in robot.random_state(seed=1))
    places = {f"{side}_ankle_roll_link": pose(robot.model, np.array(q), f"{side}_ankle_roll_link") for side in SIDES}
    mech = kt.Mechanism(robot, [kt.Weld(ankle, placement=T) for ankle, T in places.items()])
    assert sum(mech.inverse_dynamics.op_count.values()) <= 1.6 * sum(robot.inverse_dynamics.op_count.values())
    model, rng = mech.model, np.random.default_rng(0)
    v = project_velocity(model, q, v)
    tau = np.where(np.arange(model.nv) < 6, 0.0, rng.normal(size=model.nv, scale=20.0))
    a, _ = forward_dynamics(model, q, v, tau.tolist())
    driving, _, missing = inverse_dynamics(model, q, v, a)
    spared, _, missing_too = inverse_dynamics(model, q, v, a, least="torque")
    np.testing.assert_allclose([missing, missing_too], 0.0, atol=1e-11)  # 4e-10 without the last correction
    assert np.linalg.norm(spared) < min(np.linalg.norm(x) for x in (driving, tau))
    assert np.linalg.norm(driving) != pytest.approx(np.linalg.norm(tau), rel=1e-3)
    near(forward_dynamics(model, q, v, driving)[0], np.array(a), 1e-12)


def test_with_two_feet_in_the_air_a_quadruped_misses_one_moment() -> None:
    """Points on one line bear no moment about it."""
    robot = kt.load("go2")
    q, v, a = robot.random_state(seed=3)
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    mech = kt.Mechanism(robot, [kt.Contact(foot) for foot in feet])
    _, f, missing = inverse_dynamics(
        mech.model, *(x.tolist() for x in (q, v, a)), contacts=Given(active=[1.0, 0.0, 0.0, 1.0])
    )
    J = np.array(constraint_jacobian(mech.model, q.tolist()))[[0, 1, 2, 9, 10, 11], :6]
    assert np.linalg.matrix_rank(J) == 5
    np.testing.assert_array_equal(f[3:9], 0.0)
    np.testing.assert_allclose(J @ (missing / arms(mech.model)[1] ** 2)[:6], 0.0, atol=1e-10 * np.abs(missing).max())
    assert np.abs(missing).max() > 1.0


# -- independent velocities -------------------------------------------------------------------------------------------

REDUCED: dict[str, tuple[ConstrainedModel, Array]] = {
    name: (case.mech.model, case.q)
    for name, case in {
        "four-bar": four_bar(),
        "slider-crank": slider_crank(),
        "two four-bars": n_four_bar(2),
        "Bricard": bricard(),
        "Stewart": stewart(),
        "Delta": delta(),
        "floating leg": five_bar_leg(floating=True),
    }.items()
}
for name, kind, tree in (("weld on tree", "weld", TREE), ("rod on followers", "rod", FOLLOWING)):
    REDUCED[name] = made(kind, tree, start(tree)[0], "cousin"), start(tree)[0]
REDUCED |= {
    f"{name}, twice": (doubled(REDUCED[name][0]), REDUCED[name][1]) for name in ("four-bar", "Delta", "weld on tree")
}

reducible = pytest.mark.parametrize(("model", "q"), REDUCED.values(), ids=list(REDUCED))


@reducible
def test_the_reduced_equation_gives_the_acceleration(model: ConstrainedModel, q: Array) -> None:
    """GᵀMG ÿ + Gᵀ(M g + h) = Gᵀ τ, with ``J G = 0``."""
    rng, q = np.random.default_rng(0), q[None]
    y, tau = rng.normal(size=(1, model.nindependent)), rng.normal(size=(1, model.nv), scale=10.0)
    G, J, M = page(velocity_map, model, q), page(constraint_jacobian, model, q), page(crba, model, q)
    np.testing.assert_allclose(J @ G, 0.0, atol=1e-11 * np.abs(G).max())
    np.testing.assert_array_equal(G[0, list(model.independent_velocities)], np.eye(model.nindependent))
    v = page(complete_velocity, model, q, y)
    np.testing.assert_allclose(v, times(G, y), atol=1e-12 * np.abs(v).max())
    reduced, bias = page(reduced_mass_matrix, model, q), page(reduced_bias, model, q, v)
    np.testing.assert_array_equal(reduced, np.swapaxes(reduced, 1, 2))
    np.testing.assert_allclose(reduced, np.swapaxes(G, 1, 2) @ M @ G, rtol=0.0, atol=1e-12 * np.abs(reduced).max())
    a = np.array(forward_dynamics(model, *(x[0].tolist() for x in (q, v, tau)))[0])
    acceleration = np.linalg.solve(reduced[0], G[0].T @ tau[0] - bias[0])
    wanted = a[list(model.independent_velocities)]
    np.testing.assert_allclose(acceleration, wanted, rtol=0.0, atol=1e-10 * np.abs(a).max())


@reducible
def test_the_choice_is_as_large_as_the_mobility_and_not_singular(model: ConstrainedModel, q: Array) -> None:
    J = page(constraint_jacobian, model, q[None])[0]
    s = np.linalg.svd(J, compute_uv=False)
    rank = int((s > 1e-9 * s[0]).sum())
    assert model.nindependent == model.nv - rank
    dependent = np.delete(J, model.independent_velocities, axis=1)
    assert np.linalg.matrix_rank(dependent, tol=1e-6 * s[0]) == rank
    assert model.reference.is_closed
    assert model.reference.mobility == model.nindependent


@pytest.mark.parametrize("kind", ["weld", "gear", "sphere"])
@pytest.mark.parametrize("twice", [False, True])
def test_the_inertia_that_constraints_meet(kind: str, twice: bool) -> None:
    q = start(TREE)
    model = made(kind, TREE, q[0], "world" if kind != "gear" else "cousin")
    model = doubled(model) if twice else model
    G, inertia = page(delassus_matrix, model, q)[0], page(constraint_inertia, model, q)[0]
    np.testing.assert_array_equal(inertia, inertia.T)
    expected = np.linalg.pinv(G, rcond=1e-9, hermitian=True)
    # measured: 1e-14 and, with rows that are there twice, 3e-12
    near(inertia, expected, 1e-10)


def test_actuated_joints_are_independent_where_they_will_do() -> None:
    tree, rods = delta().mech.tree, delta().mech.constraints
    motors = ("motor0", "motor1", "motor2")
    assert kt.Mechanism(tree, rods).actuated == kt.Mechanism(tree, rods).independent == motors
    linkage = four_bar().mech
    assert linkage.independent == ("motor",)
    for joint in linkage.tree.joint_names:
        assert kt.Mechanism(linkage.tree, linkage.constraints, actuated=[joint]).independent == (joint,)
    leg = five_bar_leg(floating=True).mech
    hips = kt.Mechanism(leg.tree, leg.constraints, actuated=["front_hip", "back_hip"])
    assert hips.independent == (*(f"root.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")), "front_hip", "back_hip")


@pytest.mark.parametrize("kind", MAKERS)
def test_independent_velocities_of_every_type_of_constraint(kind: str) -> None:
    model = made(kind, FOLLOWING, start(FOLLOWING)[0], "cousin")
    assert model.reference.is_closed
    assert model.nindependent == model.nv - np.linalg.matrix_rank(model.reference.near[0], tol=1e-9)
