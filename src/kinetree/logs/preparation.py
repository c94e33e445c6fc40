"""From recorded motions to samples: smoothed and differentiated without delay, part by part as the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError, warn_user
from kinetree.logs.findings import LogWarning, Recorded, check_recording
from kinetree.logs.local_fit import DEGREE, chosen_cutoff, far_out, fit_weights, fitted, stretches
from kinetree.logs.samples import Cutoff, Filter, Samples, measured, of_joints
from kinetree.logs.sensors import Block
from kinetree.options import given
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot

HALF_WINDOW = 0.78
"""Samples to either side of a fit of degree 4, times the cut-off in cycles a sample: there the filter is 3 dB down.

Schafer, "What is a Savitzky–Golay filter?", 2011, has ``(degree + 1) / (3.2 m − 4.6)`` in units of half the rate."""

MISSED = 1.5
"""Steps in time that are so many times the median, or more, are where samples are missing."""

TINY = 1e-6
"""Times that differ by such a part of a step are the same."""

HIGH = "accelerations are mostly noise there; a lower cutoff is better, or more samples a second"
"""What is wrong with cut-offs above half of Nyquist's frequency."""


class Preparation:
    """How `prepare` makes samples of the parts of a motion one after the other, as of the whole.

    What a part has at its end is kept for the next. The first says the cut-off `frequency`, the `rate` of samples (Hz),
    how many are in the `window` of a fit, and which one is in the middle of the next; outliers are told within a part.
    """

    def __init__(self, robot: Robot, chosen: Filter) -> None:
        slow = robot.model.friction.smoothing if chosen.smoothing is None else chosen.smoothing
        self._smoothing = slow if chosen.presliding is None else None
        self._robot, self._chosen = robot, chosen
        self._presliding, self._standing = (
            None if x is None else of_joints(robot, name, x)
            for name, x in (("presliding", chosen.presliding), ("standing", chosen.standing))
        )
        self.frequency = chosen.cutoff or 0.0
        self.rate = self._origin = 0.0
        self.window = self.every = 0
        self._kept: tuple[Array, ...] | None = None
        self._offset = 0
        self._slides: tuple[Array | None, Array | None] = None, None

    def part(self, block: Block) -> Samples | None:
        """Return samples of the next block of a motion, as it is if nothing is to be smoothed; None for too few."""
        robot, nv, q, tau, f_ext = self._robot, self._robot.nv, block.q, block.tau, block.f_ext
        if block.v is not None and block.a is not None and not self._chosen.smooths:
            return Samples(q, block.v, block.a, tau, f_ext, t=block.t, smoothing=self._chosen.smoothing)
        if (t := block.t) is None:
            raise ArgumentError("the motion has no times: it cannot be filtered")
        if self._chosen.outliers is not None:
            path = np.vstack([np.zeros(nv), np.cumsum(robot.difference(q[:-1], q[1:]), axis=0)])
            kept = ~far_out(np.hstack([path, measured(tau)]), self._chosen.outliers)
            t, q, tau, f_ext = t[kept], q[kept], tau[kept], None if f_ext is None else f_ext[kept]
        others = [tau]
        if self._presliding is not None:
            others.append(self._sliding(q))
        if f_ext is not None:
            others.append(f_ext.reshape(len(t), -1))
        arrays: tuple[Array, ...] = t, q, np.hstack(others)
        if self._kept is not None:
            arrays = tuple(np.concatenate(x) for x in zip(self._kept, arrays, strict=True))
        if not self.window:
            if len(arrays[0]) < 2:
                self._kept = arrays
                return None
            self._choose(*arrays[:2])
        return self._samples(arrays)

    def _choose(self, t: Array, q: Array) -> None:
        self.frequency = self.frequency or chosen_cutoff(self._robot, t, q)
        steps = np.diff(t)
        usual = steps[steps < MISSED * np.median(steps)].mean()
        step = float(f"{usual:.6g}")  # of a part as of the whole, whatever rounding does
        self.rate, self._origin = 1.0 / step, float(t[0])
        self.window = 2 * max(DEGREE // 2 + 1, round(HALF_WINDOW / (self.frequency * step))) + 1
        self.every, self._offset = self._chosen.decimate or max(1, int(0.5 / (self.frequency * step))), self.reach
        if (cutoff := Cutoff(self.frequency, self.rate)).high:
            warn_user(f"the cut-off is {cutoff}: {HIGH}", LogWarning)

    def _sliding(self, q: Array) -> Array:
        """Return the directions of sliding, from where the part before has left them."""
        last, z = self._slides
        path = np.vstack([q[:1] if last is None else last, q])
        slides = sliding_direction(self._robot, path, self._presliding, z)[1:]  # type: ignore[arg-type]
        self._slides = q[-1], slides[-1]
        return slides

    def _samples(self, arrays: tuple[Array, ...]) -> Samples | None:
        """Return samples where there is a whole window, None for none; keep what the next part needs."""
        robot, nv, half, reach = self._robot, self._robot.nv, self.window // 2, self.reach
        found: list[tuple[Array, ...]] = []
        for start, stop in stretches(arrays[0]):
            t, q, others = own = tuple(x[start:stop] for x in arrays)
            first = self._offset if start == 0 else reach
            centres = np.arange(first, len(t) - reach, self.every)
            if len(centres):
                if self._smoothing is not None:
                    others = self._with_signs(own, self._smoothing)
                moved, v, a, rest = fitted(t, q, robot.difference, centres, centres - half, self.window, others=others)
                found.append((t[centres], robot.integrate(q[centres], moved), v, a, rest))
                first = int(centres[-1]) + self.every
            keep = max(0, min(first - reach, len(t) - 1))
            self._kept, self._offset = tuple(x[keep:] for x in own), first - keep
        if not found:
            return None
        t, q, v, a, rest = (np.concatenate(x) for x in zip(*found, strict=True))
        tau, directions, wrench = np.split(rest, [nv, 2 * nv], axis=1)
        return Samples(
            *(q, v, a, tau),
            wrench.reshape(-1, robot.nb, 6) if wrench.size else None,
            direction=directions,
            t=t,
            standing=None if self._standing is None else np.abs(v) <= self._standing,
            smoothing=self._smoothing,
            cutoff=Cutoff(self.frequency, self.rate),
        )

    @property
    def reach(self) -> int:
        """How many recorded samples a fit needs to either side: directions from velocities a window around each."""
        half = self.window // 2
        return half if self._smoothing is None else 2 * half + half // 8 + 2  # samples may be nearer than usual

    def _with_signs(self, arrays: tuple[Array, ...], smoothing: float) -> Array:
        """Return the rest with the signs of filtered velocities after the forces; no fit needs those at the ends."""
        (t, q, others), nv, half = arrays, self._robot.nv, self.window // 2
        weights = fit_weights(np.arange(-half, half + 1)[None] / (2.0 * half), DEGREE)[1][0, ::-1]
        step, origin = 1.0 / self.rate, self._origin
        even = origin + step * np.arange(np.ceil((t[0] - origin) / step - TINY), (t[-1] - origin) / step + TINY)
        same = len(even) == len(t) and np.abs(even - t).max() < TINY * step
        out = np.hstack([others[:, :nv], np.empty_like(others[:, :nv]), others[:, nv:]])
        path = np.zeros(len(t))
        for k, moved in enumerate(self._robot.difference(q[:-1], q[1:]).T):
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
    >>> sliding_direction(robot, q, 1e-4)[:, 0].round(3)
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
        Whether to refuse a recording in which a sensor is at its end or times are in another unit, which filtered
        samples do not show; else it is warned of.

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
    >>> samples = prepare(robot, t, q, robot.inverse_dynamics(q, v, a), filter=kt.Filter(cutoff=5.0))
    >>> samples.v.shape
    (34, 6)
    """
    block = _block(robot, t, q, tau, f_ext)
    check_recording(Recorded(robot, block.t, block.q, block.tau)).enforce(check=check)
    return filtered(robot, block, given("filter", filter, Filter))


def filtered(robot: Robot, block: Block, chosen: Filter) -> Samples:
    """Return the samples of a whole motion."""
    way = Preparation(robot, chosen)
    samples = way.part(block)
    if samples is None and not way.window:
        raise ArgumentError("t must be two times and more")
    if samples is None:
        raise ArgumentError(
            f"a cut-off of {way.frequency:.3g} Hz needs {2 * way.reach + 1} samples without a gap: give more "
            "samples or a higher cutoff"
        )
    if samples.standing is not None and np.all(samples.standing):
        raise ArgumentError("at every sample every joint is slower than standing: give a lower speed")
    return samples


def _block(robot: Robot, t: ArrayLike, q: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None) -> Block:
    """Return times, configurations, forces and wrenches, checked."""
    times = real_array("t", t, None, batch=False)
    position = real_array("q", q, len(times), robot.nq, batch=False)
    force = real_array("tau", tau, len(times), robot.nv, batch=False)
    wrench = None if f_ext is None else real_array("f_ext", f_ext, len(times), robot.nb, 6, batch=False)
    for name, x in (("t", times), ("q", position), ("tau", measured(force)), ("f_ext", wrench)):
        for at in np.argwhere(~np.isfinite(x))[:1] if x is not None else ():
            raise ArgumentError(f"{name} holds a number that is not finite, first at sample {at[0]}")
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if len(back):
        k = int(back[0])
        raise ArgumentError(
            f"t must increase: it goes from {times[k]:.9g} s to {times[k + 1]:.9g} s at sample {k + 1}, and so at "
            f"{len(back)} of {len(times)} samples: sort them, or leave repeated ones out"
        )
    return Block(times, position, None, None, force, wrench)
