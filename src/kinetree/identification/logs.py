"""Recorded motions from files: CSV, NPZ, Parquet and ROS bags; from motors to joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.identification import bags
from kinetree.identification.prepare import prepare
from kinetree.identification.regressor import positions
from kinetree.identification.samples import Piece, Samples
from kinetree.identification.suspicions import saturated
from kinetree.robot import Robot
from kinetree.trajectories.columns.match import layout_of_header
from kinetree.trajectories.columns.messages import unused_columns
from kinetree.trajectories.columns.names import LOG
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files import parquet
from kinetree.trajectories.files.read import open_trajectory
from kinetree.trajectories.signals.differentiate import gaps
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """A recorded motion as a file has it, at the joints, in SI units: what `read_log` returns.

    Attributes
    ----------
    robot : Robot
        Whose motion it is.
    name : str
        The file.
    t : (n,) array or None
        Times (s).
    q : (n, nq) array
    v, a : (n, nv) arrays or None
        Velocities and accelerations, where the file has them.
    tau : (n, nv) array
        Joint forces; zero of a floating base.
    notes : tuple of str
        What was left out, and what is to be known.
    """

    robot: Robot
    name: str
    t: Array | None
    q: Array
    v: Array | None
    a: Array | None
    tau: Array
    notes: tuple[str, ...] = ()

    def samples(
        self,
        *,
        cutoff: float | None = None,
        presliding: ArrayLike | None = None,
        smoothing: float | None = None,
        decimate: int | None = None,
        outliers: float | None = None,
        standing: ArrayLike | None = None,
    ) -> Samples:
        """Return samples for `Robot.identify`.

        Where the file has accelerations and no choice is given, they are as they are. Else they are made from
        positions and forces by `kinetree.identification.prepare`, whose choices these are; give `Robot.identify` the
        same smoothing.

        Raises
        ------
        ArgumentError
            If they have to be made and there are no times, or as `prepare` raises it.
        """
        choices: dict[str, Any] = {"cutoff": cutoff, "presliding": presliding, "decimate": decimate}
        choices |= {"outliers": outliers, "standing": standing}
        if self.v is not None and self.a is not None and all(x is None for x in choices.values()):
            return Samples(self.q, self.v, self.a, self.tau, t=self.t)
        if self.t is None:
            raise ArgumentError(f"{self.name} has no times: it cannot be filtered")
        try:
            return prepare(self.robot, self.t, self.q, self.tau, smoothing=smoothing, **choices)
        except ArgumentError as error:
            raise ArgumentError(f"{self.name}: {error}") from None

    def suspicions(self) -> list[str]:
        """Return what seems to be wrong with forces as they were recorded: sensors that are at their end.

        `kinetree.identification.suspicions` finds the rest in samples; filtered forces do not show this.
        """
        return list(saturated(self.robot, Piece(self.q, self.tau, self.tau, self.tau, None, None)))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        time = "" if self.t is None else f" from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"<Recording of {self.robot.name!r}: {len(self)} samples{time}, {self.name}>"


def read_log(
    path: str | PathLike[str],
    robot: Robot,
    *,
    gear_ratios: ArrayLike | None = None,
    torque_constants: ArrayLike | None = None,
    motor_positions: bool = False,
    topic: str | None = None,
) -> Recording:
    """Return the recorded motion of a robot in a file: positions and joint forces, or currents of its motors.

    Columns are understood in many spellings, as the command line does: ``q.elbow``, ``elbow/position``, ``q2``;
    ``tau.elbow``, ``elbow_effort``, ``torque[2]``; ``current.elbow``, ``i2``; ``t`` or ``time`` (s). Columns of other
    units than those of the SI are refused. Samples with the time of the one before are left out.

    Parameters
    ----------
    path : str or path
        A CSV; an NPZ with the arrays t, q, tau (v and a are read if they are there); a Parquet file; a ROS bag
        (a folder, ``.mcap``, ``.db3``, ``.bag``) with messages of the type JointState.
    robot : Robot
    gear_ratios : float or array-like, optional
        Revolutions of the motor in one of the joint (or rad a metre), negative where it turns the other way, for each
        actuated entry of v. If given, forces and currents are those of motors: the joint's are so many times greater.
    torque_constants : float or array-like, optional
        Torque a current (N·m/A), of the motor where there are gear ratios, else of the joint. If given, the forces are
        these times the currents; in a bag, efforts are currents then.
    motor_positions : bool
        Whether positions are those of motors too.
    topic : str, optional
        Which one of a bag, if several have messages of the type JointState.

    Returns
    -------
    Recording

    Raises
    ------
    FormatError
        If columns are missing, mean two things or have other units, numbers are not finite, or time goes back. It says
        which columns there are, and which are expected.
    ArgumentError
        If there are currents and no torque constants, arrays do not fit, or a package is needed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> t = np.linspace(0, 4, 1001)
    >>> q = np.sin(np.outer(t, [1.0, 1.3, 1.7, 2.1, 2.3, 2.9]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/log.npz", t=t, q=q, current=0.1 * q)
    ...     log = read_log(f"{folder}/log.npz", robot, torque_constants=0.12, gear_ratios=101.0)
    >>> log.samples(cutoff=5.0).tau.shape
    (39, 6)
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(f"read_log takes the path and the robot; {type(robot).__name__} was given for the robot")
    name, coordinates = fspath(path), Coordinates(robot.q_names, robot.v_names)
    arrays, notes = _arrays(Path(name), coordinates, topic, currents=torque_constants is not None)
    ratios = _of_motors(robot, "gear_ratios", gear_ratios)
    constants = _of_motors(robot, "torque_constants", torque_constants)
    if motor_positions and ratios is None:
        raise ArgumentError("motor_positions are given without gear_ratios")
    if constants is not None and "current" not in arrays:
        raise FormatError(f"{name}: torque_constants are given, and there are no currents, only joint forces")
    if constants is None and "tau" not in arrays:
        raise ArgumentError(f"{name}: there are currents and no joint forces: give torque_constants")
    tau = np.zeros((len(arrays["q"]), robot.nv))
    given = arrays["tau"] if constants is None else arrays["current"]
    driven = list(range(robot.nv)) if given.shape[1] == robot.nv else _driven(coordinates)
    tau[:, driven] = given
    tau *= (1.0 if constants is None else constants) * (1.0 if ratios is None else ratios)
    q, v, a = arrays["q"], arrays.get("v"), arrays.get("a")
    if motor_positions and ratios is not None:
        q = q.copy()
        q[:, positions(robot.model)] /= ratios
        v, a = (None if x is None else x / ratios for x in (v, a))
    return _in_time(Recording(robot, name, arrays.get("t"), q, v, a, tau, notes))


def _driven(coordinates: Coordinates) -> list[int]:
    return [k for k in range(len(coordinates.v)) if k not in coordinates.of_base("v")]


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


def _arrays(
    path: Path, coordinates: Coordinates, topic: str | None, *, currents: bool
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return the arrays of a file, finite, and what is to be known of them."""
    is_bag = path.is_dir() or path.suffix.lower() in bags.SUFFIXES
    if topic is not None and not is_bag:
        raise ArgumentError(f"a topic is for ROS bags; {path} is none")
    if is_bag:
        found = bags.read(path, topic, coordinates.q, effort="current" if currents else "tau")
        return _of_table(str(path), found.columns, coordinates, found.notes)
    if path.suffix.lower() == ".parquet":
        with path.open("rb") as stream:
            return _of_table(str(path), parquet.numbers(stream, str(path)), coordinates)
    with open_trajectory(path, coordinates, LOG) as reader:
        blocks = list(reader.blocks())
        arrays = {x: np.concatenate([getattr(block, x) for block in blocks]) for x in reader.quantities}
        return arrays, (*_ignored(reader.ignored, reader.quantities), *reader.notes)


def _ignored(names: Sequence[str], quantities: set[str]) -> tuple[str, ...]:
    return (unused_columns(names, quantities),) if names else ()


def _of_table(
    name: str, columns: Mapping[str, Array], coordinates: Coordinates, notes: tuple[str, ...] = ()
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return the arrays of named columns."""
    names = list(columns)
    try:
        layout = layout_of_header(names, coordinates, LOG)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None
    arrays: dict[str, Any] = {}
    for quantity in ("t", *LOG.words):
        if at := layout.columns(quantity):
            arrays[quantity] = np.stack([columns[names[k]] for k in at], axis=-1)
            for row, column in np.argwhere(~np.isfinite(arrays[quantity]))[:1]:
                raise FormatError(f"{name}, row {row}, column {names[at[column]]!r}: there is no finite number")
    if not len(arrays["q"]):
        raise FormatError(f"{name}: there are no rows")
    if "t" in arrays:
        arrays["t"] = arrays["t"][:, 0]
    return arrays, (*notes, *_ignored(layout.ignored, set(arrays)), *layout.notes)


def _in_time(log: Recording) -> Recording:
    """Return a recording whose times increase: samples with the time of the one before are left out."""
    if log.t is None:
        return log
    steps = np.diff(log.t)
    for k in np.flatnonzero(steps < 0.0)[:1]:
        raise FormatError(
            f"{log.name}: time goes back from {log.t[k]:g} s to {log.t[k + 1]:g} s at sample {k + 1}: are "
            "these several motions? Give them in a file each"
        )
    kept = np.append(True, steps > 0.0)
    cut = {x: y[kept] for x in ("t", "q", "v", "a", "tau") if (y := getattr(log, x)) is not None}
    notes = list(log.notes)
    if not kept.all():
        notes.append(f"{np.count_nonzero(~kept)} samples with the time of the one before are left out")
    times = cut["t"]
    if len(times) > 1 and np.median(np.diff(times)) > 1.0:
        notes.append(f"samples are {np.median(np.diff(times)):g} s apart: is the time in seconds?")
    if len(times) > 1 and (holes := gaps(times)):
        listed = some([f"{times[k - 1]:g} s to {times[k]:g} s" for k in holes], 3)
        notes.append(f"gaps in time, across which nothing is fitted: {listed}")
    return replace(log, notes=tuple(notes), **cut)
