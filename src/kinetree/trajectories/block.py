"""A piece of a motion: what readers yield and writers take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.validation import Array

BLOCK = 8192
"""Rows in a block."""


@dataclass(frozen=True)
class Block:
    """Consecutive samples of a motion.

    Attributes
    ----------
    first : int
        Index of the first sample in the whole motion.
    t : (n,) array, or None
        Times in s.
    q : (n, nq) array
    v, a : (n, nv) arrays, or None
    """

    first: int
    t: Array | None
    q: Array
    v: Array | None
    a: Array | None

    @property
    def when(self) -> Array:
        """The times (n,), or the numbers of the samples counted from 1 where there is no time."""
        if self.t is not None:
            return self.t
        return np.arange(self.first + 1, self.first + 1 + len(self.q), dtype=np.float64)
