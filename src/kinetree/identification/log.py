"""A log as estimators read it: recorded motions in any form, filtered, checked, in pieces that fit into cache."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from os import PathLike, fspath
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.logs.recording import Recording
from kinetree.logs.samples import Cutoff, Filter, Samples
from kinetree.motions.trajectory import Trajectory
from kinetree.options import given
from kinetree.robot import Robot
from kinetree.validation import real_array

PIECE = 1024  # samples that are worked on at once
LENGTHS = range(4, 1 + len(Samples._fields))  # of a tuple that is a motion
# Samples of one motion that are looked at in one piece, for how they are correlated; and kept of an iterator
LONGEST = 1 << 17


class Log:
    """Recorded motions in any of the forms of `Robot.identify`, to be read as often as is needed.

    Recordings are filtered, around the speed `smoothing` of a model's friction where the filter has none; one in which
    errors are found is refused with `check`. Of an iterator, which can be read only once, the first `LONGEST` samples
    are read again. `cutoffs` are those of the samples that have been read.
    """

    def __init__(
        self, log: Any, filter: Filter | None = None, *, smoothing: float | None = None, check: bool = True
    ) -> None:
        self.smoothing, self.cutoffs = smoothing, set[Cutoff]()
        self._rest: Iterator[Samples] = iter(())
        chosen = given("filter", filter, Filter)
        if smoothing is not None and chosen.smoothing is None and chosen.presliding is None:
            chosen = replace(chosen, smoothing=smoothing)
        parts = log if isinstance(log, list | tuple) else (log,)
        raw = [isinstance(part, Recording) and part.filter is None for part in parts]
        if any(raw):
            log = [x.filtered(chosen, check=check) if is_raw else x for x, is_raw in zip(parts, raw, strict=True)]
        elif filter is not None:
            raise ArgumentError("a filter is for recordings: of arrays, kinetree.identification.prepare makes samples")
        elif isinstance(log, Iterator):
            self._rest, log, count = motions_in(log), list[Samples](), 0
            while count < LONGEST and (motion := next(self._rest, None)) is not None:
                log.append(motion)
                count += np.size(motion.q, 0)
        self.given = log

    def motions(self, robot: Robot) -> Iterator[Iterator[Samples]]:
        """Yield each motion in its pieces; its friction has to change sign around the same speed as the model's."""
        for motion in chain(motions_in(self.given), self._rest):
            if motion.smoothing is not None and self.smoothing not in (None, motion.smoothing):
                raise ArgumentError(
                    f"the samples were prepared with smoothing={motion.smoothing:g}, and {self.smoothing:g} is asked "
                    "for: give both the same"
                )
            self.cutoffs |= set() if motion.cutoff is None else {motion.cutoff}
            yield pieces_of(robot, motion)

    def pieces(self, robot: Robot) -> Iterator[Samples]:
        """Return the pieces of all motions. No piece has samples of two."""
        return chain.from_iterable(self.motions(robot))


def motions_in(log: Any) -> Iterator[Samples]:
    """Yield the motions of a log one after another: itself, or those of logs within it, of functions' results too."""
    motion = motion_of(log)
    if motion is None and callable(log):
        log = log()
        motion = motion_of(log)
    if motion is not None:
        yield motion
        return
    if isinstance(log, Recording) and log.filter is None:
        raise ArgumentError(
            "a recording is not a log before it is filtered: write recording.filtered(kinetree.Filter(…))"
        )
    if isinstance(log, str | PathLike):
        raise ArgumentError(f"{fspath(log)!r} is a path: read it by kinetree.identification.read_log(path, robot)")
    if isinstance(log, tuple) and 0 < len(log) < LENGTHS[0] and all(isinstance(x, np.ndarray) for x in log):
        raise ArgumentError(f"a motion is four arrays, (q, v, a, tau); {len(log)} were given: give all four")
    if not isinstance(log, Iterable) or isinstance(log, np.ndarray | Mapping):
        raise ArgumentError(
            f"a log is (q, v, a, tau), a Trajectory, an iterable of these, or a function that returns one; "
            f"{type(log).__name__} was given"
        )
    for part in log:
        if isinstance(part, Iterator) and not isinstance(log, Iterator):
            raise ArgumentError("an iterator among several logs is empty when it is read again: give what makes it")
        yield from motions_in(part)


def motion_of(log: Any) -> Samples | None:
    """Return what is one motion, None if it is none: a tuple of four motions is not."""
    if isinstance(log, Trajectory):
        return Samples(log.q, log.v, log.a, log.tau, t=log.t)
    if isinstance(log, Samples):
        return log
    one = isinstance(log, tuple) and len(log) in LENGTHS and motion_of(log[0]) is None
    return Samples(*log) if one else None


def pieces_of(robot: Robot, motion: Samples) -> Iterator[Samples]:
    """Yield a motion in pieces of `PIECE` samples: checked arrays, with one axis of samples."""
    arrays = {"q": real_array("q", motion.q, robot.nq)}
    lead, nv = arrays["q"].shape[:-1], (robot.nv,)
    needed = {"v": nv, "a": nv, "tau": nv}
    further = {"f_ext": (robot.nb, 6), "held": (robot.nb,), "direction": nv, "load": nv, "standing": nv, "t": ()}
    for name, shape in (needed | further).items():
        x = getattr(motion, name)
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
    count = math.prod(lead)
    flat = {name: x.reshape(count, *x.shape[len(lead) :]) for name, x in arrays.items()}
    for first in range(0, count, PIECE):
        yield Samples(**{name: x[first : first + PIECE] for name, x in flat.items()})
