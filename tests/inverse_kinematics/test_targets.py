"""What inverse kinematics refuses, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.inverse_kinematics import FrameTarget, LookAt
from kinetree.inverse_kinematics.targets import _is_pose, _weights, wanted_of

ROBOT = kt.load("ur5")
POSE = np.eye(4)


def spoilt(i: int, j: int, value: float) -> np.ndarray:
    pose = np.eye(4)
    pose[i, j] = value
    return pose


@pytest.mark.parametrize(
    ("target", "frame", "message"),
    [
        (np.eye(3)[:, :2], "tool0", r"target has shape \(3, 2\)"),
        (np.eye(3), "tool0", r"target has shape \(3, 3\).* Write FrameTarget\(R, position=0\)"),
        ({"tool0": np.eye(3)}, None, r"target\['tool0'\] has shape \(3, 3\)"),
        (FrameTarget(np.eye(3)), "tool0", r"target.pose has shape \(3, 3\)"),
        (FrameTarget(2 * np.eye(3), position=0), "tool0", "target.pose is not a pose"),
        (FrameTarget(POSE, position=[1, 1]), "tool0", "target.position is .* or 3 of these"),
        (LookAt([1.0, np.nan, 0.0]), "tool0", "target.point holds"),
        (LookAt([1.0, 2.0]), "tool0", "target.point has shape"),
        (LookAt([1.0, 2.0, 0.0], axis=[0, 0, 0]), "tool0", "target.axis is"),
        ([LookAt(np.ones(3)), FrameTarget(np.eye(4), position=-1)], "tool0", r"target\[1\].position is -1"),
        (1.0, "tool0", r"shape \(\)"),
        (np.zeros((4, 4, 1)), "tool0", "shape"),
        ([[1, 2], [3]], "tool0", "not an array of numbers"),
        (np.full((4, 4), "x"), "tool0", "not a real number"),
        (POSE.astype(complex), "tool0", "not a real number"),
        (spoilt(0, 3, np.nan), "tool0", "not finite"),
        ([0.0, np.inf, 0.0], "tool0", "not finite"),
        (spoilt(0, 0, 1.1), "tool0", r"not a pose: .* RᵀR differs from 1 by 0.21, where 1e-06 is allowed"),
        (spoilt(0, 0, 1.0001), "tool0", r"by 0.0002, where 1e-06 .*\.Rotation.from_matrix\(R\).as_matrix\(\) is"),
        (spoilt(0, 0, -1.0), "tool0", "not a pose: .* is a reflection"),
        (spoilt(3, 3, 2.0), "tool0", "not a pose: its last row must be"),
        (POSE, "tool", "no frame 'tool', did you mean 'tool0'"),
        (POSE, None, "frame=…"),
        ({"tool0": POSE}, "tool0", "leave out frame='tool0'"),
        ({}, None, "empty"),
        ({"tool0": POSE, "toll0": POSE}, None, "did you mean 'tool0'"),
        ({"tool0": np.tile(POSE, (2, 1, 1)), "base": np.tile(POSE, (3, 1, 1))}, None, "do not broadcast"),
        (FrameTarget(POSE, position=-1.0), "tool0", "target.position is"),
        (FrameTarget(POSE, orientation=np.nan), "tool0", "target.orientation is"),
        (FrameTarget(POSE, position="1"), "tool0", "target.position has dtype"),  # type: ignore[arg-type]
        (FrameTarget(POSE, position=0, orientation=0), "tool0", "nothing to reach"),
        (
            FrameTarget(POSE, position=1e-300),
            "tool0",
            "target.position is 1e-300, it must be 0 or a number from 1e-30",
        ),
        (FrameTarget(POSE, orientation=1e300), "tool0", r"target.orientation is 1e\+300, .* to 1e\+30"),
        (FrameTarget([1, 2, 3]), "tool0", "shape"),
    ],
)
def test_targets_that_are_none(target: Any, frame: str | None, message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        ROBOT.inverse_kinematics(target, frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q0": np.zeros(7)}, r"q0? has shape \(7,\)"),
        ({"q0": np.full(6, np.nan)}, "q0 holds"),
        ({"q0": np.zeros((5, 6))}, "do not broadcast"),
        ({"position_tolerance": 0.0}, "position_tolerance is 0.0"),
        ({"orientation_tolerance": -1}, "orientation_tolerance is -1"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"max_iterations": True}, "max_iterations is True"),
        ({"restarts": -1}, "restarts is -1"),
        ({"dt": 0}, "dt is 0"),
        ({"seed": -1}, "seed is -1, it must be an integer ≥ 0"),
        ({"fixed": "elbow_joint"}, r"\['elbow_joint'\]"),
        ({"fixed": ""}, r"fixed takes a list of names: \[''\]"),
        ({"fixed": ["elbow"]}, "did you mean 'elbow_joint'"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        ROBOT.inverse_kinematics(np.tile(POSE, (2, 1, 1)), "tool0", **options)
    if np.shape(options.get("q0")) != (5, 6):  # which is a batch beside one pose, the usual case with a path of its own
        with pytest.raises(kt.ArgumentError, match=message):
            ROBOT.inverse_kinematics(POSE, "tool0", **options)


def test_a_pose_and_a_point_in_an_array_are_what_they_are_in_other_forms() -> None:
    pose = ROBOT.frame_placement(ROBOT.random_configuration(seed=3), frame="tool0")
    alone = ROBOT.inverse_kinematics(pose, "tool0", restarts=3)
    for other in (pose.tolist(), FrameTarget(pose), [FrameTarget(pose)], pose[None]):
        again = ROBOT.inverse_kinematics(other, "tool0", restarts=3)
        assert all(np.array_equal(np.ravel(a), np.ravel(b)) for a, b in zip(alone, again, strict=True))
    assert alone.converged
    point = pose[:3, 3].copy()
    there = ROBOT.inverse_kinematics(point, "tool0")
    assert np.array_equal(ROBOT.inverse_kinematics(point.tolist(), "tool0").q, there.q)
    assert np.array_equal(ROBOT.inverse_kinematics({"tool0": pose}, fixed=["elbow_joint"]).q[2], 0.0)


def test_large_but_finite_starts_are_no_error() -> None:
    """Though their sum is infinite."""
    assert np.isfinite(ROBOT.inverse_kinematics(POSE, "tool0", q0=np.full(6, 1e308), restarts=0).q).all()


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ({"tool0": "pos"}, "'tool0'.*kind of target 'pos'"),
        ({"tool0": 3}, "'tool0'.*kind of target '3'"),
        ({}, "frames is"),
        ({"tol0": "pose"}, "did you mean 'tool0'"),
    ],
)
def test_frames_that_are_none(frames: Any, message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        ROBOT.inverse_kinematics_solver(frames)


def test_a_zero_quaternion_is_no_start() -> None:
    with pytest.raises(kt.ArgumentError, match="quaternion"):
        kt.load("g1").inverse_kinematics([0.0, 0.0, 0.0], "pelvis", q0=np.zeros(36))


def test_points_poses_and_weights_are_views_of_one_thing() -> None:
    pose = spoilt(0, 3, 0.4)
    solutions = [
        ROBOT.inverse_kinematics(target, frame)
        for target, frame in (
            (pose[:3, 3], "tool0"),
            (FrameTarget(pose, orientation=0.0), "tool0"),
            ({"tool0": pose[:3, 3].tolist()}, None),
            ({"base": FrameTarget(POSE, 0.0, 0.0), "tool0": pose[:3, 3]}, None),
        )
    ]
    assert all(np.array_equal(s.q, solutions[0].q) for s in solutions)
    assert solutions[0].converged


def test_arguments_of_several_targets_have_different_names() -> None:
    solver = ROBOT.inverse_kinematics_solver({"tool0": ["position", "look_at", "look_at"], "base": "pose"})
    assert [port.name for port in solver.spec.required] == [
        "q0",
        "target_tool0_position",
        "target_tool0_look_at",
        "target_tool0_look_at_2",
        "target_base",
    ]


def test_numbers_that_are_none_end_the_search() -> None:
    """The compiled function has no checks, but it ends."""
    solver = ROBOT.inverse_kinematics_solver("tool0")
    found = solver(ROBOT.neutral(), np.full((4, 4), np.nan))
    assert (found.converged, found.attempts) == (0.0, 101.0)
    assert np.isnan(found.position_error)
    assert solver(np.full(6, np.nan), POSE).converged == 0.0


def test_weights_are_told_by_what_they_weigh() -> None:
    kinds = ["pose", "orientation", "position", "look_at"]
    text = str(ROBOT.inverse_kinematics_solver({"tool0": kinds}).__doc__)
    told = [text.split(f"weights_tool0_{kind} : ")[1].splitlines()[1] for kind in kinds]
    assert ["orientation (per rad), then position" in told[0], "(per rad)" in told[1]] == [True, True]
    assert "the world's axes (per ℓ)" in told[2]
    assert "Of the angle" in told[3]


def test_in_a_compiled_function_the_solver_is_named() -> None:
    with pytest.raises(kt.ArgumentError, match=r"use robot\.inverse_kinematics_solver"):
        kt.compile(ROBOT, lambda q: ROBOT.inverse_kinematics(POSE, "tool0", q0=q).q, name="f")


@pytest.mark.parametrize("entry", [(i, j) for i in range(4) for j in range(4)], ids=str)
def test_what_is_a_pose_is_found_by_compiled_code(entry: tuple[int, int]) -> None:
    """Up to 1e-6 in the products of its axes and in its last row, anywhere it may be."""
    is_pose = _is_pose()
    assert is_pose(POSE) == 1.0
    for size in (-2e-6, 2e-6, -2e-7, 2e-7, np.nan, np.inf):
        pose = spoilt(*entry, POSE[entry] + size)
        far = entry[1] == 3 and entry[0] < 3
        assert is_pose(pose) == float(np.isfinite(size) if far else abs(size) < 4e-7)
    assert is_pose(POSE[[1, 0, 2, 3]]) == 0.0


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_targets_know_their_weights_unless_all_are_1(weight: float) -> None:
    targets = [
        LookAt(np.ones(3), weight=weight),
        FrameTarget(np.ones(3), weight, 0.0),
        FrameTarget(np.eye(3), 0.0, weight),
        FrameTarget(POSE, weight, weight),
    ]
    for target, size in zip(targets, (1, 3, 3, 6), strict=True):
        (wanted,) = wanted_of(ROBOT.model, target, "tool0")
        given = wanted.weights
        assert given is None if weight == 1.0 else np.array_equal(np.broadcast_to(given, size), [weight] * size)


def test_the_least_and_the_largest_weights() -> None:
    for weight in (1e-30, 1e30, 0.0):
        assert _weights("weight", weight, 3).tolist() == [weight] * 3
    for weight in (0.99e-30, 1.01e30, -1.0, np.nan):
        with pytest.raises(kt.ArgumentError, match="it must be 0 or a number from 1e-30 to 1e\\+30, or 3 of these"):
            _weights("weight", weight, 3)
