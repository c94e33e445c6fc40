"""Memory for large results: that of one that was dropped serves the next.

The C library gives large memory back to the system at once, and the system clears every page of it again when it is
next asked for: for results of tens of megabytes that takes longer than to compute them. So a little is kept.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.runtime.arguments import Array

LEAST_BYTES = 32 << 20  # of a block that is kept; malloc keeps smaller ones itself
MOST_BYTES = 64 << 20  # of all blocks that are kept


class _Spare(deque[Array]):
    """Blocks that nobody uses, oldest first. Where threads get in each other's way, a block less is found or kept."""

    def keep(self, block: Array, most: int = MOST_BYTES) -> None:
        """Add a block, and drop old ones if there are too many."""
        self.append(block)
        while sum(block.nbytes for block in list(self)) > most:
            self.oldest()

    def oldest(self) -> Array | None:
        """Take the oldest block."""
        try:
            return self.popleft()
        except IndexError:
            return None

    def find(self, size: int) -> Array | None:
        """Take a block of this size."""
        for _ in range(len(self)):
            block = self.oldest()
            if block is None or block.nbytes == size:
                return block
            self.append(block)
        return None


_spare = _Spare()


class _Owner:
    """What the results in a block have as their base: when the last of them is gone, the block is free again."""

    def __init__(self, block: Array) -> None:
        self._block, self._spare = block, _spare  # the module may be empty already when an interpreter ends

    @property
    def __array_interface__(self) -> dict[str, object]:
        return self._block.__array_interface__

    def __del__(self) -> None:
        self._spare.keep(self._block)


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array with anything in it, as `numpy.empty` does.

    Examples
    --------
    >>> empty((2, 3), np.dtype(np.float64)).shape
    (2, 3)
    """
    size = math.prod(shape) * dtype.itemsize
    if not LEAST_BYTES <= size <= MOST_BYTES:
        return np.empty(shape, dtype)
    block = _spare.find(size)
    return np.asarray(_Owner(np.empty(size, np.uint8) if block is None else block)).view(dtype).reshape(shape)


def clear() -> None:
    """Give back all memory that is kept."""
    _spare.clear()
