"""Laws that derivatives from pages obey, on trees with every type of joint; and how many operations they take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.exact_trees import exact_tree, one_of_each
from helpers.joints import TILTED
from helpers.programs import code_size
from helpers.trees import random_states
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.derivatives import JACOBIANS, solutions
from kinetree.algorithms.derivatives.solutions import Inverse
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.runtime import Function

Array = np.ndarray[Any, Any]
ARM = [Revolute((0, 0, 1)), Revolute(TILTED), Prismatic((1, 0, 0)), Revolute((0, 1, 0)), Prismatic(TILTED)]
HINGES = exact_tree("hinges", 1, ARM)
FLOATING = exact_tree("floating", 2, [FreeFlyer(), *ARM, Spherical()], straight=0.5)
TREES = [
    HINGES,
    FLOATING,
    exact_tree("followers", 3, ARM, followers=2),
    *(exact_tree(f"examples {k}", 5 + k, one_of_each(k), straight=0.6) for k in (0, -1)),
]
trees = pytest.mark.parametrize("model", TREES, ids=lambda model: model.name)


def with_friction(model: Model) -> Model:
    return replace(model, friction=replace(model.friction, damping=True, coulomb=True))


def states(model: Model) -> tuple[Array, Array, Array]:
    return tuple(x[0] for x in random_states(model, 4, 1))  # type: ignore[return-value]


def slopes(model: Model, name: str, given: dict[str, Any], wrt: str, **options: Any) -> dict[str, Array]:
    """The page's blocks at numbers."""
    _, page = JACOBIANS[name]
    lists = {key: np.asarray(x).tolist() for key, x in given.items()}
    found = page(model, lists, {**DEFAULTS.get(name, {}), **options}, wrt.split())
    return {key: np.array(block, dtype=float) for (_, key), block in found.items()}


DEFAULTS = {name: {"f_ext_frame": "body"} for name in ("inverse_dynamics", "forward_dynamics")}


def value(model: Model, name: str, *arguments: Array) -> Array:
    algorithm = ALGORITHMS[name]
    given = dict(zip(algorithm.inputs, (x.tolist() for x in arguments), strict=True))
    return np.array(algorithm.function(model, **given), dtype=float)


def close(a: Array, b: Array, ulps: float = 300.0) -> None:
    assert np.abs(a - b).max() <= ulps * 2.0**-52 * max(1.0, np.abs(b).max())


@trees
def test_those_by_accelerations_are_the_mass_matrix(model):
    q, v, a = states(model)
    close(slopes(model, "inverse_dynamics", {"q": q, "v": v, "a": a}, "a")["a"], value(model, "mass_matrix", q))


def test_those_by_velocities_are_twice_the_coriolis_matrix():
    """Where velocities are the rates of coordinates, so that it consists of Christoffel symbols."""
    q, v, a = states(HINGES)
    found = slopes(HINGES, "inverse_dynamics", {"q": q, "v": v, "a": a}, "v")["v"]
    close(found, 2.0 * value(HINGES, "coriolis_matrix", q, v))


@trees
def test_those_by_velocities_lead_to_twice_the_coriolis_forces(model):
    q, v, _ = states(model)
    h, g = value(model, "bias_forces", q, v), value(model, "gravity_forces", q)
    close(slopes(model, "bias_forces", {"q": q, "v": v}, "v")["v"] @ v, 2.0 * (h - g))


@trees
@pytest.mark.parametrize("frame", ["body", "world"])
def test_forward_and_inverse_dynamics_undo_each_other(model, frame):
    """``M ∂a = −∂τ``, with friction and forces from outside too."""
    model = with_friction(model)
    q, v, a = states(model)
    f_ext, options = np.random.default_rng(1).normal(size=(model.nb, 6)), {"f_ext_frame": frame}
    tau = np.array(ALGORITHMS["inverse_dynamics"].function(model, *map(list, (q, v, a)), f_ext.tolist(), **options))
    forces = slopes(model, "inverse_dynamics", {"q": q, "v": v, "a": a, "f_ext": f_ext}, "q v", **options)
    found = slopes(model, "forward_dynamics", {"q": q, "v": v, "tau": tau, "f_ext": f_ext}, "q v tau", **options)
    M = value(model, "mass_matrix", q)
    rounding = 300 * np.linalg.cond(M)
    close(M @ found["q"], -forces["q"], rounding)
    close(M @ found["v"], -forces["v"], rounding)
    close(M @ found["tau"], np.eye(model.nv), rounding)
    assert np.array_equal(found["tau"], found["tau"].T)


def test_a_floating_base_is_known_outright():
    """Its position changes nothing, its rotation turns gravity, its linear velocity v enters as ``ω × v``."""
    model = FLOATING
    q, v, a = states(model)
    state = {"q": q, "v": v, "a": a}
    found, M = slopes(model, "inverse_dynamics", state, "q v"), value(model, "mass_matrix", q)
    down = model.jcalc(0, q.tolist()).Xup  # of the base, against the world
    g = np.array([*(down.last.E.to_b(down.first.E.to_b(model.gravity)))])
    turned = -np.cross(g, np.eye(3)).T
    swept = np.cross(v[:3], np.eye(3)).T
    assert not found["q"][:, 3:6].any()
    close(found["q"][:, :3], M[:, 3:6] @ turned)
    close(found["v"][:, 3:6], M[:, 3:6] @ swept)
    tau = value(model, "inverse_dynamics", q, v, a)
    found = slopes(model, "forward_dynamics", {"q": q, "v": v, "tau": tau}, "q v")
    assert not found["q"][:, 3:6].any()
    assert not np.delete(found["q"][:, :3], [3, 4, 5], axis=0).any()
    assert not np.delete(found["v"][:, 3:6], [3, 4, 5], axis=0).any()
    close(found["q"][3:6, :3], -turned)
    close(found["v"][3:6, 3:6], -swept)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_turn_of_the_base_and_of_gravity_changes_nothing(name):
    model, turn = FLOATING, np.array([0.3, -0.5, 0.7, 0.2, 0.1, -0.4])
    q, v, x = states(model)
    third = {"inverse_dynamics": "a", "forward_dynamics": "tau"}[name]
    before = slopes(model, name, {"q": q, "v": v, third: x}, "q v")
    base = model.bodies[0]
    here = base.joint.jcalc(q[:7].tolist(), [0.0] * 6).X
    moved = np.array([*base.joint.integrate(q[:7].tolist(), turn.tolist()), *q[7:]])
    there = base.joint.jcalc(moved[:7].tolist(), [0.0] * 6).X
    g = there.E.to_a(here.E.to_b(base.X_T.E.to_b(model.gravity)))
    after = slopes(model.with_gravity(tuple(base.X_T.E.to_a(g))), name, {"q": moved, "v": v, third: x}, "q v")
    for key in ("q", "v"):
        close(after[key], before[key], 1e4)


@pytest.mark.parametrize("name", ["ur5", "go2"])
def test_energy_does_not_change_along_a_passive_motion(name):
    robot = kt.load(name)
    q, v, _ = robot.random_state(seed=2)
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    rate = robot.mechanical_energy.jvp(q, v, dq=v, dv=a)
    assert abs(rate) < 1e-11 * np.abs(a) @ np.abs(robot.mass_matrix(q)) @ np.abs(v)


@trees
def test_the_inverse_of_many_joints_is_that_of_few(model, monkeypatch):
    q = states(model)[0].tolist()
    wanted = np.array(Inverse.of(model, q).matrix(), dtype=float)
    monkeypatch.setattr(solutions, "UNROLLED", 0)
    found = np.array(Inverse.of(model, q).matrix(), dtype=float)
    close(found, wanted)
    assert np.array_equal(found, found.T)


@trees
def test_what_is_given_to_hybrid_dynamics_is_free_or_prescribed(model):
    """Both results, put into inverse dynamics, change as it does; what is given changes by itself alone."""
    model, (q, v, a) = with_friction(model), states(model)
    tau, joints = a[::-1], model.joint_names[:2]
    known = [k for body in model.bodies if body.joint_name in joints for k in body.v_index]
    free = [k for k in range(model.nv) if k not in known]
    state, options = {"q": q, "v": v, "a": a, "tau": tau}, {"prescribed": joints, "method": "articulated"}
    _, page = JACOBIANS["hybrid_dynamics"]
    lists, options = {key: x.tolist() for key, x in state.items()}, {**options, "f_ext_frame": "body"}
    found = {key: np.array(x, dtype=float) for key, x in page(model, lists, options, ["q", "v", "a", "tau"]).items()}
    accelerations, _ = ALGORITHMS["hybrid_dynamics"].function(model, *lists.values(), prescribed=joints)
    forces = slopes(model, "inverse_dynamics", {"q": q, "v": v, "a": np.array(accelerations)}, "q v a")
    rounding = 300 * np.linalg.cond(forces["a"])
    zero = np.zeros_like(forces["a"])
    for name in ("q", "v", "a", "tau"):
        given = forces[name] if name in "qv" else zero
        close(given + forces["a"] @ found["a", name], found["tau", name], rounding)
        assert np.array_equal(
            found["a", name][known],
            (np.eye(model.nv) if name == "a" else zero)[known] * [k in known for k in range(model.nv)],
        )
        assert np.array_equal(found["tau", name][free], (np.eye(model.nv) if name == "tau" else zero)[free])


def test_momentum_is_that_of_inverse_dynamics_of_a_floating_base():
    """Where gravity is none: the first six rows, moved to the centre of mass; linear momentum does not turn."""
    model = FLOATING.with_gravity((0.0, 0.0, 0.0))
    q, v, a = states(model)
    found = slopes(model, "centroidal_momentum_rate", {"q": q, "v": v, "a": a}, "q v a")
    forces = slopes(model, "inverse_dynamics", {"q": q, "v": v, "a": a}, "q v a")
    X = model.jcalc(0, q.tolist()).Xup
    R = np.array([[*X.first.E.to_a(X.last.E.to_a(type(model.gravity)(*e)))] for e in np.eye(3)]).T
    for name in ("v", "a"):
        close(found[name][3:], R @ forces[name][3:6], 1000.0)
    close(found["a"], value(model, "centroidal_momentum_matrix", q))
    momentum = slopes(model, "centroidal_momentum", {"q": q, "v": v}, "q v")
    close(momentum["v"], found["a"])
    close(momentum["q"] @ v, value(model, "centroidal_momentum_matrix_rate", q, v) @ v)
    for block in (momentum["q"], found["q"]):
        assert np.abs(block[:, 3:6]).max() < 1e-13  # where it is changes nothing


@pytest.mark.parametrize("reference", ["body", "world", "aligned"])
@trees
def test_a_velocity_changes_by_the_rate_of_the_jacobian(model, reference):
    """``∂(J v)/∂q v = J̇ v``, and ``∂(J̇ v)/∂v v = 2 J̇ v``."""
    q, v, a = states(model)
    options = {"frame": "tip", "reference": reference}
    rate = np.array(ALGORITHMS["jacobian_bias"].function(model, q.tolist(), v.tolist(), **options))
    J = np.array(ALGORITHMS["jacobian"].function(model, q.tolist(), **options))
    velocity = slopes(model, "frame_velocity", {"q": q, "v": v}, "q v", **options)
    close(velocity["v"], J)
    close(velocity["q"] @ v, rate, 1000.0)
    close(slopes(model, "jacobian_bias", {"q": q, "v": v}, "v", **options)["v"] @ v, 2.0 * rate, 1000.0)
    for kind in ("spatial", "classical"):
        found = slopes(model, "frame_acceleration", {"q": q, "v": v, "a": a}, "a", **options, kind=kind)
        close(found["a"], J)


@pytest.mark.parametrize("size", [0.0, 1e-160, 1e-9, 0.1, 1.0, 3.0, 3.14159])
def test_a_step_and_its_inverse_undo_each_other(size):
    """By their second arguments; and one back undoes one there, by their first ones."""
    model = FLOATING
    q, v, _ = states(model)
    for body in model.leading:  # turns are of at most half a turn
        if body.joint.nv > 1:
            v[list(body.v_index)[:3]] *= size / np.linalg.norm(v[list(body.v_index)[:3]])
    there = value(model, "integrate", q, v)
    step = slopes(model, "integrate", {"q": q, "dv": v}, "q dv")
    way = slopes(model, "difference", {"q0": q, "q1": there}, "q0 q1")
    close(way["q1"] @ step["dv"], np.eye(model.nv), 1e4)
    close(way["q0"] + way["q1"] @ step["q"], np.zeros_like(step["q"]), 1e4)
    close(step["q"] @ slopes(model, "integrate", {"q": there, "dv": -v}, "q")["q"], np.eye(model.nv))


MOST = {
    ("ur5", "inverse_dynamics"): 1014,
    ("panda", "inverse_dynamics"): 1986,
    ("go2", "inverse_dynamics"): 4094,
    ("ur5", "forward_dynamics"): 1604,
    ("panda", "forward_dynamics"): 3077,
    ("go2", "forward_dynamics"): 7906,
}


@pytest.mark.parametrize(("robot", "name"), MOST)
def test_no_more_operations_than_there_were(robot, name):
    found = code_size(getattr(kt.load(robot), name).derivatives)
    assert 0.9 * MOST[robot, name] < found <= MOST[robot, name] + 4


SHARES = {
    "inverse_dynamics": 0.66,
    "forward_dynamics": 0.5,
    "hybrid_dynamics": 0.4,
    "solve_mass_matrix": 0.7,
    "frame_velocity": 0.65,
    "frame_acceleration": 0.75,
    "jacobian_bias": 0.75,
    "integrate": 0.25,
    "difference": 0.25,
    "centroidal_momentum": 0.5,
    "centroidal_momentum_rate": 0.55,
}
"""Most that a page takes of the operations of the program of the function, differentiated; for Panda, or Go2."""


@pytest.mark.parametrize("name", SHARES)
def test_a_page_takes_fewer_operations_than_the_program_differentiated(name):
    robot = kt.load("go2" if name in ("integrate", "difference") else "panda")
    options = {"frame": "panda_hand"} if "frame" in name or "jacobian" in name else {}
    options |= {"prescribed": ("panda_joint4",)} if name == "hybrid_dynamics" else {}
    function = getattr(robot, name).bind(**options)
    without = Function(replace(function.spec, jacobians=None))
    assert code_size(function.derivatives) <= SHARES[name] * code_size(without.derivatives)


def test_every_page_is_compared():
    assert {*JACOBIANS} == {*SHARES, "bias_forces", "gravity_forces"}  # those are rows of inverse dynamics'
