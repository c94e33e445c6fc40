"""How large what is in a file may be: one that says it has far more in it than its size is refused unread."""

from __future__ import annotations

from typing import BinaryIO

from kinetree.errors import FormatError

FREE = 100_000_000
"""Bytes that a file may always hold."""

MOST = 100
"""How many times its own size a larger one may hold: what compresses better is no recorded motion."""


def check_size(name: str, stream: BinaryIO, held: int) -> None:
    """Raise `FormatError` if a file is to hold so many bytes, and has far fewer."""
    at = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(at)
    if held > max(FREE, MOST * size):
        raise FormatError(f"{name}: {size} bytes that say they hold {held}: that is refused, as an attack may be")
