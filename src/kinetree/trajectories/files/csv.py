"""Reading a trajectory from a CSV, block by block, however long it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import FormatError
from kinetree.trajectories.block import BLOCK, Block
from kinetree.trajectories.columns.match import Layout, layout_of_header, layout_without_header
from kinetree.trajectories.columns.messages import DECIMAL_COMMA, NO_DECIMAL_COMMAS, MissingNumberError
from kinetree.trajectories.columns.names import MOTION, Vocabulary
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.validation import Array


class CsvReader:
    """A CSV trajectory, read block by block.

    Comma, semicolon, tab or blanks separate the fields. A line that begins with ``#`` is a comment, unless it is just
    before the first row and has the names. See `layout_of_header` and `layout_without_header` for the columns. With
    `torques`, the columns ``tau.elbow`` are read too, by these names only, if they are there. Unless it is to be
    `complete`, fields may be empty or not finite: they are NaN.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        coordinates: Coordinates,
        vocabulary: Vocabulary = MOTION,
        *,
        torques: bool = False,
        complete: bool = True,
    ) -> None:
        self._raw, self._complete = stream, complete
        self._text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None)
        self._name = name
        self._lines = self._numbered_lines()
        layout = self._read_header(coordinates, vocabulary)
        self.ignored, self.notes, self._names = layout.ignored, layout.notes, layout.names
        self._columns = {x: columns for x in ("t", *vocabulary.words) if (columns := layout.columns(x))}
        if torques:
            self._add_torques([coordinates.call(slot) for slot in coordinates.slots(("tau",))])
        self._used = list(chain.from_iterable(self._columns.values()))
        self.quantities = set(self._columns)

    def _add_torques(self, names: list[str]) -> None:
        missing = [name for name in names if name not in self._names]
        if not missing:
            self._columns["tau"] = [self._names.index(name) for name in names]
        elif len(missing) < len(names):
            raise FormatError(f"{self._name}: the header lacks {some(missing, 4)}, and has other columns tau")

    def position(self) -> int:
        """Return how many bytes have been read."""
        return self._raw.tell()

    def blocks(self) -> Iterator[Block]:
        """Yield the samples; `FormatError` names the line and the column of the first that is not a finite number."""
        first = 0
        while lines := list(islice(self._lines, BLOCK)):
            table = self._parse(lines)
            if len(table):
                yield self._block(first, table)
            first += len(table)
        if first == 0:
            raise FormatError(f"{self._name}: there are no rows")

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        try:
            yield from enumerate(self._text, 1)
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{self._name}: neither a text table nor an NPZ archive: CSV or NPZ expected ({error.reason})"
            ) from None

    def _read_header(self, coordinates: Coordinates, vocabulary: Vocabulary) -> Layout:
        """Return the layout by the first line that is not a comment; if that is a row, leave it to be read again."""
        comment = ""
        for numbered in self._lines:
            text = numbered[1].lstrip()
            if text.startswith("#"):
                comment = text.lstrip("#")
            elif text:
                break
        else:
            raise FormatError(f"{self._name}: the file is empty")
        line = numbered[1]
        self._delimiter = next((mark for mark in (";", "\t", ",") if mark in line), None)
        fields = self._split(line)
        try:
            if not any(map(_is_number, fields)):
                return layout_of_header(fields, coordinates, vocabulary)
            self._lines = chain([numbered], self._lines)
            if comment and len(self._split(comment)) == len(fields) > 1:
                return layout_of_header(self._split(comment), coordinates, vocabulary)
            return layout_without_header(len(fields), coordinates, vocabulary)
        except FormatError as error:
            raise FormatError(f"{self._name}: {error}") from None

    def _split(self, line: str) -> list[str]:
        if self._delimiter is None:
            return line.split()
        return [field.strip() for field in next(csv.reader([line], delimiter=self._delimiter))]

    def _parse(self, lines: list[tuple[int, str]]) -> Array:
        """Return the used columns of the lines that are rows: t, q, v, a."""
        rows = [(k, line) for k, line in lines if (bare := line.strip()) and bare[0] != "#"]
        if not rows:
            return np.empty((0, len(self._used)))
        separators = len(self._names) - 1
        if self._delimiter is not None and any(line.count(self._delimiter) != separators for _, line in rows):
            self._find_fault(rows)
        text = [line for _, line in rows] if self._complete else self._filled(rows)
        try:
            table = np.loadtxt(
                text, delimiter=self._delimiter, usecols=self._used, quotechar='"', comments=None, ndmin=2
            )
        except (ValueError, IndexError) as error:
            self._find_fault(rows)
            raise FormatError(f"{self._name}: {error}") from None
        if self._complete and not np.isfinite(table).all():
            self._find_fault(rows)
        return table

    def _filled(self, rows: list[tuple[int, str]]) -> list[str]:
        """Return the rows with NaN in the place of empty fields."""
        if self._delimiter is None:
            return [line for _, line in rows]
        return [self._delimiter.join(field or "nan" for field in self._split(line)) for _, line in rows]

    def _find_fault(self, rows: list[tuple[int, str]]) -> None:
        """Raise the error for the first row that is not what it should be; return if all are."""
        names = self._names
        for number, line in rows:
            fields = self._split(line)
            where = f"{self._name}, line {number}"
            if len(fields) != len(names):
                commas = self._delimiter == "," and len(fields) >= 2 * len(names) - 1 > 1
                hint = f"; {NO_DECIMAL_COMMAS}" if commas else ""
                raise FormatError(f"{where}: {len(fields)} fields where {len(names)} are expected{hint}")
            for k in sorted(self._used):
                if not (_is_number(fields[k]) or (not fields[k] and not self._complete)):
                    shown = repr(fields[k]) if fields[k] else "an empty field"
                    hint = f"; {NO_DECIMAL_COMMAS}" if DECIMAL_COMMA.fullmatch(fields[k]) else ""
                    hint = hint if fields[k] else ": fill it in, or leave the row out; a table has one rate for all"
                    raise (FormatError if fields[k] else MissingNumberError)(
                        f"{where}, column {names[k]!r}: {shown} is not a number{hint}"
                    )
                if self._complete and not np.isfinite(float(fields[k])):
                    raise MissingNumberError(f"{where}, column {names[k]!r}: {fields[k]} is not a finite number")

    def _block(self, first: int, table: Array) -> Block:
        ends = np.cumsum([len(columns) for columns in self._columns.values()])[:-1]
        parts = map(np.ascontiguousarray, np.split(table, ends, axis=1))
        arrays: dict[str, Any] = {"t": None} | dict(zip(self._columns, parts, strict=True))
        if arrays["t"] is not None:
            arrays["t"] = arrays["t"][:, 0]
        return Block(first, **arrays)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
