"""What every estimator takes and returns: equations, what is known before, and estimates with their covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinetree.identification.equations import QRFactors, RegressionModel
from kinetree.identification.estimators.correlations import correlation_times
from kinetree.identification.triangle import Triangle, inverse_of
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_TOLERANCE = 1e-10
"""Directions of the scaled parameters whose effect is below this, relative to the greatest, are unidentifiable."""

PRIOR_FLOOR = 1e-8
"""A prior counts as much as this at least, relative to the data: exact data would drown it in rounding."""

FIXED = 1e4
"""How much more than the data a fixed parameter counts where it is one equation of many."""

LEAST_NOISE = 1e-6
"""Noise below this, relative to the forces, counts as this where physically consistent bodies are sought."""

ITERATIONS = 30


class Prior(NamedTuple):
    """What is known of the parameters before the data.

    Attributes
    ----------
    values : (n,) array
    deviations : (n,) array
        Standard deviations: 0 of a fixed parameter; infinite of an unknown one, which keeps its value where it is
        unidentifiable.
    """

    values: Array
    deviations: Array

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Mask (n,) of the parameters of which something, but not all, is known."""
        return np.asarray(np.isfinite(self.deviations) & (self.deviations > 0.0), dtype=np.bool_)

    def wider(self, values: Array, deviations: Array) -> Prior:
        """Return the same with further parameters behind these."""
        return Prior(np.append(self.values, values), np.append(self.deviations, deviations))

    def rows(self, A: Array) -> Array:
        """Return the prior as further rows of the equations A."""
        effect = FIXED * np.linalg.norm(A, axis=0)
        s = np.where(self.deviations == 0.0, 1.0 / np.where(effect > 0.0, effect, 1.0), self.deviations)
        return np.asarray(np.diag(1.0 / s)[np.isfinite(s)])


class Solution(NamedTuple):
    """Estimated parameters.

    Attributes
    ----------
    values : (n,) array
    covariance : (n, n) array
        Of the identifiable directions.
    noise : (nv,) array
        Standard deviations of the forces' noise.
    unidentifiable : (r, n) array
        Orthonormal rows: directions of the parameters, in units of their effects, that change no force of these data.
    information : (m, n) array
        RegressionModel A of the equations and of the prior in units of their noise: ``AᵀA`` is Fisher's information.
    times : (nv,) array
        Integrated autocorrelation time of each joint's residual: how many samples count as one.
    """

    values: Array
    covariance: Array
    noise: Array
    unidentifiable: Array
    information: Array
    times: Array

    def others(self, first: Array) -> Array:
        """Return the likeliest values of the parameters behind the first ones where these have other values."""
        n, J = len(first), self.information
        away = J[:, :n] @ (first - self.values[:n])
        return self.values[n:] - np.asarray(np.linalg.lstsq(J[:, n:], away, rcond=None)[0])

    def informed(self, factors: QRFactors, prior: Prior) -> Solution:
        """Return the same with the prior among the rows of the information, and noise below `LEAST_NOISE` as this."""
        limit, A = LEAST_NOISE * np.sqrt(factors.mean_squares.max()), self.information
        if (self.noise[factors.counts > 0.0] < limit).any():
            A, _ = factors.stacked(np.maximum(self.noise, limit) * np.sqrt(self.times))
        return self._replace(information=np.vstack([A, prior.rows(A)]))


@dataclass(frozen=True)
class Equations:
    """The equations of a log.

    Attributes
    ----------
    model : RegressionModel
        From samples to equations.
    log : log
        What can be read again of it.
    factors : QRFactors
        Their triangular factors.
    consistent : callable, optional
        From a solution to all parameters, those of physically consistent bodies, where these are asked for.
    """

    model: RegressionModel
    log: Any
    factors: QRFactors
    consistent: Callable[[Solution], Array] | None = None


class Estimator(Protocol):
    """A way to estimate parameters that are linear in the equations.

    One class a file, listed in `ESTIMATORS`; each has a row in the table of tests: exact data, error bars, forces that
    are zero, priors, joints that stand still or have no sensor.
    """

    @property
    def reads_again(self) -> bool:
        """Whether the log is read more than once: an iterator is refused then."""

    @property
    def exact_motion(self) -> bool:
        """Whether residuals mean that the model is wrong: that the recorded motion counts as free of noise."""

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """Return the estimate, its covariance, and the noise of each joint."""


def solve(A: Array, b: Array, prior: Prior) -> tuple[Array, Array, Array]:
    """Return x with least ``|A x − b|² + Σ ((x − x_0) / s)²``, its covariance, and the unidentifiable directions."""
    x0, s = prior
    known, free = prior.informative, s > 0.0
    weights = np.maximum(1.0 / np.where(known, s, 1.0), PRIOR_FLOOR * np.linalg.norm(A, axis=0))
    A, b = np.vstack([A, np.diag(weights)[known]]), np.append(b - A @ x0, np.zeros(known.sum()))
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = 1.0
    n = int(free.sum())
    triangle, R = Triangle(n + 1), np.zeros((n, n + 1))
    triangle.add(np.column_stack([(A / scale)[:, free], b]))
    R[: len(triangle.R)] = triangle.R[:n]
    inverse, null = _inverse(R[:, :-1])
    factor, directions = np.zeros((len(x0), n)), np.zeros((len(null), len(x0)))
    factor[free], directions[:, free] = inverse / scale[free, None], null
    return x0 + factor @ R[:, -1], factor @ factor.T, directions


def _inverse(R: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of a triangular factor, and orthonormal rows: its null space.

    Frobenius' norms bound the singular values: these are computed only where the bounds leave the rank open.
    """
    if (np.diag(R) != 0.0).all():
        inverse = inverse_of(R)
        if np.linalg.norm(inverse) * np.linalg.norm(R) * RANK_TOLERANCE < 1.0:
            return inverse, np.zeros((0, len(R)))
    U, sizes, Vt = np.linalg.svd(R)
    rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
    return Vt[:rank].T / sizes[:rank] @ U[:, :rank].T, Vt[rank:]


def decorrelated(equations: Equations, fit: Callable[[Array], Solution]) -> Solution:
    """Return a fit by integrated autocorrelation times, that counts residuals which are alike as so many fewer."""
    found = fit(np.ones(len(equations.factors.R)))
    times = correlation_times(equations.model, equations.log, found.values, found.noise)
    return fit(times) if (times > 1.0).any() else found
