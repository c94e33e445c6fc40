"""Quantities of a frame at a point fixed to it: those of a frame that was put there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.compiler import ALGORITHMS, Algorithm, shape_of, uses
from helpers.dense import assert_close
from helpers.frames import ANGULAR_FIRST, PIN_REFERENCE, REFERENCES, TREES, mimicking_tree, tips, with_frames
from helpers.pinocchio_oracle import build
from helpers.trees import Array, columns, random_states, stacked
from kinetree.model import Model

AT_A_POINT = [a for a in ALGORITHMS.values() if "point" in a.optional]
POINT = np.array([0.3, -0.2, 0.5])
HERE = np.block([[np.eye(3), POINT[:, None]], [np.zeros(3), 1.0]])
SIZE = 4

algorithms = pytest.mark.parametrize("algorithm", AT_A_POINT, ids=lambda a: a.name)


def arguments(model: Model, algorithm: Algorithm) -> list[Array]:
    q, rng = random_states(model, 3, size=SIZE)[0], np.random.default_rng(4)
    return [q if name == "q" else rng.normal(size=(SIZE, *shape_of(x, model))) for name, x in algorithm.inputs.items()]


def results(model: Model, algorithm: Algorithm, arrays: list[Array], options: dict[str, Any]) -> Array:
    return stacked(algorithm.function(model, *map(columns, arrays), **options), (SIZE,))


def test_every_function_of_a_frame_that_moves_with_it_takes_a_point() -> None:
    names = {"jacobian", "jacobian_rate", "jacobian_bias", "frame_placement", "frame_velocity", "frame_acceleration"}
    names |= {"relative_jacobian", "relative_placement", "external_wrench", "wrench_forces"}
    assert {a.name for a in AT_A_POINT} == names


@algorithms
@pytest.mark.parametrize("model", [TREES[0], mimicking_tree()], ids=lambda m: m.name)
def test_a_point_is_a_frame_put_there(model: Model, algorithm: Algorithm) -> None:
    arrays = arguments(model, algorithm)
    point = np.broadcast_to(POINT, (SIZE, 3))
    for frame in tips(model):
        there = kt.Robot(model).with_frame("there", on=frame, placement=HERE).model
        for use in uses(algorithm, (frame, model.frame_names[1]), model.joint_names[0]):
            got = results(model, algorithm, arrays, {**use.options, "point": columns(point)})
            expected = results(there, algorithm, arrays, {**use.options, "frame": "there"})
            assert_close(got, expected, ulps=100, scale=float(np.abs(expected).max()) or 1.0)


def test_compiled_for_one_state_and_many_points() -> None:
    robot = kt.load("panda")
    q, v, _ = robot.random_state(seed=0)
    points = np.random.default_rng(0).normal(size=(5, 3))
    there = robot.with_frame("there", on="panda_hand", placement=HERE)
    J = robot.jacobian(q, POINT, frame="panda_hand", reference="aligned")
    np.testing.assert_allclose(J, there.jacobian(q, frame="there", reference="aligned"), rtol=0, atol=1e-14)
    many = robot.jacobian(q, points, frame="panda_hand", reference="aligned")
    assert many.shape == (5, 6, 7)
    assert many[3].tolist() == robot.jacobian(q, points[3].tolist(), frame="panda_hand", reference="aligned").tolist()
    f = robot.compile(lambda q, v: robot.frame_velocity(q, v, POINT, frame="panda_hand"), name="inside")
    assert f(q, v) == pytest.approx(there.frame_velocity(q, v, frame="there"), abs=1e-13)
    with pytest.raises(kt.ArgumentError, match=r"jacobian: point has shape \(2,\), one state has shape \(3,\)"):
        robot.jacobian(q, [1, 2], frame="panda_hand")


@pytest.mark.parametrize("reference", REFERENCES)
def test_against_pinocchio(reference: str) -> None:
    robot = kt.load("panda")
    q, v, _ = robot.random_state(seed=1)
    oracle = with_frames(build(robot.model))
    theirs = oracle.theirs
    hand = theirs.frames[theirs.getFrameId("panda_hand")]
    placement = hand.placement * pin.SE3(np.eye(3), POINT)
    there = theirs.addFrame(pin.Frame("there", hand.parentJoint, 0, placement, pin.FrameType.OP_FRAME))
    data = theirs.createData()
    their_q, their_v = oracle.to_pin_q(q), oracle.to_pin_v(v)
    J = pin.computeFrameJacobian(theirs, data, their_q, there, PIN_REFERENCE[reference])[ANGULAR_FIRST]
    got = robot.jacobian(q, POINT, frame="panda_hand", reference=reference)
    np.testing.assert_allclose(got @ v, J @ their_v, rtol=0, atol=1e-13)
    F = np.random.default_rng(0).normal(size=6)
    tau = robot.wrench_forces(q, F, POINT, frame="panda_hand", reference=reference)
    np.testing.assert_allclose(tau, oracle.from_pin_v(J.T @ F), rtol=0, atol=1e-13)
