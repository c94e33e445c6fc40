"""Small dense linear algebra over any scalar: products and triangular solutions.

Matrices are sequences of rows. Nothing is pivoted, since no entry can be compared with another while a function is
traced; an entry that is the number zero costs nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.scalars.functions import Scalar

Vector = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]


def solve_lower(L: Matrix, b: Vector) -> list[Scalar]:
    """Return ``L⁻¹ b``, L being unit lower triangular.

    Examples
    --------
    >>> solve_lower([[1.0, 0.0], [0.5, 1.0]], [2.0, 3.0])
    [2.0, 2.0]
    """
    x: list[Scalar] = []
    for row, b_i in zip(L, b, strict=True):
        for a, x_j in zip(row, x, strict=False):
            b_i = b_i - a * x_j
        x.append(b_i)
    return x


def dot(a: Vector, b: Vector) -> Scalar:
    """Return the sum of the products of two vectors' entries."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def times(A: Matrix, x: Vector) -> list[Scalar]:
    """Return A x."""
    return [dot(row, x) for row in A]


def transposed(A: Matrix) -> list[list[Scalar]]:
    """Return Aᵀ."""
    return [list(column) for column in zip(*A, strict=True)]
