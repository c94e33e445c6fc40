"""From recorded motions to samples: smoothed and differentiated without delay, part by part as the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError, warn_user
from kinetree.logs.findings import MISSED, RECORDING_CHECKS, LogWarning, made
from kinetree.logs.local_fit import DEGREE, chosen_cutoff, far_out, fit_weights, fitted, stretches
from kinetree.logs.samples import Cutoff, Filter, Samples, measured
from kinetree.options import given
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, of_joints, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot

HALF_WINDOW = 0.78
"""Samples to either side of a fit of degree 4, times the cut-off in cycles a sample: there the filter is 3 dB down.

Schafer, "What is a Savitzky–Golay filter?", 2011, has ``(degree + 1) / (3.2 m − 4.6)`` in units of half the rate."""

TINY = 1e-6  # times that differ by such a part of a step are the same

HIGH = "accelerations are mostly noise there; a lower cutoff is better, or more samples a second"
"""What is wrong with cut-offs above half of Nyquist's frequency."""

Arrays = tuple[Array, ...]
"""Times (n,), configurations (n, nq), and what is smoothed like these (n, m): forces, directions, wrenches."""


def of_robot(robot: Robot, chosen: Filter) -> tuple[Array | None, Array | None]:
    """Return the distances of presliding and the speeds of standing of each entry of v, where they are given."""
    both = ("presliding", chosen.presliding), ("standing", chosen.standing)
    presliding, standing = (None if x is None else of_joints(robot, name, x) for name, x in both)
    return presliding, standing


def smoothed(robot: Robot, blocks: Iterable[Samples], chosen: Filter) -> Iterator[Samples]:
    """Yield the samples of consecutive blocks of a motion, as of the whole; as they are if nothing is to be smoothed.

    What a block has at its end is kept for the next. The first one tells the cut-off; outliers are told within each.
    """
    presliding, standing = of_robot(robot, chosen)
    fit: LocalFit | None = None
    kept, first, rests = Arrays(), 0, list[bool]()
    q_last = z = None
    for block in blocks:
        if block.v is not None and block.a is not None and not chosen.smooths:
            rests.append(False)
            yield block._replace(smoothing=chosen.smoothing)
            continue
        if block.t is None:
            raise ArgumentError("the motion has no times: it cannot be filtered")
        if chosen.outliers is not None:
            path = np.vstack([np.zeros(robot.nv), np.cumsum(robot.difference(block.q[:-1], block.q[1:]), axis=0)])
            near = ~far_out(np.hstack([path, measured(block.tau)]), chosen.outliers)
            block = Samples(*(None if x is None else x[near] for x in block))
        others = [block.tau]
        if presliding is not None:  # from where the block before has left them
            path = block.q if q_last is None else np.vstack([q_last, block.q])
            slides = sliding_direction(robot, path, presliding, z)[-len(block.q) :]
            q_last, z = block.q[-1], slides[-1]
            others.append(slides)
        if block.f_ext is not None:
            others.append(block.f_ext.reshape(len(block.q), -1))
        arrays: Arrays = (block.t, block.q, np.hstack(others))
        arrays = tuple(map(np.concatenate, zip(kept, arrays, strict=True))) if kept else arrays
        if fit is None and len(arrays[0]) < 2:
            kept = arrays
            continue
        if fit is None:
            t, q, _ = arrays
            frequency, steps = chosen.cutoff or chosen_cutoff(robot, t, q), np.diff(t)
            step = float(f"{steps[steps < MISSED * np.median(steps)].mean():.6g}")  # of a part as of the whole
            fit = LocalFit.of(robot, chosen, frequency, step, float(t[0]))
            first = fit.reach
        samples, kept, first = fit(arrays, first)
        if samples is not None:
            still = None if standing is None else np.abs(samples.v) <= standing
            rests.append(still is not None and bool(still.all()))
            yield samples._replace(standing=still)
    if not rests:
        if fit is None:
            raise ArgumentError("a motion needs at least two samples")
        needed = f"a cut-off of {fit.cutoff.frequency:.3g} Hz needs {2 * fit.reach + 1} samples without a gap"
        raise ArgumentError(f"{needed}: give more samples or a higher cutoff")
    if all(rests):
        raise ArgumentError("at every sample every joint is slower than standing: give a lower speed")


@dataclass(frozen=True)
class LocalFit:
    """The filter of a motion: its cut-off, the first time, how many samples are in a fit, and from one to the next.

    Directions of sliding are the signs of velocities, which change around `smoothing`; None if they are given.
    """

    robot: Robot
    cutoff: Cutoff
    origin: float
    window: int
    every: int
    smoothing: float | None

    @classmethod
    def of(cls, robot: Robot, chosen: Filter, frequency: float, step: float, origin: float) -> LocalFit:
        """Return the filter of a cut-off (Hz) for samples that are a step (s) apart."""
        window = 2 * max(DEGREE // 2 + 1, round(HALF_WINDOW / (frequency * step))) + 1
        every = chosen.decimate or max(1, int(0.5 / (frequency * step)))
        slow = robot.model.friction.smoothing if chosen.smoothing is None else chosen.smoothing
        if (cutoff := Cutoff(frequency, 1.0 / step)).high:
            warn_user(f"the cut-off is {cutoff}: {HIGH}", LogWarning)
        return cls(robot, cutoff, origin, window, every, slow if chosen.presliding is None else None)

    @property
    def reach(self) -> int:
        """How many recorded samples a fit needs to either side: directions from velocities a window around each."""
        half = self.window // 2
        return half if self.smoothing is None else 2 * half + half // 8 + 2  # samples may be nearer than usual

    def __call__(self, arrays: Arrays, first: int) -> tuple[Samples | None, Arrays, int]:
        """Return samples from the first on, None without a whole window; what the next part needs, and its first."""
        robot, nv, half, reach = self.robot, self.robot.nv, self.window // 2, self.reach
        found: list[Arrays] = []
        kept, after = arrays, first
        for start, stop in stretches(arrays[0]):
            t, q, others = own = tuple(x[start:stop] for x in arrays)
            after = first if start == 0 else reach
            centres = np.arange(after, len(t) - reach, self.every)
            if len(centres):
                others = others if self.smoothing is None else self._with_signs(own, self.smoothing)
                moved, v, a, rest = fitted(t, q, robot.difference, centres, centres - half, self.window, others=others)
                found.append((t[centres], robot.integrate(q[centres], moved), v, a, rest))
                after = int(centres[-1]) + self.every
            keep = max(0, min(after - reach, len(t) - 1))
            kept, after = tuple(x[keep:] for x in own), after - keep
        if not found:
            return None, kept, after
        t, q, v, a, rest = map(np.concatenate, zip(*found, strict=True))
        tau, directions, wrench = np.split(rest, [nv, 2 * nv], axis=1)
        f_ext = wrench.reshape(-1, robot.nb, 6) if wrench.size else None
        choices = {"smoothing": self.smoothing, "cutoff": self.cutoff}
        return Samples(q, v, a, tau, f_ext, directions, t, **choices), kept, after

    def _with_signs(self, arrays: Arrays, smoothing: float) -> Array:
        """Return the rest with the signs of filtered velocities after the forces; no fit needs those at the ends."""
        (t, q, others), nv, half = arrays, self.robot.nv, self.window // 2
        weights = fit_weights(np.arange(-half, half + 1)[None] / (2.0 * half))[1][0, ::-1]
        step, origin = 1.0 / self.cutoff.rate, self.origin
        even = origin + step * np.arange(np.ceil((t[0] - origin) / step - TINY), (t[-1] - origin) / step + TINY)
        same = len(even) == len(t) and np.abs(even - t).max() < TINY * step
        out = np.hstack([others[:, :nv], np.empty_like(others[:, :nv]), others[:, nv:]])
        path = np.zeros(len(t))
        for k, moved in enumerate(self.robot.difference(q[:-1], q[1:]).T):
            np.cumsum(moved, out=path[1:])
            speed = np.convolve(path if same else np.interp(even, t, path), weights, "valid") / (2.0 * half * step)
            v = np.pad(speed, half, mode="edge") if same else np.interp(t, even[half : len(even) - half], speed)
            out[:, nv + k] = v / np.sqrt(v * v + smoothing**2)
        return out


def sliding_direction(robot: Robot, q: ArrayLike, presliding: ArrayLike, before: ArrayLike | None = None) -> Array:
    """Return which way each joint slides, from −1 to 1: ``dz = (sign(dq) − z) |dq| / s``, Dahl's model of friction.

    Friction of a joint that turns round first stretches what it holds: over the distance s the direction turns from one
    to the other, and it keeps it while the joint stands still.

    Parameters
    ----------
    robot : Robot
    q : (n, nq) array-like
        Configurations one after another.
    presliding : float or (nv,) array-like
        The distance s (rad, m).
    before : (nv,) array-like, optional
        The direction at the first sample; zero if not given.

    References
    ----------
    Dahl, "Solid friction damping of mechanical vibrations", 1976.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q = [[0.0] * 6, [0.01] * 6, [0.01] * 6, [0.0099] * 6]
    >>> kt.identification.sliding_direction(robot, q, 1e-4)[:, 0].round(3)
    array([ 0.   ,  1.   ,  1.   , -0.264])
    """
    path = real_array("q", q, None, robot.nq, batch=False)
    s = of_joints(robot, "presliding", presliding)
    dq = robot.difference(path[:-1], path[1:])
    sign, keep = np.sign(dq), np.exp(-np.abs(dq) / s)
    z = np.zeros((len(path), robot.nv))
    z[0] = 0.0 if before is None else real_array("before", before, robot.nv, batch=False)
    for i in range(len(dq)):
        z[i + 1] = sign[i] + (z[i] - sign[i]) * keep[i]
    return z


@friendly_call_errors
def prepare(
    robot: Robot,
    t: ArrayLike,
    q: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    filter: Filter | None = None,
    check: bool = True,
) -> Samples:
    """Return samples for `Robot.identify` from recorded positions and joint forces.

    Around each sample polynomials are fitted to the positions, and differentiated: a filter without delay. The forces,
    wrenches and the directions of sliding go through the same filter, so that the equations stay true.

    Parameters
    ----------
    t : (n,) array-like
        Times in s, increasing. Nothing is fitted across gaps.
    q : (n, nq) array-like
    tau : (n, nv) array-like
        Columns that are NaN throughout are forces that were not measured.
    f_ext : (n, nb, 6) array-like, optional
        Measured wrenches on the bodies, see `Samples`.
    filter : Filter, optional
        The cut-off, what is left out, how friction changes sign: `Samples.cutoff` and `Fit.cutoffs` have the cut-off.
    check : bool
        Whether to refuse a recording in which a sensor is at its end, times are in another unit or angles leap by a
        turn, which filtered samples do not show; else it is warned of.

    Returns
    -------
    Samples

    Warns
    -----
    LogWarning
        If the cut-off is above half of Nyquist's frequency.

    Raises
    ------
    ArgumentError
        If arrays do not fit, times do not increase, too few samples are left, nothing moves that could tell a
        cut-off, or the recording seems to be wrong (with `check`).

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> t = np.linspace(0, 4, 1001)
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=4.0)
    >>> q, v, a = path(t)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> samples = kt.identification.prepare(robot, t, q, tau, filter=kt.Filter(cutoff=5.0))
    >>> samples.v.shape
    (34, 6)
    """
    times = real_array("t", t, None, batch=False)
    position = real_array("q", q, len(times), robot.nq, batch=False)
    force = real_array("tau", tau, len(times), robot.nv, batch=False)
    wrench = None if f_ext is None else real_array("f_ext", f_ext, len(times), robot.nb, 6, batch=False)
    for name, x in (("t", times), ("q", position), ("tau", measured(force)), ("f_ext", wrench)):
        for at in np.argwhere(~np.isfinite(x))[:1] if x is not None else ():
            raise ArgumentError(f"{name} holds a number that is not finite, first at sample {at[0]}")
    if len(back := np.flatnonzero(np.diff(times) <= 0.0)):
        k = int(back[0])
        raise ArgumentError(
            f"t must increase: it goes from {times[k]:.9g} s to {times[k + 1]:.9g} s at sample {k + 1}, and so at "
            f"{len(back)} of {len(times)} samples: sort them, or leave repeated ones out"
        )
    motion = Samples(position, None, None, force, wrench, t=times)
    made(RECORDING_CHECKS, "recording", (robot, motion)).enforce(check=check)
    (samples,) = smoothed(robot, [motion], given("filter", filter, Filter))
    return samples
