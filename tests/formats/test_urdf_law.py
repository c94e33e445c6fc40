"""What a robot is made of comes back from its URDF, or is named: for every method that makes a robot of a robot.

The law is tested on all functions of the table, on Python floats, and on what a robot says of itself.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.compiler import ALGORITHMS, Algorithm, shape_of, uses
from helpers.trees import random_states
from kinetree.geometry import Box, Capsule, Geometries, Geometry
from kinetree.model import Model

LINK = '<link name="{}"><inertial><origin xyz="0.1 {} 0.05"/><mass value="{}"/>'
LINK += '<inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.04"/></inertial></link>\n'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.3 0 {}" rpy="0.2 {} 0"/>'
JOINT += '<axis xyz="{}"/>{}</joint>\n'
LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="3" jerk="7"/>'
ARM = '<robot name="an &quot;arm&quot; &amp; &lt;more&gt;">\n'
ARM += "".join(LINK.format(*x) for x in [("ground", 0, 9), ("a", 0, 3), ("b", 0.1, 2), ("tool", 0.2, 1), ("c", 0, 1)])
ARM += LINK.format("d", 0.3, 0.5) + LINK.format("e", -0.1, 0.7)
ARM += JOINT.format("turn", "continuous", "ground", "a", 0.1, 0.3, "0 0 1", '<dynamics damping="0.1" friction="0.2"/>')
ARM += JOINT.format("lift", "prismatic", "a", "b", 0.2, 0.1, "0 1 0", LIMIT)
ARM += JOINT.format("bend", "revolute", "b", "c", 0.3, 0.5, "0 0.6 0.8", LIMIT)
ARM += JOINT.format("weld", "fixed", "b", "tool", 0.1, 0.0, "1 0 0", "")
ARM += JOINT.format("slide", "planar", "c", "d", 0.1, 0.2, "0 0 1", '<dynamics damping="0.3"/>')
ARM += JOINT.format(
    "follow", "revolute", "c", "e", 0.1, 0.2, "1 0 0", LIMIT + '<mimic joint="bend" multiplier="-0.5"/>'
)
ARM += "</robot>\n"
HAND = '<robot name="hand">' + LINK.format("palm", 0, 1) + LINK.format("finger", 0, 0.2)
HAND += JOINT.format("grip", "revolute", "palm", "finger", 0.1, 0, "0 1 0", LIMIT) + "</robot>"
POSE = [[0.0, -1.0, 0.0, 0.3], [-1.0, 0.0, 0.0, -0.2], [0.0, 0.0, -1.0, 2.5], [0.0, 0.0, 0.0, 1.0]]
BODY = kt.Inertia(1.3, [0.05, 0.0, 0.1], np.diag([0.02, 0.03, 0.02]))

SHAPES = Geometries(collision=(Geometry("tool", Box((0.1, 0.2, 0.3))), Geometry("c", Capsule(0.1, 0.5))))


def shaped(robot: kt.Robot) -> kt.Robot:
    return kt.Robot(robot.model, robot.configurations, geometry=SHAPES)


Edit = Callable[[kt.Robot], kt.Robot]

EDITS: dict[str, list[Edit]] = {
    "with_configuration": [lambda r: r.with_configuration("rest", r.neutral()).with_configuration("up", r.neutral())],
    "with_gravity": [lambda r: r.with_gravity([0.3, -1.62, 0.5])],
    "with_base_pose": [lambda r: r.with_base_pose(POSE)],
    "with_friction": [lambda r: r.with_friction(), lambda r: r.with_friction(coulomb=False, smoothing=0.1)],
    "with_joint_physics": [
        lambda r: r.with_joint_physics(damping=0.4, friction={"bend": 0.2, "follow": 0.3}),
        lambda r: r.with_joint_physics(armature=0.3, stiffness={"bend": 5.0}, rest_position={"bend": 0.2}),
        lambda r: r.with_joint_physics(damping=np.linspace(0.1, 0.9, r.nv)),
    ],
    "with_limits": [
        lambda r: r.with_limits(lower={"turn": -0.5}, upper={"turn": 0.5, "lift": 1.5}, velocity=2.0),
        lambda r: r.with_limits(lower={"bend": -np.inf, "follow": -np.inf}, upper={"bend": np.inf, "follow": np.inf}),
        lambda r: r.with_limits(lower={"follow": -0.2}, effort={"turn": 11.0, "lift": np.inf}),
    ],
    "with_inertia": [lambda r: r.with_inertia("tool", BODY), lambda r: r.with_inertia("ground", BODY)],
    "with_inertial_parameters": [lambda r: r.with_inertial_parameters(1.2 * r.inertial_parameters)],
    "with_inertia_from_geometry": [lambda r: shaped(r).with_inertia_from_geometry({"tool": 900.0, "c": 2000.0})],
    "with_frame": [lambda r: r.with_frame("tip", on="tool", placement=POSE).with_frame("edge", on="ground")],
    "lock": [lambda r: r.lock({"slide": [0.3, 0.2, 0.5]}), lambda r: r.lock(["turn", "lift"])],
    "attach": [
        lambda r: r.attach(BODY, "tool", placement=POSE),
        lambda r: r.attach(kt.load(HAND).with_base_pose(POSE), "tool", prefix="left_"),
    ],
}
"""Each method of `Robot` that returns another one, with robots that it may make."""

CASES = {f"{name}-{k}": edit for name, edits in EDITS.items() for k, edit in enumerate(edits)}
OTHER_BODIES = {"lock-0", "lock-1", "attach-1"}
"""The edits after which the original is another robot's file."""

SAID: dict[str, Callable[[kt.Robot, kt.Robot], kt.Robot]] = {
    "gravity": lambda again, r: again.with_gravity(r.gravity),
    "whether friction counts": lambda again, r: kt.Robot(again.model.with_friction(r.model.friction)),
    "armature": lambda again, r: again.with_joint_physics(armature=r.armature),
    "springs": lambda again, r: again.with_joint_physics(stiffness=r.stiffness, rest_position=r.rest_positions),
    "damping and friction": lambda again, r: again.with_joint_physics(damping=r.damping, friction=r.friction),
    "named configurations": lambda again, r: kt.Robot(again.model, r.configurations),
}
"""What gives a robot back what a warning has said to be missing."""


def arm(floats: bool) -> kt.Robot:
    return kt.load(ARM, floating_base=floats)


def edited(case: str, floats: bool) -> kt.Robot:
    """Return the robot of a case; of one that floats only if it may."""
    if floats and case in ("with_base_pose-0", "with_inertia-1"):
        case = "with_frame-0"
    return CASES[case](arm(floats))


def inputs(model: Model, algorithm: Algorithm, rows: str) -> dict[str, Any]:
    """Return random inputs, the optional ones too, for these rows of Jacobians."""
    rng, given = np.random.default_rng(len(algorithm.name)), {}
    for k, (name, shape) in enumerate({**algorithm.inputs, **algorithm.optional}.items()):
        q = shape == ("nq",)
        given[name] = random_states(model, k, ())[0] if q else rng.normal(size=shape_of(shape, model, rows))
        given[name] = (0.01 * given[name] if name == "dt" else given[name]).tolist()
    return given


def numbers(value: Any) -> list[float]:
    return [x for v in value for x in numbers(v)] if isinstance(value, list | tuple) else [float(value)]


def values(model: Model, like: Model) -> dict[str, list[float]]:
    """Return what each function of the table is of a model, its frames in the order of another one's."""
    found = {}
    for name, algorithm in ALGORITHMS.items():
        use = uses(algorithm, ("tool", "ground"), model.joint_names[-1])[
            0 if name == "step" else -1
        ]  # of steps Euler's
        result = algorithm.function(model, **inputs(like, algorithm, use.options.get("rows", "pose")), **use.options)
        if name == "frame_placements":
            at = dict(zip(model.frame_names, result, strict=True))
            result = [at[frame] for frame in like.frame_names]
        found[name] = numbers(result)
    return found


def assert_same_robot(a: kt.Robot, b: kt.Robot) -> None:
    """Hold the law: the second does what the first does, and says the same of itself."""
    for what in ("name", "nq", "nv", "nb", "gravity", "q_names", "v_names", "body_names"):
        assert getattr(a, what) == getattr(b, what), what
    for what in ("armature", "damping", "friction", "stiffness", "rest_positions", "inertial_parameters"):
        np.testing.assert_allclose(getattr(a, what), getattr(b, what), rtol=1e-9, atol=1e-12, err_msg=what)
    for what in ("lower_limits", "upper_limits", "velocity_limits", "effort_limits"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what), err_msg=what)
    assert {*a.configurations} == {*b.configurations}
    for name, q in a.configurations.items():
        np.testing.assert_array_equal(q, b.configurations[name])
    assert {*a.frame_names} <= {*b.frame_names}
    got, expected = values(b.model, a.model), values(a.model, a.model)
    for name, y in expected.items():
        assert len(y) == len(got[name]), name
        np.testing.assert_allclose(got[name], y, rtol=1e-6, atol=1e-9 * max(map(abs, y)), err_msg=name)


def through_urdf(robot: kt.Robot, original: str | None, floats: bool) -> kt.Robot:
    """Return the robot that its URDF describes, with what a warning has said that it lacks; there may be one."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        text = robot.to_urdf(original=original, lenient=True)
    assert len(said) <= 1
    message = str(said[0].message) if said else ""
    assert ("floating_base=True" in message) == floats
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of limits that there are not
        again = kt.load(text, floating_base=True if floats else None)
    for what, restored in SAID.items():
        again = restored(again, robot) if what in message else again
    return again


def test_every_method_that_makes_a_robot_is_here() -> None:
    assert EDITS.keys() == {name for name in dir(kt.Robot) if name.startswith("with_")} | {"lock", "attach"}


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_the_robot(case: str, floats: bool) -> None:
    robot = edited(case, floats)
    assert_same_robot(robot, through_urdf(robot, None, floats))


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_what_is_patched_is_the_robot(case: str, floats: bool) -> None:
    robot = edited(case, floats)
    if case in OTHER_BODIES:
        with pytest.raises(kt.ModelError, match=r"another robot's file: .*differ"):
            robot.to_urdf(original=ARM)
        return
    assert_same_robot(robot, through_urdf(robot, ARM, floats))


def test_all_of_it_at_once_and_nothing_is_forgotten() -> None:
    robot = arm(False)
    for case, edit in CASES.items():
        robot = robot if case in OTHER_BODIES else edit(robot)
    for original in (None, ARM):
        assert_same_robot(robot, through_urdf(robot, original, False))
    with pytest.warns(kt.FormatWarning) as said:
        robot.to_urdf(lenient=True)
    (warning,) = said
    assert all(what in str(warning.message) for what in SAID)


def facts(robot: kt.Robot) -> dict[tuple[str, ...], Any]:
    """Return all that a robot is made of, by what it is and whose."""
    model, root = robot.model, robot.frame("ground").placement
    found: dict[tuple[str, ...], Any] = {("gravity",): robot.gravity, ("what counts",): model.friction}
    found |= {("base pose",): root.tolist()}
    found["inertia of the base",] = np.array(model.frame("ground").X.inverse().T @ model.base_inertia).round(9).tolist()
    for body in model.bodies:
        for field in ("limits", "armature", "damping", "friction", "spring"):
            found[field, body.joint_name] = getattr(body, field)
        found["inertia", body.name] = np.array(body.inertia).round(9).tolist()
    for name in robot.frame_names:
        frame = robot.frame(name)
        placement = frame.placement if frame.body else np.linalg.inv(root) @ frame.placement
        found["frame", name] = frame.body, placement.round(9).tolist()
    for name, q in robot.configurations.items():
        found |= {("configuration", name, joint): x for joint, x in zip(robot.q_names, q.tolist(), strict=True)}
    return found


@pytest.mark.parametrize("first", sorted(CASES.keys() - {"lock-1"}))  # after which "tool" is a part of the base
def test_what_one_method_gives_no_other_takes(first: str) -> None:
    """What of a robot a method does not change stays as another one has left it; pickled and copied it is equal."""
    base, given = facts(arm(False)), CASES[first](arm(False))
    assert pickle.loads(pickle.dumps(given)) == copy.copy(given) == copy.deepcopy(given) == given
    assert facts(given) != base
    assert facts(pickle.loads(pickle.dumps(given))) == facts(given)
    kept = facts(given)
    for second, edit in CASES.items():
        if second == "lock-1" or first.split("-")[0] == second.split("-")[0]:
            continue
        alone, after = facts(edit(arm(False))), edit(given)
        both = facts(after)
        for key in kept:
            of_joint = key[0] == "configuration" and key[2] not in after.q_names
            there = key in base or key[0] in ("configuration", "frame")
            if there and not of_joint and alone.get(key) == base.get(key):
                assert both[key] == kept[key], f"{second} changes {key}"
