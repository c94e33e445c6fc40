"""Reading a trajectory from an NPZ archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import FormatError
from kinetree.trajectories.block import Block, blocks_of
from kinetree.trajectories.columns.match import check_quantities
from kinetree.trajectories.columns.messages import numbered_notes, without_base
from kinetree.trajectories.columns.names import FORCES, MOTION, TIME, Vocabulary
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.files.happened import NUMBERS, TEXTS
from kinetree.validation import Array


class NpzReader:
    """An NPZ trajectory: arrays ``q`` (n, nq), ``v`` and ``a`` (n, nv), ``t`` (n,).

    The same words are understood as in the columns of a CSV. If the archive has ``q_names`` or ``v_names``, as those
    written by kinetree have, they must be the robot's.
    """

    def __init__(self, stream: BinaryIO, name: str, coordinates: Coordinates, vocabulary: Vocabulary = MOTION) -> None:
        self._name = name
        try:
            with np.load(stream, allow_pickle=False) as archive:
                arrays = dict(archive)
        except Exception as error:  # zipfile, zlib and NumPy have a dozen types for a damaged archive
            raise FormatError(f"{name}: not a readable NPZ archive: {error}") from None
        for key, expected in (("q_names", coordinates.q), ("v_names", coordinates.v)):
            held = tuple(map(str, arrays.get(key, np.array(expected)).ravel()))
            if held != expected:
                raise FormatError(
                    f"{name}: {key!r} are those of another robot: {some(held)}; expected {some(expected)}"
                )
        self._arrays: dict[str, Array] = {}
        used = {"q_names", "v_names", "tau", "stopped_at", "reasons", *TEXTS, *NUMBERS}
        for quantity, words in {"t": TIME, **vocabulary.words}.items():
            keys = [word for word in words if word in arrays]
            if len(keys) > 1:
                raise FormatError(f"{name}: the arrays {keys[0]!r} and {keys[1]!r} are both {quantity}")
            if keys:
                self._arrays[quantity] = self._array(keys[0], arrays[keys[0]], quantity, coordinates)
                used.add(keys[0])
        self.quantities = set(self._arrays)
        self.ignored = tuple(sorted(set(arrays) - used))
        unnamed = [x for x in "qva" if x in self._arrays and f"{'q' if x == 'q' else 'v'}_names" not in arrays]
        self.notes = numbered_notes(coordinates, {(x, k): f"{x}[:, {k}]" for x, k in coordinates.slots(unnamed)})
        if "q" not in self._arrays:
            raise FormatError(f"{name}: there is no array 'q'; the archive has: {', '.join(arrays) or 'none'}")
        try:
            check_quantities(self.quantities, coordinates, self.ignored, vocabulary)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        lengths = {quantity: len(array) for quantity, array in self._arrays.items()}
        if len(set(lengths.values())) > 1:
            raise FormatError(f"{name}: the arrays differ in length: {lengths}")
        if lengths["q"] == 0:
            raise FormatError(f"{name}: there are no rows")

    def position(self) -> int:
        """Return 0: all is read at once, there is no progress to report."""
        return 0

    def blocks(self) -> Iterator[Block]:
        """Yield the samples."""
        return blocks_of(self._arrays)

    def _array(self, key: str, array: Any, quantity: str, coordinates: Coordinates) -> Array:
        if array.dtype.kind not in "fiu":
            raise FormatError(f"{self._name}: the array {key!r} has the type {array.dtype}: expected real numbers")
        names = () if quantity == "t" else coordinates.names(quantity)
        if quantity in FORCES and array.ndim == 2 and len(names) - array.shape[1] == len(coordinates.of_base(quantity)):
            names = tuple(np.delete(names, coordinates.of_base(quantity)))  # nothing drives a floating base
        if not names and array.shape[1:] == (1,):
            array = array[:, 0]
        if array.ndim == 0 or array.shape[1:] != ((len(names),) if names else ()):
            expected = f"(n, {len(names)})" if names else "(n,)"
            alone = names and array.shape[1:] == (len(names) - len(coordinates.of_base(quantity)),)
            hint = f".{without_base(coordinates)}" if alone else ""
            raise FormatError(f"{self._name}: the array {key!r} has the shape {array.shape}: expected {expected}{hint}")
        numbers = np.ascontiguousarray(array, dtype=np.float64)
        for row, *column in np.argwhere(~np.isfinite(numbers))[:1]:
            entry = f", column {column[0]} ({names[column[0]]})" if names else ""
            value = numbers[(row, *column)]
            raise FormatError(f"{self._name}, {key!r}, row {row}{entry}: {value} is not a finite number")
        return numbers
