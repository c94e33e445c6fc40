"""Reading a trajectory from an NPZ archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import FormatError
from kinetree.trajectories.block import BLOCK, Block
from kinetree.trajectories.columns.match import check_quantities
from kinetree.trajectories.columns.messages import numbered_notes, without_base
from kinetree.trajectories.columns.names import QUANTITIES, TIME
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.validation import Array


class NpzReader:
    """An NPZ trajectory: arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,).

    The same words are understood as in the columns of a CSV. If the archive has ``q_names`` or ``v_names``, as those
    written by kinetree have, they must be the robot's.
    """

    def __init__(self, stream: BinaryIO, name: str, coordinates: Coordinates) -> None:
        self._name = name
        try:
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files}
        except Exception as error:  # zipfile, zlib and NumPy have a dozen types for a damaged archive
            raise FormatError(f"{name}: not a readable NPZ archive: {error}") from None
        self._check_names(arrays, coordinates)
        self.ignored = tuple(sorted(set(arrays) - {"q_names", "v_names", "tau"}))
        self._arrays: dict[str, Array] = {}
        for quantity, words in {"t": TIME, **QUANTITIES}.items():
            held = [word for word in words if word in arrays]
            if len(held) > 1:
                raise FormatError(f"{name}: the arrays {held[0]!r} and {held[1]!r} are both {quantity}")
            if held:
                self._arrays[quantity] = self._array(held[0], arrays[held[0]], quantity, coordinates)
                self.ignored = tuple(key for key in self.ignored if key != held[0])
        unnamed = [x for x in "qva" if x in self._arrays and f"{'q' if x == 'q' else 'v'}_names" not in arrays]
        called = {slot: f"{x}[:, {slot[1]}]" for x in unnamed for slot in coordinates.slots(x)}
        self.notes = numbered_notes(coordinates, called)
        if "q" not in self._arrays:
            there = ", ".join(arrays) or "none"
            raise FormatError(f"{name}: there is no array 'q'; the archive has: {there}")
        try:
            check_quantities(self.quantities, coordinates)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        lengths = {quantity: len(array) for quantity, array in self._arrays.items()}
        if len(set(lengths.values())) > 1:
            raise FormatError(f"{name}: the arrays differ in length: {lengths}")
        if lengths["q"] == 0:
            raise FormatError(f"{name}: there are no rows")

    @property
    def quantities(self) -> set[str]:
        """Which of "t", "q", "v" and "a" the archive has."""
        return set(self._arrays)

    def position(self) -> int:
        """Return how many bytes have been read; nobody asks, since it is all read at once."""
        return 0

    def blocks(self) -> Iterator[Block]:
        """Yield the samples."""
        q = self._arrays["q"]
        for first in range(0, len(q), BLOCK):
            rows = slice(first, first + BLOCK)
            t, v, a = (self._arrays[x][rows] if x in self._arrays else None for x in "tva")
            yield Block(first, None if t is None else t[:, 0], q[rows], v, a)

    def _array(self, key: str, array: NDArray[np.generic], quantity: str, coordinates: Coordinates) -> Array:
        if array.dtype.kind not in "fiu":
            raise FormatError(f"{self._name}: the array {key!r} has the type {array.dtype}: expected real numbers")
        width = 1 if quantity == "t" else len(coordinates.names(quantity))
        shape = array.shape
        if quantity == "t" and array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != width:
            expected = "(n,)" if quantity == "t" else f"(n, {width})"
            joints = width - len(coordinates.of_base(quantity))
            hint = f".{without_base(coordinates)}" if shape[1:] == (joints,) and quantity != "t" else ""
            raise FormatError(f"{self._name}: the array {key!r} has the shape {shape}: expected {expected}{hint}")
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        bad = np.argwhere(~np.isfinite(numbers))
        if len(bad):
            row, column = (int(k) for k in bad[0])
            entry = "" if quantity == "t" else f", column {column} ({coordinates.names(quantity)[column]})"
            raise FormatError(f"{self._name}, {key!r}, row {row}{entry}: {numbers[row, column]} is not a finite number")
        return numbers

    def _check_names(self, arrays: dict[str, NDArray[np.generic]], coordinates: Coordinates) -> None:
        for key, names in (("q_names", coordinates.q), ("v_names", coordinates.v)):
            if key in arrays and tuple(map(str, arrays[key].ravel())) != names:
                held = some([str(name) for name in arrays[key].ravel()])
                raise FormatError(f"{self._name}: {key!r} are those of another robot: {held}; expected {some(names)}")
