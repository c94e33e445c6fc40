"""What a motion must keep within: limits of joints, and boxes for frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.robot.limits import given
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot


class Limits(NamedTuple):
    """The part of the limits that is used, as a middle and what may be to either side; infinite where there is none.

    Attributes
    ----------
    middle, half : (nv,) arrays
        Of the positions.
    velocity, acceleration, effort : (nv,) arrays
    boxes : mapping from the name of a frame to its middle and half (3,) each
    """

    middle: Array
    half: Array
    velocity: Array
    acceleration: Array
    effort: Array
    boxes: Mapping[str, tuple[Array, Array]]


def limits_of(
    robot: Robot,
    fraction: float,
    acceleration: float | ArrayLike | Mapping[str, float] | None,
    boxes: Mapping[str, ArrayLike] | None,
) -> Limits:
    """Return what a robot, whose joints have one degree of freedom each, has to keep within.

    Raises
    ------
    ArgumentError
        If a joint has no limits of position or speed, or something is no limit.
    """
    lower, upper, velocity = robot.lower_limits, robot.upper_limits, given(robot.velocity_limits)
    for what, there, example in (
        ("range of positions", np.isfinite(lower) & np.isfinite(upper), "lower={NAME: -3.0}, upper={NAME: 3.0}"),
        ("limit of speed", np.isfinite(velocity), "velocity={NAME: 1.5}"),
    ):
        if not there.all():
            names = [name for name, ok in zip(robot.v_names, there, strict=True) if not ok]
            how = f"robot.with_limits({example.replace('NAME', repr(names[0]))})"
            raise ArgumentError(f"{listed(names)}: there is no {what}; give one, such as {how}")
    narrow = [name for name, a, b in zip(robot.v_names, lower, upper, strict=True) if not a < b]
    if narrow:
        raise ArgumentError(f"{listed(narrow)} cannot move: its lower limit is not below the upper one; hold it still")
    rates = by_joint("acceleration", acceleration, robot) if acceleration is not None else np.full(robot.nv, np.inf)
    return Limits(
        (lower + upper) / 2.0,
        fraction * (upper - lower) / 2.0,
        fraction * velocity,
        rates,
        fraction * given(robot.effort_limits),
        {frame: _box(robot, frame, box) for frame, box in (boxes or {}).items()},
    )


def by_joint(what: str, value: float | ArrayLike | Mapping[str, float], robot: Robot) -> Array:
    """Return a positive number for each joint: from one for all, an array, or a mapping; infinite if not in that."""
    if isinstance(value, Mapping):
        found = np.full(robot.nv, np.inf)
        for name, x in value.items():
            if name not in robot.v_names:
                raise ArgumentError(unknown_name("joint", name, robot.v_names))
            found[robot.v_names.index(name)] = x
    else:
        found = real_array(what, value)
        if found.shape not in ((), (robot.nv,)):
            raise ArgumentError(f"{what} is one number, or one for each of the {robot.nv} joints that move")
        found = np.broadcast_to(found, robot.nv).copy()
    if not (found > 0.0).all():
        raise ArgumentError(f"{what} must be positive; {value!r} was given")
    return found


def _box(robot: Robot, frame: str, box: ArrayLike) -> tuple[Array, Array]:
    if frame not in robot.frame_names:
        raise ArgumentError(unknown_name("frame", frame, robot.frame_names))
    corners = real_array(f"the box of {frame!r}", box, 2, 3, batch=False)
    if not (corners[0] < corners[1]).all():
        raise ArgumentError(f"the box of {frame!r} is its least and its greatest x, y and z; {box!r} was given")
    middle, half = np.zeros(3), np.full(3, np.inf)
    for k, (low, high) in enumerate(corners.T):
        if np.isfinite(low) and np.isfinite(high):
            middle[k], half[k] = (low + high) / 2.0, (high - low) / 2.0
        elif np.isfinite(low) or np.isfinite(high):
            raise ArgumentError(f"the box of {frame!r} is open to one side: give a far number in the place of inf")
    return middle, half
