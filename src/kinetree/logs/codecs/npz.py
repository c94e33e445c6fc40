"""NPZ archives: whole arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,), read some rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import FormatError
from kinetree.logs.codecs.table import BESIDE, ROWS, TEXTS, Arrays, Names, Table
from kinetree.logs.columns import QUANTITIES, Coordinates, some
from kinetree.logs.layout import Layout
from kinetree.validation import Array

LABELS = ("q_names", "v_names")  # arrays with the names of the entries, as kinetree writes them

WORDS = {word: x for x, quantity in QUANTITIES.items() for word in quantity.words}
WIDEST = 10_000  # columns that an array has at most


class Npz(Table):
    """An archive, of whose arrays the columns go by number, ``q[:, 3]``, or by the labels that are there."""

    kind = "NPZ archive"
    suffixes = (".npz",)

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        with self.reading(self.name):
            self._archive = np.load(stream, allow_pickle=False)
            self.check_size(stream, sum(member.file_size for member in self._archive.zip.infolist()))
            self._heads = {key: self._open(key)[1:3] for key in self._archive.files}
            self.labels = {key: tuple(map(str, self._archive[key].ravel())) for key in LABELS if key in self._heads}
        self._columns = [
            (key, name) for key in self._heads if key not in {*LABELS, *BESIDE} for name in self._names_of(key)
        ]
        self.names = tuple(name for _, name in self._columns)

    def _names_of(self, key: str) -> Iterable[str]:
        """Return what the columns of an array are called."""
        shape, quantity = self._heads[key][0], WORDS.get(key)
        width = math.prod(shape[1:])
        if len(shape) == 1 or (quantity == "t" and shape[1:] == (1,)):
            return (key,)
        if quantity is None or not shape or not 0 < width <= WIDEST:
            return (f"{key} of the shape {shape}",)
        labels = () if quantity == "wrench" else self.labels.get("q_names" if quantity == "q" else "v_names", ())
        return (f"{key}.{x}" for x in labels) if len(labels) == width else (f"{key}[:, {k}]" for k in range(width))

    def layout_of(self, coordinates: Coordinates, quantities: Sequence[str]) -> Layout:
        """See `Table`."""
        for key, expected in zip(LABELS, (coordinates.q, coordinates.v), strict=True):
            found = self.labels.get(key, expected)
            if {*found} != {*expected}:
                raise FormatError(f"{key!r} are those of another robot: {some(found)}; expected {some(expected)}")
        arrays: dict[str, str] = {}
        for key, (shape, _) in self._heads.items():
            quantity = WORDS.get(key)
            if quantity not in ("t", *quantities):
                continue
            if (first := arrays.setdefault(quantity, key)) != key:
                raise FormatError(f"the arrays {first!r} and {key!r} are both {quantity}")
            of_t, of_wrench = quantity == "t" and shape[1:] == (1,), quantity == "wrench" and shape[2:] == (6,)
            if len(shape) != 1 and not of_t and not of_wrench and (quantity == "t" or len(shape) != 2):
                expected_shape = "(n,)" if quantity == "t" else f"(n, {len(coordinates.slots(quantity))})"
                raise FormatError(f"the array {key!r} has the shape {shape}: expected {expected_shape}")
        try:
            return super().layout_of(coordinates, quantities)
        except FormatError as error:
            there = some([f"{key} {shape}" for key, (shape, _) in self._heads.items()])
            raise FormatError(f"{str(error).rstrip('.')}; the archive has {there or 'no arrays'}") from None

    def arrays(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the arrays of these names that are there, of numbers, or of texts where these are expected."""
        with self.reading(self.name):
            found = {key: self._archive[key] for key in keys if key in self._heads}
        for key, array in found.items():
            wanted = ("U", "texts") if key in TEXTS else ("fiu", "real numbers")
            self._check_type(key, array.dtype, *wanted)
        return found

    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """See `Table`; `FormatError` for arrays that are no numbers, or differ in length."""
        keys = list(dict.fromkeys(self._columns[k][0] for k in columns))
        lengths = {key: self._heads[key][0][0] for key in keys}
        for key in keys:
            self._check_type(key, self._heads[key][1], "fiu", "real numbers")
        if len({*lengths.values()}) > 1:
            raise FormatError(f"{self.name}: the arrays differ in length: {lengths}")
        own = [k for key in keys for k, column in enumerate(self._columns) if column[0] == key]
        order = [own.index(k) for k in columns]
        length = max(lengths.values(), default=0)
        with self.reading(self.name):
            opened = {key: self._open(key) for key in keys}
            for key, (_, shape, dtype, columns_first) in opened.items():
                if columns_first and shape[1:]:  # all of it is in memory, row by row
                    opened[key] = BytesIO(self._archive[key].tobytes()), shape, dtype, False
        for first in range(0, length, ROWS):
            count, parts = min(ROWS, length - first), list[Array]()
            for key, (stream, shape, dtype, _) in opened.items():
                size = count * dtype.itemsize * math.prod(shape[1:])
                with self.reading(self.name):
                    if len(data := stream.read(size)) < size:
                        raise ValueError(f"the array {key!r} is cut short")
                    parts.append(np.asarray(np.frombuffer(data, dtype), float).reshape(count, -1))
            self.progress = min(1.0, (first + ROWS) / length)
            yield np.hstack(parts)[:, order]

    def _check_type(self, key: str, dtype: Any, kinds: str, expected: str) -> None:
        if dtype.kind not in kinds:
            raise FormatError(f"{self.name}: the array {key!r} has the type {dtype}: expected {expected}")

    def _open(self, key: str) -> tuple[Any, tuple[int, ...], Any, bool]:
        """Return an array as a stream behind its header, with its shape, type, and whether columns come first."""
        files = self._archive.zip
        stream = files.open(key if key in files.namelist() else f"{key}.npy")
        old = np.lib.format.read_magic(stream) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, columns_first, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError(f"the array {key!r} holds Python objects")
        return stream, shape, dtype, columns_first

    @staticmethod
    def write(stream: BinaryIO, names: Names, arrays: Arrays, extra: Mapping[str, Any]) -> None:
        """Write one array a quantity, and the others as they are."""
        np.savez(stream, **{x: arrays[x] for x in names}, **extra)  # type: ignore[arg-type]
