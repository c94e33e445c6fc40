"""Parquet, with pyarrow: the extra ``parquet``."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.codecs.table import ROWS, TEXTS, Arrays, Names, Table, regrouped
from kinetree.validation import Array

KEY = b"kinetree"  # in the file's metadata: what is not a column, as JSON
GROUP = 1 << 16  # rows that are in memory at once where a file is read: pyarrow reads one group of rows after the other

NOT_OURS = f"its metadata {KEY.decode()!r} are not those of a trajectory"


def check_installed() -> None:
    """Raise `ArgumentError` where pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ArgumentError("a Parquet file needs pyarrow: pip install pyarrow")


class Parquet(Table):
    """The columns of a file that hold numbers."""

    kind = "Parquet file"
    suffixes = (".parquet",)

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        check_installed()
        from pyarrow import parquet, types

        with self.reading(self.name):
            self._file = parquet.ParquetFile(stream)
            held = self._file.schema_arrow
            self.names = tuple(x.name for x in held if types.is_integer(x.type) or types.is_floating(x.type))
            self.unread = ", ".join(f"{x.name} ({x.type})" for x in held if x.name not in self.names)
            self.check_size(stream, 8 * self._file.metadata.num_rows * len(self.names))

    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """See `Table`."""
        names, groups = [self.names[k] for k in columns], range(self._file.num_row_groups)
        batches = chain.from_iterable(  # of one group at a time: it keeps what it has read
            self._file.iter_batches(ROWS, row_groups=[group], columns=names) for group in groups
        )
        with self.reading(self.name):
            each = ([batch.column(name).to_numpy(zero_copy_only=False) for name in names] for batch in batches)
            for matrix in regrouped((np.stack(own, -1, dtype=float) for own in each), ROWS):
                self.progress += len(matrix) / self._file.metadata.num_rows
                yield matrix

    def extra(self) -> dict[str, Any]:
        """See `Table`."""
        try:
            held = json.loads((self._file.schema_arrow.metadata or {}).get(KEY, b"{}"))
            return {name: _array(name, x) for name, x in held.items()}
        except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
            raise FormatError(f"{self.name}: {NOT_OURS}: {error}") from None

    @staticmethod
    def write(stream: BinaryIO, names: Names, arrays: Arrays, extra: Mapping[str, Any]) -> None:
        """Write a column an entry; what is not a column, as JSON in the metadata."""
        import pyarrow
        from pyarrow import parquet

        columns = (zip(of, np.reshape(arrays[x], (-1, len(of))).T, strict=True) for x, of in names.items())
        table = pyarrow.table({name: np.ascontiguousarray(x) for name, x in chain.from_iterable(columns)})
        rest = {name: np.where(x == x, x, np.array(None)).tolist() for name, x in extra.items()}
        whole = table.replace_schema_metadata({KEY: json.dumps(rest)})
        parquet.write_table(whole, stream, row_group_size=GROUP)


def _array(name: str, nested: Any) -> Any:
    """Return an array of texts where these are expected, else of integers or floats, NaN where there is none."""
    array = np.array(nested)
    if (name in TEXTS) != (array.dtype.kind == "U"):
        raise ValueError(f"{name} is {nested!r}"[:80])
    return array if array.dtype.kind in "iU" else array.astype(np.float64)
