"""Recorded motions: states, accelerations and joint forces, checked, in pieces that fit into cache."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.logs.recording import Recording
from kinetree.logs.samples import Cutoff as Cutoff
from kinetree.logs.samples import Samples as Samples
from kinetree.logs.samples import measured as measured
from kinetree.logs.samples import of_joints as of_joints
from kinetree.motions.trajectory import Trajectory
from kinetree.robot import Robot
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    pass

PIECE = 1024
"""Samples that are worked on at once."""

LENGTHS = range(4, 13)
"""Of a tuple that is a motion."""

LONGEST = 1 << 17
"""Samples of one motion that are looked at in one piece, for how they are correlated; and kept of an iterator."""


class Piece(NamedTuple):
    """Some samples as arrays."""

    q: Array
    v: Array
    a: Array
    tau: Array
    f_ext: Array | None = None
    direction: Array | None = None
    load: Array | None = None
    standing: Array | None = None
    t: Array | None = None
    held: Array | None = None


def motions(log: Any) -> Iterable[Any]:
    """Return what a log holds: itself if it is one motion; else motions, or logs in their turn.

    A function is called for what it returns, anew for every pass through the log.
    """
    if isinstance(log, Recording):
        raise ArgumentError("a recording is no log before it is filtered: write recording.filtered(kinetree.Filter(…))")
    one = is_motion(log)
    if not one and callable(log):
        log = log()
        one = is_motion(log)
    if not one and (not isinstance(log, Iterable) or isinstance(log, np.ndarray | Mapping | str)):
        raise ArgumentError(
            f"a log is (q, v, a, tau), a Trajectory, an iterable of these, or a function that returns one; "
            f"{type(log).__name__} was given"
        )
    return (log,) if one else log


def parts(log: Any) -> Iterator[Any]:
    """Yield the motions of a log one after the other, those of logs within it too."""
    within = motions(log)
    for part in within:
        if isinstance(part, Trajectory) or (isinstance(part, tuple) and not (part and is_motion(part[0]))):
            yield part
        elif isinstance(part, Iterator) and not isinstance(within, Iterator):
            raise ArgumentError("an iterator among several logs is empty when it is read again: give what makes it")
        else:
            yield from parts(part)


def is_motion(log: Any) -> bool:
    """Return whether this is one motion; a tuple of four motions is none."""
    if isinstance(log, Trajectory | Samples):
        return True
    return isinstance(log, tuple) and len(log) in LENGTHS and not is_motion(log[0])


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


def once_and_again(log: Any) -> tuple[Any, Any]:
    """Return a log to be read once, and what of it can be read before and after that: all, or of an iterator the first.

    These are about `LONGEST` samples.
    """
    if not isinstance(log, Iterator):
        return log, log
    first, count = [], 0
    for part in log:
        first.append(part)
        count += np.size(motion_of(part).q, 0)
        if count >= LONGEST:
            break
    return chain(first, log), first


def repeated(log: Any) -> list[tuple[int, int]]:
    """Return which motions of a list are there twice, counted from 1, each with the one that it is once more."""
    first: dict[bytes, int] = {}
    found = []
    for k, part in enumerate(log if isinstance(log, list | tuple) and not is_motion(log) else (), start=1):
        if is_motion(part):  # not what makes motions when it is read
            q, tau = (np.ascontiguousarray(x) for x in (motion_of(part).q, motion_of(part).tau))
            before = first.setdefault(blake2b(q.tobytes() + tau.tobytes()).digest(), k)
            if before != k and np.nan_to_num(tau).any():
                found.append((k, before))
    return found


def motion_of(part: Any) -> Samples:
    """Return what was given as one motion."""
    if isinstance(part, Trajectory):
        return Samples(part.q, part.v, part.a, part.tau, t=part.t)
    if not isinstance(part, tuple) or len(part) not in LENGTHS:
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
    if given.held is not None:
        arrays["held"] = real_array("held", given.held, *lead, robot.nb, batch=False)
    for name in ("direction", "load", "standing"):
        if (x := getattr(given, name)) is not None:
            x = np.asarray(x)
            x = x.astype(np.float64) if x.dtype.kind == "b" else x
            arrays[name] = real_array(name, x, *lead, robot.nv, batch=False)
    if given.t is not None and np.shape(given.t) == lead:
        arrays["t"] = real_array("t", given.t, *lead, batch=False)
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
    count = math.prod(lead)
    return Piece(**{name: x.reshape(count, *x.shape[len(lead) :]) for name, x in arrays.items()})
