"""What a motion must keep within: limits of joints, and boxes for frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.options import only, option, positive, read_box, read_numbers, value
from kinetree.validation import Array, given_limits, of_joints, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot


def _fraction(name: str, given: Any) -> float:
    if not 0.0 < positive(name, given) <= 1.0:
        raise ArgumentError(f"{name} is {given!r}, it must be a part of the limits: above 0, at most 1")
    return float(given)


class Limits(NamedTuple):
    """The part of the limits that is used, as a middle and what may be to either side; infinite where there is none."""

    middle: Array  # (nv,), of the positions; and of these what may be to either side
    half: Array
    velocity: Array
    acceleration: Array
    effort: Array
    boxes: Mapping[str, tuple[Array, Array]]  # by the names of frames, the middle and half (3,) of each


@value
class MotionLimits:
    """What a planned motion must keep within: `excite` with ``limits=…``.

    Positions, speeds and forces have the robot's own limits (`Robot.with_limits` gives others), of which a part is
    used. **Nothing is known of collisions**, of links with each other or with what is around, but by `free`.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.MotionLimits(fraction=0.6, boxes={"wrist_1_link": [[-0.8, -0.8, 0.1], [0.8, 0.8, 1.2]]})
    MotionLimits(fraction=0.6, boxes={'wrist_1_link': [[-0.8, -0.8, 0.1], [0.8, 0.8, 1.2]]})
    """

    fraction: float = option(
        default=0.9,
        check=_fraction,
        read=float,
        help="the part of the limits of position, speed and force that is used",
    )
    acceleration: float | ArrayLike | Mapping[str, float] | None = option(
        default=None,
        read=read_numbers,
        help="largest accelerations of the joints that move (rad/s², m/s²), one or one for each, in full; speed and "
        "harmonics limit them too",
    )
    boxes: Mapping[str, ArrayLike] = option(
        default_factory=dict,
        check=only(lambda x: isinstance(x, Mapping), "a dict of boxes (2, 3) by the names of frames"),
        read=read_box,
        metavar="FRAME=X0,X1,Y0,Y1,Z0,Z1",
        help="by names of frames, the least and the greatest coordinates (2, 3) that their origins may have in the "
        "world (m)",
    )
    free: Callable[[Array], ArrayLike] | None = option(
        default=None,
        check=only(callable, "a function of configurations (n, nq)"),
        help="from configurations (n, nq) to which are free of collisions (n,): a distance above zero, from which the "
        "search keeps away, or True, a wall at which it often ends early. It is asked at some hundred configurations "
        "of each motion that is tried, and on a fine grid in the end",
    )

    def of(self, robot: Robot) -> Limits:
        """Return the limits of a robot whose joints have one degree of freedom each.

        Raises
        ------
        ArgumentError
            If a joint has no limits of position or speed, or something is no limit.
        """
        lower, upper, velocity = robot.lower_limits, robot.upper_limits, given_limits(robot.velocity_limits)
        for what, there, example in (
            ("range of positions", np.isfinite(lower) & np.isfinite(upper), "lower={NAME: -3.0}, upper={NAME: 3.0}"),
            ("limit of speed", np.isfinite(velocity), "velocity={NAME: 1.5}"),
        ):
            if not there.all():
                names = [name for name, ok in zip(robot.v_names, there, strict=True) if not ok]
                how = f"robot.with_limits({example.replace('NAME', repr(names[0]))})"
                raise ArgumentError(f"{listed(names)}: there is no {what}; give one, such as {how}, or --limit")
        narrow = [name for name, a, b in zip(robot.v_names, lower, upper, strict=True) if not a < b]
        if narrow:
            raise ArgumentError(
                f"{listed(narrow)} cannot move: its lower limit is not below the upper one; hold it still"
            )
        return Limits(
            (lower + upper) / 2.0,
            self.fraction * (upper - lower) / 2.0,
            self.fraction * velocity,
            of_joints(robot, "acceleration", {} if self.acceleration is None else self.acceleration, others=np.inf),
            self.fraction * given_limits(robot.effort_limits),
            {frame: _box(robot, frame, box) for frame, box in self.boxes.items()},
        )


def _box(robot: Robot, frame: str, box: ArrayLike) -> tuple[Array, Array]:
    if frame not in robot.frame_names:
        raise ArgumentError(unknown_name("frame", frame, robot.frame_names))
    corners = real_array(f"the box of {frame!r}", box, 2, 3, batch=False)
    if not (corners[0] < corners[1]).all():
        raise ArgumentError(f"the box of {frame!r} is its least and its greatest x, y and z; {box!r} was given")
    open_to = np.isinf(corners)
    if (open_to[0] != open_to[1]).any():
        raise ArgumentError(f"the box of {frame!r} is open to one side: give a far number in the place of inf")
    low, high = np.where(open_to, 0.0, corners)
    return (low + high) / 2.0, np.where(open_to[0], np.inf, (high - low) / 2.0)
