"""Small dense linear algebra over any scalar.

Matrices are sequences of rows. An entry that is the number zero costs nothing while a function is traced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.scalars.functions import Scalar, select, sqrt

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


def solve_positive(A: Matrix, b: Vector) -> list[Scalar]:
    """Return ``A⁻¹ b`` for a positive definite A, of which the lower triangle is read: by ``A = L D Lᵀ``.

    An unknown whose pivot is nothing but rounding becomes zero, so that a singular A gives a number too.

    Examples
    --------
    >>> solve_positive([[2.0], [1.0, 3.0]], [5.0, 10.0])
    [1.0, 3.0]
    """
    L: list[list[Scalar]] = []
    inverse: list[Scalar] = []
    y: list[Scalar] = []
    for i, row in enumerate(A):
        scaled: list[Scalar] = []
        for j in range(i):
            scaled.append(row[j] - dot(scaled, L[j]))
        L.append([x * d for x, d in zip(scaled, inverse, strict=True)])
        pivot = row[i] - dot(scaled, L[i])
        inverse.append(1.0 / select(row[i] + NOISE * pivot <= row[i], math.inf, pivot))
        y.append(b[i] - dot(L[i], y))
    x = [y_i * d for y_i, d in zip(y, inverse, strict=True)]
    for i in reversed(range(len(A))):
        for k in range(i):
            x[k] = x[k] - L[i][k] * x[i]
    return x
