"""How a recorded motion is read from a file: block by block, from motors to joints, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.identification.recording import Recording, in_time, joined, notes_on_time
from kinetree.identification.regressor import positions
from kinetree.identification.wrenches import on_bodies
from kinetree.robot import Robot
from kinetree.trajectories.columns.messages import MissingNumberError
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files.logs import Arrays, Columns, open_log
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Reading:
    """A file with how it is read: blocks of it as recordings, in which time goes on."""

    def __init__(
        self,
        path: str | PathLike[str],
        robot: Robot,
        *,
        gear_ratios: ArrayLike | None = None,
        torque_constants: ArrayLike | None = None,
        motor_positions: bool = False,
        topic: str | None = None,
        odometry: str | None = None,
        wrenches: Sequence[str] | Mapping[str, str] | None = None,
        wrench_axes: str = "frame",
        skip_missing: bool = False,
    ) -> None:
        if not isinstance(robot, Robot):
            raise ArgumentError(
                f"a log is read by its path and the robot; {type(robot).__name__} was given for the robot"
            )
        if wrench_axes not in ("frame", "world"):
            raise ArgumentError(f"wrench_axes is {wrench_axes!r}, it must be 'frame' or 'world'")
        if isinstance(wrenches, str):
            raise ArgumentError(f"wrenches are given as a list of frames: [{wrenches!r}]")
        self.robot, self.name, self._axes = robot, fspath(path), wrench_axes
        self._ratios = _of_motors(robot, "gear_ratios", gear_ratios)
        self._constants = _of_motors(robot, "torque_constants", torque_constants)
        if motor_positions and self._ratios is None:
            raise ArgumentError("motor_positions are given without gear_ratios")
        self._motor_positions = motor_positions
        called = wrenches if isinstance(wrenches, Mapping) else {frame: frame for frame in wrenches or ()}
        self._meant = Columns(dict(called), topic, odometry, torque_constants is not None, skip_missing)
        self._on_bodies: Callable[[Array, Array], Array] = on_bodies(robot, list(called), wrench_axes)
        self.notes: list[str] = []
        self.left_out, self.done = 0, 0.0

    def whole(self, show: Callable[[float], object] | None = None) -> Recording:
        """Return the recording; what shows is told which part of the file has been read."""
        parts = []
        for block in self.blocks():
            parts.append(block)
            if show is not None:
                show(self.done)
        log = joined(parts)
        return replace(log, notes=(*self.notes, *notes_on_time(log.t, self.left_out)))

    def blocks(self) -> Iterator[Recording]:
        """Yield the file's blocks; `notes` and `left_out` are complete in the end, and `done` the part so far."""
        last, self.left_out, self.done = -np.inf, 0, 0.0
        with open_log(Path(self.name), self.robot, self._meant) as file:
            for arrays in _with_a_way_out(file.blocks):
                log = self._at_joints(arrays)
                block = in_time(log, last)
                self.left_out += len(log) - len(block)
                self.done = file.done()
                if len(block):
                    last = last if block.t is None else float(block.t[-1])
                    yield block
            self.notes = list(file.notes)
        if not self.has_forces:
            self.notes.append("no joint forces: only the equations of the base tell")

    def _at_joints(self, arrays: Arrays) -> Recording:
        """Return arrays of a file as a recording, from motors to joints."""
        robot, ratios, constants = self.robot, self._ratios, self._constants
        self.has_forces = "tau" in arrays or "current" in arrays
        if constants is not None and "current" not in arrays:
            raise FormatError(f"{self.name}: torque_constants are given, and there are no currents, only joint forces")
        if constants is None and "tau" not in arrays and "current" in arrays:
            raise ArgumentError(
                f"{self.name}: there are currents and no joint forces: give torque_constants; 1 where nobody knows "
                "them, and the joints to `identify` as its motor_constants"
            )
        tau, driven = np.zeros((len(arrays["q"]), robot.nv)), _driven(robot)
        if self.has_forces:
            given = arrays["tau"] if constants is None else arrays["current"]
            tau[:, slice(None) if given.shape[1] == robot.nv else driven] = given
            tau *= (1.0 if constants is None else constants) * (1.0 if ratios is None else ratios)
        else:
            tau[:, driven] = np.nan
        q, v, a = arrays["q"], arrays.get("v"), arrays.get("a")
        if self._motor_positions and ratios is not None:
            q = q.copy()
            q[:, positions(robot.model)] /= ratios
            v, a = (None if x is None else x / ratios for x in (v, a))
        f_ext = self._on_bodies(q, arrays["wrench"]) if "wrench" in arrays else None
        return Recording(robot, self.name, arrays.get("t"), q, v, a, tau, f_ext)


def _with_a_way_out(blocks: Iterator[Arrays]) -> Iterator[Arrays]:
    """Yield blocks; where a number is missing, the error says how such rows are left out."""
    try:
        yield from blocks
    except MissingNumberError as error:
        raise FormatError(f"{error}; skip_missing=True (--skip-missing) leaves such rows out") from None


def _driven(robot: Robot) -> list[int]:
    coordinates = Coordinates(robot.q_names, robot.v_names)
    return [k for k in range(robot.nv) if k not in coordinates.of_base("v")]


def _of_motors(robot: Robot, what: str, given: ArrayLike | None) -> Array | None:
    """Return a number for each entry of v, one where there is no motor."""
    if given is None:
        return None
    actuated = list(robot.model.actuated)
    numbers = real_array(what, given)
    if numbers.ndim > 0 and numbers.shape != (len(actuated),):
        raise ArgumentError(
            f"{what} has shape {numbers.shape}: a number, or {len(actuated)} are needed, of "
            f"{some([robot.v_names[k] for k in actuated])}"
        )
    if not (np.isfinite(numbers) & (numbers != 0.0)).all():
        raise ArgumentError(f"{what} must be finite, and not zero")
    out = np.ones(robot.nv)
    out[actuated] = numbers
    return out
