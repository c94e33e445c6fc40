"""`Robot` as users meet it: what it tells, what it refuses, its configurations; not its functions' arguments."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import os
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.pinocchio_oracle import SHARED, build
from helpers.trees import random_tree, toy
from kinetree.algorithms import ALGORITHMS
from kinetree.cli import main
from kinetree.joints import Planar, Revolute

TREE = kt.Robot(random_tree(3, n=10, joints=tuple({type(joint): joint for joint in SHARED}.values())))


@pytest.fixture(scope="module")
def panda() -> kt.Robot:
    return kt.load("panda")


@pytest.fixture(scope="module")
def g1() -> kt.Robot:
    return kt.load("g1")


# -- what it is -----------------------------------------------------------------------------------------------------


def test_properties_of_a_floating_robot(g1: kt.Robot) -> None:
    assert (g1.nq, g1.nv, g1.nb) == (36, 35, 30)
    assert g1.joint_names[0] == "root_joint"
    assert g1.joint("root_joint").type == "FreeFlyer"
    assert g1.joint("root_joint").q_slice == slice(0, 7)
    assert g1.joint("root_joint").v_slice == slice(0, 6)
    slices = [g1.joint(name) for name in g1.joint_names[1:]]
    assert [j.q_slice for j in slices] == [slice(k, k + 1) for k in range(7, 36)]
    assert [j.v_slice for j in slices] == [slice(k, k + 1) for k in range(6, 35)]
    assert (g1.lower_limits[:7] == -math.inf).all()
    assert (g1.effort_limits[:6] == math.inf).all()


def test_joint_information() -> None:
    limits = kt.JointLimits(-1.0, 2.0, 3.0, 4.0)
    options = {"limits": limits, "damping": 0.1, "friction": 0.2, "armature": 0.3}
    robot = kt.Robot(toy(("elbow base arm", Revolute((0, 1, 0)), options)))
    elbow = robot.joint("elbow")
    assert (elbow.name, elbow.type, elbow.body) == ("elbow", "Revolute", "arm")
    assert (elbow.limits, elbow.damping, elbow.friction, elbow.armature) == (limits, 0.1, 0.2, 0.3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        elbow.name = "knee"
    arrays = robot.lower_limits, robot.upper_limits, robot.velocity_limits, robot.effort_limits
    assert [x.tolist() for x in arrays] == [[-1.0], [2.0], [3.0], [4.0]]


def test_where_a_joint_and_a_frame_are(panda: kt.Robot, g1: kt.Robot) -> None:
    """The pose of a child at q = 0 is that of its joint's frame in its parent; a frame is fixed to its body."""
    moved = kt.load("panda", base_pose=[[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    for robot in (panda, moved, g1):
        at = dict(zip(robot.frame_names, robot.frame_placements(robot.neutral()), strict=True)) | {"world": np.eye(4)}
        for name in robot.joint_names:
            joint = robot.joint(name)
            assert_close(at[joint.parent] @ joint.placement, at[joint.child], ulps=20)
            assert joint.child == joint.body
            assert joint.mimic is None
            assert not joint.placement.flags.writeable
        for name in robot.frame_names:
            frame = robot.frame(name)
            assert_close(at[frame.body or "world"] @ frame.placement, at[name], ulps=20)
            assert frame.joint is None or robot.joint(frame.joint).child == frame.body
    assert moved.joint("panda_joint1").parent == "panda_link0"
    assert moved.joint("panda_joint1") == panda.joint("panda_joint1")
    assert g1.joint("root_joint").parent == "world"
    assert g1.joint("root_joint").axis is None
    assert g1.joint("left_hip_pitch_joint").axis == (0.0, 1.0, 0.0)
    with pytest.raises(kt.ModelError, match="no frame 'hand', did you mean 'panda_hand'"):
        panda.frame("hand")


def test_a_joint_that_mimics_tells_its_leader() -> None:
    other = "other palm right", Revolute((1, 0, 0)), {"mimic": ("finger", -1, 0.5)}
    other = kt.Robot(toy(("finger palm left", Revolute((0, 1, 0))), other)).joint("other")
    assert (other.mimic, other.axis, other.q_slice) == (("finger", -1.0, 0.5), (1.0, 0.0, 0.0), slice(0, 1))


COLOURS = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TTY_COMPATIBLE": "1", "PYTHONIOENCODING": "utf-8"}


def test_printed_it_is_the_table_of_the_command_line(
    panda: kt.Robot, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["info", "panda"]) == 0
    table, _, source = capsys.readouterr().out.partition("figures from ")
    assert str(panda).splitlines() == [line.rstrip() for line in table.splitlines()]
    assert source
    assert "\n" not in repr(panda)
    massless = kt.Robot(toy(("hinge base left", Revolute()), links={"left": None}))
    assert "without mass, so that forward dynamics is singular: left" in str(massless)
    rock = "<robot name='lab:b:[/]arm'><link name='tool:b:1'/></robot>"  # no emoji, no markup
    assert (
        str(kt.load(rock))
        == "lab:b:[/]arm: 0 joints, nq = 0, nv = 0, 0 moving bodies, 0 kg\nfixed to the world: tool:b:1"
    )
    path = tmp_path / "rock.urdf"
    path.write_text(rock)
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == str(kt.load(rock)).splitlines()
    code = "import sys, kinetree as kt; r = kt.load('ur5'); repr(r); assert 'rich' not in sys.modules; print(r); "
    code += "assert 'kinetree.cli' not in sys.modules  # it lies above the robot"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env={**os.environ, **COLOURS}, check=True)
    assert done.stdout.startswith(b"ur5: 6 joints")
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.joint("panda_jiont3"), "no joint 'panda_jiont3', did you mean 'panda_joint3'"),
        (lambda r: r.joint("x"), "no joint 'x'; there are: panda_joint1, panda_joint2"),
        (lambda r: r.warmup("invers_dynamics"), "no function 'invers_dynamics', did you mean 'inverse_dynamics'"),
        (lambda r: r.model.frame("panda_hnad"), "no frame 'panda_hnad', did you mean 'panda_hand'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(panda: kt.Robot, ask: object, message: str) -> None:
    with pytest.raises(kt.KinetreeError) as caught:
        ask(panda)
    assert message in str(caught.value)


def test_a_wrong_attribute_is_answered_with_the_right_one(panda: kt.Robot) -> None:
    with pytest.raises(AttributeError, match="no attribute 'inverse_dinamics', did you mean 'inverse_dynamics'"):
        panda.inverse_dinamics  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'; there are: ") as caught:
        panda.xyzzy  # noqa: B018
    assert "__" not in str(caught.value)
    assert not hasattr(panda, "__array__")


def test_all_algorithms_are_functions_of_the_robot(panda: kt.Robot) -> None:
    assert set(ALGORITHMS) <= set(dir(panda))
    for name, algorithm in ALGORITHMS.items():
        function = getattr(panda, name)
        assert function is getattr(panda, name)  # made once
        assert function.__name__ == name
        assert function.__doc__.startswith(algorithm.function.__doc__.splitlines()[0])


def test_functions_are_shown_at_the_class() -> None:
    shown = pydoc.plain(pydoc.render_doc(kt.Robot.step))
    assert "step(self, q, v, tau, dt, f_ext=None, *, integrator='semi_implicit_euler'" in shown
    assert "Return the configuration and velocity a time dt later" in shown
    assert "simulate(robot" in pydoc.plain(pydoc.render_doc(kt.Robot.simulate))
    robot = kt.load("ur5")
    assert np.array_equal(kt.Robot.mass_matrix(robot, robot.neutral()), robot.mass_matrix(robot.neutral()))
    assert robot.mass_matrix is robot.mass_matrix
    assert kt.Mechanism.forward_dynamics.__doc__ != kt.Robot.forward_dynamics.__doc__
    assert not hasattr(kt.Robot, "no_such_function")


@pytest.mark.parametrize("kind", [kt.Robot, kt.Mechanism])
def test_help_begins_with_a_table_of_what_there_is(kind: type) -> None:
    first, table, *_ = (kind.__doc__ or "").split("\n\n")
    assert "\n" not in first
    named = set(re.findall(r"\w+", table))
    of_objects = {"model", "configurations", "tree", "constraint_names", "nrows", "row_slices"}  # set by __init__
    public = {name for name in dir(kind) if not name.startswith("_")} | (of_objects & named)
    assert public == named & public, public - named


def test_methods_of_other_modules_are_shown_whole() -> None:
    shown = pydoc.plain(pydoc.render_doc(kt.Robot))
    assert "nv\n |      Length of v, a and tau: the degrees of freedom.\n" in shown
    for name in ("neutral", "joint", "attach", "inverse_kinematics", "compile"):
        method = getattr(kt.Robot, name)
        assert any(name in vars(base) for base in kt.Robot.__mro__)
        assert f"{name}(" in shown
        assert method.__doc__.splitlines()[0] in shown
        assert getattr(kt.load("ur5"), name).__func__ is method
    assert list(inspect.signature(kt.load("ur5").attach).parameters) == ["what", "frame", "placement", "prefix"]


# -- it does not change ---------------------------------------------------------------------------------------------


def test_a_robot_does_not_change(panda: kt.Robot) -> None:
    for name in ("gravity", "model", "nq", "inverse_dynamics", "new"):
        with pytest.raises(AttributeError, match="a Robot does not change"):
            setattr(panda, name, 1)
    with pytest.raises(AttributeError, match="a Robot does not change"):
        del panda.model


ARRAYS = ("lower_limits", "upper_limits", "velocity_limits", "effort_limits")
ARRAYS += ("armature", "damping", "friction", "inertial_parameters")


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_computed_once_and_read_only(panda: kt.Robot, name: str) -> None:
    array = getattr(panda, name)
    assert getattr(panda, name) is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 7.0
    assert getattr(copy.copy(panda), name).tolist() == array.tolist()
    with pytest.raises(AttributeError, match="does not change"):
        setattr(panda, name, array)


def test_a_robot_is_a_value(panda: kt.Robot) -> None:
    again = kt.load("panda")
    assert again == panda
    assert hash(again) == hash(panda)
    assert panda != kt.load("ur5")
    assert panda != "panda"
    assert len({panda, again, kt.load("ur5")}) == 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_equal_and_work(panda: kt.Robot, copied: object) -> None:
    q, v, a = panda.random_state(seed=1)
    expected = panda.inverse_dynamics(q, v, a)  # also: what is compiled does not stand in the way of pickling
    again = copied(panda)
    assert again == panda
    np.testing.assert_array_equal(again.inverse_dynamics(q, v, a), expected)


@pytest.mark.parametrize("model", [None, "panda", 3])
def test_a_robot_is_made_of_a_model(model: object) -> None:
    with pytest.raises(kt.ArgumentError, match=r"Robot takes a Model, .* was given; kinetree\.load reads files"):
        kt.Robot(model)


def test_a_robot_has_plain_numbers(panda: kt.Robot) -> None:
    symbolic = panda.model.with_numbers([np.longdouble(x) for x in panda.model.numbers])
    with pytest.raises(kt.ModelError, match="must have plain numbers"):
        kt.Robot(symbolic)


# -- configurations -------------------------------------------------------------------------------------------------


def test_random_states_repeat_with_their_seed_and_keep_the_limits(panda: kt.Robot) -> None:
    first, again, other = (panda.random_state(seed=s, size=500) for s in (0, 0, 1))
    for x, y, z in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(x, y)
        assert not np.array_equal(x, z)
        assert x.shape == (500, 7)
    q = first[0]
    assert ((q >= panda.lower_limits) & (q <= panda.upper_limits)).all()
    span = panda.upper_limits - panda.lower_limits
    assert (np.ptp(q, axis=0) > 0.9 * span).all()  # all of the range is used
    assert [x.shape for x in panda.random_state(0, size=(2, 3))] == [(2, 3, 7)] * 3
    assert [x.shape for x in panda.random_state(0)] == [(7,)] * 3
    generator = np.random.default_rng(0)
    np.testing.assert_array_equal(panda.random_configuration(generator), panda.random_configuration(0))


@pytest.mark.parametrize("seed", [-1, np.int64(-4), 1.5, "a", [1, -2]])
def test_a_seed_that_is_none(panda: kt.Robot, seed: object) -> None:
    for draw in (panda.random_configuration, panda.random_state):
        with pytest.raises(kt.ArgumentError, match=r"^seed is .*, it must be an integer ≥ 0, a numpy.random.Generator"):
            draw(seed)


@pytest.mark.parametrize("length", [1e-9, 0.3, 3.0])
def test_integrate_and_difference_are_pinocchios(length: float) -> None:
    oracle = build(TREE.model)
    q, dv, _ = TREE.random_state(seed=5, size=30)
    dv *= length / np.linalg.norm(dv, axis=1, keepdims=True)
    moved = TREE.integrate(q, dv)
    theirs, ours = oracle.integrate(q, dv), oracle.to_pin_q(moved)
    # a quaternion and its negative are one orientation, and Pinocchio chooses the sign otherwise
    for body, joint in oracle.joints():
        if body.joint.nq != body.joint.nv:
            k = slice(joint.idx_q + joint.nq - 4, joint.idx_q + joint.nq)
            theirs[:, k] *= np.sign(np.sum(theirs[:, k] * ours[:, k], axis=1, keepdims=True))
    assert_close(ours, theirs, ulps=32)
    assert_close(TREE.difference(q, moved), dv, ulps=64, scale=max(length, 3.0))
    # Pinocchio's logarithm of a planar joint has errors up to 1e-10: ours is held to dv alone
    exact = [k for body, _ in oracle.joints() if not isinstance(body.joint, Planar) for k in body.v_index]
    difference, theirs = TREE.difference(q, moved), oracle.difference(q, moved)
    assert_close(difference[:, exact], theirs[:, exact], ulps=64, scale=max(length, 3.0))


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e160])
def test_what_is_no_orientation_gives_nan_and_never_a_number(scale: float) -> None:
    """A squared norm that is zero or overflows: no silent identity, no exception, alone or in a batch."""
    robot = kt.load("go2")
    q, v, a = robot.random_state(seed=3)
    bad = q.copy()
    bad[3:7] *= scale
    with np.errstate(all="raise"):
        for given in (bad, np.stack([bad, bad])):
            assert np.isnan(robot.integrate(given, v)[..., 3:7]).all()
            assert np.isnan(robot.difference(given, q)[..., :3]).all()
            assert np.isnan(robot.difference(q, given)[..., :3]).all()
            assert np.isnan(robot.inverse_dynamics(given, v, a)).any(axis=-1).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e3, 1e150])
def test_the_norm_of_a_quaternion_makes_no_difference(scale: float) -> None:
    robot = kt.load("go2")
    q, v, a = robot.random_state(seed=3)
    scaled = q.copy()
    scaled[3:7] *= scale
    expected = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(scaled, v, a), expected, rtol=0, atol=1e-14 * abs(expected).max())


def test_warmup_without_names_compiles_what_needs_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetree.runtime import Function

    robot, done = kt.load("ur5"), []
    monkeypatch.setattr(Function, "warmup", lambda self, **options: done.append((self.__name__, options)))
    robot.warmup()
    assert {name for name, _ in done} == {name for name, a in ALGORITHMS.items() if not a.needs_option}
    done.clear()
    assert robot.warmup("jacobian", frame="tool0", batch=True) is robot
    assert done == [("jacobian", {"batch": True, "frame": "tool0"})]
