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


def times(a: Pair, b: Pair) -> Pair:
    """Return the product of two pairs, to about 2⁻¹⁰⁴."""
    product, error = exact_product(a[0], b[0])
    return quick_sum(product, fma(a[0], b[1], fma(a[1], b[0], error)))


def quotient(a: Pair, b: Pair) -> Pair:
    """Return the quotient of two pairs, to about 2⁻¹⁰², with one division; b is not zero."""
    inverse = 1.0 / b[0]
    first = a[0] * inverse
    rest = fma(-first, b[0], a[0]) + (a[1] - first * b[1])
    return quick_sum(first, rest * inverse)
