"""What inverse kinematics refuses and what it says, and the forms of targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.told import told
from kinetree.inverse_kinematics import FrameTarget, LookAt
from kinetree.inverse_kinematics.targets import _is_pose, _weights, wanted_of

ROBOT = kt.load("ur5")
POSE = np.eye(4)


def spoilt(i: int, j: int, value: float) -> np.ndarray:
    pose = np.eye(4)
    pose[i, j] = value
    return pose


def solved(target: Any, frame: str | None = "tool0", **options: Any) -> Any:
    return lambda: ROBOT.inverse_kinematics(target, frame, **options)


def made(frames: Any, **options: Any) -> Any:
    return lambda: ROBOT.inverse_kinematics_solver(frames, **options)


def stepped(frames: Any, **options: Any) -> Any:
    return lambda: ROBOT.differential_inverse_kinematics(frames, **options)


STEP = ROBOT.differential_inverse_kinematics("tool0")
TWO = np.tile(POSE, (2, 1, 1))


test_what_is_refused = told(
    kt.KinetreeError,
    (solved(np.eye(3)), r"target has shape \(3, 3\).* Write FrameTarget\(R, position=0\)"),
    (solved(TWO[:, :3, :3]), r"target has shape \(2, 3, 3\).* Write FrameTarget\(R, position=0\)"),
    (solved({"tool0": np.eye(3)}, None), r"target\['tool0'\] has shape \(3, 3\)"),
    (solved(FrameTarget(np.eye(3))), r"target.pose has shape \(3, 3\)"),
    (solved(FrameTarget(2 * np.eye(3), position=0)), "target.pose is not a pose"),
    (solved(FrameTarget(POSE, position=[1, 1])), "target.position is .* or 3 of these"),
    (solved(LookAt([1.0, np.nan, 0.0])), "target.point holds"),
    (solved(LookAt([1.0, 2.0])), "target.point has shape"),
    (solved(LookAt([1.0, 2.0, 0.0], axis=[0, 0, 0])), "target.axis is"),
    (solved([LookAt(np.ones(3)), FrameTarget(np.eye(4), position=-1)]), r"target\[1\].position is -1"),
    (solved(np.zeros((4, 4, 1))), "shape"),
    (solved([[1, 2], [3]]), "not an array of numbers"),
    (solved(POSE.astype(complex)), "not a real number"),
    (solved(spoilt(0, 3, np.nan)), "not finite"),
    (solved([0.0, np.inf, 0.0]), "not finite"),
    (solved(spoilt(0, 0, 1.1)), r"not a pose: .* RᵀR differs from 1 by 0.21, where 1e-06 is allowed"),
    (solved(spoilt(0, 0, 1.0001)), r"by 0.0002, where 1e-06 .*\.Rotation.from_matrix\(R\).as_matrix\(\) is"),
    (solved(spoilt(0, 0, -1.0)), "not a pose: .* is a reflection"),
    (solved(POSE, "tool"), "no frame 'tool', did you mean 'tool0'"),
    (solved(POSE, None), "frame=…"),
    (solved({"tool0": POSE}), "leave out frame='tool0'"),
    (solved({}, None), "empty"),
    (solved({"tool0": POSE, "toll0": POSE}, None), "did you mean 'tool0'"),
    (solved({"tool0": TWO, "base": np.tile(POSE, (3, 1, 1))}, None), "do not broadcast"),
    (solved(FrameTarget(POSE, orientation=np.nan)), "target.orientation is"),
    (solved(FrameTarget(POSE, position="1")), "target.position has dtype"),  # type: ignore[arg-type]
    (solved(FrameTarget(POSE, position=0, orientation=0)), "nothing to reach"),
    (solved(FrameTarget(POSE, position=1e-300)), "position is 1e-300, it must be 0 or a number from 1e-30"),
    (solved(FrameTarget(POSE, orientation=1e300)), r"target.orientation is 1e\+300, .* to 1e\+30"),
    *(
        (solved(pose, **options), message)
        for options, message in (
            ({"q0": np.full(6, np.nan)}, "q0 holds"),
            ({"max_iterations": 2.5}, "max_iterations is 2.5"),
            ({"seed": -1}, "seed is -1, it must be an integer ≥ 0"),
            ({"fixed": "elbow_joint"}, r"\['elbow_joint'\]"),
        )
        for pose in (TWO, POSE)  # a pose alone is the usual case, with a path of its own
    ),
    (solved(TWO, q0=np.zeros((5, 6))), "do not broadcast"),
    (made({"tool0": "pos"}), "'tool0'.*kind of target 'pos'"),
    (made({"tool0": 3}), "'tool0'.*kind of target '3'"),
    (made({}), "frames is"),
    (made({"tol0": "pose"}), "did you mean 'tool0'"),
    *((make("tool0", damping=0.1), "Give damping=… when that one is called") for make in (made, stepped)),
    *((make("tool0", frame="tool0"), "Give frame=… when that one is called") for make in (made, stepped)),
    (stepped({"tool0": []}), r"frames\['tool0'\] is \[\]: name what is wanted of it, of pose"),
    (
        lambda: STEP(np.zeros(6), Rotation.identity(), 0.01),
        r"give it floats or integers, as target\.as_matrix\(\) has them",
    ),
    (lambda: kt.load("g1").inverse_kinematics([0.0, 0.0, 0.0], "pelvis", q0=np.zeros(36)), "quaternion"),
    (
        lambda: kt.compile(ROBOT, lambda q: ROBOT.inverse_kinematics(POSE, "tool0", q0=q).q, name="f"),
        r"use robot\.inverse_kinematics_solver",
    ),
    (
        lambda: kt.compile(
            ROBOT, lambda q, target: STEP(q, target, 0.01, damping=-1.0).v, shapes={"target": (4, 4)}, name="f"
        )(np.zeros(6), POSE),
        r"damping is -1\.0",
    ),
    *(
        (
            lambda weight=weight: _weights("weight", weight, 3),
            "must be 0 or a number from 1e-30 to 1e\\+30, or 3 of",
        )
        for weight in (0.99e-30, 1.01e30, -1.0, np.nan)
    ),
)


def test_a_pose_and_a_point_have_many_forms() -> None:
    pose = ROBOT.frame_placement(ROBOT.random_configuration(seed=3), frame="tool0")
    point, beside = pose[:3, 3].copy(), spoilt(0, 3, 0.4)
    forms = [
        (pose, [pose.tolist(), FrameTarget(pose), [FrameTarget(pose)], pose[None]]),
        (point, [point.tolist(), FrameTarget(pose, orientation=0.0)]),
        (FrameTarget(pose, position=0.0), [FrameTarget(R, position=0.0) for R in (pose[:3, :3], pose[None, :3, :3])]),
        (beside[:3, 3], [{"tool0": beside[:3, 3].tolist()}, {"base": FrameTarget(POSE, 0, 0), "tool0": beside[:3, 3]}]),
    ]
    for target, others in forms:
        alone = ROBOT.inverse_kinematics(target, "tool0", restarts=3)
        assert alone.converged
        for other in others:
            frame = None if isinstance(other, dict) else "tool0"
            again = ROBOT.inverse_kinematics(other, frame, restarts=3)
            assert all(np.array_equal(np.ravel(a), np.ravel(b)) for a, b in zip(alone, again, strict=True))
    assert np.array_equal(ROBOT.inverse_kinematics({"tool0": pose}, fixed=["elbow_joint"]).q[2], 0.0)


def test_numbers_without_bounds_end_the_search() -> None:
    """Starts whose sum is infinite are no error; the compiled function has no checks, but it ends."""
    assert np.isfinite(ROBOT.inverse_kinematics(POSE, "tool0", q0=np.full(6, 1e308), restarts=0).q).all()
    solver = ROBOT.inverse_kinematics_solver("tool0")
    found = solver(ROBOT.neutral(), np.full((4, 4), np.nan))
    assert (found.converged, found.attempts) == (0.0, 101.0)
    assert solver(ROBOT.neutral(), np.full((4, 4), np.nan), dt=0.01).attempts == 1.0
    assert np.isnan(found.position_error)
    assert solver(np.full(6, np.nan), POSE).converged == 0.0


def test_arguments_of_several_targets_have_names_and_their_weights_are_explained() -> None:
    kinds = ["pose", "orientation", "position", "look_at", "look_at"]
    solver = ROBOT.inverse_kinematics_solver({"tool0": kinds, "base": "pose"})
    names = [*kinds[:4], "look_at_2"]
    assert [port.name for port in solver.spec.required] == ["q0", *(f"target_tool0_{x}" for x in names), "target_base"]
    text = str(solver.__doc__)
    told = [text.split(f"weights_tool0_{kind} : ")[1].splitlines()[1] for kind in kinds[:4]]
    wanted = "orientation (per rad), then position", "(per rad)", "the world's axes (per ℓ)", "Of the angle"
    assert all(part in line for part, line in zip(wanted, told, strict=True))


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
