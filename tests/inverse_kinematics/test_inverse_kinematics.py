"""Inverse kinematics as users meet it: success, precision, limits, batches, and what cannot be reached."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.mechanisms import at
from helpers.trees import random_tree, toy
from kinetree.graph.ops import interpret
from kinetree.inverse_kinematics import FrameTarget, LookAt, Solution
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.model import JointLimits
from kinetree.passes import optimize
from kinetree.runtime import Function
from kinetree.runtime.spec import Variant

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
LIMBS = (*FEET, "left_rubber_hand", "right_rubber_hand")
ROUNDING = 1e-12


@cache
def load(name: str) -> kt.Robot:
    return kt.load(name)


def reachable(robot: kt.Robot, frames: tuple[str, ...], n: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Return poses that the frames have together, at random configurations within the limits."""
    q = robot.random_configuration(seed, n)
    return {frame: robot.frame_placement(q, frame=frame) for frame in frames}


def distances(robot: kt.Robot, targets: dict[str, np.ndarray], q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest distance and angle (...) between where the frames are and where they are wanted."""
    here = {frame: robot.frame_placement(q, frame=frame) for frame in targets}
    position = [np.linalg.norm(here[f][..., :3, 3] - targets[f][..., :3, 3], axis=-1) for f in targets]
    turns = [np.swapaxes(here[f][..., :3, :3], -1, -2) @ targets[f][..., :3, :3] for f in targets]
    angle = [np.linalg.norm(Rotation.from_matrix(R).as_rotvec(), axis=-1) for R in turns]
    return np.max(position, axis=0), np.max(angle, axis=0)


def within(robot: kt.Robot, q: np.ndarray) -> bool:
    return bool(((q >= robot.lower_limits) & (q <= robot.upper_limits)).all())


@pytest.mark.parametrize(
    ("name", "frames", "fixed"),
    [("panda", ("panda_hand",), ()), ("ur5", ("tool0",), ()), ("g1", FEET, ("root_joint",)), ("g1", LIMBS, ())],
)
def test_reachable_targets_are_reached(name: str, frames: tuple[str, ...], fixed: tuple[str, ...]) -> None:
    robot = load(name)
    n = 60 if name == "g1" else 1000
    targets = reachable(robot, frames, n)
    q0 = robot.neutral()
    if fixed:  # from where the base is known
        q0 = np.tile(q0, (n, 1))
        q0[:, :7] = robot.random_configuration(1, n)[:, :7]
    solution = robot.inverse_kinematics(targets, q0=q0, fixed=fixed)
    assert solution.converged.all()
    position, angle = distances(robot, targets, solution.q)
    assert np.abs(position - solution.position_error).max() < ROUNDING
    assert np.abs(angle - solution.orientation_error).max() < ROUNDING
    assert max(position[solution.converged].max(), angle[solution.converged].max()) <= 1e-9 + ROUNDING
    assert within(robot, solution.q)
    if fixed:
        assert np.array_equal(solution.q[:, :7], q0[:, :7])


def test_every_joint_type() -> None:
    robot = kt.Robot(random_tree(4, n=12))
    frame = robot.body_names[-1]
    targets = reachable(robot, (frame,), 20)
    solution = robot.inverse_kinematics(targets)
    assert solution.converged.all()
    assert max(map(np.max, distances(robot, targets, solution.q))) <= 1e-9 + ROUNDING


@pytest.mark.parametrize("seed", range(5))
def test_convergence_is_quadratic(seed: int) -> None:
    robot = load("panda")
    q = 0.5 * (robot.lower_limits + robot.upper_limits) + np.random.default_rng(seed).normal(scale=0.3, size=7)
    target = robot.frame_placement(q, frame="panda_hand")
    start = q + np.random.default_rng(seed).normal(scale=0.05, size=7)
    tight = {"position_tolerance": 1e-16, "orientation_tolerance": 1e-16, "restarts": 0}
    solutions = [robot.inverse_kinematics(target, "panda_hand", q0=start, max_iterations=k, **tight) for k in range(6)]
    e = np.array([max(s.position_error, s.orientation_error) for s in solutions])
    assert [s.iterations for s in solutions[:4]] == list(range(4))
    assert 0.01 < e[0] < 0.5
    assert (e[1:] <= 30 * e[:-1] ** 2 + 1e-14).all()
    assert e[5] < 1e-14


def test_a_batch_is_each_problem_alone() -> None:
    robot = load("ur5")
    poses = reachable(robot, ("tool0",), 12)["tool0"]
    poses[3, :3, 3] = (5.0, 0.0, 0.0)  # out of reach
    q0 = robot.random_configuration(7, 12)
    together = robot.inverse_kinematics(poses.reshape(3, 4, 4, 4), "tool0", q0=q0.reshape(3, 4, 6), restarts=3)
    for k in range(12):
        alone = robot.inverse_kinematics(poses[k], "tool0", q0=q0[k], restarts=3)
        for field, mine, batch in zip(Solution._fields, alone, together, strict=True):
            assert batch.shape[:2] == (3, 4)
            assert np.array_equal(mine, batch[k // 4, k % 4]), field


def test_other_lanes_have_the_same_bits_and_the_interpreter_the_same_numbers() -> None:
    """Its sines differ in the last place."""
    robot, solver = two_links(), two_links().inverse_kinematics_solver({"tip": "position"})
    targets = np.random.default_rng(0).uniform(-1.2, 1.2, (5, 3)) * [1, 1, 0]
    variant = Variant((), (), "float64")
    program = optimize(solver.spec.trace(variant))
    wide = Function(solver.spec, lanes=4)
    assert np.array_equal(wide(robot.neutral(), targets).q, solver(robot.neutral(), targets).q)
    for target in targets:
        compiled = solver(robot.neutral(), target)
        for found, wanted in zip(compiled, interpret(program, [robot.neutral(), target]), strict=True):
            assert np.abs(found - wanted).max() < 1e-12


def test_targets_and_starts_broadcast() -> None:
    robot = load("ur5")
    poses = reachable(robot, ("tool0",), 3)["tool0"]
    q0 = robot.random_configuration(7, 2)
    solution = robot.inverse_kinematics(poses[:, None], "tool0", q0=q0)
    assert solution.q.shape == (3, 2, 6)
    assert solution.converged.all()
    assert np.ptp(solution.q[0], axis=0).max() > 0.1  # two starts, two of the eight solutions
    empty = robot.inverse_kinematics(poses[:0], "tool0")
    assert empty.q.shape == (0, 6)
    assert empty.converged.shape == (0,)


def test_another_seed_has_other_restarts_and_more_of_them_begin_with_the_same() -> None:
    robot = load("panda")
    poses = reachable(robot, ("panda_hand",), 20)["panda_hand"]
    few, a, b, c = (
        robot.inverse_kinematics(poses, "panda_hand", **options)
        for options in ({"restarts": 0}, {"seed": 0}, {}, {"seed": 1})
    )
    assert np.array_equal(a.q, b.q)
    early = few.converged
    assert 0.5 < early.mean() < 1.0
    assert (few.attempts[~early] == 1).all()
    assert np.array_equal(early, a.attempts == 1)
    assert a.converged.all()
    for other in (few, c):
        assert np.array_equal(a.q[early], other.q[early])
        assert not np.array_equal(a.q[~early], other.q[~early])


def test_a_start_that_has_arrived_stays() -> None:
    robot = load("g1")
    q = robot.random_configuration(5)
    targets = {frame: robot.frame_placement(q, frame=frame) for frame in LIMBS}
    solution = robot.inverse_kinematics(targets, q0=q)
    assert solution.converged
    assert (solution.iterations, solution.attempts) == (0, 1)
    assert np.abs(solution.q - q).max() < 1e-15


def two_links(limits: tuple[float, float] = (-3.0, 3.0)) -> kt.Robot:
    """Return an arm of two links of one metre in the x, y plane."""
    own = {"limits": JointLimits(*limits, velocity=2.0)}
    elbow = "elbow upper lower", Revolute((0, 0, 1)), own | {"placement": at(1.0)}
    return kt.Robot(toy(("shoulder base upper", Revolute((0, 0, 1)), own), elbow, frames=[("tip lower", at(1.0))]))


def test_what_is_out_of_reach_or_behind_a_limit() -> None:
    far = two_links().inverse_kinematics([3.0, 4.0, 0.0], "tip", q0=[0.1, 0.3])  # the arm points at it
    assert (far.converged, far.attempts) == (False, 101)
    assert far.position_error == pytest.approx(3.0, abs=1e-5)
    assert far.orientation_error == 0.0  # none is asked for
    robot = two_links((-0.5, 0.5))
    stopped = robot.inverse_kinematics([0.0, 2.0, 0.0], "tip")  # with the elbow's own optimum beside the bound
    assert not stopped.converged
    assert stopped.q == pytest.approx([0.5, 0.5], abs=1e-12)
    free = robot.inverse_kinematics([1.9, 0.4, 0.0], "tip")
    assert free.converged
    assert within(robot, free.q)
    outside = robot.inverse_kinematics([2.0, 0.0, 0.0], "tip", q0=[2.0, -2.0], max_iterations=0, restarts=0)
    assert np.array_equal(outside.q, [0.5, -0.5])
    held = load("ur5").inverse_kinematics([1.0, 0.0, 0.0], "base_link")  # a frame of the world
    assert (held.converged, held.position_error, held.attempts) == (False, 1.0, 1)  # no other start would help


def test_solutions_on_the_limits_are_found() -> None:
    """Targets seen from corners of the joints' range: the exact solution has several joints at a limit."""
    robot = load("panda")
    rng = np.random.default_rng(3)
    q = robot.random_configuration(3, 30)
    corners = np.where(rng.random(q.shape) < 0.5, robot.lower_limits, robot.upper_limits)
    q = np.where(rng.random(q.shape) < 0.3, corners, q)
    targets = {"panda_hand": robot.frame_placement(q, frame="panda_hand")}
    solution = robot.inverse_kinematics(targets)
    assert solution.converged.all()
    assert within(robot, solution.q)


def test_orientation_only() -> None:
    robot = load("ur5")
    pose, turn = np.eye(4), Rotation.from_rotvec([1.0, 2.0, -0.5])
    pose[:3, :3] = turn.as_matrix()
    pose[:3, 3] = 100.0
    solution = robot.inverse_kinematics(FrameTarget(pose, position=0.0), "tool0")
    assert np.array_equal(robot.inverse_kinematics(turn, "tool0").q, solution.q)
    assert solution.converged
    assert solution.position_error == 0.0
    assert np.abs(robot.frame_placement(solution.q, frame="tool0")[:3, :3] - pose[:3, :3]).max() < 1e-9


def test_an_axis_points_at_a_point() -> None:
    """Together with a place for the same frame; the turn about the axis is free, and an arm may start half off."""
    robot = load("panda")
    q = robot.random_configuration(2, 50)
    T = robot.frame_placement(q, frame="panda_hand")
    place, axis = T[:, :3, 3], np.array([0.6, 0.0, 0.8])
    point = place + 0.7 * T[:, :3, :3] @ axis
    solution = robot.inverse_kinematics(
        {"panda_hand": [FrameTarget(place, orientation=0), LookAt(point, axis=2 * axis)]}
    )
    assert solution.converged.all()
    here = robot.frame_placement(solution.q, frame="panda_hand")
    way = point - here[:, :3, 3]
    aim = way / np.linalg.norm(way, axis=1, keepdims=True)
    assert np.abs(here[:, :3, :3] @ axis - aim).max() < 1e-8
    assert np.abs(here[:, :3, 3] - place).max() < 1e-8
    assert within(robot, solution.q)


@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.0), (0.3, 2.0, 0.0)])
def test_single_axes_of_an_orientation_are_free(weights: tuple[float, ...]) -> None:
    """Where the turn about its z is free, a large part of all errors is along it, and does not count."""
    robot = load("ur5")
    poses = reachable(robot, ("tool0",), 50)["tool0"]
    turn = np.zeros((50, 4, 4))
    turn[:, :3, :3] = Rotation.from_rotvec(np.linspace(-3, 3, 50)[:, None] * [0, 0, 1]).as_matrix()
    turn[:, 3, 3] = 1.0
    solution = robot.inverse_kinematics(FrameTarget(poses @ turn, orientation=weights), "tool0")
    assert solution.converged.all()
    here = robot.frame_placement(solution.q, frame="tool0")
    assert np.abs(here[:, :3, [2, 3]] - poses[:, :3, [2, 3]]).max() < 1e-8


def test_single_axes_of_a_place_are_free_and_weights_choose_between_targets_in_conflict() -> None:
    robot, length = two_links(), 0.6  # of the reach, which is that of the upper arm
    free_x = FrameTarget([50.0, 0.5, 0.0], position=[0, 1, 1], orientation=0)
    solution = robot.inverse_kinematics(free_x, "tip", q0=[0.4, 0.4])
    assert solution.converged
    assert robot.frame_placement(solution.q, frame="tip")[1, 3] == pytest.approx(0.5, abs=1e-9)
    # One joint, two frames that want opposite things: the cosines of the pulls balance by the weights' squares.
    found = []
    for weight in (1.0, 10.0, 100.0):
        upright = FrameTarget(np.eye(3), position=0.0, orientation=weight)
        wanted = {"lower": FrameTarget([0.6, 0.8, 0.0], orientation=0.0), "upper": upright}
        solution = robot.inverse_kinematics(wanted, restarts=2)
        angle = solution.q[0]
        pull = np.sin(np.arctan2(0.8, 0.6) - angle) / length**2  # half the gradient of the squared distance in ℓ
        assert pull == pytest.approx(weight**2 * angle, abs=1e-4)
        assert not solution.converged
        found.append(angle)
    assert found[0] > found[1] > found[2] > 0


def test_tolerances_are_of_their_own() -> None:
    robot = load("panda")
    target = reachable(robot, ("panda_hand",), 10)
    loose = robot.inverse_kinematics(target, position_tolerance=1e-2, orientation_tolerance=1e-9)
    assert loose.converged.all()
    assert loose.orientation_error.max() <= 1e-9
    coarse = robot.inverse_kinematics(target, position_tolerance=1e-2, orientation_tolerance=1e-1)
    assert coarse.converged.all()
    assert 1e-6 < coarse.position_error.max() <= 1e-2
    assert (coarse.iterations <= loose.iterations).all()


def gripper() -> kt.Robot:
    """Return a slide along z with two fingers, of which the second follows the first: open by 2 q, 0 to 0.04."""
    lift = "lift base hand", Prismatic((0, 0, 1)), {"limits": JointLimits(0.0, 1.0)}
    left = "left hand left", Prismatic((0, 1, 0)), {"limits": JointLimits(0.0, 0.04)}
    return kt.Robot(toy(lift, left, ("right hand right", Prismatic((0, -1, 0)), {"mimic": ("left", 1.0, 0.0)})))


def test_a_mimic_gripper() -> None:
    robot = gripper()
    solution = robot.inverse_kinematics({"left": [0.0, 0.03, 0.5], "right": [0.0, -0.03, 0.5]})
    assert solution.converged
    assert solution.q == pytest.approx([0.5, 0.03], abs=1e-9)
    follower = robot.inverse_kinematics([0.0, -0.02, 0.1], "right")
    assert follower.q == pytest.approx([0.1, 0.02], abs=1e-9)
    wide = robot.inverse_kinematics([0.0, -0.06, 0.1], "right")
    assert not wide.converged
    assert wide.q == pytest.approx([0.1, 0.04], abs=1e-9)
    torn = robot.inverse_kinematics({"left": [0.0, 0.03, 0.5], "right": [0.0, -0.01, 0.5]})
    assert torn.q == pytest.approx([0.5, 0.02], abs=1e-9)  # between the two
    assert torn.position_error == pytest.approx(0.01, abs=1e-9)
    with pytest.raises(kt.ArgumentError, match="fixed: 'right' follows another joint"):
        robot.inverse_kinematics([0.0, -0.02, 0.1], "right", fixed=["right"])


@pytest.mark.parametrize("joint", [FreeFlyer(), Spherical()])
def test_quaternions_stay_unit_and_turn_the_short_way(joint: FreeFlyer | Spherical) -> None:
    robot = kt.Robot(toy(("joint base body", joint)))
    R = Rotation.random(50, random_state=0)
    poses = np.tile(np.eye(4), (50, 1, 1))
    poses[:, :3, :3] = R.as_matrix()
    if joint.nq == 7:
        poses[:, :3, 3] = np.random.default_rng(0).normal(scale=100.0, size=(50, 3))
    q0 = robot.neutral() * 3.0  # a quaternion of another length
    solution = robot.inverse_kinematics(poses, "body", q0=q0)
    assert solution.converged.all()
    assert (solution.attempts == 1).all()
    assert np.abs(np.linalg.norm(solution.q[:, -4:], axis=1) - 1).max() < 1e-15
    same = np.abs(np.sum(solution.q[:, -4:] * R.as_quat(), axis=1))
    assert np.abs(same - 1).max() < 1e-12


def test_with_a_time_an_iteration_keeps_the_velocity_limits() -> None:
    robot = two_links()
    q = np.array([0.3, 0.8])
    far = robot.inverse_kinematics([-1.0, 1.0, 0.0], "tip", q0=q, dt=0.01, max_iterations=1)
    assert np.abs(far.q - q).max() == pytest.approx(0.02, abs=1e-15)  # at the limit of 2 rad/s
    assert far.attempts == 1
    near = robot.frame_placement(q - 0.002, frame="tip")[:3, 3]
    there = robot.inverse_kinematics(near, "tip", q0=q, dt=0.01, max_iterations=1)
    assert there.position_error < 3e-5  # of the second order in the step


def test_the_solver_is_part_of_other_functions_and_pickles() -> None:
    robot = load("ur5")
    solve = robot.inverse_kinematics_solver("tool0")
    target = reachable(robot, ("tool0",), 1)["tool0"][0]
    lifted = target.copy()
    lifted[2, 3] += 0.01

    @robot.compile(shapes={"target": (4, 4)})
    def above(q, target):  # type: ignore[no-untyped-def]
        return solve(q, np.concatenate([target[:2], [target[2] + np.array([0, 0, 0, 0.01])], target[3:]])).q

    assert np.array_equal(above(robot.neutral(), target), solve(robot.neutral(), lifted).q)
    again = pickle.loads(pickle.dumps(solve))
    assert np.array_equal(again(robot.neutral(), target).q, solve(robot.neutral(), target).q)
