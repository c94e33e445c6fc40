"""Operations on Python floats with the results of IEEE arithmetic, where Python itself raises an exception."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable


def div(a: float, b: float) -> float:
    """Return a / b, with the infinities and NaN of a division by zero."""
    if b == 0.0:
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def sqrt(a: float) -> float:
    """Return the square root, NaN for negative numbers."""
    return math.sqrt(a) if a >= 0.0 else math.nan


def sin(a: float) -> float:
    """Return the sine, NaN for infinities."""
    return math.sin(a) if math.isfinite(a) else math.nan


def cos(a: float) -> float:
    """Return the cosine, NaN for infinities."""
    return math.cos(a) if math.isfinite(a) else math.nan


def fma(a: float, b: float, c: float) -> float:
    """Return a·b + c with one rounding (in whole numbers: slow, but the reference)."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # also where a·b is finite but too large
    (m_a, e_a), (m_b, e_b), (m_c, e_c) = _whole(a), _whole(b), _whole(c)
    e = min(e_a + e_b, e_c)
    total = (m_a * m_b << e_a + e_b - e) + (m_c << e_c - e)
    if total == 0:
        return a * b + c  # the sign of an exact zero
    try:
        return float(total << e) if e >= 0 else total / (1 << -e)  # both are correctly rounded
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _whole(a: float) -> tuple[int, int]:
    """Return whole numbers m and e with ``a = m·2ᵉ``."""
    m, e = math.frexp(a)
    return (int(m * 2.0**53), e - 53) if a else (0, 0)


def _rounded(to_whole: Callable[[float], int]) -> Callable[[float], float]:
    """Return rounding to whole floats, of infinities and NaN too, with the sign of zeros."""
    return lambda a: math.copysign(to_whole(a), a) if abs(a) < 2.0**52 else a


rint, floor, ceil, trunc = _rounded(round), _rounded(math.floor), _rounded(math.ceil), _rounded(math.trunc)


def copysign(a: float, b: float) -> float:
    """Return |a| with the sign of b, plus if b is NaN: which sign a computed NaN has is left open."""
    return abs(a) if b != b else math.copysign(a, b)


_MANTISSA = (1 << 52) - 1


def _bits(a: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", math.nan if a != a else a))[0])


def _of_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def pow2(n: float) -> float:
    """Return 2ⁿ for a whole n in [-1022, 1023], 0 at -1023 and inf at 1024; elsewhere what the bits give."""
    return _of_bits(_bits(n + POW2_SHIFT) << 52 & (1 << 64) - 1)


def exponent(a: float) -> float:
    """Return the n of ``a = m·2ⁿ`` with m in [√½, √2), for a positive normal number; elsewhere what the bits give."""
    return float((_bits(a) + TO_SQRT_2 >> 52 & 4095) - 1023)


def significand(a: float) -> float:
    """Return the m of ``a = m·2ⁿ`` in [√½, √2), for a positive normal number; elsewhere what the bits give."""
    return _of_bits((_bits(a) + TO_SQRT_2 & _MANTISSA) + SQRT_HALF)


SQRT_HALF = 0x3FE6A09E667F3BCD
"""The bits of √½."""

TO_SQRT_2 = (1023 << 52) - SQRT_HALF
"""The bits of a number plus this have its exponent as their field of the exponent: one more from √2 on."""


POW2_SHIFT = 1.5 * 2.0**52 + 1023.0
"""n plus this has the exponent field of 2ⁿ as its lowest bits."""


def select_lt(a: float, b: float, x: float, y: float) -> float:
    """Return x where a < b, y elsewhere."""
    return x if a < b else y


def select_le(a: float, b: float, x: float, y: float) -> float:
    """Return x where a <= b, y elsewhere."""
    return x if a <= b else y
