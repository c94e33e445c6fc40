"""One step: what it minimises, and its bounds."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from helpers.dense import assert_close
from kinetree import ArgumentError
from kinetree.inverse_kinematics.steps import clamped_step, qp_step

N, M, NV = 40, 6, 9
FREE = np.full((N, NV), np.inf)


def problems(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, M, NV)), rng.normal(size=(N, M)), rng.uniform(0.01, 1.0, N)


def bounds(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return tight bounds; for some coordinates zero, for some infinite."""
    rng = np.random.default_rng(seed)
    low, high = -rng.uniform(0.0, 0.3, (N, NV)), rng.uniform(0.0, 0.3, (N, NV))
    low[rng.random((N, NV)) < 0.2] = 0.0
    high[rng.random((N, NV)) < 0.2] = np.inf
    return low, high


def slope(J: np.ndarray, e: np.ndarray, damping: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return half the gradient (n, nv) of |J d − e|² + λ|d|²."""
    return np.einsum("nmv,nm->nv", J, np.einsum("nmv,nv->nm", J, d) - e) + damping[:, None] * d


def value(J: np.ndarray, e: np.ndarray, damping: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return |J d − e|² + λ|d|², (n,)."""
    return np.sum((np.einsum("nmv,nv->nm", J, d) - e) ** 2, axis=1) + damping * np.sum(d * d, axis=1)


def test_a_free_step_is_the_damped_least_squares_solution() -> None:
    J, e, damping = problems()
    d = clamped_step(J, e, damping, -FREE, FREE)
    for k in range(N):
        stacked = np.vstack([J[k], np.sqrt(damping[k]) * np.eye(NV)])
        assert_close(d[k], np.linalg.lstsq(stacked, np.concatenate([e[k], np.zeros(NV)]), rcond=None)[0])


def test_a_clamped_step_stays_inside_and_is_optimal_where_it_is_free() -> None:
    J, e, damping = problems()
    low, high = bounds()
    d = clamped_step(J, e, damping, low, high)
    assert (d >= low).all()
    assert (d <= high).all()
    inside = (d > low) & (d < high)
    assert 0.2 < inside.mean() < 0.8
    assert np.abs(slope(J, e, damping, d)[inside]).max() < 1e-12
    assert (value(J, e, damping, d) < np.sum(e * e, axis=1)).all()


def test_nothing_moves_where_nothing_may() -> None:
    J, e, damping = problems()
    assert not clamped_step(J, e, damping, np.zeros((N, NV)), np.zeros((N, NV))).any()


def test_a_qp_step_is_optimal() -> None:
    pytest.importorskip("daqp")
    J, e, damping = problems()
    low, high = bounds()
    d = qp_step(J, e, damping, low, high)
    assert (d >= low).all()
    assert (d <= high).all()
    g = slope(J, e, damping, d)
    tight = 1e-12
    at_low, at_high = d <= low + tight, d >= high - tight
    assert (g[at_low & ~at_high] >= -tight).all()  # at a bound the gradient pushes against it, inside there is none
    assert (g[at_high & ~at_low] <= tight).all()
    assert np.abs(g[~at_low & ~at_high]).max() < tight
    best, clamped = (value(J, e, damping, x) for x in (d, clamped_step(J, e, damping, low, high)))
    assert (best <= clamped + tight).all()
    assert (best < clamped - 1e-6).any()  # an active set that only grows is not always the best one


def test_a_free_qp_step_is_the_clamped_one() -> None:
    pytest.importorskip("daqp")
    J, e, damping = problems()
    assert np.abs(qp_step(J, e, damping, -FREE, FREE) - clamped_step(J, e, damping, -FREE, FREE)).max() < 1e-12


def test_a_qp_step_without_the_solver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(ArgumentError, match=r"pip install kinetree\[qp\]"):
        qp_step(*problems(), -FREE, FREE)
