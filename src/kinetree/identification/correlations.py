"""How long residuals are alike: what a model lacks, it lacks for a while."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.equations import Rows
from kinetree.identification.samples import LONGEST
from kinetree.validation import Array

SIGNIFICANT = 4.5
"""The sum of two autocorrelations of n samples of noise is rarely above this by √n: its deviation is √2."""

CLIP = 4.0
"""Residuals beyond so many standard deviations count as these in correlations."""

FEW_LAGS = 8
"""Autocorrelations that are looked at first."""


def correlation_times(rows: Rows, log: Any, values: Array, noise: Array) -> Array:
    """Return how many samples tell as much of each joint as one that is independent of the others: at least one.

    It is ``1 + 2 Σ ρ_k`` over the autocorrelations of the residuals, up to where they are no longer significant.
    References: Sokal, "Monte Carlo methods in statistical mechanics", 1997, section 3; Geyer, "Practical Markov chain
    Monte Carlo", 1992, for where to end.
    """
    for lags in (FEW_LAGS, LONGEST):
        total, count = np.zeros((0, len(noise))), 0
        for e in rows.residuals_of_motions(log, values):
            e = np.clip(e - e.mean(axis=0), -CLIP * noise, CLIP * noise)
            short, total = sorted((_autocovariance(e, lags), total), key=len)
            total = total.copy()
            total[: len(short)] += short
            count += len(e)
        if not count:
            raise ArgumentError(
                "the log is empty when it is read again: give a list, or a function that returns an iterator"
            )
        rho = total / np.maximum(total[0], np.finfo(float).tiny)
        pairs = rho[1:-1:2] + rho[2::2]
        going_on = np.logical_and.accumulate(pairs > SIGNIFICANT / np.sqrt(max(count, 1)), axis=0)
        if not going_on[-1:].any():  # seldom are residuals alike for longer
            break
    return np.asarray(1.0 + 2.0 * (pairs * going_on).sum(axis=0))


def _autocovariance(e: Array, lags: int) -> Array:
    """Return the sums (1 + lags, nv) of products of residuals with those 0, 1, 2, … samples later, or all there are."""
    n = len(e)
    e = np.ascontiguousarray(e.T)
    if lags == FEW_LAGS:
        return np.array([np.einsum("ij,ij->i", e[:, k:], e[:, : n - k]) for k in range(min(1 + lags, n))])
    size = 1 << (2 * n - 1).bit_length()
    return np.asarray(np.fft.irfft(np.abs(np.fft.rfft(e, size)) ** 2, size)[:, :n].T)
