"""Robots with other friction, rotors and limits: equal to robots built so from the start, and mistakes told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.told import told
from helpers.trees import toy
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Universal

I3 = np.eye(3)


def build(options: dict[str, dict[str, Any]]) -> kt.Robot:
    """Return a robot with a floating base, two joints, one that follows, and one of two degrees of freedom."""
    own = {"turn": {}, "slide": {}, "follow": {}, "bend": {}} | options
    joints = ("float base hull", FreeFlyer()), ("turn hull arm", Revolute(), own["turn"])
    slides = ("slide arm left", Prismatic(), own["slide"]), ("bend arm wrist", Universal(), own["bend"])
    follow = "follow arm right", Prismatic(), {"mimic": ("slide", -2.0, 0), **own["follow"]}
    return kt.Robot(toy(*joints, slides[0], follow, slides[1]))


def test_by_name_it_is_the_robot_built_so() -> None:
    figures = {
        "turn": {"damping": 0.5, "friction": 0.25, "rotor_inertia": 1e-3, "gear_ratio": -100.0},
        "slide": {"armature": 0.125, "rotor_inertia": 0.5},
        "follow": {"damping": 2.0, "friction": 3.0, "armature": 0.75},
        "bend": {"damping": 0.125},
    }
    by_figure: dict[str, dict[str, float]] = {}
    for name, of in figures.items():
        for what, x in of.items():
            by_figure.setdefault(what, {})[name] = x
    assert build({}).with_joint_physics(**by_figure) == build(figures)
    # those not named stay as they are
    first = build(figures).with_joint_physics(damping={"turn": 1.0})
    assert first == build({**figures, "turn": {**figures["turn"], "damping": 1.0}})


def test_a_number_is_for_every_joint_with_an_actuator() -> None:
    robot = build({"follow": {"damping": 9.0}}).with_joint_physics(damping=0.5, rotor_inertia=1e-4, gear_ratio=50.0)
    assert robot.damping.tolist() == [0.0] * 6 + [0.5] * 4
    assert robot.armature == pytest.approx([0.0] * 6 + [0.25] * 4)


def test_an_array_is_what_the_coordinates_feel() -> None:
    robot = build({"follow": {"damping": 9.0, "friction": 1.0, "armature": 2.0}})
    d, f, A = np.random.default_rng(0).uniform(0, 1, (3, robot.nv))
    changed = robot.with_joint_physics(damping=d, friction=f, armature=A)
    assert changed.damping.tolist() == d.tolist()
    assert changed.friction.tolist() == f.tolist()
    assert changed.armature.tolist() == A.tolist()
    again = robot.with_joint_physics(damping=robot.damping)
    assert again.damping.tolist() == robot.damping.tolist()
    assert robot.with_joint_physics(damping={"bend": [1.0, 2.0]}).damping[-2:].tolist() == [1.0, 2.0]
    both = robot.with_joint_physics(rotor_inertia=A, gear_ratio=d, armature=1.0)
    assert both.armature[6:] == pytest.approx((1.0 + A * d**2)[6:])


def test_a_joint_of_several_degrees_of_freedom_tells_each_figure() -> None:
    robot = build({}).with_joint_physics(damping={"bend": [1.0, 2.0], "follow": 3.0}, friction={"turn": 0.5})
    assert robot.joint("bend").damping == (1.0, 2.0)
    assert robot.joint("float").armature == (0.0,) * 6
    assert (robot.joint("turn").friction, robot.joint("follow").damping) == (0.5, 12.0)  # the leader feels (−2)² · 3


def test_springs_by_name_as_a_number_and_as_arrays() -> None:
    springs = {
        "turn": {"stiffness": 5.0, "rest_position": 0.25},
        "follow": {"stiffness": 2.0, "rest_position": 0.5},
    }
    robot = build(springs)
    by_name = {what: {name: of[what] for name, of in springs.items()} for what in ("stiffness", "rest_position")}
    assert build({}).with_joint_physics(**by_name) == robot
    assert robot.with_joint_physics(rest_position={"turn": 1.0}) == build(
        {**springs, "turn": {"stiffness": 5.0, "rest_position": 1.0}}
    )
    assert robot.stiffness.tolist() == [0.0] * 6 + [5.0, 8.0, 0.0, 0.0]
    assert robot.rest_positions.tolist() == [0.0] * 6 + [1.0, 0.25, -0.25, 0.0, 0.0]
    assert (robot.joint("turn").stiffness, robot.joint("turn").rest_position) == (5.0, 0.25)
    again = robot.with_joint_physics(stiffness=robot.stiffness, rest_position=robot.rest_positions)
    assert again.stiffness.tolist() == robot.stiffness.tolist()
    assert again.rest_positions.tolist() == robot.rest_positions.tolist()
    all_of_one = build({}).with_joint_physics(stiffness=3.0, rest_position=-1.0)
    assert all_of_one.stiffness.tolist() == [0.0] * 6 + [3.0, 3.0, 0.0, 0.0]
    assert all_of_one.rest_positions.tolist() == [0.0] * 6 + [1.0, -1.0, -1.0, 0.0, 0.0]
    assert not robot.stiffness.flags.writeable
    assert not robot.rest_positions.flags.writeable


def test_figures_count_in_dynamics() -> None:
    robot = kt.load("ur5")
    q, v, a = robot.random_state(seed=0)
    changed = robot.with_joint_physics(damping=0.5, armature={"elbow_joint": 0.25}).with_friction(coulomb=False)
    tau = robot.inverse_dynamics(q, v, a) + 0.5 * v + 0.25 * a * (np.arange(6) == 2)
    assert changed.inverse_dynamics(q, v, a) == pytest.approx(tau, rel=1e-13)


def test_limits_by_name_are_those_of_the_robot_built_so() -> None:
    limits = {"turn": {"limits": kt.JointLimits(-1, 2, 3, 4)}, "slide": {"limits": kt.JointLimits(upper=0.5)}}
    robot = build({}).with_limits(
        lower={"turn": -1}, upper={"turn": 2, "slide": 0.5}, velocity={"turn": 3}, effort={"turn": 4}
    )
    assert robot == build(limits)
    assert robot.with_limits(upper={"slide": np.inf}).upper_limits[8] == np.inf


def test_limits_as_numbers_and_arrays() -> None:
    robot = build({}).with_limits(velocity=2.0, lower=-1.0)
    assert robot.velocity_limits.tolist() == [np.inf] * 6 + [2.0, 2.0] + [np.inf] * 2
    other = build({}).with_limits(velocity=robot.velocity_limits, lower=robot.lower_limits)
    assert other == robot
    with pytest.raises(kt.ModelError, match="velocity: joint 'float' has 6 entries, which have no limits: give inf"):
        robot.with_limits(velocity=np.ones(robot.nv))


def test_followers_keep_their_limits_which_narrow_those_of_their_leader():
    robot = build({"follow": {"limits": kt.JointLimits(-1.0, 1.0, velocity=1.0)}})
    (k,) = np.flatnonzero(robot.velocity_limits == 0.5)
    looser = robot.with_limits(lower=-3.0, upper={"slide": 1.2}, velocity=0.8)
    assert (looser.joint("slide").limits, looser.joint("follow").limits.upper) == (
        kt.JointLimits(-0.5, 0.5, velocity=0.5),
        1.0,
    )
    assert looser.with_limits(velocity=0.4).velocity_limits[k] == 0.4
    both = looser.with_limits(upper={"slide": 1.2}, lower={"follow": -2.0}, velocity={"slide": 3.0, "follow": 4.0})
    assert both.joint("slide").limits == kt.JointLimits(-0.5, 1.0, velocity=2.0)


test_mistakes_are_told = told(
    kt.KinetreeError,
    (lambda r: r.with_joint_physics(damping={"trun": 1}), "no joint 'trun', did you mean 'turn'"),
    (lambda r: r.with_joint_physics(friction={"turn": -1}), "friction of joint 'turn' is -1.0, and cannot"),
    (lambda r: r.with_joint_physics(armature={"turn": np.nan}), "armature of joint 'turn' holds a number"),
    (
        lambda r: r.with_joint_physics(rotor_inertia={"turn": 1}, gear_ratio={"slide": 2}),
        "gear_ratio is given for joint 'slide', and rotor_inertia is not",
    ),
    (lambda r: r.with_joint_physics(rotor_inertia=1, gear_ratio={"float": 2}), "gear_ratio is given for joint"),
    (
        lambda r: r.with_joint_physics(rotor_inertia={"turn": 1e300}, gear_ratio=1e300),
        "gear_ratio² · rotor_inertia of joint 'turn' overflows",
    ),
    (lambda r: r.with_joint_physics(stiffness={"bend": 2}), "joint 'bend' has 2 degrees of freedom: only joints"),
    (lambda r: r.with_joint_physics(stiffness={"turn": -2}), "stiffness of joint 'turn' is -2.0, and cannot"),
    (lambda r: r.with_joint_physics(stiffness=np.ones(r.nv)), "stiffness: joint 'float' has 6 entries, which have"),
    (lambda _: build({"bend": {"stiffness": 1.0}}), "joint 'bend' has 2 degrees of freedom: only joints with one"),
    (lambda _: build({"turn": {"stiffness": -1.0}}), "joint 'turn': stiffness is -1.0, and cannot be negative"),
    (lambda _: build({"turn": {"rest_position": np.inf}}), "joint 'turn' holds the number inf"),
    (lambda r: r.with_limits(effort={"follow": 2}), "joint 'follow' follows 'slide': give the effort limit of"),
    (
        lambda r: r.with_limits(lower={"follow": 2, "slide": 0}, upper={"slide": 1}),
        "'follow' follows 'slide': between 0.0 and 1.0 that has no place where 'follow' is between",
    ),
    (lambda r: r.with_limits(upper={"bend": 2}), "joint 'bend' has 2 degrees of freedom: only joints with one"),
    (lambda r: r.with_limits(effort={"turn": [1, 2]}), "effort of joint 'turn' has shape"),
    of=lambda ask: ask(build({})),
)
