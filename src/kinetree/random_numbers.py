"""What the random configurations are made with, checked: a seed, and how many are wanted."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from kinetree.errors import ArgumentError

Seed = int | Generator | None
Size = int | tuple[int, ...]


def as_generator(seed: Seed) -> Generator:
    """Return a generator of random numbers for whatever NumPy takes as a seed; `ArgumentError` for anything else."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(f"seed is {seed!r}, it must be an integer ≥ 0, a numpy.random.Generator or None") from None


def as_lead(size: Size) -> tuple[int, ...]:
    """Return the leading axes of so many configurations."""
    try:
        return np.broadcast_shapes(size)
    except (TypeError, ValueError):
        raise ArgumentError(f"size is {size!r}, it must be an integer ≥ 0 or a tuple of them") from None
