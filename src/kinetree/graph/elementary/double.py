"""Sums and products with their rounding errors: numbers of twice the digits, as pairs of a value and a small rest."""

from __future__ import annotations

from kinetree.graph.elementary.record import Scalar, Value, fma

Pair = tuple[Value, Value]


def quick_sum(a: Value, b: Scalar) -> Pair:
    """Return a + b and its rounding error, for |a| ≥ |b| or a = 0 (Dekker)."""
    total = a + b
    return total, (a - total) + b


def exact_sum(a: Value, b: Scalar) -> Pair:
    """Return a + b and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def exact_product(a: Value, b: Scalar) -> Pair:
    """Return a·b and its rounding error."""
    product = a * b
    return product, fma(a, b, -product)
