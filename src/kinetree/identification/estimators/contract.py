"""What every estimator takes and returns: equations, what is known before, and estimates with their covariance.

What a model lacks, it lacks for a while: `integrated_times` says how many residuals count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.identification.equations import RegressionModel
    from kinetree.identification.triangle import QRFactors

# Directions of the scaled parameters whose effect is below this, relative to the greatest, are unidentifiable
RANK_TOLERANCE = 1e-10
# A parameter with such a part, relative to its effect, in a direction that changes no force is unidentifiable
UNIDENTIFIABLE = 1e-3
# A prior counts as much as this at least, relative to the data: exact data would drown it in rounding
PRIOR_FLOOR = 1e-8
FIXED = 1e4  # how much more than the data a fixed parameter counts where it is one equation of many
# Noise below this, relative to the forces, counts as this where physically consistent bodies are sought
LEAST_NOISE = 1e-6
ITERATIONS = 30
# The sum of two autocorrelations of n samples of noise is rarely above this by √n: its deviation is √2
SIGNIFICANT = 4.5
NO_SUMS = np.zeros((0, 0, 1))  # `correlations` of no motion
CLIP = 4.0  # residuals beyond so many standard deviations count as these in correlations


class Prior(NamedTuple):
    """What is known of the parameters before the data: values (n,) and their standard deviations (n,).

    These are 0 of a fixed parameter; infinite of an unknown one, which keeps its value where it is unidentifiable.
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
    """Estimated parameters."""

    values: Array  # (n,)
    covariance: Array  # (n, n), of the identifiable directions
    noise: Array  # (nv,), standard deviations of the forces' noise
    unidentifiable: Array  # (r, n), orthonormal: directions, in units of their effects, that change no force
    information: Array  # (m, n), the equations A and the prior in units of their noise: AᵀA is Fisher's information
    times: Array  # (nv,), integrated autocorrelation time of each joint's residual, in samples

    @property
    def std(self) -> Array:
        """Standard deviations (n,) of the parameters, infinite of unidentifiable ones."""
        return deviations(self.covariance, self.unidentifiable)

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
    """The equations of a log, and of what can be read again of it."""

    model: RegressionModel
    log: Any
    factors: QRFactors
    nearest: Callable[[Solution], tuple[Array, float]] | None = None  # parameters of bodies, and their gap


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
    known = prior.informative
    weights = np.maximum(1.0 / np.where(known, s, 1.0), PRIOR_FLOOR * np.linalg.norm(A, axis=0))
    A, b = np.vstack([A, np.diag(weights)[known]]), np.append(b - A @ x0, np.zeros(known.sum()))
    scale = np.linalg.norm(A, axis=0)
    free, silent = (s > 0.0) & (scale > 0.0), np.flatnonzero((s > 0.0) & (scale == 0.0))
    n = int(free.sum())
    found, R = np.linalg.qr(np.column_stack([A[:, free] / scale[free], b]), mode="r"), np.zeros((n, n + 1))
    R[: len(found)] = found[:n]
    inverse, null = _inverse(R[:, :-1])
    factor, directions = np.zeros((len(x0), n)), np.zeros((len(null), len(x0)))
    factor[free], directions[:, free] = inverse / scale[free, None], null
    return x0 + factor @ R[:, -1], factor @ factor.T, np.vstack([directions, np.eye(len(x0))[silent]])


def deviations(covariance: Array, unidentifiable: Array) -> Array:
    """Return the standard deviations (n,) of parameters, infinite of those in directions that change no force."""
    parts = np.abs(unidentifiable).max(axis=0, initial=0.0)
    return np.where(parts > UNIDENTIFIABLE, np.inf, np.sqrt(np.diag(covariance)))


def _inverse(R: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of a triangular factor, and orthonormal rows: its null space.

    Frobenius' norms bound the singular values: these are computed only where the bounds leave the rank open.
    """
    if (np.diag(R) != 0.0).all():
        inverse = np.asarray(np.linalg.inv(R), dtype=np.float64)
        if np.linalg.norm(inverse) * np.linalg.norm(R) * RANK_TOLERANCE < 1.0:
            return inverse, np.zeros((0, len(R)))
    U, sizes, Vt = np.linalg.svd(R)
    rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
    return Vt[:rank].T / sizes[:rank] @ U[:, :rank].T, Vt[rank:]


def decorrelated(equations: Equations, fit: Callable[[Array], Solution]) -> Solution:
    """Return a fit by integrated autocorrelation times, that counts residuals which are alike as so many fewer."""
    found = fit(np.ones(len(equations.factors.R)))
    times = integrated_times(equations.model.residuals(equations.log, found.values), found.noise)
    return fit(times) if (times > 1.0).any() else found


def integrated_times(motions: Iterable[Array], noise: Array) -> Array:
    """Return the integrated autocorrelation times (nv,) of the residuals (n, nv) of some motions.

    It is ``1 + 2 Σ ρ_k`` over the autocorrelations of the residuals, up to where they are no longer significant: of
    each joint, or of all together where those of one are not, since one filter has made them.
    References: Sokal, "Monte Carlo methods in statistical mechanics", 1997, section 3; Geyer, "Practical Markov chain
    Monte Carlo", 1992, for where to end.
    """
    count, total = np.zeros(len(noise)), NO_SUMS
    for e in motions:
        there = e != 0.0
        count += (seen := there.sum(axis=0))
        clipped = np.clip(e - e.sum(axis=0) / np.maximum(seen, 1), -CLIP * noise, CLIP * noise)
        total = correlations(total, clipped * there)
    if not total.size:
        raise ArgumentError(
            "the log is empty when it is read again: give a list, or a function that returns an iterator"
        )
    rho = total[0] / np.maximum(total[0, 0], np.finfo(float).tiny)
    rho = np.column_stack([rho, rho @ count / max(count.sum(), 1.0)])
    twos = rho[1:-1:2] + rho[2::2]
    bound = SIGNIFICANT / np.sqrt(np.maximum(np.append(count, count.sum()), 1.0))
    going_on = np.logical_and.accumulate(twos > bound, axis=0)
    times = 1.0 + 2.0 * (twos * going_on).sum(axis=0)
    return np.asarray(np.where(going_on[:1, :-1].any(axis=0), times[:-1], times[-1]))


def correlations(total: Array, x: Array, *others: Array) -> Array:
    """Return sums (k, n, nv) of the products of a motion's samples that are 0, 1, 2, … apart, added to those of others.

    A motion has signals (m, nv): of one, x, the sums are of ``x x``; of two of ``x x``, ``x y + y x`` and ``y y``.
    """
    size = 1 << (2 * len(x) - 1).bit_length()
    X = np.fft.rfft(x, size, axis=0)
    powers = [np.abs(X) ** 2]
    for Y in (np.fft.rfft(y, size, axis=0) for y in others):
        powers += [2.0 * (X * Y.conj()).real, np.abs(Y) ** 2]
    own = np.stack([np.fft.irfft(power, size, axis=0)[: len(x)] for power in powers])
    short, total = sorted((own, total), key=lambda sums: sums.shape[1])
    total[: len(short), : short.shape[1]] += short
    return total
