"""What the columns of a file hold, by quantity and block by block, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.codecs import BAG, Table, codec_of, open_table
from kinetree.logs.codecs.table import ROWS
from kinetree.logs.coordinates import Coordinates
from kinetree.logs.messages import unused_columns
from kinetree.logs.names import LOG, MOTION, WRENCHES, Vocabulary
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.validation import Array


@contextmanager
def open_columns(path: Path | None, coordinates: Coordinates, vocabulary: Vocabulary = MOTION) -> Iterator[Table]:
    """Open a motion whose columns are understood, a CSV on standard input for None.

    `FormatError` if the columns are not what they should be, `OSError` if the file cannot be read.
    """
    with open_table(path) as table:
        yield understood(table, coordinates, vocabulary)


@contextmanager
def open_log(path: Path, robot: Robot, sensors: Sensors) -> Iterator[Table]:
    """Open a recorded motion, of any format; `ArgumentError` where what is meant is for bags alone."""
    if codec_of(path) is not BAG:
        for what, given in (("a topic", sensors.topic), ("odometry", sensors.odometry)):
            if given is not None:
                raise ArgumentError(f"{what} is for ROS bags; {path} is none")
    coordinates = Coordinates(robot.q_names, robot.v_names, wrenches=tuple(sensors.called.values()))
    with open_table(path, robot, sensors) as table:
        understood(table, coordinates, WRENCHES if sensors.called else LOG)
        if table.layout.ignored:
            table.notes.append(unused_columns(table.layout.ignored, set(table.layout.groups)))
        table.notes += table.layout.notes
        yield table


def understood(table: Table, coordinates: Coordinates, vocabulary: Vocabulary) -> Table:
    """Return the table with what its columns are; `FormatError` has its name."""
    try:
        table.understand(coordinates, vocabulary)
    except FormatError as error:
        raise FormatError(f"{table.name}: {error}") from None
    return table


def blocks(table: Table, *, skip_missing: bool = False, remedy: str = "") -> Iterator[dict[str, Array]]:
    """Yield finite numbers by quantity: "t" (n,), the others (n, entries).

    `FormatError` names the first number that is missing or not finite, and a remedy; or such rows are left out, and
    noted.
    """
    total = missing = 0
    for block in table.numbers():
        finite = {quantity: np.isfinite(x) for quantity, x in block.items()}
        kept = np.logical_and.reduce([x.all(axis=1) for x in finite.values()])
        if not kept.all():
            if not skip_missing:
                raise FormatError(f"{table.name}, {_first_fault(table, block, total)}{remedy}")
            block = {quantity: x[kept] for quantity, x in block.items()}
        total, missing = total + len(kept), missing + int((~kept).sum())
        if "t" in block:
            block["t"] = block["t"][:, 0]
        if kept.any():
            yield block
    if not total:
        raise FormatError(f"{table.name}: there are no rows")
    if missing == total:
        raise FormatError(f"{table.name}: in every one of {total} rows a number is missing, NaN or infinite")
    if missing:
        table.notes.append(f"{missing} of {total} rows, in which a number is missing, are left out")


def _first_fault(table: Table, block: dict[str, Array], before: int) -> str:
    """Return what to say of the first number of a block that is not finite, after so many rows."""
    faults = ((quantity, *at) for quantity, x in block.items() for at in np.argwhere(~np.isfinite(x))[:1].tolist())
    quantity, row, k = min(faults, key=lambda fault: fault[1])
    return table.fault(before + row, quantity, k, float(block[quantity][row, k]))


def in_blocks(arrays: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Yield a whole motion in blocks."""
    for first in range(0, len(arrays["q"]), ROWS):
        yield {x: array[first : first + ROWS] for x, array in arrays.items()}
