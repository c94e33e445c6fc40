"""A piece of a motion: what readers yield and writers take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.validation import Array

BLOCK = 8192
"""Rows in a block."""


@dataclass(frozen=True)
class Block:
    """Consecutive samples of a motion: t (n,) in s, q (n, nq), v, a and tau (n, nv), motor currents (n, nv) in A.

    Measured wrenches (n, 6 k) are moments (N·m) and forces (N). `first` is the index of the first.
    """

    first: int
    t: Array | None
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    current: Array | None = None
    wrench: Array | None = None

    @property
    def when(self) -> Array:
        """The times (n,), or the numbers of the samples counted from 1 where there is no time."""
        if self.t is not None:
            return self.t
        return np.arange(self.first + 1, self.first + 1 + len(self.q), dtype=np.float64)


def blocks_of(arrays: dict[str, Any]) -> Iterator[Block]:
    """Yield a whole motion, some of the arrays "t", "q", "v" and "a", in blocks."""
    for first in range(0, len(arrays["q"]), BLOCK):
        yield Block(first, **{"t": None} | {x: array[first : first + BLOCK] for x, array in arrays.items()})
