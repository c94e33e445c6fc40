"""Sums over residuals that come piece by piece: how large they are, and how they are correlated in time."""

from __future__ import annotations

import numpy as np

from kinetree.validation import Array

TINY = np.finfo(float).tiny


class ResidualSums:
    """Mean squares and autocorrelations of residuals, of any number of samples in bounded memory.

    Means are subtracted in the end: sums are of what is above the mean of the first samples, so that little is lost.

    Attributes
    ----------
    count, longest : int
        Number of samples, in all and of the longest motion.
    counts : (nv,) array
        Of those with an equation of the joint.
    """

    def __init__(self, nv: int, lags: int) -> None:
        self.count = self.longest = self._seen = 0
        self._origin: Array | None = None
        self.counts, self._squares, self._sum, self._power, self._tau, self._tau_squares = np.zeros((6, nv))
        self._products, self._later, self._earlier = np.zeros((3, lags, nv))
        self._pairs = np.zeros((lags, nv))
        self.begin()

    def begin(self) -> None:
        """Say that a motion begins: no correlation reaches across."""
        self._seen, self._before = 0, np.zeros((2, *self._products.shape))

    def add(self, e: Array, tau: Array) -> None:
        """Add the residuals and the forces (n, nv) of the next samples of a motion."""
        n, lags = len(e), len(self._products)
        if self._origin is None and n:
            self._origin = np.stack([e.mean(axis=0), tau.mean(axis=0)])
        origin = np.zeros((2, e.shape[1])) if self._origin is None else self._origin
        there = (e != 0.0) | (tau != 0.0)  # others were not measured, or are friction at rest
        x, above = (e - origin[0]) * there, (tau - origin[1]) * there
        self.counts += there.sum(axis=0)
        self._squares += (e * e).sum(axis=0)
        self._sum += x.sum(axis=0)
        self._power += (x * x).sum(axis=0)
        self._tau += above.sum(axis=0)
        self._tau_squares += (above * above).sum(axis=0)
        whole, counted = np.concatenate([self._before, [x, there]], axis=1)
        for k in range(1, lags + 1):
            earlier, then = whole[lags - k : lags - k + n], counted[lags - k : lags - k + n]
            self._products[k - 1] += (earlier * x).sum(axis=0)
            self._earlier[k - 1] += (earlier * there).sum(axis=0)
            self._later[k - 1] += (then * x).sum(axis=0)
            self._pairs[k - 1] += (then * there).sum(axis=0)
        self._before = np.stack([whole[n:], counted[n:]])
        self._seen += n
        self.count += n
        self.longest = max(self.longest, self._seen)

    @property
    def rms(self) -> Array:
        """Root mean squares (nv,) of the residuals."""
        return np.asarray(np.sqrt(self._squares / np.maximum(self.counts, 1.0)))

    @property
    def spread(self) -> Array:
        """Standard deviations (nv,) of the forces."""
        n = np.maximum(self.counts, 1.0)
        return np.asarray(np.sqrt(np.maximum(self._tau_squares / n - (self._tau / n) ** 2, 0.0)))

    @property
    def autocorrelation(self) -> Array:
        """Normalised autocorrelations (lags, nv) of the residuals without their mean."""
        mean = self._sum / np.maximum(self.counts, 1.0)
        power = self._power - self.counts * mean**2
        sums = self._products - mean * (self._earlier + self._later) + self._pairs * mean**2
        return np.asarray(sums / np.maximum(power, TINY))
