"""What every format of files gives: a table of columns, read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from kinetree.errors import FormatError
from kinetree.logs.coordinates import Coordinates
from kinetree.logs.layout import Layout, layout_of_header
from kinetree.logs.names import Vocabulary
from kinetree.validation import Array

if TYPE_CHECKING:
    from pathlib import Path

    from kinetree.logs.sensors import Sensors
    from kinetree.robot import Robot

ROWS = 8192
"""In a block."""

FREE = 100_000_000
"""Bytes that a file may always hold."""

MOST = 100
"""How many times its own size a larger one may hold: what compresses better is no recorded motion."""

EXPECTED = "CSV, NPZ or Parquet expected"


class Table:
    """An open file: what its columns are called, and blocks of their numbers.

    A format's own has `names` and `numbers`, or `understand` where the file says more than names.

    Attributes
    ----------
    name : str
        The file, in messages.
    names : tuple of str
        Of the columns.
    layout : Layout
        What the columns are, once they are understood.
    notes : list of str
        What is to be known of what was read.
    unread : str
        What holds no numbers, for messages.
    progress : float
        Which part has been read, from 0 to 1.
    """

    names: tuple[str, ...] = ()
    layout: Layout
    unread = ""
    progress = 0.0

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []

    def understand(self, coordinates: Coordinates, vocabulary: Vocabulary) -> None:
        """Find out what the columns are; `FormatError` if they are not what they should be."""
        self.layout = layout_of_header(self.names, coordinates, vocabulary)

    def numbers(self) -> Iterator[dict[str, Array]]:
        """Yield arrays (rows, columns) by quantity, NaN where there is no number."""
        raise NotImplementedError

    def extra(self) -> dict[str, Any]:
        """Return what is no column: arrays by name."""
        return {}

    def fault(self, row: int, quantity: str, k: int, value: float) -> str:
        """Return what to say of a number of the last block that is not finite, by its row, quantity and entry."""
        column = self.layout.names[self.layout.groups[quantity][k]]
        return f"row {row}, column {column!r}: {value} is not a finite number"


Write = Callable[[BinaryIO, Mapping[str, Sequence[str]], Iterable[Mapping[str, Array]], Mapping[str, Any]], None]


@dataclass(frozen=True)
class Codec:
    """A format of files: one row of `kinetree.logs.codecs.CODECS`.

    Attributes
    ----------
    suffixes : tuple of str
        Of its files; "/" is a folder.
    open : callable
        Opens a file as a `Table`; of a robot, and what is meant of it, where that has to be known.
    write : callable
        Writes to a stream the columns' names by quantity, blocks of arrays (rows, columns) by quantity, and what is no
        column.
    """

    suffixes: tuple[str, ...]
    open: Callable[[Path, Robot | None, Sensors | None], AbstractContextManager[Table]]
    write: Write


def check_size(name: str, stream: BinaryIO, held: int) -> None:
    """Raise `FormatError` if a file is to hold so many bytes, and has far fewer."""
    at = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(at)
    if held > max(FREE, MOST * size):
        raise FormatError(f"{name}: {size} bytes that say they hold {held}: that is refused, as an attack may be")
