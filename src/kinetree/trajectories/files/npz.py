"""Reading a trajectory from an NPZ archive, block by block, however long it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kinetree.errors import FormatError
from kinetree.trajectories.block import BLOCK, Block
from kinetree.trajectories.columns.match import check_quantities
from kinetree.trajectories.columns.messages import MissingNumberError, numbered_notes, without_base
from kinetree.trajectories.columns.names import FORCES, MOTION, TIME, Vocabulary
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files.happened import NUMBERS, TEXTS
from kinetree.validation import Array


class _Held(NamedTuple):
    """An array as its header describes it, and the names of the entries of a row."""

    key: str
    shape: tuple[int, ...]
    dtype: Any
    columns_first: bool
    names: tuple[str, ...] = ()


class NpzReader:
    """An NPZ trajectory: arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,).

    The same words are understood as in the columns of a CSV. If the archive has ``q_names`` or ``v_names``, as those
    written by kinetree have, they must be the robot's. Without `complete`, numbers may be NaN or infinite.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        coordinates: Coordinates,
        vocabulary: Vocabulary = MOTION,
        *,
        complete: bool = True,
    ) -> None:
        self._name, self._bytes, self._complete = name, stream.seek(0, 2), complete
        stream.seek(0)
        try:
            self._archive = np.load(stream, allow_pickle=False)
            held = {key: self._header(key) for key in self._archive.files}
            labels = {key: self._archive[key] for key in ("q_names", "v_names") if key in held}
        except Exception as error:  # zipfile, zlib and NumPy have a dozen types for a damaged archive
            raise self._unreadable(error) from None
        for key, expected in (("q_names", coordinates.q), ("v_names", coordinates.v)):
            found = tuple(map(str, labels.get(key, np.array(expected)).ravel()))
            if found != expected:
                raise FormatError(
                    f"{name}: {key!r} are those of another robot: {some(found)}; expected {some(expected)}"
                )
        self._arrays: dict[str, _Held] = {}
        used = {"q_names", "v_names", "tau", "stopped_at", "reasons", *TEXTS, *NUMBERS}
        for quantity, words in {"t": TIME, **vocabulary.words}.items():
            keys = [word for word in words if word in held]
            if len(keys) > 1:
                raise FormatError(f"{name}: the arrays {keys[0]!r} and {keys[1]!r} are both {quantity}")
            if keys:
                self._arrays[quantity] = self._checked(held[keys[0]], quantity, coordinates)
                used.add(keys[0])
        self.quantities = set(self._arrays)
        self.ignored = tuple(sorted(set(held) - used))
        unnamed = [x for x in "qva" if x in self._arrays and f"{'q' if x == 'q' else 'v'}_names" not in held]
        self.notes = numbered_notes(coordinates, {(x, k): f"{x}[:, {k}]" for x, k in coordinates.slots(unnamed)})
        if "q" not in self._arrays:
            raise FormatError(f"{name}: there is no array 'q'; the archive has: {', '.join(held) or 'none'}")
        try:
            check_quantities(self.quantities, coordinates, self.ignored, vocabulary)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        lengths = {quantity: array.shape[0] for quantity, array in self._arrays.items()}
        if len(set(lengths.values())) > 1:
            raise FormatError(f"{name}: the arrays differ in length: {lengths}")
        self._size, self._done = lengths["q"], 0
        if self._size == 0:
            raise FormatError(f"{name}: there are no rows")

    def position(self) -> int:
        """Return about how many bytes have been read: a part of the archive as large as that of the rows."""
        return int(self._bytes * self._done / self._size)

    def blocks(self) -> Iterator[Block]:
        """Yield the samples; `FormatError` names the row and the column of the first that is not a finite number."""
        readers = {quantity: self._rows(held) for quantity, held in self._arrays.items()}
        for first in range(0, self._size, BLOCK):
            arrays: dict[str, Any] = {"t": None}
            for quantity, rows in readers.items():
                try:
                    array = next(rows)
                except Exception as error:
                    raise self._unreadable(error) from None
                arrays[quantity] = self._numbers(array, first, self._arrays[quantity])
            self._done = first + len(arrays["q"])
            yield Block(first, **arrays)

    def _unreadable(self, error: Exception) -> FormatError:
        return FormatError(f"{self._name}: not a readable NPZ archive: {error}")

    def _open(self, key: str) -> Any:
        files = self._archive.zip
        return files.open(key if key in files.namelist() else f"{key}.npy")

    def _header(self, key: str) -> _Held:
        with self._open(key) as stream:
            return self._described(key, stream)

    def _described(self, key: str, stream: Any) -> _Held:
        """Return what the header says, and leave the stream behind it."""
        old = np.lib.format.read_magic(stream) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, columns_first, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError(f"the array {key!r} holds Python objects")
        return _Held(key, shape, dtype, columns_first)

    def _rows(self, held: _Held) -> Iterator[Array]:
        """Yield the rows of an array, some at a time; of one that is stored column by column, all are in memory."""
        if held.columns_first and len(held.shape) > 1:
            whole = self._archive[held.key]
            yield from (whole[first : first + BLOCK] for first in range(0, self._size, BLOCK))
            return
        with self._open(held.key) as stream:
            self._described(held.key, stream)
            size = held.dtype.itemsize * math.prod(held.shape[1:])
            for first in range(0, self._size, BLOCK):
                count = min(BLOCK, self._size - first)
                data = stream.read(count * size)
                if len(data) < count * size:
                    raise ValueError(f"the array {held.key!r} is cut short")
                yield np.frombuffer(data, held.dtype).reshape(count, *held.shape[1:])

    def _checked(self, held: _Held, quantity: str, coordinates: Coordinates) -> _Held:
        """Return an array with the names of its entries; `FormatError` if it is not of this quantity."""
        key, shape, dtype = held[:3]
        if dtype.kind not in "fiu":
            raise FormatError(f"{self._name}: the array {key!r} has the type {dtype}: expected real numbers")
        names = () if quantity == "t" else coordinates.names(quantity)
        if quantity in FORCES and len(shape) == 2 and len(names) - shape[1] == len(coordinates.of_base(quantity)):
            names = tuple(np.delete(names, coordinates.of_base(quantity)))  # nothing drives a floating base
        wanted: list[tuple[int, ...]] = [(len(names),)] if names else [(), (1,)]
        if quantity == "wrench":
            wanted.append((len(coordinates.wrenches), 6))
        if len(shape) == 0 or shape[1:] not in wanted:
            expected = f"(n, {', '.join(map(str, wanted[-1]))})" if names else "(n,)"
            alone = names and shape[1:] == (len(names) - len(coordinates.of_base(quantity)),)
            hint = f".{without_base(coordinates)}" if alone else ""
            raise FormatError(f"{self._name}: the array {key!r} has the shape {shape}: expected {expected}{hint}")
        return held._replace(names=names)

    def _numbers(self, array: Array, first: int, held: _Held) -> Array:
        """Return rows as finite numbers."""
        shape = (len(array), len(held.names)) if held.names else (len(array),)
        numbers = np.ascontiguousarray(array, dtype=np.float64).reshape(shape)
        for row, *column in np.argwhere(~np.isfinite(numbers))[: int(self._complete)]:
            entry = f", column {column[0]} ({held.names[column[0]]})" if held.names else ""
            value = numbers[(row, *column)]
            raise MissingNumberError(
                f"{self._name}, {held.key!r}, row {first + row}{entry}: {value} is not a finite number"
            )
        return numbers
