"""Task-space and operational-space dynamics, against dense linear algebra and against what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import EPS, assert_close
from helpers.frames import REFERENCES, times
from helpers.trees import Array, columns, page, random_states, random_tree, stacked
from kinetree.algorithms import aba, bias_forces, crba, gravity_forces
from kinetree.algorithms.dynamics.task_space import (
    dynamically_consistent_inverse,
    null_space_projector,
    operational_inertia,
    operational_space_dynamics,
    task_space_dynamics,
)
from kinetree.algorithms.kinematics.frames import jacobian, jacobian_bias
from kinetree.joints import Prismatic, Revolute, Spherical
from kinetree.model import Model

SIX = [(kt.load("ur5").model, "tool0")]
MORE = [
    (kt.load("panda").model, "panda_hand_tcp"),
    (kt.load("g1").model, "left_rubber_hand"),
    (random_tree(4, n=9, joints=(Spherical(), Prismatic(), Revolute((1, 0, 0)))), None),
]
"""Arms of six joints, and others with more; None stands for the frame that the most joints move."""


def deepest(model: Model) -> str:
    def movers(frame: Any) -> int:
        i, n = frame.body, 0
        while i >= 0:
            n, i = n + len(model.bodies[i].v_index), model.bodies[i].parent
        return n

    return max(model.frames, key=movers).name


def cases(rows: list[tuple[Model, str | None]]) -> Any:
    found = [(model, frame or deepest(model)) for model, frame in rows]
    return pytest.mark.parametrize(("model", "frame"), found, ids=[m.name for m, _ in found])


def several(function: Any, model: Model, *arrays: Array, **options: str) -> list[Array]:
    """Run a page of several outputs on a batch."""
    return [stacked(x, arrays[0].shape[:-1]) for x in function(model, *map(columns, arrays), **options)]


def regular_states(model: Model, frame: str, seed: int) -> tuple[Array, Array, Array]:
    """Return the states among many in which the frame is farthest from singularities."""
    q, v, a = random_states(model, seed, size=40)
    condition = np.linalg.cond(page(jacobian, model, q, frame=frame))
    best = np.argsort(condition)[:8]
    assert condition[best].max() < 50
    return q[best], v[best], a[best]


def transposed(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


@cases(SIX)
@pytest.mark.parametrize("reference", REFERENCES)
def test_six_joints_as_in_modern_robotics(model: Model, frame: str, reference: str) -> None:
    q, v, _ = regular_states(model, frame, 1)
    options = {"frame": frame, "reference": reference}
    J, M = page(jacobian, model, q, **options), page(crba, model, q)
    inverse = np.linalg.inv(J)
    V = times(J, v)
    Lambda, eta = several(task_space_dynamics, model, q, V, **options)
    condition = np.linalg.cond(J).max()
    assert_close(Lambda, transposed(inverse) @ M @ inverse, ulps=20 * condition)
    expected = times(transposed(inverse), page(bias_forces, model, q, v)) - times(
        Lambda, page(jacobian_bias, model, q, v, **options)
    )
    assert_close(eta, expected, ulps=50 * condition, scale=float(np.abs(Lambda).max()))


@cases(MORE)
@pytest.mark.parametrize("reference", REFERENCES)
def test_redundant_arms_by_dense_algebra(model: Model, frame: str, reference: str) -> None:
    q, _, _ = regular_states(model, frame, 2)
    options = {"frame": frame, "reference": reference}
    J, M = page(jacobian, model, q, **options), page(crba, model, q)
    A = J @ np.linalg.solve(M, transposed(J))
    condition = np.linalg.cond(A).max()
    assert condition < 1e6
    Lambda = page(operational_inertia, model, q, **options)
    assert_close(Lambda, np.linalg.inv(A), ulps=10 * condition)
    np.testing.assert_array_equal(Lambda, transposed(Lambda))
    J_bar = page(dynamically_consistent_inverse, model, q, **options)
    assert_close(J_bar, np.linalg.solve(M, transposed(J)) @ np.linalg.inv(A), ulps=10 * condition)
    identity = np.broadcast_to(np.eye(6), Lambda.shape)
    assert_close(J @ J_bar, identity, ulps=50 * np.sqrt(condition))


@cases([*SIX, *MORE])
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_frame_accelerates_as_its_equation_of_motion_says(model: Model, frame: str, reference: str) -> None:
    """Any joint forces τ act at the frame as F = J̄ᵀ τ: with V̇ from forward dynamics, F = Λ V̇ + μ + p."""
    q, v, tau = regular_states(model, frame, 3)
    options = {"frame": frame, "reference": reference}
    J, a = page(jacobian, model, q, **options), page(aba, model, q, v, tau)
    V_dot = times(J, a) + page(jacobian_bias, model, q, v, **options)
    Lambda, mu, p = several(operational_space_dynamics, model, q, v, **options)
    J_bar = page(dynamically_consistent_inverse, model, q, **options)
    scale = float(np.abs(Lambda).max() * np.abs(V_dot).max())
    M = page(crba, model, q)
    assert_close(
        times(transposed(J_bar), tau), times(Lambda, V_dot) + mu + p, ulps=20 * np.linalg.cond(M).max(), scale=scale
    )
    assert_close(p, times(transposed(J_bar), page(gravity_forces, model, q)), ulps=100)


@cases([*SIX, *MORE])
def test_the_two_forms_agree_where_the_joints_move_with_the_least_energy(model: Model, frame: str) -> None:
    q, v, _ = regular_states(model, frame, 4)
    V = times(page(jacobian, model, q, frame=frame), v)
    consistent = times(page(dynamically_consistent_inverse, model, q, frame=frame), V)
    Lambda, eta = several(task_space_dynamics, model, q, V, frame=frame)
    same, mu, p = several(operational_space_dynamics, model, q, consistent, frame=frame)
    np.testing.assert_array_equal(Lambda, same)
    assert_close(eta, mu + p, ulps=1000, scale=float(np.abs(mu).max() + np.abs(p).max()))


@cases(MORE)
def test_forces_in_the_null_space_do_not_accelerate_the_frame(model: Model, frame: str) -> None:
    q, _, tau = regular_states(model, frame, 5)
    N = page(null_space_projector, model, q, frame=frame)
    M, J = page(crba, model, q), page(jacobian, model, q, frame=frame)
    tolerance = 50 * np.linalg.cond(M).max()
    felt = times(J, np.linalg.solve(M, times(N, tau)[..., None])[..., 0])
    unprojected = times(J, np.linalg.solve(M, tau[..., None])[..., 0])
    assert_close(felt, np.zeros_like(felt), ulps=tolerance, scale=float(np.abs(unprojected).max()))
    assert_close(N @ N, N, ulps=tolerance)
    rank = np.linalg.matrix_rank(N, tol=EPS * tolerance * np.abs(N).max())
    np.testing.assert_array_equal(rank, model.nv - 6)
