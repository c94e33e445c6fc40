"""Joint states by name, in any order."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.told import told
from helpers.trees import toy
from kinetree.conventions import State, from_joint_state, to_joint_state
from kinetree.errors import ArgumentError
from kinetree.joints import Revolute


@pytest.mark.parametrize("name", ["panda", "g1"])
def test_there_and_back_in_another_order(name: str) -> None:
    robot = kt.load(name)
    q, v, tau = robot.random_state(seed=0, size=(2, 3))
    message = to_joint_state(robot, q, v, tau)
    order = np.random.default_rng(0).permutation(len(message.name))
    names = [message.name[k] for k in order]
    fields = [x[..., order] for x in message[1:] if x is not None]
    back = from_joint_state(robot, names, *fields, start=State(q * 0 + robot.neutral(), v * 0, tau * 0))
    single = [robot.joint(x) for x in message.name]
    assert len(single) == (7 if name == "panda" else 29)
    qs, vs = [j.q_slice.start for j in single], [j.v_slice.start for j in single]
    for got, expected, index in ((back.q, q, qs), (back.v, v, vs), (back.tau, tau, vs)):
        assert got is not None
        np.testing.assert_array_equal(got[..., index], expected[..., index])
    if name == "g1":  # the base is in no message
        np.testing.assert_array_equal(back.q[..., :7], np.broadcast_to(robot.neutral()[:7], (2, 3, 7)))
        assert back.v is not None
        assert not back.v[..., :6].any()


def test_empty_fields_are_missing_ones() -> None:
    robot = kt.load("panda")
    names, q = list(robot.joint_names), np.arange(7.0)
    state = from_joint_state(robot, names, q, [], [])
    np.testing.assert_array_equal(state.q, q)
    assert state.v is None
    assert state.tau is None
    assert to_joint_state(robot, q).velocity is None
    kept = from_joint_state(robot, names, [], np.ones(7), start=State(q, None, None))
    np.testing.assert_array_equal(kept.q, q)
    np.testing.assert_array_equal(kept.v, np.ones(7))


def test_joints_of_others_are_passed_over_and_missing_ones_kept() -> None:
    robot = kt.load("panda")
    start = State(np.arange(7.0), -np.arange(7.0), None)
    state = from_joint_state(robot, ["gripper", "panda_joint3"], [9.0, 8.0], [7.0, 6.0], start=start)
    np.testing.assert_array_equal(state.q, [0, 1, 8, 3, 4, 5, 6])
    np.testing.assert_array_equal(state.v, [0, -1, 6, -3, -4, -5, -6])
    assert state.tau is None
    np.testing.assert_array_equal(start.q, np.arange(7.0))  # it is not written to


def test_mimic_joints_are_in_the_message() -> None:
    copy = "copy palm a", Revolute(), {"mimic": ("lead", -2.0, 0.5)}
    robot = kt.Robot(toy(copy, ("lead palm b", Revolute())))
    message = to_joint_state(robot, [0.25], [1.5], [3.0])
    fields = {name: values for name, *values in zip(*message, strict=True)}
    assert fields == {"copy": [0.0, -3.0, 0.0], "lead": [0.25, 1.5, 3.0]}
    back = from_joint_state(robot, *message)
    assert [x.tolist() for x in back if x is not None] == [[0.25], [1.5], [3.0]]


ROBOT = kt.load("panda")
NAMES = list(ROBOT.joint_names)
test_mistakes_are_told = told(
    ArgumentError,
    ((NAMES[:5], np.zeros(5)), r"lacks \['panda_joint6', 'panda_joint7'\]: give start="),
    (([*NAMES, "panda_joint1"], np.zeros(8)), r"names \['panda_joint1'\] twice"),
    ((NAMES, np.zeros(7), np.zeros(6)), r"the joint state's velocity has shape \(6,\), \(..., 7\) is needed"),
    ((NAMES, []), "has no positions"),
    of=lambda given: from_joint_state(ROBOT, *given),
)
