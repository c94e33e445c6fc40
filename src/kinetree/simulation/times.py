"""The times of a simulation's steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.options import count
from kinetree.validation import positive

_CLOSE = 1e-6
"""By which part of a step a duration may differ from a whole number of steps."""


class Times(NamedTuple):
    """A number of steps of one length: step k, counted from 0, begins at ``(first + k) dt + rest``.

    A beginning at a multiple of dt, to rounding, is that multiple: so two simulations, of which the second goes on
    where the first one ends, have the times of one.
    """

    dt: float
    steps: int
    first: float
    rest: float

    def of(self, k: Any) -> Any:
        """Return the time at the beginning of step k."""
        return (self.first + k) * self.dt + self.rest

    def starting(self, t0: Any) -> Times:
        """Return as many steps from another time on."""
        if isinstance(t0, bool) or not isinstance(t0, Real) or not math.isfinite(t0):
            raise ArgumentError(f"t0 is {t0!r}, it must be a finite number of seconds")
        t0, dt, number = float(t0), self.dt, self.steps
        first = float(round(t0 / dt)) if abs(t0 / dt) < 2**52 else 0.0
        rest = t0 - first * dt
        found = Times(dt, number, first, 0.0 if abs(rest) <= 4 * math.ulp(t0) else rest)
        if number > 2**53 or not (found.of(0) < found.of(1) and found.of(number - 1) < found.of(number) < math.inf):
            raise ArgumentError(
                f"{number} steps of dt = {dt:g} s from t0 = {t0:g} s: floats cannot tell all times apart"
            )
        return found


def times(dt: Any, duration: Any, steps: Any, counted: Mapping[str, int], t0: Any) -> Times:
    """Return the times of the steps; `counted` are the numbers of steps that arrays over time have."""
    dt, known = positive("dt", dt), dict(counted)
    if duration is not None:
        exact = positive("duration", duration) / dt
        if exact > 2**53 or abs(exact - round(exact)) > _CLOSE or not round(exact):
            raise ArgumentError(f"duration = {duration:g} s is {exact:.9g} steps of dt = {dt:g} s: give a whole number")
        known["duration"] = round(exact)
    if steps is not None:
        known["steps"] = count("steps", steps)
    if not known:
        raise ArgumentError("how long? Give duration= in seconds, steps=, or forces over time, (steps, nv)")
    number = next(iter(known.values()))
    if number < 1 or any(other != number for other in known.values()):
        shown = ", ".join(f"{name}: {n}" for name, n in known.items())
        raise ArgumentError(f"the numbers of steps must be equal and 1 or more; they are {shown}")
    return Times(dt, number, 0.0, 0.0).starting(t0)
