"""Memory for large results: the block of a deleted result is reused for the next.

The system clears every page of new memory, and the C library (glibc from 32 MB on) asks for new memory each time: for
results of tens of megabytes that takes longer than to compute them. So the blocks of the last two are retained. One is
free when nothing but this module refers to it: results and their views have it as their base.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.runtime.arguments import Array

LEAST_BYTES = 32 << 20
MOST_BYTES = 64 << 20  # of one result; at most twice this is retained

_blocks: deque[list[Array]] = deque(maxlen=2)  # lists of one block: passing a list adds no reference to its block
_UNUSED = 2  # references to a block: by its list, and by the argument of getrefcount
_COUNTED: bool = getattr(sys, "_is_gil_enabled", lambda: True)()  # else another thread may be adding a reference


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array with anything in it, as `numpy.empty` does."""
    size = math.prod(shape) * dtype.itemsize
    if not (LEAST_BYTES <= size <= MOST_BYTES and _COUNTED):
        return np.empty(shape, dtype)
    holder = _unused(size) or [np.empty(size, np.uint8)]
    array = holder[0].view(dtype).reshape(shape)
    _blocks.append(holder)
    return array


def _unused(size: int) -> list[Array] | None:
    """Take an unused block of this size out of the queue, so that other threads do not see it."""
    for _ in range(len(_blocks)):
        try:
            holder = _blocks.popleft()
        except IndexError:  # another thread has them
            return None
        if holder[0].nbytes == size and sys.getrefcount(holder[0]) == _UNUSED:
            return holder
        _blocks.append(holder)
    return None


def clear() -> None:
    """Release the unused blocks."""
    _blocks.clear()
