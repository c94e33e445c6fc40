"""NPZ archives: whole arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,), read some rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kinetree.errors import FormatError
from kinetree.logs.codecs.table import BESIDE, ROWS, Blocks, Names, Table
from kinetree.logs.columns import QUANTITIES, Coordinates, some
from kinetree.logs.layout import Layout
from kinetree.validation import Array

LABELS = ("q_names", "v_names")
"""Arrays with the names of the entries, as kinetree writes them."""

WORDS = {word: x for x, quantity in QUANTITIES.items() for word in quantity.words}
WIDEST = 10_000
"""Columns that an array has at most."""


class Head(NamedTuple):
    """An array as its header describes it."""

    key: str
    shape: tuple[int, ...]
    dtype: Any
    columns_first: bool

    @classmethod
    def read(cls, key: str, stream: Any) -> Head:
        """Return shape, order and dtype from the header of an array, and leave the stream behind it."""
        old = np.lib.format.read_magic(stream) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, columns_first, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError(f"the array {key!r} holds Python objects")
        return cls(key, shape, dtype, columns_first)


class Npz(Table):
    """An archive, of whose arrays the columns go by number, ``q[:, 3]``, or by the labels that are there."""

    kind = "NPZ archive"
    suffixes = (".npz",)

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        with self.reading():
            self._archive = np.load(stream, allow_pickle=False)
            self.check_size(stream, sum(member.file_size for member in self._archive.zip.infolist()))
            self._heads = [self._open(key)[0] for key in self._archive.files]
            there = [head.key for head in self._heads]
            self.labels = {key: tuple(map(str, self._archive[key].ravel())) for key in LABELS if key in there}
        columns = [
            (head, name) for head in self._heads if head.key not in {*LABELS, *BESIDE} for name in self._names_of(head)
        ]
        self._arrays, self.names = [head for head, _ in columns], tuple(name for _, name in columns)

    def _names_of(self, head: Head) -> Iterable[str]:
        """Return what the columns of an array are called."""
        key, width = head.key, math.prod(head.shape[1:])
        if key not in WORDS or len(head.shape) == 1 or (WORDS[key] == "t" and head.shape[1:] == (1,)):
            return (key,)
        if not head.shape or not 0 < width <= WIDEST:
            return (f"{key} {head.shape}",)
        labels = self.labels.get("q_names" if WORDS[key] == "q" else "v_names", ())
        return (f"{key}.{x}" for x in labels) if len(labels) == width else (f"{key}[:, {k}]" for k in range(width))

    def layout_of(self, coordinates: Coordinates, quantities: Sequence[str]) -> Layout:
        """See `Table`."""
        try:
            return super().layout_of(coordinates, quantities)
        except FormatError as error:
            there = some([f"{head.key} {head.shape}" for head in self._heads])
            raise FormatError(f"{str(error).rstrip('.')}; the archive has {there or 'no arrays'}") from None

    def arrays(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the arrays of these names that are there, of numbers, or of texts where these are expected."""
        there = {head.key for head in self._heads}
        with self.reading():
            found = {key: self._archive[key] for key in keys if key in there}
        for key, array in found.items():
            texts = key in BESIDE and BESIDE[key].kind is str
            self._check_type(key, array.dtype, "U" if texts else "fiu", "texts" if texts else "real numbers")
        return found

    def extra(self) -> dict[str, Any]:
        """See `Table`."""
        return self.arrays(BESIDE)

    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """See `Table`; `FormatError` for arrays that are no numbers, or differ in length."""
        heads = {self._arrays[k].key: self._arrays[k] for k in columns}
        lengths = {key: head.shape[0] for key, head in heads.items()}
        for key, head in heads.items():
            self._check_type(key, head.dtype, "fiu", "real numbers")
        if len({*lengths.values()}) > 1:
            raise FormatError(f"{self.name}: the arrays differ in length: {lengths}")
        own = [k for key in heads for k, head in enumerate(self._arrays) if head.key == key]
        order = [own.index(k) for k in columns]
        readers, length = [self._rows(head) for head in heads.values()], max(lengths.values(), default=0)
        for first in range(0, length, ROWS):
            with self.reading():
                parts = [np.asarray(next(rows), float) for rows in readers]
            self.progress = min(1.0, (first + ROWS) / length)
            yield np.hstack([x.reshape(len(x), -1) for x in parts])[:, order]

    def _check_type(self, key: str, dtype: Any, kinds: str, expected: str) -> None:
        if dtype.kind not in kinds:
            raise FormatError(f"{self.name}: the array {key!r} has the type {dtype}: expected {expected}")

    def _open(self, key: str) -> tuple[Head, Any]:
        """Return the header of an array, and the stream behind it."""
        files = self._archive.zip
        stream = files.open(key if key in files.namelist() else f"{key}.npy")
        return Head.read(key, stream), stream

    def _rows(self, head: Head) -> Iterator[Array]:
        """Yield the rows of an array, some at a time; of one that is stored column by column, all are in memory."""
        length = head.shape[0]
        if head.columns_first and len(head.shape) > 1:
            whole = self._archive[head.key]
            yield from (whole[first : first + ROWS] for first in range(0, length, ROWS))
            return
        _, stream = self._open(head.key)
        size = head.dtype.itemsize * math.prod(head.shape[1:])
        with stream:
            for first in range(0, length, ROWS):
                count = min(ROWS, length - first)
                data = stream.read(count * size)
                if len(data) < count * size:
                    raise ValueError(f"the array {head.key!r} is cut short")
                yield np.frombuffer(data, head.dtype).reshape(count, *head.shape[1:])

    @staticmethod
    def write(stream: BinaryIO, names: Names, blocks: Blocks, extra: Mapping[str, Any]) -> None:
        """Write one array a quantity, all in memory, and the others as they are."""
        parts = list(blocks)
        whole = {x: parts[0][x] if len(parts) == 1 else np.concatenate([part[x] for part in parts]) for x in names}
        np.savez(stream, **whole, **extra)  # type: ignore[arg-type]
