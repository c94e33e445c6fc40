"""Recorded motions: states, accelerations and joint forces, checked, in pieces that fit into cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.trajectories.trajectory import Trajectory
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PIECE = 1024
"""Samples that are worked on at once."""


class Samples(NamedTuple):
    """A recorded motion, or a part of one; the samples need not be in order.

    Attributes
    ----------
    q : (n, nq) array-like
        Configurations.
    v, a, tau : (n, nv) array-like
        Velocities, accelerations and joint forces: NaN in all samples of joints whose forces are not measured, zero of
        a floating base.
    f_ext : (n, nb, 6) array-like, optional
        Measured wrenches on the bodies, as `inverse_dynamics` takes them.
    direction : (n, nv) array-like, optional
        Which way each joint slides, from −1 to 1, in the place of the sign of its velocity: friction that first
        stretches what it holds knows where the joint came from (`sliding_direction`).
    t : (n,) array-like, optional
        Their times (s), for plots: no estimate depends on them.
    """

    q: ArrayLike
    v: ArrayLike
    a: ArrayLike
    tau: ArrayLike
    f_ext: ArrayLike | None = None
    direction: ArrayLike | None = None
    t: ArrayLike | None = None


class Piece(NamedTuple):
    """Some samples as arrays."""

    q: Array
    v: Array
    a: Array
    tau: Array
    f_ext: Array | None
    direction: Array | None


def parts(log: Any) -> Iterable[Any]:
    """Return the motions of a log: itself, or what an iterable holds."""
    one = isinstance(log, Trajectory | Samples) or (isinstance(log, tuple) and len(log) in range(4, 8))
    if not one and not isinstance(log, Iterable):
        raise ArgumentError(f"a log is (q, v, a, tau), a Trajectory, or an iterable of these; {log!r} was given")
    return (log,) if one else log


def pieces(robot: Robot, log: Any) -> Iterator[Piece]:
    """Yield the samples of a log in pieces of `PIECE`, checked; no piece has samples of two motions.

    Raises
    ------
    ArgumentError
        If arrays do not fit the robot or each other, or hold numbers that are not finite; it says which sample.
    """
    for part in parts(log):
        whole = _arrays(robot, part)
        for start in range(0, len(whole.q), PIECE):
            yield Piece(*(None if x is None else x[start : start + PIECE] for x in whole))  # type: ignore[arg-type]


def motion_of(part: Any) -> Samples:
    """Return what was given as one motion."""
    if isinstance(part, Trajectory):
        return Samples(part.q, part.v, part.a, part.tau, t=part.t)
    if not isinstance(part, tuple) or len(part) not in range(4, 8):
        raise ArgumentError(f"a motion is (q, v, a, tau) or a Trajectory; {type(part).__name__} was given")
    return Samples(*part)


def _arrays(robot: Robot, part: Any) -> Piece:
    given = motion_of(part)
    q = real_array("q", given.q, robot.nq)
    lead = q.shape[:-1]
    arrays = {"q": q} | {name: real_array(name, getattr(given, name), *lead, robot.nv, batch=False) for name in "va"}
    arrays["tau"] = real_array("tau", given.tau, *lead, robot.nv, batch=False)
    if given.f_ext is not None:
        arrays["f_ext"] = real_array("f_ext", given.f_ext, *lead, robot.nb, 6, batch=False)
    if given.direction is not None:
        arrays["direction"] = real_array("direction", given.direction, *lead, robot.nv, batch=False)
    unmeasured = np.isnan(arrays["tau"]).all(axis=tuple(range(len(lead))))
    if unmeasured.all() and q.size:
        raise ArgumentError("tau is NaN throughout: joints whose forces are measured are needed, or a floating base")
    for name, x in arrays.items():
        bad = ~np.isfinite(x)
        if name == "tau":
            bad &= ~unmeasured
        if bad.any():
            at = ", ".join(map(str, np.argwhere(bad)[0]))
            raise ArgumentError(
                f"{name}[{at}] is not finite: leave out such samples; forces that no sensor measures are NaN in all"
            )
    flat = {name: x.reshape(-1, *x.shape[len(lead) :]) for name, x in arrays.items()}
    return Piece(flat["q"], flat["v"], flat["a"], flat["tau"], flat.get("f_ext"), flat.get("direction"))


def of_joints(robot: Robot, name: str, given: ArrayLike) -> Array:
    """Return positive numbers (nv,): those given, or one for all."""
    numbers = real_array(name, given)
    numbers = real_array(name, given, robot.nv, batch=False) if numbers.ndim else np.full(robot.nv, numbers)
    if not (np.isfinite(numbers) & (numbers > 0.0)).all():
        raise ArgumentError(f"{name} is {given!r}: it must be positive")
    return numbers
