"""Operations on Python floats with the results of IEEE arithmetic, where Python itself raises an exception."""

from __future__ import annotations

import math
from fractions import Fraction


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
    """Return a·b + c with one rounding (in exact rationals: slow, but the reference)."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # also where a·b is finite but too large
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of an exact zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
