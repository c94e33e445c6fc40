"""Validation of the options of inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, unknown_name
from kinetree.inverse_kinematics.descent import METHODS, Method
from kinetree.robot import Robot
from kinetree.validation import Array, positive


def method_of(name: str, damping: float | None) -> Method:
    """Return the method of this name, with this damping if one is given."""
    if not isinstance(name, str) or name not in METHODS:
        raise ArgumentError(f"method is {name!r}, it must be {' or '.join(map(repr, METHODS))}")
    return METHODS[name] if damping is None else replace(METHODS[name], damping=positive("damping", damping))


def count(name: str, value: Any) -> int:
    """Return an integer ≥ 0."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ArgumentError(f"{name} is {value!r}, it must be an integer ≥ 0")
    return int(value)


def joints_of(robot: Robot, names: Sequence[str]) -> tuple[str, ...]:
    """Return these names, if all are of joints with coordinates of their own."""
    if isinstance(names, str):
        raise ArgumentError(f"fixed takes a list of names: [{names!r}]")
    for name in names:
        if name not in robot.model.joint_names:
            raise ArgumentError(unknown_name("joint", name, robot.model.joint_names))
    return tuple(names)


def start_of(robot: Robot, q0: ArrayLike | None) -> Array:
    """Return q0 (..., nq), with unit quaternions; neutral if it is None."""
    if q0 is None:
        return robot.neutral()
    try:
        with np.errstate(all="ignore"):
            q: Array = robot.integrate(q0, np.zeros(robot.model.nv))
    except ZeroDivisionError:
        q = np.full(1, np.nan)
    if not np.isfinite(q).all():
        raise ArgumentError("q0 holds a number that is not finite (NaN or inf), or a quaternion that is zero")
    return q
