"""From a recorded motion to samples: derivatives, smoothing without delay, fewer samples, directions of sliding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.samples import Samples, of_joints
from kinetree.identification.terms import smooth_sign
from kinetree.trajectories.signals.differentiate import DEGREE, fit_weights, gaps
from kinetree.validation import Array, positive, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kinetree.robot import Robot

KEPT = 0.9999
"""The part of the velocity's power that a cut-off frequency chosen from the data leaves."""

HALF_WINDOW = 0.78
"""Samples to either side of a fit of degree 4, times the cut-off in cycles a sample: there the filter is 3 dB down.

Schafer, "What is a Savitzky–Golay filter?", 2011, has ``(degree + 1) / (3.2 m − 4.6)`` in units of half the rate."""

NEIGHBOURS = 3
"""Samples to either side that tell outliers."""

ROWS = 4096
"""Samples fitted at once."""

MARGIN = 6.0
"""By how much the cut-off is above the frequency below which that part is: forces, as sin q, change faster than q."""

ABOVE_NOISE = 10.0
"""Power that is less than so many times what white noise of the positions has is no motion."""


def prepare(
    robot: Robot,
    t: ArrayLike,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    cutoff: float | None = None,
    presliding: ArrayLike | None = None,
    smoothing: float | None = None,
    decimate: int | None = None,
    outliers: float | None = None,
    standing: ArrayLike | None = None,
) -> Samples:
    """Return samples for `Robot.identify` from recorded positions and joint forces.

    Around each sample polynomials are fitted to the positions, and differentiated: a filter without delay. The forces
    and the directions of sliding go through the same filter, so that the equations stay true.

    Parameters
    ----------
    t : (n,) array-like
        Times in s, increasing. Nothing is fitted across gaps.
    q : (n, nq) array-like
    tau : (n, nv) array-like
    cutoff : float, optional
        Frequency (Hz) above which the motion is noise. If not given, six times the one below which 99.99 % of the
        power of the velocities is, without that of noise.
    presliding : float or (nv,) array-like, optional
        By how far a joint moves (rad, m) until its friction has turned round, see `sliding_direction`: about 1e-4 rad
        of geared joints. If not given, friction has the sign of the velocity.
    smoothing : float, optional
        The speed around which that changes (rad/s, m/s); the robot's if not given, as in `Robot.identify`.
    decimate : int, optional
        Every so many-th sample is returned; if not given, two a period of the cut-off.
    outliers : float, optional
        Recorded samples whose positions or forces are by so many standard deviations away from the median of their
        neighbours are left out, such as 8. If not given, none is.
    standing : float or (nv,) array-like, optional
        Speed (rad/s, m/s) below which a joint stands still: its friction then has any value up to what makes it slide.
        Samples at which a joint does are left out; joints that are always slower do not count.

    Returns
    -------
    Samples

    Raises
    ------
    ArgumentError
        If arrays do not fit, times do not increase, or too few samples are left.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> t = np.linspace(0, 4, 1001)
    >>> path = kt.trajectories.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=4.0)
    >>> q, v, a = path(t)
    >>> samples = prepare(robot, t, q, robot.inverse_dynamics(q, v, a), cutoff=5.0)
    >>> samples.v.shape
    (39, 6)
    """
    times = real_array("t", t, None, batch=False)
    if len(times) < 2:
        raise ArgumentError("t must be two times and more")
    position = real_array("q", q, len(times), robot.nq, batch=False)
    force = real_array("tau", tau, len(times), robot.nv, batch=False)
    for name, x in (("t", times), ("q", position), ("tau", force)):
        if not np.isfinite(x).all():
            raise ArgumentError(f"{name} holds a number that is not finite, first at sample {_first(x)}")
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if len(back):
        k = int(back[0])
        raise ArgumentError(
            f"t must increase: it goes from {times[k]:.9g} s to {times[k + 1]:.9g} s at sample {k + 1}, and so at "
            f"{len(back)} of {len(times)} samples: sort them, or leave repeated ones out"
        )
    if outliers is not None:
        path = np.vstack([np.zeros(robot.nv), np.cumsum(robot.difference(position[:-1], position[1:]), axis=0)])
        kept = ~far_out(np.hstack([path, force]), positive("outliers", outliers))
        times, position, force = times[kept], position[kept], force[kept]
    frequency = chosen_cutoff(robot, times, position) if cutoff is None else positive("cutoff", cutoff)
    step = float(np.median(np.diff(times)))
    window = 2 * max(DEGREE // 2 + 1, round(HALF_WINDOW / (frequency * step))) + 1
    usual = max(1, int(0.5 / (frequency * step)))
    every = usual if decimate is None else max(1, int(decimate))
    slides = None if presliding is None else sliding_direction(robot, position, presliding)
    speed = robot.model.friction.smoothing if smoothing is None else positive("smoothing", smoothing)
    found = []
    for start, stop in pairwise([0, *gaps(times), len(times)]):
        if stop - start > window:
            own = slice(start, stop)
            now = times[own]
            fits = _fitted(robot, now, position[own], force[own], window, every)
            if slides is None:
                fine = fits if every <= usual else _fitted(robot, now, position[own], force[own], window, usual)
                z = smooth_sign(_between(now, fine[0], *fine[2:4]), speed)
            else:
                z = slides[own]
            found.append((*fits, _smoothed(now, np.asarray(z), window, every)))
    if not found:
        raise ArgumentError(
            f"a cut-off of {frequency:.3g} Hz needs {window + 1} samples without a gap between them: give more samples "
            "or a higher cutoff"
        )
    when, q_s, v_s, a_s, tau_s, directions = (np.concatenate(x) for x in zip(*found, strict=True))
    given = None if slides is not None else speed
    samples = Samples(q_s, v_s, a_s, tau_s, direction=directions, t=when, smoothing=given)
    return samples if standing is None else _sliding(samples, of_joints(robot, "standing", standing))


def far_out(x: Array, limit: float) -> NDArray[np.bool_]:
    """Return which rows (n,) of x are so many standard deviations away from the median of seven neighbours.

    The standard deviation is that of normal noise with the same median distance, of all samples or of these neighbours,
    whichever is larger; or the least distance that there is where samples are what their neighbours are (Pearson et
    al., "Generalized Hampel filters", 2016).
    """
    padded = np.pad(x, ((NEIGHBOURS, NEIGHBOURS), (0, 0)), mode="reflect" if len(x) > NEIGHBOURS else "edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=0)
    middle = np.median(near, axis=-1)
    away, own = np.abs(x - middle), np.median(np.abs(near - middle[..., None]), axis=-1)
    scale = np.maximum(np.median(away, axis=0), own) / 0.6744897501960817
    least = np.min(np.where(away > 0.0, away, np.inf), axis=0)
    return np.asarray((away > limit * np.where(scale > 0.0, scale, least)).any(axis=1), dtype=np.bool_)


def _sliding(samples: Samples, slowest: Array) -> Samples:
    """Return the samples at which no joint stands still that moves at any time."""
    speed = np.abs(samples.v)
    moves = (speed > slowest).any(axis=0)
    kept = (speed > slowest)[:, moves].all(axis=1)
    if not kept.any():
        raise ArgumentError("at every sample some joint is slower than standing: give a lower speed")
    arrays: dict[str, Any] = {name: np.asarray(x)[kept] for name, x in samples._asdict().items() if np.ndim(x) > 0}
    return samples._replace(**arrays)


Window: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], tuple[Array, Array, Array], Array]"


def _windows(t: Array, window: int, every: int) -> Iterator[Window]:
    """Yield every so many-th sample that has a whole window around it: samples, windows, weights of fits, and spans."""
    half = window // 2
    centres = np.arange(half, len(t) - half, every)
    for start in range(0, len(centres), ROWS):
        i = centres[start : start + ROWS]
        near = i[:, None] + np.arange(-half, half + 1)
        span = (t[near[:, -1]] - t[near[:, 0]])[:, None]
        yield i, near, fit_weights((t[near] - t[i, None]) / span, DEGREE), span


def _smoothed(t: Array, x: Array, window: int, every: int) -> Array:
    """Return x (n, k) smoothed at every so many-th sample that has a whole window around it."""
    return np.concatenate([np.einsum("ij,ijk->ik", w[0], x[near]) for _, near, w, _ in _windows(t, window, every)])


def _fitted(robot: Robot, t: Array, q: Array, tau: Array, window: int, every: int) -> tuple[Array, ...]:
    """Return t, q, v, a and tau smoothed at every so many-th sample that has a whole window around it."""
    parts = []
    for i, near, (w0, w1, w2), span in _windows(t, window, every):
        d = robot.difference(np.broadcast_to(q[i, None], (*near.shape, robot.nq)), q[near])
        moved, v, a = (np.einsum("ij,ijk->ik", w, d) for w in (w0, w1, w2))
        smooth = np.einsum("ij,ijk->ik", w0, tau[near])
        parts.append((t[i], robot.integrate(q[i], moved), v / span, a / span**2, smooth))
    return tuple(np.concatenate(x) for x in zip(*parts, strict=True))


def _between(t: Array, at: Array, v: Array, a: Array) -> Array:
    """Return velocities at all times t from those at some: cubic between these, straight beyond the ends."""
    k = np.maximum(np.searchsorted(at, t, "right") - 1, 0)
    after = np.minimum(k + 1, len(at) - 1)
    h = (at[after] - at[k])[:, None]
    s = np.divide((t - at[k])[:, None], h, out=np.zeros_like(h), where=h > 0.0)
    s, beyond = np.clip(s, 0.0, 1.0), (t - np.clip(t, at[0], at[-1]))[:, None]
    d = v[after] - v[k]
    bend = s * (1.0 - s) * ((1.0 - s) * (h * a[k] - d) - s * (h * a[after] - d))
    return np.asarray(v[k] + s * d + bend + beyond * a[k])


def chosen_cutoff(robot: Robot, t: Array, q: Array) -> float:
    """Return the frequency (Hz) by which `prepare` tells motion from noise, from the spectrum of the velocities."""
    step = float(np.median(np.diff(t)))
    v = robot.difference(q[:-1], q[1:]) / step
    power = (np.abs(np.fft.rfft(v * np.hanning(len(v))[:, None], axis=0)) ** 2).sum(axis=1)
    white = np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, len(power))) ** 2  # of differences of positions
    fast = slice(len(power) // 2, None)
    power[power < ABOVE_NOISE * np.median(power[fast] / white[fast]) * white] = 0.0
    below = np.searchsorted(np.cumsum(power), KEPT * power.sum())
    return float(MARGIN * max(int(below), 1) / (len(v) * step))


def sliding_direction(robot: Robot, q: ArrayLike, presliding: ArrayLike) -> Array:
    """Return which way each joint slides, from −1 to 1: ``dz = (sign(dq) − z) |dq| / s``, Dahl's model of friction.

    Friction of a joint that turns round first stretches what it holds: over the distance s the direction turns from one
    to the other, and it keeps it while the joint stands still. It is zero at the first sample.

    Parameters
    ----------
    robot : Robot
    q : (n, nq) array-like
        Configurations one after another.
    presliding : float or (nv,) array-like
        The distance s (rad, m).

    References
    ----------
    Dahl, "Solid friction damping of mechanical vibrations", 1976.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q = [[0.0] * 6, [0.01] * 6, [0.01] * 6, [0.0099] * 6]
    >>> sliding_direction(robot, q, 1e-4)[:, 0].round(3)
    array([ 0.   ,  1.   ,  1.   , -0.264])
    """
    path = real_array("q", q, None, robot.nq, batch=False)
    s = of_joints(robot, "presliding", presliding)
    dq = robot.difference(path[:-1], path[1:])
    sign, keep = np.sign(dq), np.exp(-np.abs(dq) / s)
    z = np.zeros((len(path), robot.nv))
    for i in range(len(dq)):
        z[i + 1] = sign[i] + (z[i] - sign[i]) * keep[i]
    return z


def _first(x: Array) -> int:
    return int(np.argwhere(~np.isfinite(x))[0][0])
