"""Small dense linear algebra over any scalar: products, triangular solutions, orthogonal rows.

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


def orthogonal_rows(B: Matrix) -> tuple[list[list[Scalar]], list[list[Scalar]], list[Scalar]]:
    """Return C, Q and E of ``B = C Q`` with C unit lower triangular and the rows of Q orthogonal, their squares E.

    So ``B Bᵀ = C E Cᵀ``, without the loss of half of the digits that forming the product means. By the modified
    Gram–Schmidt method (Björck 1967); the rows of B must be independent.

    Examples
    --------
    >>> orthogonal_rows([[1.0, 1.0], [2.0, 0.0]])
    ([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]], [2.0, 2.0])
    """
    n = len(B)
    C: list[list[Scalar]] = [[float(i == j) for j in range(n)] for i in range(n)]
    Q = [list(row) for row in B]
    E: list[Scalar] = []
    for k in range(n):
        E.append(dot(Q[k], Q[k]))
        inverse = 1.0 / E[k]
        for i in range(k + 1, n):
            C[i][k] = dot(Q[i], Q[k]) * inverse
            Q[i] = [x - C[i][k] * y for x, y in zip(Q[i], Q[k], strict=True)]
    return C, Q, E


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
