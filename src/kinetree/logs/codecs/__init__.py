"""Formats of files with columns of numbers: one file each, behind one contract."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.errors import FormatError
from kinetree.logs.codecs.bag import BAG
from kinetree.logs.codecs.csv import CSV, CsvTable
from kinetree.logs.codecs.npz import NPZ
from kinetree.logs.codecs.parquet import PARQUET
from kinetree.logs.codecs.table import EXPECTED, Codec, Table

if TYPE_CHECKING:
    from kinetree.logs.sensors import Sensors
    from kinetree.robot import Robot

CODECS = (CSV, NPZ, PARQUET, BAG)
"""All formats; a file of another suffix is an NPZ if it begins as one, else a CSV."""

_OTHERS = re.compile(r"\.(json|npy|xlsx?|ods|mat|h5|hdf5|bag|db3|mcap|pkl)")


def codec_of(path: Path, *, bags: bool = True) -> Codec:
    """Return the format of a file; `FormatError` for one that is none of these, by its suffix or its first bytes."""
    suffix = "/" if path.is_dir() else path.suffix.lower()
    for codec in (PARQUET, BAG)[: 1 + bags]:
        if suffix in codec.suffixes:
            return codec
    with path.open("rb") as stream:
        start = stream.read(16)
    if start.startswith(b"\x93NUMPY"):
        raise FormatError(f"{path}: one NumPy array; {EXPECTED}: numpy.savez('motion.npz', t=t, q=q, v=v, a=a)")
    if _OTHERS.fullmatch(suffix) or re.match(rb"\s*(\{|\[\s*[\[{\d-])", start):
        raise FormatError(f"{path}: {EXPECTED}, not {suffix or 'JSON'}")
    return NPZ if start.startswith(b"PK") else CSV


@contextmanager
def open_table(path: Path | None, robot: Robot | None = None, sensors: Sensors | None = None) -> Iterator[Table]:
    """Open a file of any format, a CSV on standard input for None; bags with the robot and the sensors alone."""
    if path is None:
        yield CsvTable(sys.stdin.buffer, "standard input")
        return
    with codec_of(path, bags=robot is not None).open(path, robot, sensors) as table:
        yield table


__all__ = ["BAG", "CODECS", "CSV", "NPZ", "PARQUET", "Codec", "Table", "codec_of", "open_table"]
