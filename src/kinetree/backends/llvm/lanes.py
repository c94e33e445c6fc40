"""`Lanes`: the LLVM type of one value of the graph, with its constants and intrinsics."""

from __future__ import annotations

import ctypes
import struct

ITEM_BYTES = {"float64": 8, "float32": 4}
_NAMES = {"float64": ("double", "f64"), "float32": ("float", "f32")}


class Lanes:
    """The type of one value: a vector of `count` states, or a scalar for one.

    Attributes
    ----------
    item, bytes, alignment : int
        Bytes of one lane and of the value, and the alignment of the value in memory.
    scalar, type, suffix : str
        The LLVM types of one lane and of the value, and the suffix of an intrinsic on the value.

    Examples
    --------
    >>> Lanes("float64", 8).type, Lanes("float64", 8).suffix
    ('<8 x double>', 'v8f64')
    >>> Lanes("float32", 1).type, Lanes("float32", 1).constant(0.5)
    ('float', '0x3FE0000000000000')
    """

    def __init__(self, dtype: str, count: int) -> None:
        self.dtype, self.count = dtype, count
        self.item = ITEM_BYTES[dtype]
        self.bytes = count * self.item
        self.alignment = min(64, self.bytes)
        self.scalar, suffix = _NAMES[dtype]
        self.type = f"<{count} x {self.scalar}>" if count > 1 else self.scalar
        self.suffix = f"v{count}{suffix}" if count > 1 else suffix

    def constant(self, value: float) -> str:
        """Return the constant with this value in every lane, rounded to the type."""
        literal = hex_literal(value if self.dtype == "float64" else ctypes.c_float(value).value)  # inf on overflow
        return f"splat ({self.scalar} {literal})" if self.count > 1 else literal


def hex_literal(value: float) -> str:
    """Return an exact float literal: LLVM writes a float as the bits of the equal double.

    Examples
    --------
    >>> hex_literal(-2.0)
    '0xC000000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
