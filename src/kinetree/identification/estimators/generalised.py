"""Generalised least squares: weighted by the whole covariance of the joints' noise.

References: Aitken, "On least squares and linear combinations of observations", 1935; Zellner, "An efficient method of
estimating seemingly unrelated regressions", 1962, for the covariance from residuals; Laird and Ware, "Random-effects
models for longitudinal data", 1982, for steps of expectation and maximization of the restricted likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.identification.estimators.contract import ITERATIONS, Equations, Prior, Solution, integrated_times, solve
from kinetree.identification.estimators.least_squares import weighted, zero_forces
from kinetree.identification.triangle import EXACT, Triangle
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array

MOVED = 1e-2  # by how many standard deviations estimates may still move in the end
SMALLEST_NOISE = 1e-100  # where all forces are zero


@friendly_call_errors
@dataclass(frozen=True)
class Generalised:
    """Least squares weighted by the covariance of the joints' noise, from the residuals; two passes a round.

    For noise that joints share: one supply, one structure that swings.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [], by=kt.identification.Generalised())
    >>> bool(abs(fit.values - fit.base.of()).max() < 1e-9)
    True
    """

    reads_again, exact_motion = True, True

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """See `Estimator`."""
        factors = equations.factors
        found = weighted(factors, prior, np.ones(len(factors.R)))
        times = integrated_times(equations.model.residuals(equations.log, found.values), found.noise)
        first, zero, root = found.noise, zero_forces(factors), np.sqrt(times)
        least = (EXACT**2 * factors.mean_squares.max(initial=0.0) + SMALLEST_NOISE**2) * np.eye(len(root))
        for _ in range(ITERATIONS):
            C = _covariance(equations, found) + least
            size = np.where(zero, first / np.sqrt(np.diag(C)), 1.0)
            C *= np.outer(size, size)
            A, b = _whitened(equations, np.linalg.inv(np.linalg.cholesky(root[:, None] * C * root)))
            A[:, factors.silent] = 0.0
            values, inverse, null = solve(A, b, prior)
            moved = np.abs(values - found.values) > MOVED * np.sqrt(np.diag(inverse))
            found = Solution(values, inverse, np.sqrt(np.diag(C)), null, A, times)
            if not moved.any():
                break
        return found.informed(factors, prior)


def _covariance(equations: Equations, found: Solution) -> Array:
    """Return the covariance of the noise (nv, nv), by the residuals and the degrees of freedom of the estimate."""
    count, total = 0, np.zeros((len(found.noise), len(found.noise)))
    for blocks in _blocks(equations):
        Y = blocks[..., :-1]
        e = blocks[..., -1] - Y @ found.values
        total += e @ e.T + (Y @ found.covariance).reshape(len(Y), -1) @ Y.reshape(len(Y), -1).T
        count += e.shape[1]
    return total / max(count, 1)


def _whitened(equations: Equations, whitening: Array) -> tuple[Array, Array]:
    """Return A and b of the equations of all samples, whose noise is white and of size one."""
    triangle = Triangle(equations.model.dimension + 1)
    for blocks in _blocks(equations):
        triangle.add((whitening @ blocks.reshape(len(blocks), -1)).reshape(-1, blocks.shape[-1]))
    R = triangle.R
    return R[:, :-1].copy(), R[:, -1]


def _blocks(equations: Equations) -> Iterator[Array]:
    """Yield the equations (nv, samples, n + 1) piece by piece, the forces last."""
    model = equations.model
    for rows, tau in model.equations(equations.log):
        blocks = np.zeros((len(rows), len(tau), model.dimension + 1))
        for block, Y, columns, right in zip(blocks, rows, model.pattern, tau.T, strict=True):
            block[:, columns], block[:, -1] = Y, right
        yield blocks
