"""What files of recorded motions hold, block by block: CSV, NPZ, Parquet, ROS bags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.trajectories.columns.match import layout_of_header
from kinetree.trajectories.columns.messages import MissingNumberError, unused_columns
from kinetree.trajectories.columns.names import LOG, WRENCHES
from kinetree.trajectories.coordinates import Coordinates
from kinetree.trajectories.files import bags, parquet
from kinetree.trajectories.files.read import open_trajectory
from kinetree.validation import Array

Arrays = Mapping[str, Array]
"""By quantity: "t" (n,), "q" (n, nq), "v", "a", "tau", "current" (n, nv or actuated), "wrench" (n, 6 k)."""


class Opened(NamedTuple):
    """A file that is read.

    Attributes
    ----------
    blocks : iterator of Arrays
        Some rows after the others, with the same quantities.
    notes : list of str
        What is to be known; more may come while blocks are read.
    done : callable
        Returns which part of the file has been read, from 0 to 1.
    """

    blocks: Iterator[Arrays]
    notes: list[str]
    done: Callable[[], float]


@contextmanager
def open_log(path: Path, robot: Robot, sensors: Sensors) -> Iterator[Opened]:
    """Open a recorded motion, of any format.

    Raises
    ------
    FormatError, ArgumentError, OSError
        As `read_log`; while the blocks are read, too.
    """
    coordinates = Coordinates(robot.q_names, robot.v_names, wrenches=tuple(sensors.called.values()))
    vocabulary = WRENCHES if sensors.called else LOG
    is_bag = path.is_dir() or path.suffix.lower() in bags.SUFFIXES
    if not is_bag:
        for what, given in (("a topic", sensors.topic), ("odometry", sensors.odometry)):
            if given is not None:
                raise ArgumentError(f"{what} is for ROS bags; {path} is none")
    if is_bag:
        with bags.open_bag(path) as bag:
            topics = bags.topics(bag, path, coordinates, topic=sensors.topic, odometry=sensors.odometry)
            reader = bags.Messages(
                bag, path, robot, topics, sensors.called, currents=sensors.torque_constants is not None
            )
            found = _missing_left_out if sensors.skip_missing else _finite
            yield Opened(
                found(str(path), reader.blocks(), coordinates, reader.notes), reader.notes, lambda: reader.done
            )
    elif path.suffix.lower() == ".parquet":
        with path.open("rb") as stream:
            table = parquet.Numbers(stream, str(path))
            try:
                layout = layout_of_header(table.names, coordinates, vocabulary)
            except FormatError as error:
                raise FormatError(f"{path}: {error}") from None
            columns = {x: at for x in ("t", *vocabulary.words) if (at := layout.columns(x))}
            notes = [*_ignored(layout.ignored, set(columns)), *layout.notes]
            blocks = _rows(str(path), table, columns, complete=not sensors.skip_missing)
            if sensors.skip_missing:
                blocks = _missing_left_out(str(path), blocks, coordinates, notes)
            yield Opened(blocks, notes, lambda: table.done)
    else:
        with open_trajectory(path, coordinates, vocabulary, complete=not sensors.skip_missing) as file:
            notes = [*_ignored(file.ignored, file.quantities), *file.notes]
            blocks = ({x: getattr(block, x) for x in file.quantities} for block in file.blocks())
            if sensors.skip_missing:
                blocks = _missing_left_out(str(path), blocks, coordinates, notes)
            size = max(path.stat().st_size, 1)
            yield Opened(blocks, notes, lambda: file.position() / size)


def _ignored(names: tuple[str, ...], quantities: set[str]) -> Iterator[str]:
    if names:
        yield unused_columns(names, quantities)


def _rows(
    name: str, table: parquet.Numbers, columns: Mapping[str, list[int]], *, complete: bool = True
) -> Iterator[Arrays]:
    """Yield the arrays of named columns."""
    first = 0
    for block in table.blocks([table.names[k] for at in columns.values() for k in at]):
        arrays: dict[str, Any] = {}
        for quantity, at in columns.items():
            arrays[quantity] = np.stack([block[table.names[k]] for k in at], axis=-1)
            for row, column in np.argwhere(~np.isfinite(arrays[quantity]))[: int(complete)]:
                where = f"{name}, row {first + row}, column {table.names[at[column]]!r}"
                raise MissingNumberError(f"{where}: there is no finite number")
        if "t" in arrays:
            arrays["t"] = arrays["t"][:, 0]
        first += len(arrays["q"])
        yield arrays
    if not first:
        raise FormatError(f"{name}: there are no rows")


def _missing_left_out(name: str, blocks: Iterator[Arrays], _: Coordinates, notes: list[str]) -> Iterator[Arrays]:
    """Yield blocks without the rows in which a number is missing, NaN or infinite; note how many there were."""
    total = missing = 0
    for block in blocks:
        kept = np.logical_and.reduce([np.isfinite(x.reshape(len(x), -1)).all(axis=1) for x in block.values()])
        total, missing = total + len(kept), missing + int((~kept).sum())
        yield block if kept.all() else {quantity: x[kept] for quantity, x in block.items()}
    if missing == total:
        raise FormatError(f"{name}: in every one of {total} rows a number is missing, NaN or infinite")
    if missing:
        notes.append(f"{missing} of {total} rows, in which a number is missing, are left out")


def _finite(name: str, blocks: Iterator[Arrays], coordinates: Coordinates, _: list[str]) -> Iterator[Arrays]:
    """Yield blocks whose numbers are finite."""
    first = 0
    for block in blocks:
        for quantity, array in block.items():
            for row, *column in np.argwhere(~np.isfinite(array))[:1]:
                names = coordinates.names(quantity)
                names = names[len(names) - array.shape[-1] :] if column else ("t",)  # those of the base are first
                entry = names[column[0]] if column else "t"
                where = f"{name}, row {first + row}, column {f'{quantity}.{entry}' if column else entry!r}"
                raise MissingNumberError(f"{where}: there is no finite number")
        first += len(block["q"])
        yield block
