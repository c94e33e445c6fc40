"""Rows of a matrix made orthogonal, of any rank: from them come its pseudo-inverse and projectors, over any scalar."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kinetree.scalars.functions import Scalar, is_zero, larger, or_one, select_less, sqrt
from kinetree.scalars.linalg import NOISE, Matrix, Vector, dot, transposed
from kinetree.scalars.loops import repeat_while_positive

Rows = list[list[Scalar]]

WELL_CONDITIONED = 1e10
"""The condition of B Bᵀ up to which the Gram–Schmidt method is used: it loses half as many digits as this has zeros."""

SWEEPS = 12
"""The most that Jacobi's method may take; six rows take four to seven."""


class OrthogonalRows(NamedTuple):
    """``K B = Q`` of orthogonal rows, and E⁺, their inverse squared norms (0 for 0): ``B⁺ = Qᵀ E⁺ K``."""

    K: Rows
    Q: Rows
    E_plus: list[Scalar]


def orthogonal_rows(B: Matrix) -> OrthogonalRows:
    """Return the rows of B made orthogonal; B Bᵀ is never formed, which would lose half of the digits.

    By the modified Gram–Schmidt method (Björck 1967) if B is well conditioned, else by Jacobi's one-sided method for
    singular values (Hestenes 1958), K being orthogonal. A singular value is taken for zero if the square of the largest
    is the same number with its own square added: below some 1e-8 of the largest, in float32 2e-4.

    Examples
    --------
    >>> orthogonal_rows([[1.0, 1.0], [2.0, 0.0]])
    OrthogonalRows(K=[[1.0, 0.0], [-1.0, 1.0]], Q=[[1.0, 1.0], [1.0, -1.0]], E_plus=[0.5, 0.5])
    >>> orthogonal_rows([[3.0, 4.0], [0.0, 0.0]])
    OrthogonalRows(K=[[1.0, 0.0], [0.0, 0.0]], Q=[[3.0, 4.0], [0.0, 0.0]], E_plus=[0.04, 0.0])
    """
    used = [i for i, row in enumerate(B) if not all(map(is_zero, row))]
    columns = [j for j, column in enumerate(transposed(B)) if not all(map(is_zero, column))]
    dense = [[B[i][j] for j in columns] + [float(i == k) for k in used] for i in used]
    rows, E = _orthogonalised(dense, len(columns)) if used else (dense, [])
    K, Q = ([[0.0] * n for _ in B] for n in (len(B), len(B[0])))
    E_plus = [0.0] * len(B)
    for i, row, e in zip(used, rows, _inverse_or_zero(E), strict=True):
        E_plus[i] = e
        for places, found, to in ((columns, row, Q[i]), (used, row[len(columns) :], K[i])):
            for j, x in zip(places, found, strict=False):
                to[j] = x
    return OrthogonalRows(K, Q, E_plus)


def volume(B: Matrix) -> Scalar:
    """Return ``√det(B Bᵀ)``, the volume that the rows span: 0 if they are dependent, but for rounding."""
    columns = [column for column in transposed(B) if not all(map(is_zero, column))]
    if len(B) > len(columns):
        return 0.0
    product: Scalar = 1.0

    def divisor(square: Scalar) -> Scalar:
        nonlocal product
        product = product * square
        return or_one(square)

    _gram_schmidt(transposed(columns), len(columns), divisor)
    return sqrt(product)


def _orthogonalised(rows: Rows, n: int) -> tuple[Rows, list[Scalar]]:
    """Return the rows of [B 1], B having n columns, combined to [Q K], and the squared norms of Q's."""
    m = len(rows)
    E, unfinished = _squares(rows, n), 1.0
    if m <= n:
        total = or_one(dot(E, [1.0] * m))
        least = total * (1e-4 / WELL_CONDITIONED)
        fast, squares = _gram_schmidt(rows, n, lambda square: larger(least, square))
        E_fast = [larger(least, square) for square in squares]
        condition = total * dot([dot(row[n:], row[n:]) for row in fast], [1.0 / e for e in E_fast])
        most = WELL_CONDITIONED * _is_something(1.0 / condition)
        start = zip((*fast, E_fast, [0.0]), (*rows, E, [unfinished]), strict=True)
        *rows, E, (unfinished,) = [
            [select_less(condition, most, x, y) for x, y in zip(*pair, strict=True)] for pair in start
        ]
    if m == 1:
        return rows, E
    carried = [x for row in rows for x in row] + [*E, unfinished]
    carried = repeat_while_positive(lambda x: _sweep(x, m, n), carried, lambda x: _is_something(x[-1]), SWEEPS)
    return _matrix(carried, m), carried[-m - 1 : -1]


def _gram_schmidt(rows: Rows, n: int, divisor: Callable[[Scalar], Scalar]) -> tuple[Rows, list[Scalar]]:
    """Return rows orthogonal in the first n entries, and their squared norms there; `divisor` of these is not zero."""
    rows, squares = [list(row) for row in rows], []
    for k, row in enumerate(rows):
        squares.append(dot(row[:n], row[:n]))
        inverse = 1.0 / divisor(squares[k])
        for i in range(k + 1, len(rows)):
            c = dot(rows[i][:n], row[:n]) * inverse
            rows[i] = [x - c * y for x, y in zip(rows[i], row, strict=True)]
    return rows, squares


def _sweep(x: Vector, m: int, n: int) -> list[Scalar]:
    """Return the rows, their squared norms and how far from orthogonal they were, after one of Jacobi's sweeps."""
    rows, E, cosines = _matrix(x, m), list(x[-m - 1 : -1]), 0.0
    total = or_one(dot(E, [1.0] * m))
    counts = [_is_something(sqrt(e / total) * NOISE) for e in E]
    for i, j in _pairs(m):
        product = dot(rows[i][:n], rows[j][:n])
        cosines = cosines + counts[i] * counts[j] * (product * product / or_one(E[i] * E[j]))
        difference, double = E[j] - E[i], 2.0 * product
        root = sqrt(difference * difference + double * double)
        tangent = double / or_one(select_less(difference, 0.0, root - difference, root + difference))
        tangent = select_less(difference, 0.0, -tangent, tangent)
        c = 1.0 / sqrt(1.0 + tangent * tangent)
        s = c * tangent
        pair = list(zip(rows[i], rows[j], strict=True))
        rows[i], rows[j] = [c * x - s * y for x, y in pair], [s * x + c * y for x, y in pair]
        E[i], E[j] = E[i] - tangent * product, E[j] + tangent * product
    return [entry for row in rows for entry in row] + [*_squares(rows, n), sqrt(cosines) * NOISE]


def _pairs(m: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of m rows once, in rounds in which no row comes twice, as in a tournament."""
    last = m - 1 + m % 2
    for turn in range(last):
        for k in range((last + 1) // 2):
            pair = (turn + k) % last, (turn - k) % last if k else last
            if max(pair) < m:
                yield min(pair), max(pair)


def _matrix(x: Vector, m: int) -> Rows:
    """Return the m rows of what is carried, which ends with m + 1 other numbers."""
    width = (len(x) - m - 1) // m
    return [list(x[width * i : width * (i + 1)]) for i in range(m)]


def _squares(rows: Rows, n: int) -> list[Scalar]:
    return [dot(row[:n], row[:n]) for row in rows]


def _inverse_or_zero(E: list[Scalar]) -> list[Scalar]:
    """Return the inverses of numbers, 0 for those that are nothing beside the largest; that of NaN is NaN."""
    largest = functools.reduce(larger, E, 0.0)
    nothing = [select_less(0.0, e, 0.0, e) for e in E]
    return [select_less(largest, largest + e, 1.0 / or_one(e), no) for e, no in zip(E, nothing, strict=True)]


def _is_something(x: Scalar) -> Scalar:
    """Return 1 if x is something beside 1 in this arithmetic, else 0, also for NaN."""
    return select_less(1.0, 1.0 + x, 1.0, 0.0)
