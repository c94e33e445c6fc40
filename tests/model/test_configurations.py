"""Named configurations: part of a robot as a value, and what becomes of them when it changes."""

from __future__ import annotations

import copy
import os
import pickle
import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_tree

UP, FLAT = np.array([0, -1.5, 0.5, -1.5, 0, 0.25]), np.zeros(6)
plain = kt.load("ur5")
robot = plain.with_configuration("up", UP).with_configuration("flat", FLAT)


def test_they_are_read_by_name() -> None:
    assert list(robot.configurations) == ["up", "flat"]
    assert robot.configuration("up").tolist() == UP.tolist()
    assert robot.with_configuration("up", FLAT).configuration("up").tolist() == FLAT.tolist()
    assert not plain.configurations
    given = UP.copy()
    other = plain.with_configuration("up", given)
    given[0] = 7.0
    assert other.configuration("up")[0] == 0.0
    with pytest.raises(TypeError):
        robot.configurations["up"] = FLAT  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        robot.configuration("up")[0] = 1.0
    with pytest.raises(kt.ModelError, match="no configuration 'upp', did you mean 'up'"):
        robot.configuration("upp")


def test_they_are_part_of_the_value() -> None:
    assert robot != plain
    assert robot == plain.with_configuration("flat", FLAT).with_configuration("up", UP)
    assert robot != plain.with_configuration("flat", UP).with_configuration("up", UP)
    for again in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot)):
        assert again == robot
        assert hash(again) == hash(robot)
        assert again.configuration("up").tolist() == UP.tolist()
    assert robot.model.digest == plain.model.digest  # the compiled code is that of the plain robot


def test_locking_keeps_the_joints_that_are_left() -> None:
    names = robot.joint_names
    locked = robot.lock([names[1], names[4]], UP)
    assert locked.configuration("up").tolist() == UP[[0, 2, 3, 5]].tolist()


def test_attaching_takes_the_states_of_the_same_name() -> None:
    other = plain.with_configuration("up", -UP).with_configuration("own", UP)
    both = robot.attach(other, "tool0", prefix="second_")
    assert list(both.configurations) == ["up", "flat"]
    assert both.configuration("up").tolist() == [*UP, *-UP]
    assert both.configuration("flat").tolist() == [*FLAT, *plain.neutral()]


def test_quaternions_are_unit_ones() -> None:
    dog = kt.load("go2")
    q = dog.random_configuration(seed=0)
    assert dog.with_configuration("any", q).configuration("any").tolist() == q.tolist()
    for norm in (0.0, 2.0, 1e-300, 1e300):
        q[3:7] = [0, 0, 0, norm]
        with (
            warnings.catch_warnings(action="error"),
            pytest.raises(kt.ArgumentError, match="'any': the quaternion of 'root_joint' is not normalised"),
        ):
            dog.with_configuration("any", q)


@pytest.mark.parametrize("size", [(), 5, (2, 0), (2, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_random_numbers_are_those_of_the_joints_one_by_one(seed: int, size: int | tuple[int, ...]) -> None:
    robot = kt.Robot(random_tree(seed, 12))
    if seed == 0:
        robot = kt.load("g1")
    rng, lead = np.random.default_rng(seed), (size,) if isinstance(size, int) else size
    expected = np.empty((*lead, robot.nq))
    for body in robot.model.leading:
        limits = ([body.limits.lower], [body.limits.upper]) if len(body.q_index) == 1 else (None, None)
        expected[..., list(body.q_index)] = body.joint.random(rng, *limits, lead)
    np.testing.assert_array_equal(robot.random_configuration(seed, size), expected)
    assert robot.neutral().tolist() == [x for body in robot.model.leading for x in body.joint.neutral()]


def test_processes_do_not_share_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    first = plain.random_configuration()
    assert not np.array_equal(first, plain.random_configuration())
    generators = []
    for process in (-1, -2):  # as after a fork, which copies the memory
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        generators.append(plain.random_configuration())
    assert not np.array_equal(*generators)
