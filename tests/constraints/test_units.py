"""Other units of length, mass and time change nothing but the units, in every function of a mechanism.

Units are powers of two: numbers in them are exact, so results are the same to the last bit, however ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import made, near
from helpers.mechanisms import at, bar, bricard, four_bar, slider_crank, stewart
from helpers.trees import Array, random_states, random_tree, toy
from helpers.units import Units, in_units, of_configuration, unit
from kinetree.algorithms import Algorithm
from kinetree.algorithms.kinematics.manifold import turning
from kinetree.constraints import MECHANISM_ALGORITHMS
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Contact
from kinetree.glossary.symbols import shape_of
from kinetree.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.model import Model

TREE = random_tree(
    5, n=7, joints=(FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1)), Planar())
)


def in_space() -> tuple[ConstrainedModel, Array]:
    """Return a tree in space with a weld that is there twice, a sphere in contact and a gear, and few actuators."""
    q = random_states(TREE, 2, 1)[0][0]
    model = made("weld", TREE, q, "cousin")
    sphere = Contact(model.bodies[-1].name, normal=(0.3, -0.2, 0.9), radius=0.1)
    gear = made("gear", TREE, q, "world").constraints
    again = [replace(c, name="again") for c in model.constraints]
    driven = [body.joint_name for body in model.leading if body.has_one_coordinate]
    return constrained(model, [*model.constraints, *again, sphere, *gear], actuated=driven), q


def stood() -> tuple[ConstrainedModel, Array]:
    """Return a quadruped on its feet whose joints rub and have stops."""
    robot = kt.load("go2").with_friction(coulomb=True, damping=True)
    feet = [kt.Contact(foot, radius=0.02, friction=0.6) for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot")]
    q = robot.neutral()
    q[robot.joint("root_joint").q_slice.start + 2] = 0.3
    return kt.Mechanism(robot, feet).model, q


def boom(length: float = 100.0) -> tuple[ConstrainedModel, Array]:
    """Return a floating body held at the tip of its boom."""
    links, frames = {"boom": bar(10.0, (length, 0.0, 0.0))}, [("tip boom", at(length))]
    robot = kt.Robot(toy(("free ground boom", FreeFlyer()), links=links, frames=frames))
    return kt.Mechanism(robot, [kt.Weld("tip", placement=at(length))]).model, robot.neutral()


def closed(make: Callable[..., Any]) -> Callable[[], tuple[ConstrainedModel, Array]]:
    return lambda: (make().mech.model, make().q)


CASES = {
    "tree in space": in_space,
    "quadruped": stood,
    "boom": boom,
    "Stewart": closed(stewart),
    "Bricard": closed(bricard),
    "four-bar": closed(four_bar),
    "slider-crank": closed(slider_crank),
}
MODELS = {name: lru_cache(make) for name, make in CASES.items()}

OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "inverse_dynamics": ({"least": "force"}, {"least": "torque"}),
    "step": ({}, {"integrator": "implicit_euler", "limits": "all"}, {"integrator": "rk4", "stick": "yes"}),
    "contact_step": ({}, {"limits": "position"}),
    "contact_dynamics": ({"solver": "pgs"}, {"solver": "admm"}),
}


def powers_of_two(rng: np.random.Generator) -> Units:
    """Return units within a thousand times those of SI; that of mass has a root."""
    length, mass, time = rng.integers(-9, 10, size=3)
    return Units(2.0 ** int(length), 4.0 ** int(mass // 2), 2.0 ** int(time))


def given(model: ConstrainedModel, q: Array, algorithm: Algorithm, rng: np.random.Generator) -> dict[str, Array]:
    """Return values of all inputs, of some optional ones, in SI."""
    ranges = {
        "active": lambda n: rng.integers(0, 2, n),
        "restitution": lambda n: rng.uniform(0, 1, n),
        "friction": lambda n: rng.uniform(0.2, 0.8, n),
        "dt": lambda n: np.array(1e-3),
        "row_motion": lambda n: 1e-2 * rng.normal(size=n),
        "f_start": lambda n: np.abs(rng.normal(size=n)),
        "compliance": lambda n: rng.uniform(1e-4, 1e-3, n),
        "force_weights": lambda n: rng.uniform(0.5, 2, n),
        "tau_max": lambda n: rng.uniform(5, 50, n),
        "f_min": lambda n: rng.uniform(0, 1, n),
    }
    tuning = {"tolerance", "max_iterations", "restarts", "torque_weight", "slots"}
    some = [name for name in algorithm.optional if name not in tuning and rng.integers(0, 2)]
    found: dict[str, Array] = {}
    for name in (*algorithm.inputs, *some):
        shape = shape_of({**algorithm.inputs, **algorithm.optional}[name], model)
        found[name] = ranges[name](shape) if name in ranges else rng.normal(size=shape)
        if name in ("q", "q0"):
            found[name] = q
    if algorithm.name == "assemble":
        found["q0"] = q + 0.05 * rng.normal(size=len(q))
    return found


@pytest.mark.parametrize("name", MECHANISM_ALGORITHMS)
@pytest.mark.parametrize("case", CASES)
def test_units_change_nothing_but_the_units(case: str, name: str) -> None:
    model, q = MODELS[case]()
    algorithm, rng = MECHANISM_ALGORITHMS[name], np.random.default_rng([*map(ord, case + name)])
    for options in OPTIONS.get(name, ({},)):
        if name == "hybrid_dynamics":
            free = [b for b in model.leading if {*b.v_index} <= {*model.independent_velocities}]
            options = {"prescribed": tuple(b.joint_name for b in free[:1])}
        u = powers_of_two(rng)
        values = given(model, q, algorithm, rng)
        theirs = {n: x * unit(model, u, algorithm, n) for n, x in values.items()}
        ours, other = (
            algorithm(m, {n: x.tolist() for n, x in each.items()}, options)
            for m, each in ((model, values), (in_units(model, u), theirs))
        )
        if len(algorithm.outputs) == 1:
            ours, other = (ours,), (other,)
        for output, x, y in zip(algorithm.outputs, ours, other, strict=True):
            if output == "residual":  # the largest of angles and lengths
                continue
            expected = np.array(x, dtype=float) * unit(model, u, algorithm, output)
            np.testing.assert_array_equal(
                np.array(y, dtype=float).reshape(expected.shape), expected, err_msg=f"{output}, {options}, {u}"
            )


@pytest.mark.parametrize("case", CASES)
def test_units_do_not_change_what_is_free(case: str) -> None:
    model, q = MODELS[case]()
    u = powers_of_two(np.random.default_rng([*map(ord, case)]))
    ours, theirs = mechanism(model), mechanism(in_units(model, u))
    assert theirs.independent == ours.independent
    assert theirs.model.is_redundant == ours.model.is_redundant
    found, other = ours.mobility(q), theirs.mobility(q * unit(model, u, MECHANISM_ALGORITHMS["assemble"], "q0"))
    for name in ("mobility", "redundant", "independent", "immobile"):
        assert getattr(other, name) == getattr(found, name)
    np.testing.assert_array_equal(other.singular_values, found.singular_values)


def mechanism(model: ConstrainedModel) -> kt.Mechanism:
    return kt.Mechanism(kt.Robot(model.tree), model.constraints, [model.v_names[k] for k in model.actuated])


IK_CASES = {"Panda": "panda_hand", "slider-crank": "rod_tip", "Stewart": "platform"}


@pytest.mark.parametrize("case", IK_CASES)
def test_units_change_nothing_but_the_units_of_inverse_kinematics(case: str) -> None:
    """Of trees too; the tolerance is a length in the units that are used."""
    model, q = (kt.load("panda").model, kt.load("panda").neutral()) if case == "Panda" else MODELS[case]()
    rng, tree = np.random.default_rng([*map(ord, case)]), kt.Robot(model.tree)
    target = tree.frame_placement(tree.integrate(q, 0.1 * rng.normal(size=tree.nv)), frame=IK_CASES[case])
    target[:3, 3] += [0.3, -0.4, 9.0] if case == "slider-crank" else 0.0  # out of reach
    ours = solved(model, IK_CASES[case], q, target, Units(1.0, 1.0, 1.0))
    u = powers_of_two(rng)
    for name, theirs in solved(model, IK_CASES[case], q, target, u).items():
        np.testing.assert_array_equal(theirs, ours[name], err_msg=f"{name}, {u}")


def solved(model: Model, frame: str, q: Array, target: Array, u: Units) -> dict[str, Array]:
    """Return a solution and a differential step in these units, with all numbers in SI."""
    model = in_units(model, u)
    robot = mechanism(model) if isinstance(model, ConstrainedModel) else kt.Robot(model)
    own, along = of_configuration(model, u), np.where(turning(model), 1.0, u.length)
    pose = target * np.where(np.indices((4, 4))[1] == 3, [[u.length]] * 3 + [[1.0]], 1.0)
    given = {"q0": q * own, "q": q * own, "target": pose, "dt": 0.01 * u.time}
    given |= {"position_tolerance": 1e-9 * u.length, "restarts": 2.0}
    values = {name: np.asarray(x).tolist() for name, x in given.items()}
    step = robot.differential_inverse_kinematics(frame).spec.evaluate(values, {})
    del values["dt"]
    found = robot.inverse_kinematics_solver(frame).spec.evaluate(values, {})
    results = {**found._asdict(), **{f"step's {name}": x for name, x in step._asdict().items()}}
    units = {"q": own, "step's q": own, "step's v": along / u.time, "position_error": u.length}
    units["step's position_error"] = u.length
    return {name: np.array(x, dtype=float) / units.get(name, 1.0) for name, x in results.items()}


@pytest.mark.parametrize("length", [1.0, 300.0])
def test_a_boom_is_held_whatever_its_length(length: float) -> None:
    """By 98.1 N, and the moment of that; of a boom of 300 m half the weight was missing."""
    model, q = boom(length)
    _, f, missing = MECHANISM_ALGORITHMS["inverse_dynamics"].function(model, q.tolist(), [0.0] * 6, [0.0] * 6)
    expected = 9.81 * np.array([0.0, 5.0 * length, 0.0, 0.0, 0.0, 10.0])
    near(f, expected, 1e-13)
    np.testing.assert_allclose(missing, 0.0, atol=1e-13 * np.abs(expected).max())
