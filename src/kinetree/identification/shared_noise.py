"""Least squares where the noise of one joint knows that of another: weighted by the whole covariance of the forces.

References: Aitken, "On least squares and linear combinations of observations", 1935; Zellner, "An efficient method of
estimating seemingly unrelated regressions", 1962, for the covariance from residuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinetree.identification.correlations import correlation_times
from kinetree.identification.equations import EXACT, Factors, Rows
from kinetree.identification.least_squares import (
    ITERATIONS,
    SMALLEST,
    Prior,
    Solution,
    noise_where,
    silent,
    solve,
    weighted,
)
from kinetree.validation import Array

MOVED = 1e-2
"""By how many standard deviations estimates may still move in the end."""


def generalized(rows: Rows, log: Any, factors: Factors, prior: Prior) -> Solution:
    """Return the estimate that weights the forces of all joints by their covariance, estimated from the residuals.

    Each round goes twice through the log, in bounded memory.
    """
    found = weighted(factors, prior)
    times = correlation_times(rows, log, found.values, found.noise)
    root = np.sqrt(times)
    least = (EXACT**2 * factors.mean_squares.max(initial=0.0) + SMALLEST**2) * np.eye(len(times))
    fixed = noise_where(silent(factors), found.noise)
    for _ in range(ITERATIONS):
        C = _covariance(rows, log, found) + least
        size = np.sqrt(np.diag(C))
        C *= np.outer(fixed(size) / size, fixed(size) / size)
        whitening = np.linalg.inv(np.linalg.cholesky(root[:, None] * C * root))
        A, b = _whitened(rows, log, whitening)
        values, inverse, untold = solve(A, b, prior)
        moved = np.abs(values - found.values) > MOVED * np.sqrt(np.diag(inverse))
        found = Solution(values, inverse, np.sqrt(np.diag(C)), untold, A, times)
        if not moved.any():
            break
    return found


def _covariance(rows: Rows, log: Any, found: Solution) -> Array:
    """Return that of the noise (nv, nv): of the residuals, and of what the estimate has taken from them.

    It is a step of expectation and maximization of the restricted likelihood (Laird and Ware, "Random-effects models
    for longitudinal data", 1982).
    """
    count, total = 0, np.zeros((rows.robot.nv, rows.robot.nv))
    for blocks in _blocks(rows, log):
        Y = blocks[..., :-1]
        e = blocks[..., -1] - Y @ found.values
        taken = (Y @ found.covariance).reshape(len(Y), -1) @ Y.reshape(len(Y), -1).T
        total += e @ e.T + taken
        count += e.shape[1]
    return total / max(count, 1)


def _whitened(rows: Rows, log: Any, whitening: Array) -> tuple[Array, Array]:
    """Return A and b of the equations of all samples, whose noise is white and of size one."""
    R = np.zeros((0, rows.dimension + 1))
    for blocks in _blocks(rows, log):
        white = (whitening @ blocks.reshape(len(blocks), -1)).reshape(-1, R.shape[1])
        R = np.asarray(np.linalg.qr(np.vstack([R, white]), mode="r"))
    return R[:, :-1], R[:, -1]


def _blocks(rows: Rows, log: Any) -> Iterator[Array]:
    """Yield the equations (nv, samples, n + 1) piece by piece, the forces last."""
    for own, tau in rows.equations(log):
        blocks = np.zeros((len(own), len(tau), rows.dimension + 1))
        for k, (Y, columns) in enumerate(zip(own, rows.pattern, strict=True)):
            blocks[k][:, columns] = Y
            blocks[k, :, -1] = tau[:, k]
        yield blocks
