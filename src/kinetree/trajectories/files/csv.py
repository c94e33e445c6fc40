"""Reading a trajectory from a CSV, block by block, however long it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np

from kinetree.errors import FormatError
from kinetree.trajectories.block import BLOCK, Block
from kinetree.trajectories.columns.match import Layout, layout_of_header, layout_without_header
from kinetree.trajectories.columns.messages import DECIMAL_COMMA, NO_DECIMAL_COMMAS
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array


class CsvReader:
    """A CSV trajectory, read block by block.

    Comma, semicolon, tab or blanks separate the fields; lines that begin with ``#`` are comments, but for one with
    the names just before the first row. See `layout_of_header` and `layout_without_header` for the columns.

    Attributes
    ----------
    layout : Layout
        What the columns are.
    """

    def __init__(self, stream: BinaryIO, name: str, coordinates: Coordinates) -> None:
        self._raw = stream
        self._text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None)
        self._name = name
        self._line = 0
        self._ahead: list[str] = []
        try:
            self.layout = self._read_header(coordinates)
        except UnicodeDecodeError as error:
            raise self._not_text(error) from None
        self._used = [k for k, slot in enumerate(self.layout.slots) if slot is not None]

    @property
    def quantities(self) -> set[str]:
        """Which of "t", "q", "v" and "a" the file has."""
        return {slot[0] for slot in self.layout.slots if slot is not None}

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of the columns that mean nothing."""
        return self.layout.ignored

    @property
    def notes(self) -> tuple[str, ...]:
        """How columns were read that could be meant otherwise."""
        return self.layout.notes

    def position(self) -> int:
        """Return how many bytes have been read."""
        return self._raw.tell()

    def blocks(self) -> Iterator[Block]:
        """Yield the samples; `FormatError` names the line and the column of the first that is not a finite number."""
        first = 0
        while data := self._next_rows():
            table = self._parse(data)
            if len(table):
                yield self._block(first, table)
            first += len(table)
        if first == 0:
            raise FormatError(f"{self._name}: there are no rows")

    def _next_rows(self) -> list[tuple[int, str]]:
        """Return some lines with their numbers, none at the end of the file."""
        start = self._line - len(self._ahead)
        try:
            lines = self._ahead + list(islice(self._text, BLOCK))
        except UnicodeDecodeError as error:
            raise self._not_text(error) from None
        self._line, self._ahead = start + len(lines), []
        return list(enumerate(lines, start + 1))

    def _read_header(self, coordinates: Coordinates) -> Layout:
        comment = ""
        for line in self._text:
            self._line += 1
            if not line.strip():
                continue
            if line.lstrip().startswith("#"):
                comment = line.lstrip().lstrip("#")
                continue
            self._delimiter = _delimiter(line)
            return self._layout(line, comment, coordinates)
        raise FormatError(f"{self._name}: the file is empty")

    def _layout(self, line: str, comment: str, coordinates: Coordinates) -> Layout:
        fields = self._split(line)
        try:
            if not any(_is_number(field) for field in fields):
                return layout_of_header(fields, coordinates)
            self._ahead = [line]
            if comment and len(self._split(comment)) == len(fields) > 1:
                return layout_of_header(self._split(comment), coordinates)
            return layout_without_header(len(fields), coordinates)
        except FormatError as error:
            raise FormatError(f"{self._name}: {error}") from None

    def _split(self, line: str) -> list[str]:
        if self._delimiter is None:
            return line.split()
        return [field.strip() for field in next(csv.reader([line], delimiter=self._delimiter))]

    def _parse(self, rows: list[tuple[int, str]]) -> Array:
        rows = [(k, line) for k, line in rows if (bare := line.strip()) and bare[0] != "#"]
        if not rows:
            return np.empty((0, len(self._used)))
        separators = len(self.layout.slots) - 1
        if self._delimiter is not None and any(line.count(self._delimiter) != separators for _, line in rows):
            self._find_fault(rows)
        try:
            table = np.loadtxt(
                [line for _, line in rows],
                delimiter=self._delimiter,
                usecols=self._used,
                quotechar='"',
                comments=None,
                ndmin=2,
            )
        except (ValueError, IndexError) as error:
            self._find_fault(rows)
            raise FormatError(f"{self._name}: {error}") from None
        if not np.isfinite(table).all():
            self._find_fault(rows)
        return table

    def _find_fault(self, rows: list[tuple[int, str]]) -> None:
        """Raise the error for the first row that is not what it should be; return if all are."""
        names = self.layout.names
        for number, line in rows:
            fields = self._split(line)
            where = f"{self._name}, line {number}"
            if len(fields) != len(names):
                commas = self._delimiter == "," and len(fields) >= 2 * len(names) - 1 > 1
                hint = f"; {NO_DECIMAL_COMMAS}" if commas else ""
                raise FormatError(f"{where}: {len(fields)} fields where {len(names)} are expected{hint}")
            for k in self._used:
                if not _is_number(fields[k]):
                    shown = repr(fields[k]) if fields[k] else "an empty field"
                    hint = f"; {NO_DECIMAL_COMMAS}" if DECIMAL_COMMA.fullmatch(fields[k]) else ""
                    raise FormatError(f"{where}, column {names[k]!r}: {shown} is not a number{hint}")
                if not np.isfinite(float(fields[k])):
                    raise FormatError(f"{where}, column {names[k]!r}: {fields[k]} is not a finite number")

    def _block(self, first: int, table: Array) -> Block:
        place = {column: k for k, column in enumerate(self._used)}

        def take(quantity: str) -> Array | None:
            columns = [place[k] for k in self.layout.columns(quantity)]
            return np.ascontiguousarray(table[:, columns]) if columns else None

        t, q, v, a = (take(quantity) for quantity in "tqva")
        assert q is not None
        return Block(first, None if t is None else t[:, 0], q, v, a)

    def _not_text(self, error: UnicodeDecodeError) -> FormatError:
        return FormatError(
            f"{self._name}: neither a text table nor an NPZ archive: CSV or NPZ expected ({error.reason})"
        )


def _delimiter(line: str) -> str | None:
    return next((mark for mark in (";", "\t", ",") if mark in line), None)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
