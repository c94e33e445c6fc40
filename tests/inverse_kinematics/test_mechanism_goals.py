"""Inverse kinematics of mechanisms: targets are reached with all loops closed, against forward kinematics."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import Closed, four_bar, stewart
from helpers.sampling import ALL, SEED
from robots import erd_sdf

Array = np.ndarray[Any, Any]
N = 20
LOCKED = 1e-7
"""To which Cassie's ankles close: a plane linkage whose numbers have six digits, and of which a row too many counts."""


def cassie() -> Closed:
    """Return a biped with bent knees, within its joint limits."""
    mech = kt.load_mechanism(erd_sdf("cassie_v2.sdf"))
    feet = {"left-foot": (-0.3, 0.13, -0.75), "right-foot": (-0.3, -0.13, -0.75)}
    found = mech.inverse_kinematics(feet, fixed=["root_joint"], position_tolerance=LOCKED)
    assert found.converged
    return Closed(mech, found.q)


def held_hand() -> Closed:
    """Return a humanoid whose left hand holds a rail."""
    robot = kt.load("g1")
    q = robot.neutral()
    rail = robot.frame_placement(q, frame="left_rubber_hand")
    return Closed(kt.Mechanism(robot, [kt.Weld("left_rubber_hand", placement=rail)]), q)


CASES = {
    "four-bar": (four_bar, "coupler_tip", 1e-9),
    "Stewart": (stewart, "platform", 1e-9),
    "Cassie": (cassie, "left-foot", LOCKED),
    "G1 at a rail": (held_hand, "right_rubber_hand", 1e-9),
}
MAKE = {name: cache(make) for name, (make, *_) in CASES.items()}
FIXED = {"Cassie": ("root_joint",)}
LARGE = ("Stewart", "Cassie", "G1 at a rail")
TURNS = [names for names in itertools.permutations(LARGE) if names[1] != "Stewart"]
"""Of these, one goes through each test: another one at each commit."""


def of_turn(k: int) -> Any:
    """Run a test with the small mechanism, and with the large one whose turn it is."""
    names = [x for x in CASES if k != 1 or x != "Stewart"]
    return pytest.mark.parametrize("name", names if ALL else ["four-bar", random.Random(SEED).choice(TURNS)[k]])


def closed_beside(name: str, n: int) -> Array:
    """Return configurations beside the known one in which all loops are closed, within the joint limits."""
    (mech, q), fixed = MAKE[name](), FIXED.get(name, ())
    dv = 0.03 * np.random.default_rng(0).normal(size=(20 * n, mech.nv))
    for joint in fixed:
        dv[:, mech.tree.joint(joint).v_slice] = 0.0
    found = mech.assemble(mech.tree.integrate(q, dv), tolerance=CASES[name][2], fixed=list(fixed))
    inside = ((found.q >= mech.tree.lower_limits) & (found.q <= mech.tree.upper_limits)).all(axis=1)
    assert (found.converged & inside).sum() >= n
    return found.q[found.converged & inside][:n]


def gap(mech: kt.Mechanism, q: Array) -> Array:
    return np.abs(mech.constraint_error(q)).max(axis=-1) / max(1.0, mech.length)


@of_turn(0)
def test_targets_are_reached_with_loops_closed(name: str) -> None:
    (mech, q), (_, frame, tolerance) = MAKE[name](), CASES[name]
    targets = mech.tree.frame_placement(closed_beside(name, N), frame=frame)
    wishes: dict[str, Any] = {"q0": q, "fixed": FIXED.get(name, ()), "position_tolerance": tolerance}
    wishes["orientation_tolerance"] = tolerance
    found = mech.inverse_kinematics(targets, frame, **wishes)
    assert found.converged.dtype == bool
    assert found.converged.all()
    np.testing.assert_allclose(mech.tree.frame_placement(found.q, frame=frame), targets, atol=2 * tolerance)
    assert gap(mech, found.q).max() < 2 * tolerance
    assert mech.assemble(found.q, tolerance=2 * tolerance).iterations.max() <= 1
    assert ((found.q >= mech.tree.lower_limits) & (found.q <= mech.tree.upper_limits)).all()
    if name == "four-bar":
        one = mech.inverse_kinematics(targets[0], frame, **wishes)
        np.testing.assert_array_equal(one.q, found.q[0])
        assert one.converged is np.True_


@of_turn(1)
def test_what_is_out_of_reach_is_not_reached_and_closed(name: str) -> None:
    (mech, q), (_, frame, tolerance) = MAKE[name](), CASES[name]
    base = () if name == "four-bar" else ("root_joint",)
    point = mech.tree.frame_placement(q, frame=frame)[:3, 3] + [0.0, 0.0, 9.0]
    found = mech.inverse_kinematics({frame: point}, q0=q, restarts=3, fixed=base, position_tolerance=tolerance)
    assert found.converged is np.False_
    assert found.position_error > 1.0
    assert gap(mech, found.q) < 2 * tolerance
    there = mech.tree.frame_placement(found.q, frame=frame)[:3, 3]
    assert abs(np.linalg.norm(there - point) - found.position_error) < 1e-12


@of_turn(2)
def test_differential_steps_go_along_the_mechanism(name: str) -> None:
    (mech, q), (_, frame, tolerance) = MAKE[name](), CASES[name]
    target = mech.tree.frame_placement(closed_beside(name, 1)[0], frame=frame)
    step, dt = mech.differential_inverse_kinematics(frame, fixed=FIXED.get(name, ())), 0.02
    limits = np.where(mech.tree.velocity_limits > 0.0, mech.tree.velocity_limits, np.inf)
    for _ in range(150):
        found = step(q, target, dt)
        assert np.abs(mech.constraint_jacobian(q) @ found.v).max() < tolerance * max(1.0, np.abs(found.v).max())
        assert (np.abs(found.v) <= limits * (1 + 1e-12)).all()
        assert gap(mech, found.q) < tolerance
        q = found.q
    np.testing.assert_allclose(mech.tree.frame_placement(q, frame=frame), target, atol=1e-5)


def test_the_tree_of_a_mechanism_says_that_it_leaves_loops_open() -> None:
    mech, q = four_bar()
    target = mech.tree.frame_placement(q, frame="coupler_tip")[:3, 3]
    for call in (
        lambda: mech.tree.inverse_kinematics(target, "coupler_tip"),
        lambda: mech.tree.inverse_kinematics_solver("coupler_tip"),
        lambda: mech.tree.differential_inverse_kinematics("coupler_tip"),
    ):
        with pytest.warns(UserWarning, match="leaves open what the mechanism closes"):
            call()
    robot = kt.load("go2")
    on_feet = kt.Mechanism(robot, [kt.Contact("FL_foot")])
    assert on_feet.tree is robot  # feet may lift off: nothing to say


def test_the_compiled_solver_is_part_of_functions() -> None:
    mech, q = four_bar()
    solve = mech.inverse_kinematics_solver({"coupler_tip": "position"})

    @mech.compile(shapes={"target": (3,)})
    def reached(q, target):  # type: ignore[no-untyped-def]
        found = solve(q, target)
        return found.q, mech.constraint_error(found.q)

    target = mech.tree.frame_placement(
        mech.assemble(q + np.array([0.2, 0, 0]), fixed=["motor"]).q, frame="coupler_tip"
    )[:3, 3]
    _, error = reached(q, target)
    assert np.abs(error).max() < 1e-8
