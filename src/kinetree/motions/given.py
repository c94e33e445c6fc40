"""What a trajectory is made of, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.validation import Array, real_array


def of_robots(name: str, value: Any, lead: tuple[int, ...]) -> Array:
    """Return an array of one entry a robot; None for each if it is None."""
    array = np.full(lead, None) if value is None else np.asarray(value)
    if array.shape != lead:
        raise ArgumentError(f"{name} has shape {array.shape}, {lead} is needed")
    return array


def stops_of(stopped_at: ArrayLike | None, lead: tuple[int, ...]) -> Array:
    """Return when robots stopped, NaN where they did not."""
    given = np.full(lead, np.nan) if stopped_at is None else stopped_at
    stops = real_array("stopped_at", given, *lead, batch=False)
    if np.isinf(stops).any():
        raise ArgumentError("stopped_at holds inf, which is not a time; of a robot that did not stop it is NaN")
    return stops


def times_of(t: ArrayLike) -> Array:
    """Return times (n,), finite and increasing."""
    times = real_array("t", t, None, batch=False)
    if not len(times):
        raise ArgumentError("a Trajectory has at least one sample, and none was given")
    if not np.isfinite(times).all():
        raise ArgumentError("t holds NaN or inf, which is not a time")
    bad = np.flatnonzero(np.diff(times) <= 0)
    if len(bad):
        k = int(bad[0]) + 1
        raise ArgumentError(
            f"t must increase: sample {k} is at {times[k]:g} s, the one before it at {times[k - 1]:g} s"
        )
    return times
