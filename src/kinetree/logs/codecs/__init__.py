"""Files with columns of numbers, whatever their format: one file each, behind the contract `Table`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.errors import FormatError
from kinetree.logs.codecs.bag import Bag
from kinetree.logs.codecs.csv import Csv
from kinetree.logs.codecs.npz import Npz
from kinetree.logs.codecs.parquet import Parquet
from kinetree.logs.codecs.table import EXPECTED, Table
from kinetree.logs.columns import MOTION, Coordinates

if TYPE_CHECKING:
    from kinetree.logs.sensors import Sensors
    from kinetree.robot import Robot

CODECS: tuple[type[Table], ...] = (Csv, Npz, Parquet, Bag)
"""All formats; a file of another suffix is an NPZ if it begins as one, else a CSV."""

_OTHERS = re.compile(r"\.(json|npy|xlsx?|ods|mat|h5|hdf5|bag|db3|mcap|pkl)")


def codec_of(path: Path, *, bags: bool = True) -> type[Table]:
    """Return the format of a file; `FormatError` for one that is none of these, by its suffix or its first bytes."""
    suffix = "/" if path.is_dir() else path.suffix.lower()
    for codec in (Parquet, Bag)[: 1 + bags]:
        if suffix in codec.suffixes:
            return codec
    with path.open("rb") as stream:
        start = stream.read(16)
    if start.startswith(b"\x93NUMPY"):
        raise FormatError(f"{path}: one NumPy array; {EXPECTED}: numpy.savez('motion.npz', t=t, q=q, v=v, a=a)")
    if _OTHERS.fullmatch(suffix) or re.match(rb"\s*(\{|\[\s*[\[{\d-])", start):
        raise FormatError(f"{path}: {EXPECTED}, not {suffix or 'JSON'}")
    return Npz if start.startswith(b"PK") else Csv


@contextmanager
def open_columns(
    path: Path | None, coordinates: Coordinates, quantities: Sequence[str] = MOTION, *recorded: Robot | Sensors
) -> Iterator[Table]:
    """Open a motion whose columns are understood, a CSV on standard input for None; a bag too if it was recorded.

    `FormatError` if the columns are not what they should be, `OSError` if the file cannot be read.
    """
    if path is None:
        yield Csv(sys.stdin.buffer, "standard input").understood(coordinates, quantities)
        return
    with codec_of(path, bags=bool(recorded)).open(path, *recorded) as table:
        yield table.understood(coordinates, quantities)


__all__ = ["CODECS", "Bag", "Csv", "Npz", "Parquet", "Table", "codec_of", "open_columns"]
