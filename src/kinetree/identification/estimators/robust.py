"""M-estimates: outliers count less, or hardly at all.

Reference: Huber and Ronchetti, "Robust Statistics", 2009, section 7.6: the covariance is that of least squares with
the noise's variance replaced by ``E ψ² / (E ψ')²``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from kinetree.identification.estimators.contract import ITERATIONS, Equations, Prior, Solution, decorrelated, solve
from kinetree.identification.estimators.least_squares import weighted, zero_forces
from kinetree.identification.triangle import QRFactors
from kinetree.options import option, value
from kinetree.validation import Array

NORMAL_QUARTILE = 0.6744897501960817


class Loss(NamedTuple):
    """What a residual u, in units of the constant times the noise, counts: ``ψ = w(u) u``."""

    constant: float
    weight: Callable[[Array], Any]
    slope: Callable[[Array], Any]


LOSSES = {  # by both constants 95 % efficient without outliers
    "huber": Loss(1.345, lambda u: 1.0 / np.maximum(np.abs(u), 1.0), lambda u: (np.abs(u) < 1.0) * 1.0),
    "cauchy": Loss(2.385, lambda u: 1.0 / (1.0 + u * u), lambda u: (1.0 - u * u) / (1.0 + u * u) ** 2),
}


@value
class Robust:
    """Least squares re-weighted by a loss, in units of each joint's noise, which is estimated by medians.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> tau[::20] += 100.0
    >>> fit = robot.identify((q, v, a, tau), [], by=kt.identification.Robust("cauchy"))
    >>> bool(abs(fit.values - fit.base.of()).max() < 1e-3)
    True
    """

    loss: Literal["huber", "cauchy"] = option(
        default="huber", kw_only=False, choices=tuple(LOSSES), help="whether outliers count less, or hardly at all"
    )
    reads_again, exact_motion = True, True

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """See `Estimator`."""
        found = decorrelated(equations, lambda times: self._reweighted(equations, prior, times))
        return found.informed(equations.factors, prior)

    def _reweighted(self, equations: Equations, prior: Prior, times: Array) -> Solution:
        factors = equations.factors
        found = weighted(factors, prior, times)
        first, zero, least = found.noise, zero_forces(factors), factors.least_noise
        for _ in range(ITERATIONS):
            usual = np.where(zero, first, np.maximum(_median_noise(equations, found.values), least))
            seen, effective, mean = _reweighed(equations, found.values, usual, LOSSES[self.loss])
            noise = np.where(zero, first, np.maximum(effective, least))
            A, b = seen.stacked(noise * np.sqrt(times * mean))
            values, inverse, null = solve(A, b, prior)
            moved = np.abs(values - found.values) > 1e-3 * np.sqrt(np.diag(inverse))
            found = Solution(values, inverse, usual, null, A, times)
            if not moved.any():
                break
        return found


def _median_noise(equations: Equations, values: Array) -> Array:
    """Return the standard deviations of normal residuals with the same median size."""
    model, sizes = equations.model, []
    for rows, tau in model.equations(equations.log):
        e = np.abs(tau - model.predicted(rows, values))
        sizes.append([np.median(x[x > 0.0]) if x.any() else np.nan for x in e.T])
    middle = [np.median(x[np.isfinite(x)]) if np.isfinite(x).any() else 0.0 for x in np.array(sizes).T]
    return np.array(middle) / NORMAL_QUARTILE


def _reweighed(equations: Equations, values: Array, usual: Array, law: Loss) -> tuple[QRFactors, Array, Array]:
    """Return the factors with weights by residuals, the noise that would make least squares as sure, mean weights."""
    model, scale = equations.model, law.constant * usual
    found, total = QRFactors(model.pattern, model.dimension, model.of_bodies), np.zeros((4, len(scale)))
    for rows, tau in model.equations(equations.log):
        e = tau - model.predicted(rows, values)
        weights, there = law.weight(e / scale), e != 0.0
        root = np.sqrt(weights)
        found.add([Y * w[:, None] for Y, w in zip(rows, root.T, strict=True)], tau * root)
        sums = there, weights * there, (weights * e) ** 2, law.slope(e / scale) * there
        total += [x.sum(axis=0) for x in sums]
    mean, squares, slopes = total[1:] / np.maximum(total[0], 1.0)
    return found, np.asarray(np.sqrt(squares) / np.maximum(slopes, 1e-3)), np.where(total[0] > 0.0, mean, 1.0)
