"""Least squares from triangular factors: ordinary, weighted by each joint's noise, re-weighted for outliers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.identification.correlations import correlation_times
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.triangle import Triangle, inverse_of
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLD = 1e-10
"""Directions of the scaled parameters whose effect is below this, relative to the greatest, are not told."""

HEARD = 1e-8
"""What is known before counts as much as this, relative to the data: else exact data would drown it in rounding."""

HUBER = 1.345
"""Where Huber's loss becomes linear, in standard deviations: 95 % efficient without outliers."""

CAUCHY = 2.385
"""The scale of Cauchy's loss with the same efficiency."""

SILENT = 1e-9
"""Forces below this, relative to the greatest, are zero: those of a floating base in the air."""

LOOSE = 1e3
"""The first noise of such forces, where that of others is one."""

SMALLEST = 1e-100
"""The least noise, where all forces are zero."""

LEAST_NOISE = 1e-6
"""Noise below this, relative to the forces, counts as this where bodies that can exist are sought."""

ITERATIONS = 30

FIXED = 1e4
"""How much more than the data that counts which is fixed, where it is one equation of many."""


class Loss(NamedTuple):
    """What a residual u, in units of the constant times the noise, counts: ``ψ = w(u) u``."""

    constant: float
    weight: Callable[[Array], Any]
    slope: Callable[[Array], Any]


LOSSES = {
    "huber": Loss(HUBER, lambda u: 1.0 / np.maximum(np.abs(u), 1.0), lambda u: (np.abs(u) < 1.0) * 1.0),
    "cauchy": Loss(CAUCHY, lambda u: 1.0 / (1.0 + u * u), lambda u: (1.0 - u * u) / (1.0 + u * u) ** 2),
}


class Prior(NamedTuple):
    """What is known of the base parameters before.

    Attributes
    ----------
    values : (n,) array
    deviations : (n,) array
        Their standard deviations: 0 of what is fixed; infinite of what is not known, which stays at its value where the
        data do not tell it.
    """

    values: Array
    deviations: Array

    def wider(self, count: int) -> Prior:
        """Return the same with further parameters of which nothing is known."""
        return Prior(np.append(self.values, np.zeros(count)), np.append(self.deviations, np.full(count, np.inf)))

    def rows(self, A: Array) -> Array:
        """Return what this is as further rows of equations; of what is fixed, with far more weight than theirs."""
        fixed = self.deviations == 0.0
        effect = FIXED * np.linalg.norm(A, axis=0)
        s = np.where(fixed, 1.0 / np.where(effect > 0.0, effect, 1.0), self.deviations)
        return np.asarray(np.diag(1.0 / s)[np.isfinite(s)])


class Solution(NamedTuple):
    """Estimated base parameters.

    Attributes
    ----------
    values : (n,) array
    covariance : (n, n) array
        Of what the data tell.
    noise : (nv,) array
        Standard deviations of the forces' noise.
    untold : (r, n) array
        Orthonormal rows: directions of the parameters, in units of their effects, that change no force of these data.
    information : (m, n) array
        Rows A of the equations in units of their noise: ``AᵀA`` is Fisher's information.
    times : (nv,) array
        How many samples count as one: see `correlation_times`.
    """

    values: Array
    covariance: Array
    noise: Array
    untold: Array
    information: Array
    times: Array

    def others(self, first: Array) -> Array:
        """Return what is likeliest of the parameters behind the first ones where these have other values."""
        n, J = len(first), self.information
        away = J[:, :n] @ (first - self.values[:n])
        return self.values[n:] - np.asarray(np.linalg.lstsq(J[:, n:], away, rcond=None)[0])


def solve(A: Array, b: Array, prior: Prior) -> tuple[Array, Array, Array]:
    """Return x with ``|A x − b|² + Σ ((x − x_0) / s)²`` least, the inverse of its Hessian, and what is not told."""
    x0, s = prior
    known = np.isfinite(s) & (s > 0.0)
    weights = np.maximum(1.0 / np.where(known, s, 1.0), HEARD * np.linalg.norm(A, axis=0))
    A, b = np.vstack([A, np.diag(weights)[known]]), np.append(b - A @ x0, np.zeros(known.sum()))
    free = s > 0.0
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = 1.0
    n = int(free.sum())
    triangle, R = Triangle(n + 1), np.zeros((n, n + 1))
    triangle.add(np.column_stack([(A / scale)[:, free], b]))
    R[: len(triangle.R)] = triangle.R[:n]
    inverse, untold = _inverse(R[:, :-1])
    factor, directions = np.zeros((len(x0), n)), np.zeros((len(untold), len(x0)))
    factor[free], directions[:, free] = inverse / scale[free, None], untold
    return x0 + factor @ R[:, -1], factor @ factor.T, directions


def _inverse(R: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of a triangular factor, and orthonormal rows: what it does not tell.

    Singular values are needed only where Frobenius' norms, which bound them, leave open whether all is told.
    """
    if (np.diag(R) != 0.0).all():
        inverse = inverse_of(R)
        if np.linalg.norm(inverse) * np.linalg.norm(R) * TOLD < 1.0:
            return inverse, np.zeros((0, len(R)))
    U, sizes, Vt = np.linalg.svd(R)
    told = int((sizes > TOLD * sizes.max(initial=0.0)).sum())
    return Vt[:told].T / sizes[:told] @ U[:, :told].T, Vt[told:]


def estimate(rows: Rows, log: Any, factors: Factors, prior: Prior, weights: str | None, loss: str | None) -> Solution:
    """Return the estimate by these choices, with residuals that are correlated in time counted as so many fewer."""

    def once(times: Array) -> Solution:
        if loss is not None:
            return robust(rows, log, factors, prior, loss, times)
        return weighted(factors, prior, times) if weights else ordinary(factors, prior, times)

    found = once(np.ones(len(factors.R)))
    times = correlation_times(rows, log, found.values, found.noise)
    return once(times) if (times > 1.0).any() else found


def ordinary(factors: Factors, prior: Prior, times: Array) -> Solution:
    """Return what makes the sum of squared residuals least; the covariance counts each joint's own noise.

    What is known before counts beside residuals in units of the noise of all joints together.
    """
    known = np.isfinite(prior.deviations) & (prior.deviations > 0.0)
    common, before = 1.0, 0.0
    for _ in range(ITERATIONS if known.any() else 1):
        if abs(common - before) <= 1e-6 * common:
            break
        before, scale = common, common * np.ones(len(factors.R))
        A, b = factors.stacked(scale)
        values, inverse, untold = solve(A, b, prior)
        noise = _noise(factors, values, scale, inverse)
        common = float(np.sqrt(np.mean(noise**2)))
    scales = noise * np.sqrt(times)
    spread = np.repeat(scales / scale, [len(R) for R in factors.R])[:, None] * (A @ inverse)
    spread = np.vstack([spread, inverse[known] / prior.deviations[known, None]])
    return Solution(values, spread.T @ spread, noise, untold, factors.stacked(scales)[0], times)


def weighted(factors: Factors, prior: Prior, times: Array | float = 1.0) -> Solution:
    """Return what makes the residuals least in units of each joint's noise, which is estimated with them."""
    scales, root = np.where(silent(factors), LOOSE, 1.0), np.sqrt(times)
    values, inverse, untold = solve(*factors.stacked(scales), prior)
    noise = _noise(factors, values, scales, inverse)
    fixed = noise_where(silent(factors), noise)
    for _ in range(ITERATIONS):
        values, inverse, untold = solve(*factors.stacked(noise * root), prior)
        before, noise = noise, fixed(_noise(factors, values, noise * root, inverse))
        if np.abs(noise - before).max(initial=0.0) <= 1e-6 * noise.max(initial=0.0):
            break
    return Solution(values, inverse, noise, untold, factors.stacked(noise * root)[0], root**2 * np.ones(len(noise)))


def silent(factors: Factors) -> NDArray[np.bool_]:
    """Return which forces (nv,) are always zero.

    There ``Y π = 0``, as of a floating base in the air, and a robot without mass has no residuals, whatever the noise
    of the motion: weights from residuals would grow until it is the estimate. So these equations have the weights that
    they have where the others are fulfilled as well as they can be.
    """
    return np.asarray(factors.mean_squares <= SILENT**2 * factors.mean_squares.max(initial=0.0), dtype=np.bool_)


def noise_where(known: NDArray[np.bool_], noise: Array) -> Callable[[Array], Array]:
    """Return what puts this noise in the place of estimates where it is known."""
    return lambda estimated: np.where(known, noise, estimated)


def robust(rows: Rows, log: Any, factors: Factors, prior: Prior, loss: str, times: Array) -> Solution:
    """Return the M-estimate of a loss by iterated re-weighting: outliers count less, or hardly at all.

    References: Huber and Ronchetti, "Robust Statistics", 2009, section 7.6: the covariance is that of least squares
    with the noise's variance replaced by ``E ψ² / (E ψ')²``.
    """
    law = LOSSES[loss]
    found = weighted(factors, prior, times)
    fixed = noise_where(silent(factors), found.noise)
    for _ in range(ITERATIONS):
        scale = law.constant * fixed(np.maximum(_median_noise(rows, log, found.values), factors.least_noise))
        seen = rows.factors(log, found.values, lambda e, c=scale: np.sqrt(law.weight(e / c)))  # type: ignore[misc]
        noise = fixed(np.maximum(_effective_noise(rows, log, found.values, scale, law), factors.least_noise))
        A, b = seen.stacked(noise * np.sqrt(times * np.maximum(seen.total, 1.0) / np.maximum(seen.counts, 1.0)))
        values, inverse, untold = solve(A, b, prior)
        moved = np.abs(values - found.values) > 1e-3 * np.sqrt(np.diag(inverse))
        found = Solution(values, inverse, scale / law.constant, untold, A, times)
        if not moved.any():
            break
    return found


def _noise(factors: Factors, values: Array, scales: Array, inverse: Array | None) -> Array:
    """Return the standard deviations of the residuals (nv,), less what the estimate has taken from them."""
    left = factors.counts.copy()
    if inverse is not None:
        A, _ = factors.stacked(scales)
        taken = ((A @ inverse) * A).sum(axis=1)
        left -= factors.by_joint(taken)
    noise = np.sqrt(factors.squares(values) / np.maximum(left, 1.0))
    return np.asarray(np.maximum(noise, factors.least_noise))


def _median_noise(rows: Rows, log: Any, values: Array) -> Array:
    """Return the standard deviations of normal residuals of the same median size: outliers make no difference."""
    sizes = [
        [np.median(x[x > 0.0]) if x.any() else np.nan for x in np.abs(e).T] for e, _ in rows.residuals(log, values)
    ]
    middle = [np.median(x[np.isfinite(x)]) if np.isfinite(x).any() else 0.0 for x in np.array(sizes).T]
    return np.array(middle) / 0.6744897501960817


def _effective_noise(rows: Rows, log: Any, values: Array, scale: Array, law: Loss) -> Array:
    """Return the standard deviation of the noise that would make least squares as uncertain."""
    squares, slopes, count = np.zeros((3, len(scale)))
    for e, _ in rows.residuals(log, values):
        squares += ((law.weight(e / scale) * e) ** 2).sum(axis=0)
        slopes += (law.slope(e / scale) * (e != 0.0)).sum(axis=0)
        count += (e != 0.0).sum(axis=0)
    count = np.maximum(count, 1.0)
    return np.asarray(np.sqrt(squares / count) / np.maximum(slopes / count, 1e-3))
