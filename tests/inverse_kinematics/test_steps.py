"""One step within its bounds, and the differential step: against SciPy and NumPy, limits, the posture, extremes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import kinetree as kt
from kinetree.algorithms.inverse_kinematics.goals import Goal
from kinetree.algorithms.inverse_kinematics.problem import Problem
from kinetree.algorithms.inverse_kinematics.steps import near_step

PANDA, UR5 = kt.load("panda"), kt.load("ur5")
FRAME = "panda_hand"
STEP = PANDA.differential_inverse_kinematics(FRAME)
Q = np.array([0.3, 0.4, -0.2, -1.8, 0.1, 2.0, 0.5])
HOME = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
RAISED = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
DT = 0.01


def test_a_near_step_stays_inside_and_is_close_to_the_best() -> None:
    """The cheap step that the search takes; for some coordinates a bound is zero, for some there is none."""
    rng, wide, gained = np.random.default_rng(0), np.random.default_rng(1), []
    problems = zip(rng.normal(size=(40, 6, 9)), rng.normal(size=(40, 6)), rng.uniform(0.01, 1.0, 40), strict=True)
    for J, e, damping in problems:
        bounds = wide.uniform(0.0, 0.3, (2, 9)) * [[-1.0], [1.0]]
        low, high = np.where(wide.random((2, 9)) < 0.2, [[0.0], [np.inf]], bounds)
        d = np.array(near_step(J.tolist(), e.tolist(), damping, list(zip(low.tolist(), high.tolist(), strict=True))))
        assert (d >= low).all()
        assert (d <= high).all()
        A, b = np.vstack([J, np.sqrt(damping) * np.eye(9)]), np.concatenate([e, np.zeros(9)])
        best = 2 * lsq_linear(A, b, (low - 1e-12, high + 1e-12), tol=1e-14).cost
        gained.append((e @ e - np.sum((A @ d - b) ** 2)) / (e @ e - best))
        assert not any(near_step(J.tolist(), e.tolist(), damping, [(0.0, 0.0)] * 9))
    assert min(gained) < 0.99  # or it would be the best step, and the differential one could be it
    assert np.median(gained) > 0.9
    assert max(gained) < 1 + 1e-9


def near(shift: float = 1e-3) -> np.ndarray:
    target = PANDA.frame_placement(Q, frame=FRAME)
    target[:3, 3] += shift
    return target


def bend(w: np.ndarray, we: np.ndarray, J: np.ndarray) -> float:
    """Return the bound of what least squares leave out, for an error in position and none in orientation."""
    radii = np.linalg.norm(J[3:], axis=0)
    assert not we[:3].any()
    return float(np.linalg.norm((w * we)[3:]) * np.sqrt(np.sum((2 * np.arange(7) + 1) * radii**2)))


def test_a_step_is_damped_least_squares() -> None:
    """Of angles, and of lengths in 0.6 of the reach."""
    units = np.repeat([1.0, Problem(PANDA.model, (Goal(FRAME, "pose"),)).length], 3)
    J = PANDA.jacobian(Q, frame=FRAME, reference="aligned") / units[:, None]
    e = np.array([0, 0, 0, 1e-3, 1e-3, 1e-3]) / units
    for weights, gain, damping in ((None, 1.0, 1e-6), ([1, 2, 3, 4, 5, 6], 0.5, 1e-2)):
        options = {} if weights is None else {"weights": weights, "gain": gain, "damping": damping}
        w = np.ones(6) if weights is None else np.array(weights, dtype=float)
        R = np.kron(np.eye(2), near()[:3, :3].T) if weights is not None else np.eye(6)
        wJ, we = w[:, None] * (R @ J), gain * w * (R @ e)
        found = STEP(Q, near(), DT, **options)
        damping += 0.6 * bend(w, we, J)
        wanted = wJ.T @ np.linalg.solve(wJ @ wJ.T + damping * np.eye(6), we)
        assert found.q == pytest.approx(Q + wanted, abs=1e-12)
        assert found.v == pytest.approx(wanted / DT, abs=1e-10)
        assert found.position_error == pytest.approx(np.sqrt(3e-6), abs=1e-14)


class Linear:
    """The least-squares problem of a step from q: ``|A d − b|²`` between bounds, damping and posture in rows of A.

    Without a posture with the default damping by the error, with one without.
    """

    def __init__(self, robot: kt.Robot, goals: list[Goal], q, targets, weights=None, posture=None, gain=1.0):
        problem = Problem(robot.model, tuple(goals), all_move=posture is not None)
        found = problem.errors(q.tolist(), [t.tolist() for t in targets], weights)
        J, e = np.array(problem.rows(found.jacobian)), np.array(found.weighted)
        n = J.shape[1]
        rest = np.zeros(n) if posture is None else 0.1 * (posture - q)
        root = np.sqrt(1e-6 + (0.6 * found.bend((gain * e).tolist()) if posture is None else 0.0))
        self.A = np.vstack([J, root * np.eye(n)])
        self.b = gain * np.concatenate([e, root * rest])
        self.low = np.maximum(robot.lower_limits - q, -robot.velocity_limits * DT)
        self.high = np.minimum(robot.upper_limits - q, robot.velocity_limits * DT)

    def value(self, d: np.ndarray) -> float:
        return float(np.sum((self.A @ d - self.b) ** 2))

    def best(self) -> np.ndarray:
        """Return the best step; SciPy wants bounds that are apart."""
        return np.asarray(lsq_linear(self.A, self.b, (self.low - 1e-12, self.high), method="bvls", tol=1e-15).x)

    def violation(self, d: np.ndarray) -> float:
        """Return how far d is from the conditions of the optimum, beside the slope where d is zero."""
        g, room = self.A.T @ (self.b - self.A @ d), 1e-12
        g = np.where(d >= self.high - room, np.minimum(g, 0), g)
        g = np.where(d <= self.low + room, np.maximum(g, 0), g)
        return float(np.abs(g).max() / np.linalg.norm(np.abs(self.A).T @ np.abs(self.b)))


def starts(robot: kt.Robot, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return configurations, many joints of which are at a limit, and others."""
    rng = np.random.default_rng(seed)
    q, other = robot.random_configuration(rng, n), robot.random_configuration(rng, n)
    q = np.where(rng.random(q.shape) < 0.15, robot.lower_limits, q)
    return np.where(rng.random(q.shape) < 0.15, robot.upper_limits, q), other


def check(linear: list[Linear], steps: np.ndarray) -> None:
    held = []
    for problem, d in zip(linear, steps, strict=True):
        assert problem.violation(d) < 1e-11
        best, none = problem.best(), problem.value(np.zeros_like(d))
        assert problem.value(d) <= problem.value(best) + 1e-10 * none
        assert problem.value(d) <= none  # it never increases what is to be small
        held.append(np.sum((d <= problem.low + 1e-12) | (d >= problem.high - 1e-12)))
    assert np.mean(held) > 2
    assert max(held) >= 5


def test_of_one_pose() -> None:
    q, other = starts(PANDA, 100)
    targets = PANDA.frame_placement(other, frame="panda_hand")
    linear = [Linear(PANDA, [Goal("panda_hand", "pose")], *x) for x in zip(q, targets[:, None], strict=True)]
    check(linear, STEP(q, targets, DT).q - q)


def test_of_several_frames_with_weights_and_a_posture() -> None:
    goals = [Goal("tool0", "pose"), Goal("forearm_link", "position"), Goal("wrist_1_link", "orientation")]
    step = UR5.differential_inverse_kinematics({goal.frame: goal.kind for goal in goals})
    q, other = starts(UR5, 60, seed=1)
    tool, forearm, wrist = (UR5.frame_placement(other, frame=goal.frame) for goal in goals)
    targets = tool, forearm[:, :3, 3].copy(), wrist[:, :3, :3].copy()
    weights = [np.array([1, 0.5, 2, 3, 0, 1.0]), np.array([0.1, 1, 2.0]), np.array([0.3, 0, 0.1])]
    posture = UR5.random_configuration(2)
    names = [port.name for port in step.spec.inputs if port.name.startswith("weights")]
    options = dict(zip(names, weights, strict=True))
    found = step(q, *targets, DT, posture=posture, gain=0.2, error_damping=0.0, **options)
    rows = [w.tolist() for w in weights]
    linear = [Linear(UR5, goals, x, t, rows, posture, 0.2) for x, *t in zip(q, *targets, strict=True)]
    check(linear, found.q - q)


def test_limits_of_position_and_velocity_hold_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    q = np.where(rng.random((300, 7)) < 0.3, PANDA.upper_limits, PANDA.random_configuration(rng, 300))
    targets = PANDA.frame_placement(PANDA.random_configuration(rng, 300), frame=FRAME)
    found = STEP(q, targets, DT)
    assert (found.q >= PANDA.lower_limits).all()
    assert (found.q <= PANDA.upper_limits).all()
    assert (np.abs(found.v) <= PANDA.velocity_limits).all()
    assert (np.abs(found.v) > 0.99 * PANDA.velocity_limits).any(axis=1).mean() > 0.9
    assert np.array_equal(STEP(q[5], targets[5], DT).q, found.q[5])


def test_a_joint_outside_a_limit_goes_back_no_faster_than_it_may() -> None:
    target = PANDA.frame_placement(HOME, frame=FRAME)
    slightly = np.where(np.arange(7) == 1, PANDA.upper_limits + 0.01, Q)
    everywhere = PANDA.upper_limits + np.linspace(-0.02, 0.05, 7)
    for q in (PANDA.neutral(), slightly, everywhere):
        outside = np.maximum(q - PANDA.upper_limits, 0.0)
        for _ in range(100):
            found = STEP(q, target, 1e-3, posture=HOME)
            assert np.abs(found.q - q - 1e-3 * found.v).max() < 2e-15
            assert (np.abs(found.v) <= PANDA.velocity_limits).all()
            q = found.q
            left = np.maximum(q - PANDA.upper_limits, 0.0)
            assert (left <= np.maximum(outside - 1e-3 * PANDA.velocity_limits, 0.0) + 1e-15).all()
            outside = left
        assert (q <= PANDA.upper_limits).all()
        assert (q >= PANDA.lower_limits).all()


def test_joints_that_move_no_frame_stay_outside() -> None:
    step = PANDA.differential_inverse_kinematics({"panda_link2": "orientation"})
    q = PANDA.neutral()
    found = step(q, PANDA.frame_placement(Q, frame="panda_link2")[:3, :3], DT)
    assert np.array_equal(found.q[2:], q[2:])
    assert np.abs(found.v[:2]).max() > 0.1
    assert not found.v[2:].any()


def test_in_no_time_nothing_moves() -> None:
    for q, dt in ((Q, 0.0), (PANDA.neutral(), 0.0), (Q, -DT)):
        found = STEP(q, near(), dt, posture=HOME)
        assert np.array_equal(found.q, q)
        assert not found.v.any()
    robot = kt.load("g1")
    q = robot.neutral()
    found = robot.differential_inverse_kinematics({"left_rubber_hand": "position"})(q, np.ones(3), 0.0)
    assert np.array_equal(found.q, q)  # its base has no limits
    assert not found.v.any()
    assert np.isnan(STEP(Q, near(), np.nan).v).all()


def test_the_posture_moves_what_the_goal_leaves_free() -> None:
    target, q = near(0.0), Q
    for _ in range(400):
        q = STEP(q, target, DT, posture=HOME).q
    assert np.abs(PANDA.frame_placement(q, frame=FRAME) - target).max() < 1e-3
    J = PANDA.jacobian(q, frame=FRAME)
    null = np.linalg.svd(J)[2][6]
    assert abs(null @ (Q - HOME)) > 0.05
    assert abs(null @ (q - HOME)) < 1e-3  # as near to it as the pose allows


def test_a_humanoid_follows_several_frames_with_its_posture() -> None:
    robot = kt.load("g1")
    q = robot.neutral()
    q[2] = 0.75
    feet = ["left_ankle_roll_link", "right_ankle_roll_link"]
    step = robot.differential_inverse_kinematics({**dict.fromkeys(feet, "pose"), "left_rubber_hand": "position"})
    targets = [robot.frame_placement(q, frame=foot) for foot in feet]
    hand = robot.frame_placement(q, frame="left_rubber_hand")[:3, 3] + [0.1, 0.0, -0.1]
    posture = q
    for _ in range(200):
        q, _, error, _ = step(q, *targets, hand, 0.02, posture=posture, gain=0.2)
    assert error < 1e-3
    assert np.abs(np.linalg.norm(q[3:7]) - 1) < 1e-15
    assert np.abs(q[-7:] - posture[-7:]).max() < 1e-3  # the other arm has nothing to do


def test_a_velocity_limit_of_zero_is_not_given() -> None:
    """As in trajectories: URDF demands a number, and 0 is written for none."""
    bodies = [replace(body, limits=replace(body.limits, velocity=0.0)) for body in PANDA.model.bodies]
    robot = kt.Robot(replace(PANDA.model, bodies=tuple(bodies)))
    without = PANDA.with_limits(velocity=np.inf)
    found, wanted = (r.differential_inverse_kinematics(FRAME)(Q, near(), DT) for r in (robot, without))
    assert np.array_equal(found.v, wanted.v)
    assert np.abs(found.v).max() > 0.01
    assert robot.inverse_kinematics(near(), FRAME, q0=Q, dt=DT).converged


@pytest.mark.parametrize("gain", [0.05, 1.0])
@pytest.mark.parametrize("options", [{}, {"posture": RAISED}], ids=["alone", "with a posture"])
def test_out_of_reach_it_comes_to_rest(gain: float, options: dict[str, np.ndarray]) -> None:
    """The posture pulls away from where the arm is stretched."""
    q = RAISED
    target = PANDA.frame_placement(RAISED, frame="panda_hand")
    target[0, 3] += 0.2870598 + 0.05  # the solver finds the first part, and no more
    for _ in range(3000):
        q, v, error, _ = STEP(q, target, 0.002, gain=gain, **options)
    assert (np.abs(v) < 1e-4 * PANDA.velocity_limits).all()
    assert error == pytest.approx(0.0451, abs=1e-4)  # some of it is in the orientation


@pytest.mark.parametrize("damping", [0.0, 1e-300, 1e-14])
def test_with_little_damping_it_is_the_pseudo_inverse_also_at_a_singular_state(damping: float) -> None:
    step, q = UR5.differential_inverse_kinematics("tool0"), np.zeros(6)
    J = UR5.jacobian(q, frame="tool0", reference="aligned")
    assert np.linalg.matrix_rank(J) < 6
    target = UR5.frame_placement(q, frame="tool0")
    shift = np.array([1e-4, 2e-4, -1e-4])
    target[:3, 3] += shift
    wanted = np.linalg.pinv(J, rcond=1e-9) @ np.concatenate([np.zeros(3), shift])
    assert step(q, target, 1.0, damping=damping, error_damping=0.0).q == pytest.approx(wanted, abs=1e-6)


def test_what_is_no_number_is_not_hidden_and_a_huge_damping_moves_nothing() -> None:
    posture, weights, free = (
        PANDA.random_configuration(0),
        np.array([1, 1, 1, 1, -1, 1.0]),
        np.array([0, 0, 0, 1, 1, 1.0]),
    )
    target = near()
    for pose, options in (
        *((target, {"damping": x}) for x in (-1e-6, np.nan)),
        (np.full((4, 4), np.nan), {}),
        (target, {"posture": posture, "error_damping": -1e-6}),
        *((target, {"weights": x}) for x in (weights, weights * np.nan)),
        (target, {"gain": -0.5}),
    ):
        assert np.isnan(STEP(Q, pose, DT, **options).v).all()
    assert np.isfinite(STEP(Q, target, DT, weights=free).v).all()
    for damping in (1e200, np.inf):
        assert np.abs(STEP(Q, PANDA.frame_placement(posture, frame=FRAME), DT, damping=damping).v).max() < 1e-20
    solve = PANDA.inverse_kinematics_solver(FRAME)
    assert solve(Q, target, weights=free).converged == 1
    for wrong in (weights, -free, free * np.nan):
        assert solve(Q, target, weights=wrong, restarts=1).converged == 0
