"""What the columns of a log are beside their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from kinetree.errors import ArgumentError
from kinetree.options import nonzero_numbers, option, read_numbers, value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _called(name: str, given: Any) -> dict[str, str]:
    """Return what wrenches are called, by their frames."""
    if isinstance(given, str):
        raise ArgumentError(f"{name} are given as a list of frames: [{given!r}]")
    if not isinstance(given, Iterable):
        raise ArgumentError(f"{name} are {given!r}: a list of frames, or what is called by frames, is needed")
    return dict(given) if isinstance(given, Mapping) else {frame: frame for frame in given}


def _read_wrench(text: str) -> tuple[str, str]:
    frame, _, called = text.partition("=")
    if not frame:
        raise ArgumentError(f"{text!r} is not FRAME[=NAME], as in left_foot=/ft/left")
    return frame, called or frame


@value
class Sensors:
    """What a log's columns are beside their names: from motors to joints, and which wrenches are measured where.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.Sensors(gear_ratios=101, torque_constants=[0.12, 0.09], wrenches=["foot"])
    Sensors(gear_ratios=101.0, torque_constants=(0.12, 0.09), wrenches={'foot': 'foot'})
    """

    gear_ratios: float | ArrayLike | None = option(
        default=None,
        help="revolutions of the motor in one of the joint (rad a metre), negative where it turns the other way, for "
        "each actuated entry of v: forces and currents are those of motors",
        check=nonzero_numbers,
        read=read_numbers,
        metavar="N,…",
    )
    torque_constants: float | ArrayLike | None = option(
        default=None,
        help="N·m/A, of the motor with gear ratios, else of the joint: forces are so many times the currents, or the "
        "efforts of a bag",
        check=nonzero_numbers,
        read=read_numbers,
        metavar="K,…",
    )
    motor_positions: bool = option(default=False, help="positions are those of motors too")
    topic: str | None = option(
        default=None, help="which one of a ROS bag with several topics of joint states", metavar="TOPIC"
    )
    odometry: str | None = option(
        default=None, help="which one of a ROS bag with several topics of odometry", metavar="TOPIC"
    )
    wrenches: Mapping[str, str] | Sequence[str] = option(
        default_factory=dict,
        help="frames at whose origins wrenches on the robot are measured; by frames, what columns or a bag's topic are "
        "called if they are called otherwise",
        check=_called,
        read=_read_wrench,
        metavar="FRAME[=NAME]",
        name="wrench",
    )
    wrench_axes: Literal["frame", "world"] = option(
        default="frame",
        help="whether wrenches are in the axes of these frames or in the world's",
        choices=("frame", "world"),
    )
    skip_missing: bool = option(
        default=False, help="leave out rows in which a number is missing, NaN or infinite; else they are an error"
    )

    def __post_init__(self) -> None:
        if self.motor_positions and self.gear_ratios is None:
            raise ArgumentError("motor_positions are given without gear_ratios")

    @property
    def called(self) -> Mapping[str, str]:
        """What columns or topics of measured wrenches are called, by frames."""
        return cast("Mapping[str, str]", self.wrenches)
