"""Factors ``A = L D Lᵀ`` of symmetric matrices: straight-line code for small ones, loops over rows for large ones."""

from __future__ import annotations

import math
from collections.abc import Callable

from kinetree.scalars.functions import Scalar, select
from kinetree.scalars.linalg import NOISE, Matrix, Vector, dot, transposed
from kinetree.scalars.loops import map_columns, recording

BLOCK = 16
"""Columns of a block if not given: code grows with the number of blocks and with the square of this."""

Pivot = Callable[[Scalar, Scalar], Scalar]
"""What D has for a pivot, given that and the entry on the diagonal of A."""


def as_it_is(pivot: Scalar, diagonal: Scalar) -> Scalar:
    """Return the pivot."""
    return pivot


def infinite_if_rounding(pivot: Scalar, diagonal: Scalar) -> Scalar:
    """Return the pivot, infinity where it is not positive but for rounding: the unknown becomes zero."""
    return select(diagonal + NOISE * pivot <= diagonal, math.inf, pivot)


def ldl(A: Matrix, block: int | None = None, pivot: Pivot = as_it_is) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return L and D of ``A = L D Lᵀ``, with L unit lower triangular and A symmetric; nothing is permuted.

    For each block of columns, one loop over the rows takes off what the columns before contribute, and another solves
    the rows below the square on the diagonal (left-looking, as in Golub and Van Loan, section 4.2). Of a single block
    the lower triangle of A is read.

    Examples
    --------
    >>> ldl([[4.0, 2.0], [2.0, 3.0]])
    ([[1.0, 0.0], [0.5, 1.0]], [4.0, 2.0])
    """
    n, block = len(A), block or BLOCK
    like = recording(*(x for row in A for x in row))
    L: list[list[Scalar]] = [[] for _ in range(n)]
    LD: list[list[Scalar]] = [[] for _ in range(n)]
    D: list[Scalar] = []
    for start in range(0, n, block):
        stop = min(start + block, n)
        rest = [list(row[start:stop]) for row in A[start:]]
        if start:
            columns = [[*row, *known] for row, known in zip(rest, LD[start:], strict=True)]
            rest = map_columns(_without(L[start:stop]), columns, like)
        square = _Square(rest[: stop - start], pivot)
        D += square.D
        for i, row in enumerate(square.L, start):
            L[i] += row
        if stop < n:
            for i, row in enumerate(map_columns(square.solve, rest[stop - start :], like), stop):
                LD[i] += row[: stop - start]
                L[i] += row[stop - start :]
    return [row + [0.0] * (n - len(row)) for row in L], D


class Factored:
    """Solutions ``A⁻¹ b`` by ``A = L D Lᵀ``, in blocks as `ldl` makes them."""

    def __init__(self, A: Matrix, block: int | None = None, pivot: Pivot = as_it_is) -> None:
        self.L, self.D = ldl(A, block, pivot)
        self.columns, self.inverse = transposed(self.L), [1.0 / d for d in self.D]

    def solve(self, b: Vector, scale: Scalar = 1.0) -> list[Scalar]:
        """Return ``A⁻¹ b`` times a number."""
        x, n = list(b), len(b)
        for i in range(n):
            x[i] = x[i] - dot(self.L[i][:i], x[:i])
        x = [y * (scale * d) for y, d in zip(x, self.inverse, strict=True)]
        for i in reversed(range(n)):
            x[i] = x[i] - dot(self.columns[i][:i:-1], x[:i:-1])  # what is known last comes last: no sum waits for it
        return x


def solve_positive(A: Matrix, b: Vector) -> list[Scalar]:
    """Return ``A⁻¹ b`` for a positive definite A, of which the lower triangle is read.

    An unknown whose pivot is nothing but rounding becomes zero, so that a singular A gives a number too.

    Examples
    --------
    >>> solve_positive([[2.0], [1.0, 3.0]], [5.0, 10.0])
    [1.0, 3.0]
    """
    return Factored(A, len(A), infinite_if_rounding).solve(b)


def _without(L: Matrix) -> Callable[[Vector], list[Scalar]]:
    """Return what takes the product with these rows of L off the first entries of ``[a, L D]``."""
    return lambda column: [a - dot(row, column[len(L) :]) for a, row in zip(column, L, strict=False)]


class _Square:
    """The factors of a block on the diagonal, in straight-line code."""

    def __init__(self, A: Matrix, pivot: Pivot) -> None:
        self.L: list[list[Scalar]] = []
        self.D: list[Scalar] = []
        for i, row in enumerate(A):
            both = self.solve(row[:i])
            d = row[i]
            for x, l in zip(both[:i], both[i:], strict=True):
                d = d - x * l
            self.L.append([*both[i:], 1.0])
            self.D.append(pivot(d, row[i]))

    def solve(self, a: Vector) -> list[Scalar]:
        """Return ``x = a L⁻ᵀ``, which is a row of L D, and ``x D⁻¹``, for as many columns as a has."""
        x: list[Scalar] = []
        for a_j, row in zip(a, self.L, strict=False):
            for x_k, l in zip(x, row, strict=False):
                a_j = a_j - x_k * l
            x.append(a_j)
        return x + [x_j * (1.0 / d) for x_j, d in zip(x, self.D, strict=False)]
