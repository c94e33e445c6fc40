"""Small dense linear algebra over any scalar, and columns with the arithmetic of vectors.

Matrices are sequences of rows. An entry that is the number zero costs nothing while a function is traced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kinetree.scalars.functions import Scalar, sqrt

Vector = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]

NOISE = 1.0 / 64.0
"""Times this, a sum is nothing beside the largest of its terms where it is rounding, of 64 units."""


def dot(a: Vector, b: Vector) -> Scalar:
    """Return the sum of the products of two vectors' entries."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def norm(a: Vector) -> Scalar:
    """Return the length of a vector."""
    return sqrt(dot(a, a))


def plus(a: Vector, b: Vector) -> list[Scalar]:
    """Return a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Vector, b: Vector) -> list[Scalar]:
    """Return a − b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def times(A: Matrix, x: Vector) -> list[Scalar]:
    """Return A x."""
    return [dot(row, x) for row in A]


def transposed(A: Matrix) -> list[list[Scalar]]:
    """Return Aᵀ."""
    return [list(column) for column in zip(*A, strict=True)]


class Column(tuple[Any, ...]):
    """A column of scalars of any kind: sums with other columns, products with scalars, entry by entry."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's scalars leave the product with a column to the column

    @classmethod
    def zeros(cls, n: int) -> Column:
        """Return n zeros."""
        return cls([0.0] * n)

    def __add__(self, other: Iterable[Scalar]) -> Column:
        return Column(x + y for x, y in zip(self, other, strict=True))

    def __sub__(self, other: Iterable[Scalar]) -> Column:
        return Column(x - y for x, y in zip(self, other, strict=True))

    def __mul__(self, scale: Scalar) -> Column:
        return Column(x * scale for x in self)

    __rmul__ = __mul__
