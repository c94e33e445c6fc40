"""`Emitted`: a piece of C, and what else must be in the file with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Emitted:
    """Definitions, the numbers in their static arrays, and the array kernels and helpers that they call."""

    text: str
    cells: int = 0
    kernels: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
