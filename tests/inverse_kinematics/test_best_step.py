"""The differential step is the best one within its limits, beside SciPy, and what follows from that."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.algorithms.inverse_kinematics.goals import Goal
from kinetree.algorithms.inverse_kinematics.problem import Problem

PANDA, UR5 = kt.load("panda"), kt.load("ur5")
STEP = PANDA.differential_inverse_kinematics("panda_hand")
DT = 0.01
HOME = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])


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


def test_far_targets_are_reached_as_with_the_best_steps() -> None:
    rng, length = np.random.default_rng(0), Problem(PANDA.model, (Goal("panda_hand", "pose"),)).length
    q = PANDA.random_configuration(rng, 40)
    targets = PANDA.frame_placement(PANDA.random_configuration(rng, 40), frame="panda_hand")
    errors = []
    for _ in range(300):
        placement = PANDA.frame_placement(q, frame="panda_hand")
        turned = Rotation.from_matrix(targets[:, :3, :3] @ placement[:, :3, :3].transpose(0, 2, 1)).as_rotvec()
        shifted = (targets - placement)[:, :3, 3] / length
        errors.append(np.hypot(*(np.linalg.norm(x, axis=1) for x in (turned, shifted))))
        q = STEP(q, targets, DT).q
    assert (errors[-1] < 1e-6).sum() >= 14
    assert (np.diff(errors, axis=0) < 1e-12).all()


@pytest.mark.parametrize("gain", [0.05, 1.0])
@pytest.mark.parametrize("options", [{}, {"posture": HOME}], ids=["alone", "with a posture"])
def test_out_of_reach_it_comes_to_rest(gain: float, options: dict[str, np.ndarray]) -> None:
    """The posture pulls away from where the arm is stretched."""
    q = HOME
    target = PANDA.frame_placement(HOME, frame="panda_hand")
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


def test_with_a_huge_damping_nothing_moves() -> None:
    q, other = PANDA.random_configuration(4, 2)
    target = PANDA.frame_placement(other, frame="panda_hand")
    for damping in (1e200, np.inf):
        assert np.abs(STEP(q, target, DT, damping=damping).v).max() < 1e-20


def test_what_is_no_number_is_not_hidden() -> None:
    q, other = starts(PANDA, 2)
    target = PANDA.frame_placement(other[0], frame="panda_hand")
    for pose, damping in ((target, -1e-6), (target, np.nan), (np.full((4, 4), np.nan), 1e-6)):
        assert np.isnan(STEP(q[0], pose, DT, damping=damping).v).all()
    assert np.isnan(STEP(q[0], target, DT, posture=q[1], error_damping=-1e-6).v).all()


def test_a_negative_damping_that_is_seen_while_compiling_is_an_error() -> None:
    def velocity(q, target):
        return STEP(q, target, DT, damping=-1.0).v

    with pytest.raises(kt.ArgumentError, match=r"damping is -1\.0"):
        kt.compile(PANDA, velocity, shapes={"target": (4, 4)})(np.zeros(7), np.eye(4))


def test_the_bits_of_a_step_do_not_depend_on_its_neighbours() -> None:
    q, other = starts(PANDA, 37)
    targets = PANDA.frame_placement(other, frame="panda_hand")
    together = STEP(q, targets, DT)
    for k in range(37):
        assert np.array_equal(STEP(q[k], targets[k], DT).v, together.v[k])
