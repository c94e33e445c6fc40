"""From a recorded motion to samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.logs.findings import Recorded, check_recording
from kinetree.logs.preparation import Preparation
from kinetree.logs.samples import Filter, Samples, measured
from kinetree.logs.sensors import Block
from kinetree.options import given
from kinetree.signatures import told
from kinetree.validation import real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot


@told
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
