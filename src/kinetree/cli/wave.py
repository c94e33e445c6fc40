"""A smooth motion through the range of every joint, for when there is no recorded one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.validation import Array

_DENSE = 50
"""Samples a period of the fastest harmonic on which peaks are looked for: they are then off by less than 0.2 %."""


def random_wave(
    rng: np.random.Generator,
    *,
    lower: float,
    upper: float,
    velocity: float,
    period: float,
    harmonics: int = 5,
    fraction: float = 0.9,
) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Return a random finite Fourier series that starts and ends at rest and keeps within limits.

    Its velocity and acceleration are zero at t = 0 and t = period (the coefficients are projected onto
    ``Σ k s_k = 0`` and ``Σ k² c_k = 0``), and it is scaled to fill `fraction` of the range of positions about its
    middle, or to reach `fraction` of the velocity limit, whichever comes first.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the coefficients come from.
    lower, upper, velocity : float
        Limits of position, both finite, and of speed, which may be infinite.
    period : float
        Duration, in s.
    harmonics : int
        Number of harmonics K, at least 3.
    fraction : float
        Part of the limits that is used, in (0, 1].

    Returns
    -------
    wave : callable
        ``q, v, a = wave(t)``: position, velocity and acceleration at the times t, each of the shape of t.

    Examples
    --------
    >>> wave = random_wave(np.random.default_rng(0), lower=-1, upper=3, velocity=2, period=10)
    >>> q, v, a = wave(np.linspace(0, 10, 1001))
    >>> bool(q.min() > -1 and q.max() < 3 and abs(v).max() < 2)
    True
    """
    if harmonics < 3:
        raise ArgumentError(f"{harmonics} harmonics cannot start and end at rest: take at least 3")
    k = np.arange(1, harmonics + 1)
    s = _orthogonal_to(rng.normal(size=harmonics) / k, k)
    c = _orthogonal_to(rng.normal(size=harmonics) / k, k * k)
    q, v, _ = _series(0.0, s, c, period, np.linspace(0.0, period, _DENSE * harmonics + 1))
    half = (q.max() - q.min()) / 2
    scale = fraction * min((upper - lower) / 2 / half, velocity / np.abs(v).max())
    offset = (q.max() + q.min()) / 2 * scale
    return partial(_series, (lower + upper) / 2 - offset, s * scale, c * scale, period)


def _series(start: float, s: Array, c: Array, period: float, t: Array) -> tuple[Array, Array, Array]:
    """Return ``start + Σ_k s_k sin(k ω t) + c_k (cos(k ω t) − 1)`` with ``ω = 2π/period``, and its derivatives."""
    w = 2 * np.pi / period * np.arange(1, len(s) + 1)
    sin, cos = np.sin(np.multiply.outer(t, w)), np.cos(np.multiply.outer(t, w))
    q = start + sin @ s + (cos - 1) @ c
    v = cos @ (s * w) - sin @ (c * w)
    a = -sin @ (s * w * w) - cos @ (c * w * w)
    return q, v, a


def _orthogonal_to(x: Array, n: NDArray[np.int_]) -> Array:
    return np.asarray(x - n * (x @ n) / (n @ n), dtype=np.float64)
