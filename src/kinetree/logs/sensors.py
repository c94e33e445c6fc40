"""What the columns of a log are beside their names, and what they are at the joints and on the bodies of a robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.samples import Samples
from kinetree.options import nonzero_numbers, option, read_numbers, value
from kinetree.robot import Robot
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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


class AtJoints:
    """Makes samples at the joints of what a file has, by what its columns are, with times, if there are any.

    An error says which numbers do not fit the robot's motors, and that a frame with a wrench is not there, or is fixed.
    """

    def __init__(self, robot: Robot, sensors: Sensors, name: str) -> None:
        self._robot, self._sensors, self._name = robot, sensors, name
        self._ratios = _of_motors(robot, "gear_ratios", sensors.gear_ratios)
        self._constants = _of_motors(robot, "torque_constants", sensors.torque_constants)
        self._frames = [robot.frame(frame) for frame in sensors.called]
        for frame in self._frames:
            if frame.body is None:
                raise ArgumentError(f"{frame.name!r} does not move: a wrench on it makes no difference")
        self._driven = Coordinates.of(robot).of_joints("v")
        of_v = {k: body.q_index[j] for body in robot.model.leading for j, k in enumerate(body.v_index)}
        self._positions = [of_v[k] for k in range(robot.nv)]

    def __call__(self, arrays: Mapping[str, Array]) -> Samples:
        """Return the samples of the arrays "t", "q", "v", "a", "tau", "current" and "wrench" of a file."""
        q, v, a, ratios = arrays["q"], arrays.get("v"), arrays.get("a"), self._ratios
        tau = self._forces(arrays)
        if self._sensors.motor_positions and ratios is not None:
            q = q.copy()
            q[:, self._positions] /= ratios
            v, a = (None if x is None else x / ratios for x in (v, a))
        f_ext = self._wrenches(q, arrays["wrench"]) if "wrench" in arrays else None
        return Samples(q, v, a, tau, f_ext, t=arrays.get("t"))

    def _forces(self, arrays: Mapping[str, Array]) -> Array:
        tau, constants = np.zeros((len(arrays["q"]), self._robot.nv)), self._constants
        if "tau" not in arrays and "current" not in arrays:
            tau[:, self._driven] = np.nan
            return tau
        if constants is not None and "current" not in arrays:
            raise FormatError(f"{self._name}: torque_constants are given, and there are no currents, only joint forces")
        if constants is None and "tau" not in arrays:
            raise ArgumentError(
                f"{self._name}: there are currents and no joint forces: give torque_constants; 1 where nobody knows "
                "them, and the joints to `identify` as its motor_constants"
            )
        given = arrays["tau"] if constants is None else arrays["current"]
        tau[:, slice(None) if given.shape[1] == self._robot.nv else self._driven] = given
        return np.asarray(
            tau * ((1.0 if constants is None else constants) * (1.0 if self._ratios is None else self._ratios))
        )

    def _wrenches(self, q: Array, wrenches: Array) -> Array:
        """Return wrenches (n, 6 k) at the origins of frames, moment and force, as wrenches (n, nb, 6) on bodies."""
        robot, out = self._robot, np.zeros((len(q), self._robot.nb, 6))
        for k, frame in enumerate(self._frames):
            n, f = wrenches[:, 6 * k : 6 * k + 3], wrenches[:, 6 * k + 3 : 6 * k + 6]
            if self._sensors.wrench_axes == "world":
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
