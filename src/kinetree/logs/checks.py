"""What only the recording shows, before anything is filtered: sensors at their end, times in another unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinetree.logs.findings import Check, Findings, Found, made, named
from kinetree.robot import Robot
from kinetree.validation import Array

SLOW = 0.5
"""Samples so far apart (s) tell no motion; milliseconds, taken as seconds, are further apart."""

SATURATED = 0.02
"""The part of the samples at the greatest or the least force, from which on a sensor seems to be at its end."""

CONSTANT = 1e-9
"""Forces that change by less than this part of their size do so by the rounding of filters."""

BESIDE = 8.0
"""How many times as often as any of the five values next to it: quantised forces rest at each value for a while."""

REPEATED = 4
"""How often a force that is not quantised has one value at most."""


class Recorded(NamedTuple):
    """A recording at the joints: times (n,) or None, configurations (n, nq), forces (n, nv)."""

    robot: Robot
    t: Array | None
    q: Array
    tau: Array


def time_unit(seen: Recorded) -> Iterator[Found]:
    """Yield that samples are too far apart for seconds."""
    if seen.t is not None and len(seen.t) > 1 and (step := float(np.median(np.diff(seen.t)))) > SLOW:
        yield Found(f"samples are {step:g} s apart: is the time in seconds?", (), {"step_s": step})


def saturated(seen: Recorded) -> Iterator[Found]:
    """Yield which forces are often the same at an end, while the robot moves."""
    moves = np.append(np.diff(seen.q, axis=0).any(axis=1), True)
    tau = seen.tau[moves]
    parts = np.array([_at_an_end(x) for x in tau.T])
    if (found := parts > SATURATED).any():
        joints = named(seen.robot, found)
        yield Found(
            f"the forces of {', '.join(joints)} stay at their greatest or least value: is a sensor at its end?",
            joints,
            {"part_of_samples": float(parts.max())},
        )


def _at_an_end(x: Array) -> float:
    """Return the part of the samples at the greatest or the least value, 0 where a value near it is as frequent."""
    values, counts = np.unique(x[np.isfinite(x)], return_counts=True)
    if len(values) < 3 or values[-1] - values[0] <= CONSTANT * np.abs(values).max():
        return 0.0
    ends = [(end, max(near)) for end, *near in (counts[:6], counts[:-7:-1])]
    many = [int(end) for end, near in ends if end > (REPEATED if near == 1 else BESIDE * near)]
    return max(many, default=0) / len(x)


CHECKS = (
    Check("time_unit", "error", ("recording",), time_unit),
    Check("saturated", "error", ("recording",), saturated),
)
"""Those of recordings; `kinetree.identification.checks.registry` has all."""


def check_recording(seen: Recorded) -> Findings:
    """Return what the checks of a recording find."""
    return made(CHECKS, "recording", seen)
