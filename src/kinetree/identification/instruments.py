"""Instrumental variables: estimates that noise in positions, velocities and accelerations does not bend.

Noise in the columns makes least squares too small: it counts as motion that needs no force. Columns ``Z`` of a motion
without that noise, the commanded one, in ``Zᵀ (τ − Y π) = 0`` do not know the noise.

References: Young, "Recursive estimation and time-series analysis", 2011, chapter 6; Janot, Vandanjon and Gautier, "A
generic instrumental variable approach for industrial robot identification", IEEE T-CST 22(1), 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.correlations import correlation_times
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.least_squares import TOLD, Prior, Solution
from kinetree.identification.samples import pieces
from kinetree.validation import Array

STEPS = 30


def instrumental(rows: Rows, log: Any, instruments: Any, factors: Factors, prior: Prior) -> Solution:
    """Return the estimate by the columns of another motion, weighted by the noise of each joint.

    The covariance is ``G⁻¹ (Zᵀ W Z) G⁻ᵀ`` with ``G = Zᵀ W Y``.
    """
    sums = _sums(rows, log, instruments)
    noise, times = np.sqrt(factors.mean_squares) + factors.least_noise, np.ones(len(factors.R))
    for step in range(STEPS):
        found = _solved(rows, sums, noise * np.sqrt(times), prior, factors)
        left = factors.squares(found.values) / np.maximum(factors.counts, 1.0)
        before, noise = noise, np.sqrt(left) + factors.least_noise
        found = found._replace(noise=noise, times=times)
        if np.abs(noise - before).max() <= 1e-6 * noise.max():
            break
        if step == 1:
            times = correlation_times(rows, log, found.values, found.noise)
    return found


def _sums(rows: Rows, log: Any, instruments: Any) -> list[tuple[Array, Array, Array]]:
    """Return ``Zᵀ Y``, ``Zᵀ τ`` and ``Zᵀ Z`` of each joint."""
    sums = [(np.zeros((len(c), len(c))), np.zeros(len(c)), np.zeros((len(c), len(c)))) for c in rows.pattern]
    own, other = pieces(rows.robot, log), pieces(rows.robot, instruments)
    while (piece := next(own, None)) is not None:
        motion = next(other, None)
        if motion is None or len(motion.q) != len(piece.q):
            raise ArgumentError("instruments are a motion with the samples of the log, one for each")
        Y, tau = rows.told(piece)
        Z, _ = rows.told(motion._replace(tau=piece.tau, standing=piece.standing, held=piece.held))
        for k, (ZtY, Ztau, ZtZ) in enumerate(sums):
            ZtY += Z[k].T @ Y[k]
            Ztau += Z[k].T @ tau[:, k]
            ZtZ += Z[k].T @ Z[k]
    if next(other, None) is not None:
        raise ArgumentError("instruments have more samples than the log")
    return sums


def _solved(
    rows: Rows, sums: list[tuple[Array, Array, Array]], scales: Array, prior: Prior, factors: Factors
) -> Solution:
    n = rows.dimension
    G, H, right = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    for (ZtY, Ztau, ZtZ), columns, s in zip(sums, rows.pattern, scales, strict=True):
        G[np.ix_(columns, columns)] += ZtY / s**2
        H[np.ix_(columns, columns)] += ZtZ / s**2
        right[columns] += Ztau / s**2
    free = prior.deviations > 0.0
    weight = np.where(np.isfinite(prior.deviations) & free, prior.deviations, np.inf) ** -2
    right -= G @ prior.values
    G, H = G + np.diag(weight), H + np.diag(weight)
    size = np.sqrt(np.diag(H))
    size[size == 0.0] = 1.0
    U, s, Vt = np.linalg.svd((G / np.outer(size, size))[np.ix_(free, free)])
    told = int((s > TOLD * s.max(initial=0.0)).sum())
    inverse, untold = np.zeros((n, n)), np.zeros((len(Vt) - told, n))
    inverse[np.ix_(free, free)] = (Vt[:told].T / s[:told]) @ U[:, :told].T
    inverse /= np.outer(size, size)
    untold[:, free] = Vt[told:]
    covariance = inverse @ H @ inverse.T
    w, V = np.linalg.eigh(covariance / np.outer(1.0 / size, 1.0 / size))
    kept = w > TOLD * w.max(initial=0.0)
    information = (V[:, kept] / np.sqrt(w[kept])).T * size
    return Solution(prior.values + inverse @ right, covariance, scales, untold, information, np.ones(len(scales)))
