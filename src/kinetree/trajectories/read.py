"""Opening a trajectory, whatever its format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kinetree.trajectories.columns import Coordinates
from kinetree.trajectories.read_csv import CsvReader
from kinetree.trajectories.read_npz import NpzReader

Reader = CsvReader | NpzReader


@contextmanager
def open_trajectory(path: Path | None, coordinates: Coordinates) -> Iterator[Reader]:
    """Open a reader for a trajectory; it is an NPZ if it begins as one, whatever its name.

    Parameters
    ----------
    path : Path, or None
        The file; None reads a CSV from standard input.
    coordinates : Coordinates
        The names of the robot's entries.

    Raises
    ------
    FormatError
        If the columns or the numbers are not what they should be.
    OSError
        If the file cannot be read.
    """
    if path is None:
        yield CsvReader(sys.stdin.buffer, "standard input", coordinates)
        return
    with path.open("rb") as stream:
        kind = NpzReader if stream.peek(2)[:2] == b"PK" else CsvReader
        yield kind(stream, str(path), coordinates)
