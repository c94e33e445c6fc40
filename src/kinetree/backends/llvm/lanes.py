"""`Lanes`: the LLVM type of one value of the graph, with its constants and intrinsics."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

ITEM_BYTES = {"float64": 8, "float32": 4}
_SCALAR = {"float64": "double", "float32": "float"}
_SUFFIX = {"float64": "f64", "float32": "f32"}


@dataclass(frozen=True)
class Lanes:
    """The type of one value: a vector of `count` states, or a scalar for one.

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
        """The suffix of an intrinsic on this type."""
        return f"v{self.count}{_SUFFIX[self.dtype]}" if self.count > 1 else _SUFFIX[self.dtype]

    def constant(self, value: float) -> str:
        """Return the constant with this value in every lane, rounded to the type."""
        literal = hex_literal(round_to(self.dtype, value))
        return f"splat ({self.scalar} {literal})" if self.count > 1 else literal


def round_to(dtype: str, value: float) -> float:
    """Return the value rounded to the type, to infinity on overflow."""
    return value if dtype == "float64" else ctypes.c_float(value).value


def hex_literal(value: float) -> str:
    """Return an exact float literal: LLVM writes a float as the bits of the equal double.

    Examples
    --------
    >>> hex_literal(-2.0)
    '0xC000000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
