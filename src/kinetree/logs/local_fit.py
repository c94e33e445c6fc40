"""Signals of sampled motions: derivatives by local polynomial fits on the manifold, cut-offs, outliers and gaps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.validation import Array

Difference = Callable[[Array, Array], Array]
Indices = NDArray[np.int64]

DEGREE = 4
WINDOW = 15
NUMBERS = 1 << 17  # samples that are in fits at once, each of them in as many as its window is long: bounds the memory
KEPT = 0.9999  # the part of the velocity's power that a cut-off frequency chosen from the data leaves
NEIGHBOURS = 3  # samples to either side that tell outliers

MARGIN = 6.0
"""By how much the cut-off is above the frequency below which that part is: forces, as sin q, change faster than q."""

FEWEST = 5
"""Of its periods, that frequency has so many in a log: a single slow move would leave a handful of samples else."""

ABOVE_NOISE = 20.0
"""Power below so many times the mean of white noise of the velocities is not a motion: one in 5e8 is more."""

ABOVE_LINES = 4.0
"""So is what is less than so many times the greatest one in the upper half: encoders at constant speeds make lines."""


def differentiate(
    t: Array, x: Array, difference: Difference | None = None, *, window: int = WINDOW
) -> tuple[Array, Array]:
    """Return the first and second derivative of samples (n, k) at times (n,), by a Savitzky–Golay filter.

    It takes any spacing, is one-sided at the ends and reaches across no gap; with `Robot.difference` as `difference`
    the derivatives are v and a of configurations, quaternions too, as those of exponential coordinates are at zero.
    """
    least = DEGREE + 1
    if window < least:
        raise ArgumentError(f"a window of {window} samples is too small for degree {DEGREE}: take at least {least}")
    if len(t) < window:
        raise ArgumentError(
            f"{len(t)} samples are too few to differentiate with a window of {window}; give more, or a smaller window "
            f"(at least {least})"
        )
    for i in np.flatnonzero(~(np.diff(t) > 0))[:1] + 1:
        raise ArgumentError(f"time must increase: sample {i + 1} is at {t[i]:g} s, the one before it at {t[i - 1]:g} s")
    minus, results = difference or (lambda x0, x1: x1 - x0), []
    for start, stop in stretches(t):
        n = stop - start
        if n < least:
            raise ArgumentError(
                f"{n} samples ({t[start]:g} s to {t[stop - 1]:g} s) stand alone, with a gap in time beside "
                f"them: leave them out, at least {least} in a row can be differentiated"
            )
        width, centres = min(window, n), np.arange(n)
        first = np.clip(centres - width // 2, 0, n - width)
        results.append(fitted(t[start:stop], x[start:stop], minus, centres, first, width)[1:3])
    v, a = map(np.concatenate, zip(*results, strict=True))
    return v, a


def stretches(t: Array) -> list[tuple[int, int]]:
    """Return where the stretches of samples without gaps begin and end: steps of what `WINDOW` samples usually take."""
    if len(t) < 3:
        return [(0, len(t))]
    steps = min(WINDOW, len(t) // 3)
    spans = t[steps:] - t[:-steps]
    usual = np.quantile(spans, 0.25, method="lower") / steps  # the lower quartile: spans with a gap are no measure
    gaps = np.flatnonzero(np.diff(t) > WINDOW * usual) + 1
    return list(pairwise([0, *gaps.tolist(), len(t)]))


def fitted(
    t: Array, x: Array, minus: Difference, centres: Indices, first: Indices, window: int, others: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return local polynomials at the samples i, their `centres`: x ⊖ x_i, its two derivatives, and others.

    Their windows begin with the samples `first`; `minus` is the `difference` of `differentiate`.
    """
    parts, rows = [], max(1, NUMBERS // window)
    beside = np.empty((len(t), 0)) if others is None else others
    for k in range(0, len(centres), rows):
        i, near = centres[k : k + rows], first[k : k + rows, None] + np.arange(window)
        span = (t[near[:, -1]] - t[near[:, 0]])[:, None]
        weights = fit_weights((t[near] - t[i, None]) / span)
        d = minus(np.broadcast_to(x[i, None], x[near].shape), x[near])
        moved, v, a = (np.einsum("ij,ijk->ik", w, d) for w in weights)
        parts.append((moved, v / span, a / span**2, np.einsum("ij,ijk->ik", weights[0], beside[near])))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))  # type: ignore[return-value]


def fit_weights(s: Array, degree: int = DEGREE) -> tuple[Array, Array, Array]:
    """Return the weights of samples in the value and both derivatives at 0 of polynomials fitted to them at s (n, m).

    Forsythe's discrete orthogonal polynomials: ``p_{k+1} = (s − α_k) p_k − β_k p_{k−1}``, orthogonal over the points,
    in which the fit to y is ``Σ_k p_k (p_k·y)/(p_k·p_k)``.
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


def far_out(x: Array, limit: float) -> NDArray[np.bool_]:
    """Return which rows (n,) of x are so many standard deviations away from the median of seven neighbours.

    That of normal noise with the same median distance, of all or of these, whichever is larger; or the least distance
    that there is, where samples are what their neighbours are (Pearson et al., "Generalized Hampel filters", 2016).
    """
    padded = np.pad(x, ((NEIGHBOURS, NEIGHBOURS), (0, 0)), mode="reflect" if len(x) > NEIGHBOURS else "edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=0)
    middle = np.median(near, axis=-1)
    away, own = np.abs(x - middle), np.median(np.abs(near - middle[..., None]), axis=-1)
    scale = np.maximum(np.median(away, axis=0), own) / 0.6744897501960817
    least = np.min(np.where(away > 0.0, away, np.inf), axis=0)
    return np.asarray((away > limit * np.where(scale > 0.0, scale, least)).any(axis=1), dtype=np.bool_)


def chosen_cutoff(robot: Robot, t: Array, q: Array) -> float:
    """Return the frequency (Hz) by which `prepare` tells motion from noise, from the spectrum of the velocities.

    These are differences by the times between samples, of the path at even times. Noise of each is what is in the upper
    half of the spectrum, as much at all frequencies: that of stamps is so, and that of positions is less at low ones.
    The longest stretch without a gap counts.
    """
    start, stop = max(stretches(t), key=lambda x: t[x[1] - 1] - t[x[0]])
    moved = robot.difference(q[start : stop - 1], q[start + 1 : stop]).T
    even, step = np.linspace(t[start], t[stop - 1], stop - start, retstep=True)
    power, window = np.zeros((stop - start + 1) // 2), np.hanning(stop - start - 1)
    for x in moved:
        path = np.interp(even, t[start:stop], np.append(0.0, np.cumsum(x)))
        own = np.abs(np.fft.rfft(window * np.diff(path))) ** 2
        high = own[len(own) // 2 :]
        power += np.where(own > max(ABOVE_NOISE * np.median(high) / np.log(2.0), ABOVE_LINES * high.max()), own, 0.0)
    if not power.any():
        fresh = np.append(True, moved.any(axis=0))
        if 2 * NEIGHBOURS < fresh.sum() < len(fresh):  # positions may be recorded more often than they are measured
            return chosen_cutoff(robot, t[start:stop][fresh], q[start:stop][fresh])
        raise ArgumentError(
            "no joint moves by more than the noise of its positions: there is nothing to identify; with a cutoff such "
            "motions are taken as they are"
        )
    below = np.searchsorted(np.cumsum(power), KEPT * power.sum())
    return float(min(MARGIN * max(int(below), FEWEST) / len(window), 0.5) / step)
