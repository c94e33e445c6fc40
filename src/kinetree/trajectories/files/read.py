"""Opening a trajectory, whatever its format."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kinetree.errors import FormatError
from kinetree.trajectories.columns.names import MOTION, Vocabulary
from kinetree.trajectories.coordinates import Coordinates
from kinetree.trajectories.files.csv import CsvReader
from kinetree.trajectories.files.npz import NpzReader

Reader = CsvReader | NpzReader

_OTHERS = re.compile(r"\.(json|npy|xlsx?|ods|mat|h5|hdf5|parquet|bag|db3|mcap|pkl)")


@contextmanager
def open_trajectory(
    path: Path | None, coordinates: Coordinates, vocabulary: Vocabulary = MOTION, *, complete: bool = True
) -> Iterator[Reader]:
    """Open a reader for a trajectory, a CSV on standard input for None; it is an NPZ if it begins as one.

    `FormatError` if the columns or the numbers are not what they should be, `OSError` if the file cannot be read.
    """
    if path is None:
        yield CsvReader(sys.stdin.buffer, "standard input", coordinates, vocabulary)
        return
    with path.open("rb") as stream:
        _refuse_others(path, stream.peek(16)[:16])
        kind = NpzReader if stream.peek(2)[:2] == b"PK" else CsvReader
        yield kind(stream, str(path), coordinates, vocabulary, complete=complete)


def _refuse_others(path: Path, start: bytes) -> None:
    """Raise `FormatError` for a format that is neither of the two, known by its suffix or its first bytes."""
    if start.startswith(b"\x93NUMPY"):
        raise FormatError(
            f"{path}: one NumPy array; CSV or NPZ expected: numpy.savez('motion.npz', t=t, q=q, v=v, a=a)"
        )
    if _OTHERS.fullmatch(path.suffix.lower()) or re.match(rb"\s*(\{|\[\s*[\[{\d-])", start):
        raise FormatError(f"{path}: CSV or NPZ expected, not {path.suffix.lower() or 'JSON'}")
