"""What a compilation leaves: object code, apart from the compiler, which a cached function does not need."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """Object code, and what is needed to load and call it. It can be pickled, and loaded by another process.

    Attributes
    ----------
    object_code : bytes
        An object file.
    scratch : int
        Bytes of scratch, aligned to 64, that one running call needs.
    symbols : tuple of str
        The entry points.
    externals : tuple of str
        Symbols that the code needs from outside; ``llvmlite.binding.add_symbol`` tells where those are that the
        process does not have by itself.
    """

    object_code: bytes
    scratch: int
    symbols: tuple[str, ...]
    externals: tuple[str, ...]
