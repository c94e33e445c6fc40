"""Recorded motions: states, accelerations and joint forces, checked, in pieces that fit into cache."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from os import PathLike, fspath
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.logs.recording import Recording
from kinetree.logs.samples import Filter, Samples
from kinetree.motions.trajectory import Trajectory
from kinetree.options import given
from kinetree.robot import Robot
from kinetree.validation import real_array

PIECE = 1024  # samples that are worked on at once
LENGTHS = range(4, 1 + len(Samples._fields))  # of a tuple that is a motion
# Samples of one motion that are looked at in one piece, for how they are correlated; and kept of an iterator
LONGEST = 1 << 17


def as_log(log: Any, filter: Filter | None = None, *, smoothing: float | None = None, check: bool = True) -> Any:
    """Return a log whose recordings are filtered: every function that takes a log begins with this.

    `smoothing` is for filters that have none. With `check`, a recording in which errors are found is refused.
    """
    chosen = given("filter", filter, Filter)
    if is_raw(log):
        if smoothing is not None and chosen.smoothing is None and chosen.presliding is None:
            filter = replace(chosen, smoothing=smoothing)
        return log.filtered(filter, check=check)
    if isinstance(log, list | tuple) and any(map(is_raw, log)):
        own = partial(as_log, smoothing=smoothing, check=check)
        return [own(part, filter if is_raw(part) else None) for part in log]
    if filter is not None:
        raise ArgumentError("a filter is for recordings: of arrays, kinetree.identification.prepare makes samples")
    return log


def is_raw(log: Any) -> bool:
    """Return whether this is a recording that has to be filtered."""
    return isinstance(log, Recording) and log.filter is None


def is_motion(log: Any) -> bool:
    """Return whether this is one motion; a tuple of four motions is none."""
    if isinstance(log, Trajectory | Samples):
        return True
    return isinstance(log, tuple) and len(log) in LENGTHS and not is_motion(log[0])


def motion_of(part: Any) -> Samples:
    """Return the given arrays as one motion."""
    if isinstance(part, Trajectory):
        return Samples(part.q, part.v, part.a, part.tau, t=part.t)
    if not isinstance(part, tuple) or len(part) not in LENGTHS:
        raise ArgumentError(f"a motion is (q, v, a, tau) or a Trajectory; {type(part).__name__} was given")
    return Samples(*part)


def motions(log: Any) -> Iterable[Any]:
    """Return the parts of a log: itself if it is one motion; else motions, or logs in their turn, of functions too."""
    one = is_motion(log)
    if not one and callable(log):
        log = log()
        one = is_motion(log)
    if is_raw(log):
        raise ArgumentError(
            "a recording is not a log before it is filtered: write recording.filtered(kinetree.Filter(…))"
        )
    if isinstance(log, str | PathLike):
        raise ArgumentError(f"{fspath(log)!r} is a path: read it by kinetree.identification.read_log(path, robot)")
    if isinstance(log, tuple) and 0 < len(log) < LENGTHS[0] and all(isinstance(x, np.ndarray) for x in log):
        raise ArgumentError(f"a motion is four arrays, (q, v, a, tau); {len(log)} were given: give all four")
    if not one and (not isinstance(log, Iterable) or isinstance(log, np.ndarray | Mapping)):
        raise ArgumentError(
            f"a log is (q, v, a, tau), a Trajectory, an iterable of these, or a function that returns one; "
            f"{type(log).__name__} was given"
        )
    return (log,) if one else log


def parts(log: Any) -> Iterator[Samples]:
    """Yield the motions of a log one after the other, those of logs within it too."""
    within = motions(log)
    for part in within:
        if isinstance(part, Trajectory) or (isinstance(part, tuple) and not (part and is_motion(part[0]))):
            yield motion_of(part)
        elif isinstance(part, Iterator) and not isinstance(within, Iterator):
            raise ArgumentError("an iterator among several logs is empty when it is read again: give what makes it")
        else:
            yield from parts(part)


def pieces(robot: Robot, log: Any) -> Iterator[Samples]:
    """Yield the samples of a log in pieces of `PIECE`: checked arrays. No piece has samples of two motions."""
    for motion in parts(log):
        whole = _checked(robot, motion)
        for i in range(0, len(whole.q), PIECE):
            yield Samples(*(None if x is None else x[i : i + PIECE] for x in whole))


def once_and_again(log: Any) -> tuple[Any, Any]:
    """Return a log to be read once, and what can be read of it again: of an iterator the first `LONGEST` samples."""
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


def _checked(robot: Robot, given: Samples) -> Samples:
    """Return a motion as arrays, with one axis of samples."""
    arrays = {"q": real_array("q", given.q, robot.nq)}
    lead, nv = arrays["q"].shape[:-1], (robot.nv,)
    needed = {"v": nv, "a": nv, "tau": nv}
    further = {"f_ext": (robot.nb, 6), "held": (robot.nb,), "direction": nv, "load": nv, "standing": nv, "t": ()}
    for name, shape in (needed | further).items():
        x = getattr(given, name)
        if name in needed or (x is not None and (name != "t" or np.shape(x) == lead)):
            x = np.asarray(x, dtype=float) if name == "standing" and np.asarray(x).dtype.kind == "b" else x
            arrays[name] = real_array(name, x, *lead, *shape, batch=False)
    unmeasured = np.isnan(arrays["tau"]).all(axis=tuple(range(len(lead))))
    if unmeasured.all() and arrays["q"].size:
        raise ArgumentError("tau is NaN throughout: joints whose forces are measured are needed, or a floating base")
    for name, x in arrays.items():
        finite = np.isfinite(x) | unmeasured if name == "tau" else np.isfinite(x)
        if not finite.all():
            at = ", ".join(map(str, np.argwhere(~finite)[0]))
            raise ArgumentError(
                f"{name}[{at}] is not finite: leave out such samples; forces that no sensor measures are NaN in all"
            )
    flat = {name: x.reshape(math.prod(lead), *x.shape[len(lead) :]) for name, x in arrays.items()}
    return Samples(**flat)
