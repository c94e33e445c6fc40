"""A trajectory in a file: NPZ, CSV or Parquet, the same to the bit when it is read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.integrators import StopReason
from kinetree.robot import Robot
from kinetree.trajectories.block import blocks_of
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files import parquet
from kinetree.trajectories.files.csv import CsvReader
from kinetree.trajectories.files.happened import NUMBERS, TEXTS, packed, unpacked
from kinetree.trajectories.files.limits import check_size
from kinetree.trajectories.files.write import check_output, open_sink, whole_file
from kinetree.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

Read = dict[str, Any]
"""What a file holds: t, q, v, a, tau, stopped_at, reasons, and events and counts as arrays, or some of these."""


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
    check_output(name, None, (".npz", ".csv", ".parquet"))
    suffix = Path(name).suffix.lower()
    coordinates = Coordinates(self.robot.q_names, self.robot.v_names)
    if suffix != ".npz" and not self.q[..., 0, :].size:
        raise ArgumentError(f"{self!r} has no columns of joints, or no robot: save it as .npz")
    if suffix == ".csv":
        _save_csv(self, name, coordinates)
        return
    arrays = {"t": self.t, **{x: getattr(self, x) for x in self.recorded}, "stopped_at": self.stopped_at}
    reasons = np.array([reason or "" for reason in self.reasons.ravel()], dtype=np.str_).reshape(self.batch_shape)
    arrays |= {"reasons": reasons, **packed(self)}
    if suffix == ".parquet":
        parquet.check_installed()
    with whole_file(Path(name)) as stream:
        if suffix == ".parquet":
            parquet.write(stream, arrays, coordinates)
        else:
            names = {"q_names": np.array(coordinates.q), "v_names": np.array(coordinates.v)}
            np.savez(stream, **arrays, **names)  # type: ignore[arg-type]


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
    name = fspath(path)
    readers: Mapping[str, Callable[[BinaryIO, str, Coordinates], Read]]
    readers = {".npz": _read_npz, ".csv": _read_csv, ".parquet": parquet.read}
    suffix = Path(name).suffix.lower()
    if suffix not in readers:
        raise ArgumentError(f"cannot tell the format of {name!r}: it must end in {', '.join(readers)}")
    with Path(name).open("rb") as stream:
        read = readers[suffix](stream, name, Coordinates(robot.q_names, robot.v_names))
    missing = [x for x in ("t", "q", "v") if x not in read]
    if missing:
        raise FormatError(f"{name}: there is no {' and no '.join(missing)}; a trajectory has t, q and v")
    reasons = read.get("reasons")
    if reasons is not None:
        read["reasons"] = np.array([StopReason.of(str(r)) for r in reasons.ravel()], dtype=object).reshape(
            reasons.shape
        )
    for x in ("q", "v"):  # a and tau are not, where a robot stopped as its state was about to be so
        if not np.isfinite(read[x]).all():
            raise FormatError(f"{name}: {x} holds a number that is not finite (NaN or inf)")
    told = {x: read.pop(x) for x in (*TEXTS, *NUMBERS) if x in read}
    try:
        read |= unpacked(name, told, robot, read["q"].shape[:-2], len(read["t"]))
        return Trajectory(robot, **read)
    except ArgumentError as error:
        raise FormatError(f"{name}: {error}") from None


def _save_csv(trajectory: Trajectory, name: str, coordinates: Coordinates) -> None:
    if trajectory.batch_shape:
        raise ArgumentError("a CSV holds one robot, and this is a batch: save trajectory.robots[…], or an .npz")
    arrays = {"t": trajectory.t, **{x: getattr(trajectory, x) for x in trajectory.recorded if x != "f"}}
    for x, array in arrays.items():
        if not np.isfinite(array).all():
            raise ArgumentError(f"{x} holds a number that is not finite (NaN or inf), which a CSV cannot: save an .npz")
    with open_sink(name, coordinates, tuple(arrays)) as add:
        for block in blocks_of(arrays):
            add(block, block.q if block.tau is None else block.tau)


def _read_csv(stream: BinaryIO, name: str, coordinates: Coordinates) -> Read:
    reader = CsvReader(stream, name, coordinates, torques=True)
    blocks = list(reader.blocks())
    return {x: np.concatenate([getattr(block, x) for block in blocks]) for x in reader.quantities}


def _read_npz(stream: BinaryIO, name: str, coordinates: Coordinates) -> Read:
    """Return the arrays of an archive, which nobody may have written to do harm: no pickles, no bombs."""
    try:
        with ZipFile(stream) as archive:
            check_size(name, stream, sum(member.file_size for member in archive.infolist()))
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            wanted = ("t", "q", "v", "a", "tau", "f", "stopped_at", "q_names", "v_names", "reasons", *TEXTS, *NUMBERS)
            read = {x: arrays[x] for x in wanted if x in arrays}
    except FormatError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy have a dozen types for a damaged archive
        raise FormatError(f"{name}: not a readable NPZ archive: {error}") from None
    for key, expected in (("q_names", coordinates.q), ("v_names", coordinates.v)):
        held = tuple(map(str, read.pop(key, np.array(expected)).ravel()))
        if held != expected:
            raise FormatError(f"{name}: {key!r} are those of another robot: {some(held)}; expected {some(expected)}")
    for x, array in read.items():
        is_text = x in ("reasons", *TEXTS)
        if array.dtype.kind != "U" if is_text else array.dtype.kind not in "fiu":
            needed = "texts" if is_text else "real numbers"
            raise FormatError(f"{name}: the array {x!r} has the type {array.dtype}: expected {needed}")
    return read
