"""What the columns of a log are beside their names, and what they are at the joints and on the bodies of a robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.samples import Samples
from kinetree.options import nonzero_numbers, option, read_numbers, value
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot


def _called(name: str, given: Any) -> dict[str, str]:
    """Return the names of wrenches, by their frames."""
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


def at_joints(robot: Robot, sensors: Sensors, name: str, arrays: Mapping[str, Array]) -> Samples:
    """Return samples at the joints of a file's arrays "t", "q", "v", "a", "tau", "current" and "wrench"."""
    ratios, constants = (_of_motors(robot, x, getattr(sensors, x)) for x in ("gear_ratios", "torque_constants"))
    driven = Coordinates.of(robot).of_joints("v")
    wanted, other = ("tau", "current") if constants is None else ("current", "tau")
    q, v, a = arrays["q"], arrays.get("v"), arrays.get("a")
    tau = np.zeros((len(q), robot.nv))
    if wanted in arrays:
        given = arrays[wanted]
        tau[:, slice(None) if given.shape[1] == robot.nv else driven] = given
        tau *= (1.0 if constants is None else constants) * (1.0 if ratios is None else ratios)
    elif other == "tau" and other in arrays:
        raise FormatError(f"{name}: torque_constants are given, and there are no currents, only joint forces")
    elif other in arrays:
        raise ArgumentError(
            f"{name}: there are currents and no joint forces: give Sensors(torque_constants=…), or --torque-constants; "
            "1 where nobody knows them, and the joints to `identify` as motor_constants, or --motor-constants"
        )
    else:
        tau[:, driven] = np.nan
    if sensors.motor_positions and ratios is not None:
        of_v = dict(pair for body in robot.model.leading for pair in zip(body.v_index, body.q_index, strict=False))
        q = q.copy()
        q[:, [of_v[k] for k in range(robot.nv)]] /= ratios
        v, a = (None if x is None else x / ratios for x in (v, a))
    f_ext = _on_bodies(robot, sensors, q, arrays["wrench"]) if sensors.called else None
    return Samples(q, v, a, tau, f_ext, t=arrays.get("t"))


def _on_bodies(robot: Robot, sensors: Sensors, q: Array, wrenches: Array) -> Array:
    """Return wrenches (n, 6 k) at the origins of frames, moment and force, as wrenches (n, nb, 6) on bodies."""
    out = np.zeros((len(q), robot.nb, 6))
    for k, frame in enumerate(map(robot.frame, sensors.called)):
        n, f = wrenches[:, 6 * k : 6 * k + 3], wrenches[:, 6 * k + 3 : 6 * k + 6]
        if sensors.wrench_axes == "world":
            R = robot.frame_placement(q, frame=frame.name)[:, :3, :3]
            n, f = (np.einsum("nji,nj->ni", R, x) for x in (n, f))
        R, p = frame.placement[:3, :3], frame.placement[:3, 3]
        n, f = n @ R.T, f @ R.T
        out[:, robot.body_names.index(str(frame.body))] += np.hstack([n + np.cross(p, f), f])
    return out


def _of_motors(robot: Robot, what: str, given: object) -> Array | None:
    """Return a number for each entry of v, one where there is no motor."""
    if given is None:
        return None
    actuated = list(robot.model.actuated)
    numbers = real_array(what, given)  # type: ignore[arg-type]
    if numbers.ndim > 0 and numbers.shape != (len(actuated),):
        raise ArgumentError(
            f"{what} has shape {numbers.shape}: a number, or {len(actuated)} are needed, of "
            f"{some([robot.v_names[k] for k in actuated])}"
        )
    out = np.ones(robot.nv)
    out[actuated] = numbers
    return out
