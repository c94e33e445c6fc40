"""Actuators at joints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from kinetree.errors import ModelError
from kinetree.signatures import friendly_call_errors
from kinetree.validation import as_number


@friendly_call_errors
@dataclass(frozen=True)
class Actuator:
    """A motor at a joint, ``τ = gear · u``.

    Attributes
    ----------
    name, joint : str
    gear : tuple of float
        Force at each of the joint's degrees of freedom for u = 1.
    control_range, force_range : (float, float)
        Limits of u, and of the force before the gear.

    Raises
    ------
    ModelError
        If a name is not a text, a number is not one, or the lower end of a range is above the upper one.

    Examples
    --------
    >>> import kinetree as kt
    >>> motor = kt.Actuator("motor", "shoulder_pan_joint", gear=(50.0,), control_range=(-1.0, 1.0))
    >>> arm = kt.load("ur5")
    >>> kt.Robot(arm.model, actuators=[motor]).actuation.T
    array([[50.,  0.,  0.,  0.,  0.,  0.]])
    """

    name: str
    joint: str
    gear: tuple[float, ...] = (1.0,)
    control_range: tuple[float, float] = (-math.inf, math.inf)
    force_range: tuple[float, float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        for field in ("name", "joint"):
            if not isinstance(getattr(self, field), str):
                raise ModelError(f"the {field} of an actuator is a text; {getattr(self, field)!r} was given")
        for field in ("gear", "control_range", "force_range"):
            object.__setattr__(self, field, self._numbers(field))
        for field in ("control_range", "force_range"):
            if len(ends := getattr(self, field)) != 2 or ends[0] > ends[1]:
                raise ModelError(f"actuator {self.name!r}: {field} is {ends}: give (lower, upper)")

    def _numbers(self, field: str) -> tuple[float, ...]:
        given = getattr(self, field)
        values = tuple(map(as_number, given)) if isinstance(given, Iterable) else ()
        if not values or not all(math.isfinite(x) or (math.isinf(x) and field != "gear") for x in values):
            raise ModelError(f"actuator {self.name!r}: {field} takes numbers; {given!r} was given")
        return values
