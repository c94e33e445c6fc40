"""Sums over residuals that come piece by piece: how large they are, and how they are correlated in time."""

from __future__ import annotations

import numpy as np

from kinetree.validation import Array

TINY = np.finfo(float).tiny


class ResidualSums:
    """Mean squares and autocorrelations of residuals, of any number of samples in bounded memory.

    Means are subtracted in the end: sums are of what is above the mean of the first samples, so that little is lost.
    There are `count` samples, `longest` of the longest motion.
    """

    def __init__(self, nv: int, lags: int) -> None:
        self.count = self.longest = self._seen = 0
        self._origin: Array | None = None
        self._squares, self._tau, self._tau_squares = np.zeros((3, nv))
        self._sums = np.zeros((1 + lags, 2, 2, nv))
        self.begin()

    def begin(self) -> None:
        """Say that a motion begins: no correlation reaches across."""
        self._seen, self._before = 0, np.zeros((2, len(self._sums) - 1, len(self._tau)))

    def add(self, e: Array, tau: Array) -> None:
        """Add the residuals and the forces (n, nv) of the next samples of a motion."""
        n, lags = len(e), len(self._sums) - 1
        if self._origin is None and n:
            self._origin = np.stack([e.mean(axis=0), tau.mean(axis=0)])
        origin = np.zeros((2, e.shape[1])) if self._origin is None else self._origin
        there = (e != 0.0) | (tau != 0.0)  # others were not measured, or are friction at rest
        above, own = (tau - origin[1]) * there, np.stack([(e - origin[0]) * there, there])
        self._squares += (e * e).sum(axis=0)
        self._tau += above.sum(axis=0)
        self._tau_squares += (above * above).sum(axis=0)
        whole = np.concatenate([self._before, own], axis=1)
        for k in range(1 + lags):  # products of earlier samples and of these, and of their numbers
            self._sums[k] += (whole[:, None, lags - k : lags - k + n] * own).sum(axis=2)
        self._before = whole[:, n:]
        self._seen += n
        self.count += n
        self.longest = max(self.longest, self._seen)

    @property
    def counts(self) -> Array:
        """Numbers of samples (nv,) with an equation of the joint."""
        return np.asarray(self._sums[0, 1, 1])

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
        mean = self._sums[0, 0, 1] / np.maximum(self.counts, 1.0)
        (products, earlier), (later, pairs) = np.moveaxis(self._sums, 0, 2)
        sums = products - mean * (earlier + later) + pairs * mean**2
        return np.asarray(sums[1:] / np.maximum(products[0] - self.counts * mean**2, TINY))
