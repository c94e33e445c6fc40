"""The contract of all formats: a table of columns, read some rows at a time, and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.columns import FORCES, Coordinates
from kinetree.logs.layout import Layout, layout_of_header
from kinetree.validation import Array

if TYPE_CHECKING:
    from pathlib import Path

Names = Mapping[str, Sequence[str]]
Arrays = Mapping[str, Array]

ROWS = 8192  # in a block
FREE = 100_000_000  # bytes that a file may always hold
MOST = 100  # how many times its own size a larger one may hold: what compresses better is not a recorded motion

EXPECTED = "CSV, NPZ or Parquet expected"


BESIDE: Mapping[str, tuple[str, type, bool]] = {
    "stopped_at": ("lead", float, False),
    "reasons": ("lead", str, False),
    "event_times": ("events", float, True),
    "event_names": ("events", str, False),
    "event_robots": ("events robot", int, True),
    "event_q": ("events q", float, True),
    "event_v": ("events v", float, True),
    "count_names": ("counts", str, False),
    "counts": ("counts lead", float, False),
    "input_names": ("given", str, False),
    "input_kinds": ("given", str, False),
    "input_frames": ("given", str, False),
    "inputs": ("lead rows values", float, True),
}
"""What of a trajectory is not a column: its axes by name, what it holds, and whether that has to be finite. Of the
robots (axes `lead`), of each event, of each count, and the numbers of the robot that were given to a simulation."""
TEXTS = {name for name, (_, kind, _) in BESIDE.items() if kind is str}


class Table(ABC):
    """An open file, of which a subclass is a format: what its columns are called, and rows of their numbers.

    `kind` is what a file is called that should be one, `suffixes` are its files', "/" a folder's; `unread` is what
    holds no numbers, for messages, and `progress` the part that has been read, from 0 to 1.
    """

    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    names: tuple[str, ...] = ()
    layout: Layout
    unread = ""
    progress = 0.0

    def __init__(self, stream: Any, name: str) -> None:
        self.name = name
        self.notes: list[str] = []

    @classmethod
    @contextmanager
    def open(cls, path: Path, *recorded: Any) -> Iterator[Table]:
        """Open a file; of a robot with its sensors, if it was recorded: `ArgumentError` for what is for bags alone."""
        for what, given in (("a topic", recorded[1].topic), ("odometry", recorded[1].odometry)) if recorded else ():
            if given is not None:
                raise ArgumentError(f"{what} is for ROS bags; {path} is none")
        with path.open("rb") as stream:
            yield cls(stream, str(path))

    @staticmethod
    @abstractmethod
    def write(stream: BinaryIO, names: Names, arrays: Arrays, extra: Mapping[str, Any]) -> None:
        """Write columns' names by quantity, arrays (rows, columns) by quantity, and what is not a column."""

    @abstractmethod
    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """Yield some columns as matrices, `ROWS` rows at a time, NaN where there is no number."""

    def layout_of(self, coordinates: Coordinates, quantities: Sequence[str]) -> Layout:
        """Return the meaning of the columns; `FormatError` if one is missing."""
        return layout_of_header(self.names, coordinates, quantities)

    def extra(self) -> dict[str, Any]:
        """Return the arrays of `BESIDE` that are there, by name."""
        return {}

    def fault(self, row: int, column: int, value: float) -> str:
        """Return the message for a number of the last rows that is not finite."""
        return f"row {row}, column {self.layout.names[column]!r}: {value} is not a finite number"

    def understood(self, coordinates: Coordinates, quantities: Sequence[str]) -> Table:
        """Return the table with its layout; a `FormatError` begins with its name."""
        try:
            self.layout = self.layout_of(coordinates, quantities)
        except FormatError as error:
            raise FormatError(f"{self.name}: {error}") from None
        return self

    def blocks(
        self,
        rows: int | None = ROWS,
        *,
        missing: Literal["refused", "left out", "kept"] = "refused",
        remedy: str = "",
        in_time: bool = False,
        show: Callable[[float], object] | None = None,
    ) -> Iterator[dict[str, Array]]:
        """Yield numbers by quantity, "t" (n,), the others (n, entries), so many rows at a time, or all in one.

        Where some are not finite, `FormatError` says which, and the remedy; or such rows are left out, and noted.
        Forces that are NaN throughout were not measured. In time, rows with the time of the one before are left out,
        and time must not go back. What shows is told which part has been read.
        """
        groups, kept = self.layout.groups, self._kept(missing, remedy, in_time, show or (lambda _: None))
        ends = np.cumsum([len(own) for own in groups.values()])[:-1]
        for matrices in [kept] if rows is None else ([matrix] for matrix in regrouped(kept, rows)):
            parts = zip(*(np.split(matrix, ends, axis=1) for matrix in matrices), strict=True)
            arrays = zip(groups, (np.ascontiguousarray(np.concatenate(x)) for x in parts), strict=True)
            yield {x: array[:, 0] if x == "t" else array for x, array in arrays}

    def _kept(self, missing: str, remedy: str, in_time: bool, show: Callable[[float], object]) -> Iterator[Array]:
        """Yield the rows of the columns that are used, but for those that are left out: see `blocks`."""
        groups, total, left_out, repeated, last = self.layout.groups, 0, 0, 0, -np.inf
        columns = [*chain.from_iterable(groups.values())]
        forces = np.array([x in FORCES for x, own in groups.items() for _ in own])
        unmeasured = np.zeros(len(columns), bool)
        for matrix in self.rows(columns):
            if not total and missing != "kept":
                unmeasured = np.isnan(matrix).all(axis=0) & forces
            elif np.isfinite(matrix[:, unmeasured]).any():
                raise FormatError(
                    f"{self.name}: forces that are NaN in the first {ROWS} rows are numbers later{remedy}"
                )
            kept = np.asarray((np.isfinite(matrix) | unmeasured).all(axis=1) | (missing == "kept"))
            if missing == "refused" and not kept.all():
                row = int(np.argmin(kept))
                k = int(np.argmin(np.isfinite(matrix[row]) | unmeasured))
                fault = self.fault(total + row, columns[k], float(matrix[row, k]))
                raise FormatError(f"{self.name}, {fault}{remedy}")
            total, left_out = total + len(kept), left_out + int((~kept).sum())
            matrix = matrix if kept.all() else matrix[kept]
            if in_time and "t" in groups and len(matrix):
                t, steps = matrix[:, 0], np.diff(matrix[:, 0], prepend=last)
                for k in np.flatnonzero(steps < 0.0)[:1]:
                    raise FormatError(
                        f"{self.name}: time goes back from {t[k] - steps[k]:g} s to {t[k]:g} s at sample {k}: are "
                        "these several motions? Give them in a file each"
                    )
                last = float(t[-1])
                if (again := steps == 0.0).any():
                    matrix, repeated = matrix[~again], repeated + int(again.sum())
            show(self.progress)
            yield matrix
        if not total:
            raise FormatError(f"{self.name}: there are no rows")
        if left_out == total:
            raise FormatError(f"{self.name}: in every one of {total} rows a number is missing, NaN or infinite")
        for count, what in (
            (left_out, f"of {total} rows, in which a number is missing,"),
            (repeated, "samples with the time of the one before"),
        ):
            self.notes += [f"{count} {what} are left out"] * bool(count)

    @classmethod
    @contextmanager
    def reading(cls, name: str) -> Iterator[None]:
        """Say that a file is damaged, whatever error the package that reads it has for that."""
        try:
            yield
        except (ArgumentError, FormatError):
            raise
        except Exception as error:  # decompressors, databases and packages have many types
            raise FormatError(f"{name}: not a readable {cls.kind}: {error}") from None

    def check_size(self, stream: BinaryIO, held: int) -> None:
        """Raise `FormatError` if a file is to hold so many bytes, and has far fewer."""
        at = stream.tell()
        size = stream.seek(0, 2)
        stream.seek(at)
        if held > max(FREE, MOST * size):
            raise FormatError(
                f"{self.name}: {size} bytes that say they hold {held}: that is refused, as an attack may be"
            )


def regrouped(matrices: Iterable[Array], rows: int) -> Iterator[Array]:
    """Yield the rows of matrices so many at a time, the last ones as they are."""
    held, count = list[Array](), 0
    for matrix in matrices:
        held.append(matrix)
        count += len(matrix)
        if count >= rows:
            whole, count = held[0] if len(held) == 1 else np.concatenate(held), count % rows
            yield from (whole[k : k + rows] for k in range(0, len(whole) - count, rows))
            held = [whole[len(whole) - count :]] * bool(count)
    if count:
        yield held[0] if len(held) == 1 else np.concatenate(held)
