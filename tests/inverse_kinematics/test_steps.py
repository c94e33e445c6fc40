"""One step: what it minimises, and its bounds."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

from helpers.dense import assert_close
from kinetree.algorithms.inverse_kinematics.steps import bounded_step, near_step

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


def steps(
    J: np.ndarray, e: np.ndarray, damping: np.ndarray, low: np.ndarray, high: np.ndarray, rest: np.ndarray | None = None
) -> np.ndarray:
    """Return the steps of all problems; entries between -inf and inf have no bounds."""
    found = []
    for k in range(len(J)):
        both = zip(low[k].tolist(), high[k].tolist(), strict=True)
        limits = [None if np.isinf(b).all() else b for b in both]
        own = None if rest is None else rest[k].tolist()
        found.append(bounded_step(J[k].tolist(), e[k].tolist(), float(damping[k]), limits, own))
    return np.array(found)


def near_steps(J: np.ndarray, e: np.ndarray, damping: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the cheap steps of all problems."""
    limits = [list(zip(*both, strict=True)) for both in zip(low.tolist(), high.tolist(), strict=True)]
    return np.array([near_step(*p) for p in zip(J.tolist(), e.tolist(), damping.tolist(), limits, strict=True)])


def value(J: np.ndarray, e: np.ndarray, damping: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return |J d − e|² + λ|d|², (n,)."""
    return np.sum((np.einsum("nmv,nv->nm", J, d) - e) ** 2, axis=1) + damping * np.sum(d * d, axis=1)


def optimum(J: np.ndarray, e: np.ndarray, damping: float, low: np.ndarray, high: np.ndarray) -> float:
    """Return the least value within the bounds, which SciPy wants to be apart."""
    n = J.shape[1]
    stacked = np.vstack([J, np.sqrt(damping) * np.eye(n)])
    bounds = low - 1e-12, high + 1e-12
    return 2 * lsq_linear(stacked, np.concatenate([e, np.zeros(n)]), bounds, tol=1e-14).cost


def test_a_free_step_is_the_damped_least_squares_solution() -> None:
    J, e, damping = problems()
    d = steps(J, e, damping, -FREE, FREE)
    for k in range(N):
        stacked = np.vstack([J[k], np.sqrt(damping[k]) * np.eye(NV)])
        assert_close(d[k], np.linalg.lstsq(stacked, np.concatenate([e[k], np.zeros(NV)]), rcond=None)[0])


def test_a_bounded_step_is_the_best_within_its_bounds() -> None:
    J, e, damping = problems()
    low, high = bounds()
    for columns in (NV, 4):  # more columns than rows, and fewer
        part = J[:, :, :columns], e, damping, low[:, :columns], high[:, :columns]
        d = steps(*part)
        assert (d >= part[3]).all()
        assert (d <= part[4]).all()
        inside = (d > part[3]) & (d < part[4])
        assert 0.2 < inside.mean() < 0.8
        found = value(part[0], e, damping, d)
        best = np.array([optimum(*problem) for problem in zip(*part, strict=True)])
        assert (np.abs(found - best) < 1e-9 * np.sum(e * e, axis=1)).all()


def test_a_near_step_stays_inside_and_is_close_to_the_best() -> None:
    J, e, damping = problems()
    low, high = bounds()
    d = near_steps(J, e, damping, low, high)
    assert (d >= low).all()
    assert (d <= high).all()
    none, found = np.sum(e * e, axis=1), value(J, e, damping, d)
    assert (found < none).all()
    best = np.array([optimum(*problem) for problem in zip(J, e, damping, low, high, strict=True)])
    gained = (none - found) / (none - best)
    assert gained.max() < 1 + 1e-9
    assert np.median(gained) > 0.95
    assert gained.min() < 0.99  # or it would be the best step, and this file need only one


def test_nothing_moves_where_nothing_may() -> None:
    J, e, damping = problems()
    nowhere = np.zeros((N, NV))
    assert not steps(J, e, damping, nowhere, nowhere).any()
    assert not near_steps(J, e, damping, nowhere, nowhere).any()


def test_what_is_free_goes_to_where_it_rests() -> None:
    J, e, _ = problems()
    rest = np.random.default_rng(5).normal(size=(N, NV))
    d = steps(J, e, np.full(N, 1e-9), -FREE, FREE, rest)
    for k in range(N):
        inverse = np.linalg.pinv(J[k])
        assert np.abs(d[k] - (inverse @ e[k] + rest[k] - inverse @ (J[k] @ rest[k]))).max() < 1e-6
