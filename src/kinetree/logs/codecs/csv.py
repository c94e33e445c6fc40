"""CSV: comma, semicolon, tab or blanks separate the fields; long files are never in memory as a whole."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import FormatError
from kinetree.logs.codecs.table import EXPECTED, ROWS, Arrays, Names, Table
from kinetree.logs.columns import Coordinates
from kinetree.logs.layout import DECIMAL_COMMA, NO_DECIMAL_COMMAS, Layout, layout_of_header, layout_without_header
from kinetree.validation import Array


class Csv(Table):
    """A CSV. A line that begins with ``#`` is a comment, unless it is just before the first row and has the names."""

    suffixes = (".csv",)

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        self._raw, self._text = stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=None)
        self._lines = self._numbered_lines()
        self._rows: list[tuple[int, str]] = []
        self._first = 0
        comment = ""
        for numbered in self._lines:
            text = numbered[1].lstrip()
            if text.startswith("#"):
                comment = text.lstrip("#")
            elif text:
                break
        else:
            raise FormatError(f"{name}: the file is empty")
        self._delimiter = next((mark for mark in (";", "\t", ",") if mark in numbered[1]), None)
        fields, before = self._split(numbered[1]), self._split(comment) if comment else []
        self._width = len(fields)
        if not any(map(_is_number, fields)):
            self.names = tuple(fields)
        else:
            self._lines = chain([numbered], self._lines)
            self.names = tuple(before) if len(before) == len(fields) > 1 else ()

    def layout_of(self, coordinates: Coordinates, quantities: Sequence[str]) -> Layout:
        """See `Table`."""
        if self.names:
            return layout_of_header(self.names, coordinates, quantities)
        return layout_without_header(self._width, coordinates, quantities)

    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """See `Table`; `FormatError` names the line and the column of the first field that is not a number."""
        size = max(os.fstat(self._raw.fileno()).st_size, 1) if self._raw.seekable() else 0
        lines = (row for row in self._lines if (bare := row[1].strip()) and bare[0] != "#")
        while rows := list(islice(lines, ROWS)):
            self._rows, self.progress = rows, self._raw.tell() / size if size else 0.0
            yield self._parsed([*columns])
            self._first += len(rows)

    def fault(self, row: int, column: int, value: float) -> str:
        """See `Table`."""
        number, line = self._rows[row - self._first]
        field, where = self._split(line)[column], f"line {number}, column {self.layout.names[column]!r}"
        hint = ": fill it in, or leave the row out; a table has one rate for all"
        return f"{where}: {field} is not a finite number" if field else f"{where}: an empty field is not a number{hint}"

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        try:
            yield from enumerate(self._text, 1)
        except UnicodeDecodeError as error:
            what = f"neither a text table nor an NPZ archive: {EXPECTED} ({error.reason})"
            raise FormatError(f"{self.name}: {what}") from None

    def _split(self, line: str) -> list[str]:
        if self._delimiter is None:
            return line.split()
        try:
            return [field.strip() for field in next(csv.reader([line], delimiter=self._delimiter))]
        except csv.Error as error:
            raise FormatError(f"{self.name}: {error}") from None

    def _parsed(self, columns: list[int]) -> Array:
        """Return some columns of the rows: as NumPy reads them, or row by row where fields are empty, or wrong."""
        text = [line for _, line in self._rows]
        if self._delimiter is None or all(line.count(self._delimiter) == self._width - 1 for line in text):
            try:
                table = np.loadtxt(
                    text, delimiter=self._delimiter, usecols=columns, quotechar='"', comments=None, ndmin=2
                )
                if len(table) == len(text):  # no quotation goes over several lines
                    return table
            except (ValueError, IndexError):
                pass
        return np.array([self._numbers_in(*row, columns) for row in self._rows])

    def _numbers_in(self, number: int, line: str, columns: list[int]) -> list[float]:
        """Return the numbers of a row, NaN for empty fields; the error for what is not what it should be."""
        fields, where = self._split(line), f"{self.name}, line {number}"
        if len(fields) != self._width:
            commas = self._delimiter == "," and len(fields) >= 2 * self._width - 1 > 1
            hint = f"; {NO_DECIMAL_COMMAS}" if commas else ""
            raise FormatError(f"{where}: {len(fields)} fields where {self._width} are expected{hint}")
        for k in sorted(columns):
            if fields[k] and not _is_number(fields[k]):
                hint = f"; {NO_DECIMAL_COMMAS}" if DECIMAL_COMMA.fullmatch(fields[k]) else ""
                raise FormatError(f"{where}, column {self.layout.names[k]!r}: {fields[k]!r} is not a number{hint}")
        return [float(fields[k] or "nan") for k in columns]

    @staticmethod
    def write(stream: BinaryIO, names: Names, arrays: Arrays, extra: Mapping[str, Any]) -> None:
        """Write floats in the shortest form that reads back to the same bits."""
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(chain.from_iterable(names.values()))
        stream.write(header.getvalue().encode())
        for first in range(0, len(next(iter(arrays.values()))), ROWS):
            rows = np.column_stack([arrays[quantity][first : first + ROWS] for quantity in names]).tolist()
            stream.write("".join([",".join(map(repr, row)) + "\n" for row in rows]).encode())


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field
