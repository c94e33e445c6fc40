"""Errors of goals: their Jacobian is their rate, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.algorithms.inverse_kinematics.goals import PARTS, Goal
from kinetree.algorithms.inverse_kinematics.problem import Problem

ROBOT = kt.load("ur5")
FRAME = "tool0"
H = 1e-6


def target_of(kind: str, rng: np.random.Generator) -> list:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    axis = rng.normal(size=3)
    targets = {"pose": pose, "orientation": pose[:3, :3], "position": pose[:3, 3], "look_at": [pose[:3, 3], axis]}
    return Goal(FRAME, kind).prepared(np.asarray(targets[kind]).tolist())


def errors(kind: str, q: np.ndarray, target: list, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted error and its Jacobian."""
    problem = Problem(ROBOT.model, (Goal(FRAME, kind),))
    found = problem.errors(q.tolist(), [target], None if weights is None else [weights.tolist()])
    return np.array(found.weighted), np.array(problem.rows(found.jacobian))


@pytest.mark.parametrize("kind", list(PARTS))
@pytest.mark.parametrize("own_axes", [False, True])
def test_the_jacobian_is_the_rate_of_the_error(kind: str, own_axes: bool) -> None:
    """In the axes of the target it is exact; else its product with the error, which is the gradient."""
    rng = np.random.default_rng(0)
    for q in ROBOT.random_configuration(rng, 20):
        target, v = target_of(kind, rng), rng.normal(size=6)
        weights = rng.uniform(0.5, 2.0, 3 * len(PARTS[kind])) if own_axes and kind != "look_at" else None
        e, J = errors(kind, q, target, weights)
        ahead, behind = (errors(kind, q + s * H * v, target, weights)[0] for s in (1, -1))
        rate = (ahead - behind) / (2 * H)
        assert e @ (rate + J @ v) == pytest.approx(0.0, abs=1e-7)
        if weights is not None or kind == "position":
            assert np.abs(rate + J @ v).max() < 1e-7


def test_an_axis_that_points_away_turns_half_round() -> None:
    q = ROBOT.random_configuration(0)
    T = ROBOT.frame_placement(q, frame=FRAME)
    for axis in np.eye(3):
        away = [(T[:3, 3] - T[:3, :3] @ axis).tolist(), axis.tolist()]
        e, _ = errors("look_at", q, away, None)
        assert np.linalg.norm(e) == pytest.approx(np.pi, abs=1e-7)
        assert e @ (T[:3, :3] @ axis) == pytest.approx(0.0, abs=1e-7)
