"""Least squares from triangular factors, weighted by each joint's noise or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from kinetree.identification.estimators.contract import ITERATIONS, Equations, Prior, Solution, decorrelated, solve
from kinetree.options import only, option, value
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.identification.triangle import QRFactors

ZERO_FORCE = 1e-9  # forces below this, relative to the greatest, are zero: those of a floating base in the air
FIRST_NOISE_OF_ZERO_FORCES = 1e3  # where that of the others is one


@value
class LeastSquares:
    """Least squares: residuals count in units of each joint's noise, which is estimated with the parameters.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [], by=LeastSquares(weights=None))
    >>> bool(abs(fit.values - fit.base.of()).max() < 1e-9)
    True
    """

    weights: Literal["joints"] | None = option(
        default="joints",
        kw_only=False,
        check=only(lambda x: x is None or (isinstance(x, str) and x == "joints"), "'joints' or None"),
        help="None: all residuals count alike; the covariance is that of unequal noise all the same",
    )
    correlated: bool = option(
        default=True,
        kw_only=False,
        help="whether residuals that are correlated in time count as so many fewer, for which the log, or of an "
        "iterator the first 131072 samples, is read again",
    )
    reads_again, exact_motion = False, True

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """See `Estimator`."""
        fit = weighted if self.weights else unweighted
        if self.correlated:
            found = decorrelated(equations, lambda times: fit(equations.factors, prior, times))
        else:
            found = fit(equations.factors, prior, np.ones(len(equations.factors.R)))
        return found.informed(equations.factors, prior)


def weighted(factors: QRFactors, prior: Prior, times: Array) -> Solution:
    """Return the estimate with the least residuals in units of each joint's noise, which is estimated with them."""
    zero, root = zero_forces(factors), np.sqrt(times)
    scale = np.where(zero, FIRST_NOISE_OF_ZERO_FORCES, 1.0)
    values, inverse, null = solve(*factors.stacked(scale), prior)
    noise = first = noise_of(factors, values, scale, inverse)
    for _ in range(ITERATIONS):
        scale = noise * root
        values, inverse, null = solve(*factors.stacked(scale), prior)
        before, noise = noise, np.where(zero, first, noise_of(factors, values, scale, inverse))
        if np.abs(noise - before).max(initial=0.0) <= 1e-6 * noise.max(initial=0.0):
            break
    return Solution(values, inverse, noise, null, factors.stacked(noise * root)[0], root**2)


def unweighted(factors: QRFactors, prior: Prior, times: Array) -> Solution:
    """Return the ordinary least-squares estimate, with White's covariance: noise differs between joints.

    A prior counts beside residuals in units of the noise of all joints together.
    """
    common, known = 1.0, prior.informative
    for _ in range(ITERATIONS if known.any() else 1):
        before, scale = common, np.full(len(times), common)
        values, inverse, null = solve(*factors.stacked(scale), prior)
        noise = noise_of(factors, values, scale, inverse)
        common = float(np.sqrt(np.mean(noise**2)))
        if abs(common - before) <= 1e-6 * before:
            break
    A = factors.stacked(noise * np.sqrt(times))[0]
    sensitivity = (A * (noise**2 * times / scale**2)[factors.joints, None]) @ inverse
    of_prior = inverse[known] / prior.deviations[known, None]
    covariance = sensitivity.T @ sensitivity + of_prior.T @ of_prior
    return Solution(values, covariance, noise, null, A, times)


def zero_forces(factors: QRFactors) -> NDArray[np.bool_]:
    """Return a mask (nv,) of the forces that are always zero.

    There ``Y π = 0``, and a robot without mass has no residuals: weights from residuals would grow until it is the
    estimate. Their noise is that with which the other equations are fulfilled as well as they can be.
    """
    return np.asarray(factors.mean_squares <= ZERO_FORCE**2 * factors.mean_squares.max(initial=0.0), dtype=np.bool_)


def noise_of(factors: QRFactors, values: Array, scale: Array, inverse: Array) -> Array:
    """Return the standard deviations of the residuals (nv,), by the degrees of freedom that the estimate leaves."""
    A, _ = factors.stacked(scale)
    left = factors.counts - factors.by_joint(((A @ inverse) * A).sum(axis=1))
    return np.asarray(np.maximum(np.sqrt(factors.squares(values) / np.maximum(left, 1.0)), factors.least_noise))
