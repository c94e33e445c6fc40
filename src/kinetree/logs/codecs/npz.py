"""NPZ archives: whole arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,), read some rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kinetree.errors import FormatError
from kinetree.logs.codecs.table import BESIDE, ROWS, TEXTS, Blocks, Names, Table
from kinetree.logs.columns import FORCES, QUANTITIES, SAVED, Coordinates, Slot, numbered_notes, some, without_base
from kinetree.logs.layout import Layout, check_quantities
from kinetree.validation import Array

LABELS = ("q_names", "v_names")
"""Arrays with the names of the entries, as kinetree writes them: where they are there, they must be the robot's."""


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
    """An archive; the same words are understood for arrays as in the columns of a CSV."""

    kind = "NPZ archive"
    suffixes = (".npz",)

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        with self.reading():
            self._archive = np.load(stream, allow_pickle=False)
            self.check_size(stream, sum(member.file_size for member in self._archive.zip.infolist()))
            self.heads = {}
            for key in self._archive.files:
                with self._open(key) as array:
                    self.heads[key] = Head.read(key, array)
            self._labels = {key: self._archive[key] for key in LABELS if key in self.heads}

    def layout_of(self, coordinates: Coordinates, quantities: Sequence[str]) -> Layout:
        """See `Table`."""
        self._check_labels(coordinates)
        self._keys: dict[str, Head] = {}
        slots: list[Slot] = []
        for quantity in ("t", *quantities):
            keys = [word for word in QUANTITIES[quantity].words if word in self.heads]
            if len(keys) > 1:
                raise FormatError(f"the arrays {keys[0]!r} and {keys[1]!r} are both {quantity}")
            if keys:
                self._keys[quantity] = self.heads[keys[0]]
                slots += _slots(self.heads[keys[0]], quantity, coordinates)
        if "q" not in self._keys:
            raise FormatError(f"there is no array 'q'; the archive has: {', '.join(self.heads) or 'none'}")
        used = {head.key for head in self._keys.values()} | {"tau", *LABELS, *BESIDE}
        ignored = tuple(sorted(self.heads.keys() - used))
        check_quantities(set(self._keys), coordinates, ignored, quantities)
        lengths = {quantity: head.shape[0] for quantity, head in self._keys.items()}
        if len(set(lengths.values())) > 1:
            raise FormatError(f"the arrays differ in length: {lengths}")
        self._length = lengths["q"]
        unnamed = [x for x in "qva" if x in self._keys and f"{'q' if x == 'q' else 'v'}_names" not in self._labels]
        notes = numbered_notes(coordinates, {(x, k): f"{x}[:, {k}]" for x, k in coordinates.slots(*unnamed)})
        return Layout(tuple(slots), tuple(map(coordinates.call, slots)), ignored, notes)

    def _check_labels(self, coordinates: Coordinates) -> None:
        """Raise `FormatError` if the archive says that it is another robot's."""
        for key, expected in zip(LABELS, (coordinates.q, coordinates.v), strict=True):
            found = tuple(map(str, self._labels.get(key, np.array(expected)).ravel()))
            if found != expected:
                raise FormatError(f"{key!r} are those of another robot: {some(found)}; expected {some(expected)}")

    def saved(self, coordinates: Coordinates) -> dict[str, Any]:
        """Return the arrays of a saved trajectory, of any batch; `FormatError` if they are another robot's."""
        try:
            self._check_labels(coordinates)
        except FormatError as error:
            raise FormatError(f"{self.name}: {error}") from None
        with self.reading():
            found = {key: self._archive[key] for key in ("t", *SAVED, "f", *BESIDE) if key in self.heads}
        for key, array in found.items():
            texts = key in TEXTS
            if array.dtype.kind not in ("U" if texts else "fiu"):
                needed = "texts" if texts else "real numbers"
                raise FormatError(f"{self.name}: the array {key!r} has the type {array.dtype}: expected {needed}")
        return found

    def numbers(self) -> Iterator[dict[str, Array]]:
        """See `Table`."""
        readers = {quantity: self._rows(head) for quantity, head in self._keys.items()}
        for first in range(0, self._length, ROWS):
            with self.reading():
                arrays = {quantity: next(rows) for quantity, rows in readers.items()}
            self.progress = min(1.0, (first + ROWS) / self._length)
            yield {x: np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), -1) for x, y in arrays.items()}

    def fault(self, row: int, quantity: str, k: int, value: float) -> str:
        """See `Table`."""
        entry = self.layout.names[self.layout.groups[quantity][k]].partition(".")[2]
        column = f", column {k} ({entry})" if entry else ""
        return f"{self._keys[quantity].key!r}, row {row}{column}: {value} is not a finite number"

    def _open(self, key: str) -> Any:
        files = self._archive.zip
        return files.open(key if key in files.namelist() else f"{key}.npy")

    def _rows(self, head: Head) -> Iterator[Array]:
        """Yield the rows of an array, some at a time; of one that is stored column by column, all are in memory."""
        if head.columns_first and len(head.shape) > 1:
            whole = self._archive[head.key]
            yield from (whole[first : first + ROWS] for first in range(0, self._length, ROWS))
            return
        with self._open(head.key) as stream:
            Head.read(head.key, stream)
            size = head.dtype.itemsize * math.prod(head.shape[1:])
            for first in range(0, self._length, ROWS):
                count = min(ROWS, self._length - first)
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


def _slots(head: Head, quantity: str, coordinates: Coordinates) -> list[Slot]:
    """Return the entries that the columns of an array are; `FormatError` if it is not of this quantity."""
    if head.dtype.kind not in "fiu":
        raise FormatError(f"the array {head.key!r} has the type {head.dtype}: expected real numbers")
    slots = coordinates.slots(quantity)
    joints = [slot for slot in slots if slot[1] not in coordinates.of_base(quantity)]
    if quantity in FORCES and head.shape[1:] == (len(joints),):
        return joints  # nothing drives a floating base
    wanted: list[tuple[int, ...]] = [(), (1,)] if quantity == "t" else [(len(slots),)]
    if quantity == "wrench":
        wanted.append((len(coordinates.wrenches), 6))
    if len(head.shape) == 0 or head.shape[1:] not in wanted:
        expected = "(n,)" if quantity == "t" else f"(n, {', '.join(map(str, wanted[-1]))})"
        alone = quantity != "t" and head.shape[1:] == (len(joints),)
        hint = f".{without_base(coordinates)}" if alone else ""
        raise FormatError(f"the array {head.key!r} has the shape {head.shape}: expected {expected}{hint}")
    return slots
