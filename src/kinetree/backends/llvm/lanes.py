"""`Lanes`: one value of the graph in lanes, and how LLVM spells its type, its constants and its intrinsics."""

from __future__ import annotations

import struct
from dataclasses import dataclass

ITEM_BYTES = {"float64": 8, "float32": 4}
_SCALAR = {"float64": "double", "float32": "float"}
_SUFFIX = {"float64": "f64", "float32": "f32"}


@dataclass(frozen=True)
class Lanes:
    """The type of one value: `count` states of it side by side, a scalar for one.

    Examples
    --------
    >>> Lanes("float64", 8).type, Lanes("float64", 8).suffix
    ('<8 x double>', 'v8f64')
    >>> Lanes("float32", 1).type, Lanes("float32", 1).constant(0.5)
    ('float', '0x3FE0000000000000')
    """

    dtype: str
    count: int

    @property
    def item(self) -> int:
        """Bytes of one scalar."""
        return ITEM_BYTES[self.dtype]

    @property
    def bytes(self) -> int:
        """Bytes of the value."""
        return self.count * self.item

    @property
    def alignment(self) -> int:
        """Alignment of the value in memory, in bytes."""
        return min(64, self.bytes)

    @property
    def scalar(self) -> str:
        """The LLVM type of one lane."""
        return _SCALAR[self.dtype]

    @property
    def type(self) -> str:
        """The LLVM type of the value."""
        return f"<{self.count} x {self.scalar}>" if self.count > 1 else self.scalar

    @property
    def suffix(self) -> str:
        """The ending of an intrinsic on this type."""
        return f"v{self.count}{_SUFFIX[self.dtype]}" if self.count > 1 else _SUFFIX[self.dtype]

    def constant(self, value: float) -> str:
        """Return the constant that has this value in every lane, rounded to the type."""
        literal = hex_literal(round_to(self.dtype, value))
        return f"splat ({self.scalar} {literal})" if self.count > 1 else literal


def round_to(dtype: str, value: float) -> float:
    """Return the value rounded to the type (to infinity where it is too large for it)."""
    if dtype == "float64":
        return value
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def hex_literal(value: float) -> str:
    """Return a float literal that LLVM reads exactly (it spells a float by the bits of the equal double).

    Examples
    --------
    >>> hex_literal(-2.0)
    '0xC000000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
