"""Velocities and accelerations of a sampled motion, by local polynomial fits on the manifold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.validation import Array

Difference = Callable[[Array, Array], Array]

DEGREE = 4
WINDOW = 15
NUMBERS = 1 << 17
"""Samples that are in fits at once, each of them in as many as its window is long: bounds the memory."""


def differentiate(
    t: Array, x: Array, difference: Difference | None = None, *, window: int = WINDOW, degree: int = DEGREE
) -> tuple[Array, Array]:
    """Return the first and second derivative of samples, smoothed.

    Around each sample i, a polynomial of `degree` is fitted by least squares to ``d_j = x_j ⊖ x_i`` over the
    `window` samples nearest in order (one-sided at the ends), and differentiated at ``t_i``: a Savitzky–Golay
    filter, for any spacing of the samples. On a Lie group with exponential coordinates d, both derivatives at d = 0
    are the body's velocity and its rate, so the same fit serves quaternions. A polynomial motion of that degree
    is recovered exactly; a window of one sample more than the degree does not smooth. No fit reaches across one of
    the `gaps`: what is before and after is differentiated by itself, with all samples of a piece that has no window.

    Parameters
    ----------
    t : (n,) array
        Times in s, strictly increasing; any spacing.
    x : (n, k) array
        Samples: coordinates q, or velocities.
    difference : callable, optional
        ``difference(x0, x1)`` of batches, the tangent that leads from x0 to x1 (`Robot.difference`).
        Plain subtraction by default.
    window, degree : int
        Samples in a fit, and the degree of its polynomial: degree < window ≤ n, degree ≥ 2.

    Returns
    -------
    v, a : (n, m) arrays
        First and second derivative at every sample, m entries as `difference` gives them.

    Raises
    ------
    ArgumentError
        If there are fewer samples than the window, or too few between gaps, or times that do not increase.

    Examples
    --------
    >>> t = np.array([0.0, 0.1, 0.3, 0.4, 0.7, 1.0])
    >>> v, a = differentiate(t, 3 * t[:, None] ** 2, window=5)
    >>> np.allclose(v[:, 0], 6 * t), np.allclose(a, 6)
    (True, True)
    """
    _check(t, x, window, degree)
    edges = list(pairwise([0, *gaps(t), len(t)]))
    minus, results = difference or (lambda x0, x1: x1 - x0), []
    for start, stop in edges:
        n = stop - start
        if n <= degree:
            raise ArgumentError(
                f"{n} samples ({t[start]:g} s to {t[stop - 1]:g} s) stand alone, with a gap in time beside "
                f"them: leave them out, at least {degree + 1} in a row can be differentiated"
            )
        width, centres = min(window, n), np.arange(n)
        first = np.clip(centres - width // 2, 0, n - width)
        results.append(fitted(t[start:stop], x[start:stop], minus, centres, first, width, degree)[1:3])
    v, a = map(np.concatenate, zip(*results, strict=True))
    return v, a


def gaps(t: Array) -> list[int]:
    """Return the samples before which time leaps: by more than `WINDOW` samples usually take.

    Examples
    --------
    >>> gaps(np.array([0.0, 0.1, 0.2, 0.3, 0.4, 5.4, 5.5, 5.6, 5.7, 5.8, 5.9]))
    [5]
    """
    steps = min(WINDOW, len(t) // 3)
    spans = t[steps:] - t[:-steps]
    usual = np.quantile(spans, 0.25, method="lower") / steps  # the lower quartile: spans with a gap are no measure
    return [int(i) + 1 for i in np.flatnonzero(np.diff(t) > WINDOW * usual)]


def fitted(
    t: Array,
    x: Array,
    minus: Difference,
    centres: NDArray[np.int64],
    first: NDArray[np.int64],
    window: int,
    degree: int = DEGREE,
    others: Array | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Return what polynomials around some samples are there: ``x ⊖ x_i``, its two derivatives, and others smoothed.

    Parameters
    ----------
    t, x : (n,), (n, k) arrays
        Times in s, and samples.
    minus : callable
        See `differentiate`.
    centres, first : (m,) arrays of int
        The samples i, and the first ones of their windows.
    window, degree : int
        Samples in a fit, and the degree of its polynomial.
    others : (n, l) array, optional
        What goes through the same filter.
    """
    parts, rows = [], max(1, NUMBERS // window)
    beside = np.empty((len(t), 0)) if others is None else others
    for k in range(0, len(centres), rows):
        i, near = centres[k : k + rows], first[k : k + rows, None] + np.arange(window)
        span = (t[near[:, -1]] - t[near[:, 0]])[:, None]
        weights = fit_weights((t[near] - t[i, None]) / span, degree)
        d = minus(np.broadcast_to(x[i, None], x[near].shape), x[near])
        moved, v, a = (np.einsum("ij,ijk->ik", w, d) for w in weights)
        parts.append((moved, v / span, a / span**2, np.einsum("ij,ijk->ik", weights[0], beside[near])))
    moved, v, a, smooth = map(np.concatenate, zip(*parts, strict=True))
    return moved, v, a, smooth


def fit_weights(s: Array, degree: int) -> tuple[Array, Array, Array]:
    """Return the weights of the samples in the value and the derivatives at 0 of the polynomial fitted to them.

    Forsythe's discrete orthogonal polynomials: ``p_{k+1} = (s − α_k) p_k − β_k p_{k−1}``, orthogonal over the
    points. The fit to y is ``Σ_k p_k (p_k·y)/(p_k·p_k)``, and its derivatives at 0 follow from those of p_k.
    For the points s (n, m) of n fits, distinct in each and more than `degree`, the weights are (n, m): the values are
    ``Σ_j w0_j y_j``, the first derivatives ``Σ_j w1_j y_j``, the second ones ``Σ_j w2_j y_j``.
    """
    p, p_before = np.ones_like(s), np.zeros_like(s)
    at, at_before = np.array([1.0, 0.0, 0.0])[:, None], np.zeros((3, 1))  # p, p' and p'' at 0
    norm_before = np.ones(len(s))
    w0, w1, w2 = np.zeros_like(s), np.zeros_like(s), np.zeros_like(s)
    for k in range(degree + 1):
        norm = np.sum(p * p, axis=1)
        w0 += (at[0] / norm)[:, None] * p
        w1 += (at[1] / norm)[:, None] * p
        w2 += (at[2] / norm)[:, None] * p
        alpha = np.sum(s * p * p, axis=1) / norm
        beta = norm / norm_before if k else np.zeros(len(s))
        rate = np.stack([np.zeros_like(alpha), at[0] + 0 * alpha, 2 * at[1] + 0 * alpha])  # of the factor s
        p, p_before = (s - alpha[:, None]) * p - beta[:, None] * p_before, p
        at, at_before = rate - alpha * at - beta * at_before, at
        norm_before = norm
    return w0, w1, w2


def _check(t: Array, x: Array, window: int, degree: int) -> None:
    if not 2 <= degree < window:
        raise ArgumentError(
            f"a window of {window} samples is too small for degree {degree}: take at least {degree + 1}"
        )
    if len(t) != len(x):
        raise ArgumentError(f"{len(t)} times for {len(x)} samples")
    if len(t) < window:
        raise ArgumentError(
            f"{len(t)} samples are too few to differentiate with a window of {window}; "
            f"give more, or a smaller window (at least {degree + 1})"
        )
    bad = np.flatnonzero(~(np.diff(t) > 0))
    if len(bad):
        i = int(bad[0]) + 1
        raise ArgumentError(f"time must increase: sample {i + 1} is at {t[i]:g} s, the one before it at {t[i - 1]:g} s")
