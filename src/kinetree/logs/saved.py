"""A trajectory in a file: NPZ, CSV or Parquet, with what is not a column; the same to the bit when it is read again."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, FormatError, ModelError
from kinetree.functions import model_inputs
from kinetree.functions.model_inputs import ModelInput
from kinetree.integrators import StopReason
from kinetree.logs.codecs.csv import Csv
from kinetree.logs.codecs.npz import LABELS, Npz
from kinetree.logs.codecs.parquet import NOT_OURS, Parquet, check_installed
from kinetree.logs.codecs.table import BESIDE, Arrays, Table
from kinetree.logs.columns import SAVED, Coordinates, some
from kinetree.motions.states import Happened
from kinetree.motions.trajectory import Trajectory
from kinetree.output import check_output, whole_file
from kinetree.robot import Robot
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

Read = dict[str, Any]
"""What a file holds: t, q, v, a, tau, f as arrays, or some of these, and what is not a column."""

_AT = {"inertia": model_inputs.body_inertia("…"), "payload": model_inputs.payload("…")}
_OF_ROBOT = (model_inputs.gravity, model_inputs.joint_damping, model_inputs.joint_friction, model_inputs.joint_armature)
INPUTS = {x.kind: x for x in _OF_ROBOT} | _AT  # the numbers of a robot by their kinds

EVENTS = ("event_times", "event_names", "event_robots", "event_q", "event_v")
GIVEN = ("input_names", "input_kinds", "input_frames")

FORMATS: dict[str, type[Table]] = {".npz": Npz, ".csv": Csv, ".parquet": Parquet}


def save(self: Trajectory, path: str | PathLike[str]) -> None:
    """Write the trajectory to a file; `Trajectory.load` reads it again, the same to the bit.

    The suffix says how:

    - ``.npz``: NumPy's archive, arrays with the shapes they have here, and the names of the entries;
    - ``.csv``: one column an entry, ``t``, ``q.elbow``, ``v.elbow``, …, in digits that read back to the same bits; of
      one robot only, without what stopped it;
    - ``.parquet``: the same columns, and ``robot``, its number, for a batch; needs pyarrow, the extra ``parquet``.

    The file appears under its name only when it is complete. Events of a simulation, what was counted and the robot's
    numbers that were given are written, but not to a CSV; forces of constraints to an NPZ only. Numbers that are not
    finite are, but `load` takes these in a and tau only, and not from a CSV.

    Raises
    ------
    ArgumentError
        If the suffix is unknown, or the file cannot be written so.
    OSError
        If the system refuses.
    """
    name = fspath(path)
    check_output(name, None, tuple(FORMATS))
    suffix = Path(name).suffix.lower()
    coordinates, lead = Coordinates.of(self.robot), self.batch_shape
    arrays = {"t": self.t, **{x: getattr(self, x) for x in self.recorded if x != "f" or suffix == ".npz"}}
    names, extra = {x: coordinates.columns(x) for x in arrays}, packed(self)
    if suffix == ".npz":
        extra |= labels(coordinates)
    elif not self.q[..., 0, :].size:
        raise ArgumentError(f"{self!r} has no columns of joints, or no robot: save it as .npz")
    elif suffix == ".csv":
        _check_table(arrays, lead)
    else:
        check_installed()
        robots, n = math.prod(lead), len(self.t)
        arrays = {x: y.reshape(robots * n, -1) for x, y in (arrays | {"t": np.tile(self.t, robots)}).items()}
        extra["batch_shape"] = np.array(lead, dtype=np.int64)
        if lead:
            arrays, names = {"robot": np.repeat(np.arange(robots), n)} | arrays, {"robot": ("robot",)} | names
    with whole_file(Path(name)) as stream:
        FORMATS[suffix].write(stream, names, arrays, extra)


def load(path: str | PathLike[str], robot: Robot | Mechanism) -> Trajectory:
    """Return the trajectory of this robot in a file that `save` wrote, or in any CSV, NPZ or Parquet with t, q and v.

    A file may be anybody's: nothing in it is run, what it says of its size is checked before it is believed, and
    states must be finite.

    Parameters
    ----------
    path : str or path
    robot : Robot or Mechanism
        Whose motion it is.

    Raises
    ------
    FormatError
        If it is of another robot, or not what it should be: the message names the column or the array.
    ArgumentError
        If the suffix is unknown, or pyarrow is needed and not installed.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> motion = kt.Trajectory(robot, [0.0, 0.5], [robot.neutral()] * 2, [[0.1] * 6] * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     motion.save(f"{folder}/motion.npz")
    ...     kt.Trajectory.load(f"{folder}/motion.npz", robot)
    <Trajectory of 'ur5': 2 samples from 0 to 0.5 s>
    """
    robot = getattr(robot, "tree", robot)
    if not isinstance(robot, Robot):
        raise ArgumentError(f"load takes the path and the robot; {type(robot).__name__} was given for the robot")
    name, coordinates = fspath(path), Coordinates.of(robot)
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise ArgumentError(f"cannot tell the format of {name!r}: it must end in {', '.join(FORMATS)}")
    with FORMATS[suffix].open(Path(name)) as table:
        read = _arrays(table, coordinates) if isinstance(table, Npz) else _columns(table, coordinates)
    missing = [x for x in ("t", "q", "v") if x not in read]
    if missing:
        others = f"; columns that hold no numbers: {table.unread}" if table.unread else ""
        raise FormatError(f"{name}: there is no {' and no '.join(missing)}; a trajectory has t, q and v{others}")
    for x in ("q", "v"):  # a and tau are not, where a robot stopped as its state was about to be so
        if not np.isfinite(read[x]).all():
            raise FormatError(f"{name}: {x} holds a number that is not finite (NaN or inf)")
    told = {x: read.pop(x) for x in BESIDE if x in read}
    try:
        read |= unpacked(name, told, robot, read["q"].shape[:-2], np.size(read["t"]))
        return Trajectory(robot, **read)
    except ArgumentError as error:
        raise FormatError(f"{name}: {error}") from None


def write_motion(path: str, coordinates: Coordinates, arrays: Arrays) -> None:
    """Write the quantities of a motion to a CSV or NPZ; to standard output for "-"."""
    names = {x: coordinates.columns(x) for x in arrays}
    codec = Npz if Path(path).suffix.lower() == ".npz" else Csv
    with nullcontext(sys.stdout.buffer) if path == "-" else whole_file(Path(path)) as stream:
        codec.write(stream, names, arrays, labels(coordinates))
        stream.flush()


def labels(coordinates: Coordinates) -> dict[str, Any]:
    """Return the arrays by which an archive says whose motion it has."""
    return dict(zip(LABELS, (coordinates.q, coordinates.v), strict=True))


def _check_table(arrays: Mapping[str, Array], lead: tuple[int, ...]) -> None:
    """Raise `ArgumentError` for what a CSV does not hold."""
    if lead:
        raise ArgumentError("a CSV holds one robot, and this is a batch: save trajectory.robots[…], or an .npz")
    for x, array in arrays.items():
        if not np.isfinite(array).all():
            raise ArgumentError(f"{x} holds a number that is not finite (NaN or inf), which a CSV cannot: save an .npz")


def _arrays(table: Npz, coordinates: Coordinates) -> Read:
    """Return the arrays of an archive, of any batch; `FormatError` if they are another robot's."""
    for key, expected in labels(coordinates).items():
        if (found := table.labels.get(key, expected)) != expected:
            what = f"{key!r} are those of another robot: {some(found)}; expected {some(expected)}"
            raise FormatError(f"{table.name}: {what}")
    return table.arrays(("t", *SAVED, "f", *BESIDE))


def _columns(table: Table, coordinates: Coordinates) -> Read:
    """Return the arrays of a table of columns, of a batch where its metadata say so."""
    table.understood(coordinates, SAVED)
    (arrays,) = table.blocks(None, missing="refused" if isinstance(table, Csv) else "kept")
    extra, rows = table.extra(), len(arrays["q"])
    shape = extra.pop("batch_shape", np.zeros(0, dtype=np.int64))
    lead = tuple(np.ravel(shape).tolist())
    try:
        if (lead and shape.dtype.kind != "i") or min(lead, default=1) < 1 or rows % math.prod(lead) or len(lead) > 32:
            raise ValueError(f"{rows} rows of a batch {lead}")
        extra |= {x: extra[x].reshape(lead) for x in ("stopped_at", "reasons") if x in extra}
    except ValueError as error:
        raise FormatError(f"{table.name}: {NOT_OURS}: {error}") from None
    n = rows // math.prod(lead)
    if "t" in arrays:
        every = arrays["t"].reshape(-1, n)
        if (every != every[:1]).any():
            raise FormatError(f"{table.name}: the robots of a batch have the same times; these differ")
        extra["t"] = every[0]
    return {x: y.reshape(*lead, n, -1) for x, y in arrays.items()} | extra


def packed(trajectory: Trajectory) -> dict[str, Any]:
    """Return the arrays of `BESIDE`: of events, counts and numbers of the robot where there are any."""
    reasons = [reason or "" for reason in trajectory.reasons.ravel()]
    found: dict[str, Any] = {"stopped_at": trajectory.stopped_at}
    found["reasons"] = np.array(reasons, np.str_).reshape(trajectory.batch_shape)
    if events := [e for e in trajectory.events if isinstance(e, Happened)]:
        found |= zip(EVENTS, zip(*events, strict=True), strict=True)
    if counts := trajectory.counts:
        found |= {"count_names": list(counts), "counts": np.stack(list(counts.values()))}
    if given := trajectory.inputs:
        rows = max(x.shape[-2] for x in given.values())
        wide = [np.broadcast_to(x, (*trajectory.batch_shape, rows, x.shape[-1])) for x in given.values()]
        found |= zip(GIVEN, zip(*((x.name, x.kind, x.frame) for x in given), strict=True), strict=True)
        found["inputs"] = np.concatenate(wide, axis=-1)
    types = {str: np.str_, int: np.int64}
    return {x: np.array(y, types.get(BESIDE[x][1])) for x, y in found.items()}


def unpacked(name: str, arrays: Mapping[str, Any], robot: Robot, lead: tuple[int, ...], samples: int) -> dict[str, Any]:
    """Return the arguments of `Trajectory` in these arrays of a file; `FormatError` where they are not such."""
    sizes = {"lead": lead, "robot": (len(lead),), "q": (robot.nq,), "v": (robot.nv,), "rows": (samples,)}
    for x, array in arrays.items():
        sizes.setdefault(BESIDE[x][0].split()[0], np.shape(np.atleast_1d(array))[:1])

    def of(*keys: str) -> Iterator[Any]:
        for key in keys:
            held, (axes, _, finite) = arrays.get(key), BESIDE[key]
            shape = tuple(n for axis in axes.split() for n in sizes.get(axis, (0,)))
            if held is None or held.shape != shape:
                raise FormatError(f"{name}: {key!r} has shape {getattr(held, 'shape', None)}; {shape} is expected")
            if finite and not np.isfinite(held).all():
                raise FormatError(f"{name}: {key!r} holds a number that is not finite (NaN or inf)")
            yield held

    found: dict[str, Any] = {x: arrays[x] for x in ("stopped_at",) if x in arrays}
    if "reasons" in arrays:
        reasons = [StopReason.of(str(reason)) for reason in arrays["reasons"].ravel()]
        found["reasons"] = np.array(reasons, dtype=object).reshape(arrays["reasons"].shape)
    if "events" in sizes:
        times, names, robots, q, v = of(*EVENTS)
        if (robots != np.floor(robots)).any() or not ((robots >= 0) & (robots < np.array(lead))).all():
            raise FormatError(f"{name}: 'event_robots' are no robots of a batch {lead}")
        events = zip(times.astype(float).tolist(), names.tolist(), robots.astype(int).tolist(), q, v, strict=True)
        found["events"] = tuple(Happened(t, x, tuple(at), *state) for t, x, at, *state in events)
    if "counts" in sizes:
        names, counts = of("count_names", "counts")
        found["counts"] = dict(zip(names.tolist(), counts, strict=True))
    if "given" in sizes or "inputs" in arrays:
        made = _inputs(name, robot, *(x.tolist() for x in of(*GIVEN)))
        widths = [math.prod(x.port(robot.model).shape) for x in made]
        sizes["values"] = (sum(widths),)
        if np.shape(arrays.get("inputs", ()))[-2:-1] == (1,):
            sizes["rows"] = (1,)
        (values,) = of("inputs")
        found["inputs"] = dict(
            zip(made, np.split(values, np.cumsum(widths)[:-1], axis=-1), strict=False)
        )  # of none, one
    return found


def _inputs(name: str, robot: Robot, names: list[str], kinds: list[str], frames: list[str]) -> list[ModelInput]:
    """Return the numbers of the robot that were given to a simulation."""
    for kind, frame in zip(kinds, frames, strict=True):
        if kind not in INPUTS or (kind in _AT) != bool(frame):
            raise FormatError(f"{name}: 'input_kinds' holds {kind!r}; there are {', '.join(INPUTS)}")
    if len({"q", "v", *names}) < 2 + len(names) or not all(map(str.isidentifier, names)):
        raise FormatError(f"{name}: 'input_names' are no names of arguments, each another one: {names}")
    made = [replace(INPUTS[kind], name=x, frame=at) for x, kind, at in zip(names, kinds, frames, strict=True)]
    try:
        model_inputs.check_inputs(robot.model, made)
    except (ArgumentError, ModelError) as error:
        raise FormatError(f"{name}: {error}") from None
    return made
