"""Factors ``A = L D Lᵀ`` of symmetric matrices, straight-line code or loops over rows, and least squares by them.

`PseudoInverse` is that of least norm by a regularised factorisation, for matrices of any rank, without branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import NOISE, Matrix, Vector, dot, minus, plus, times, transposed
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
    """Return ``A⁻¹ b`` for a positive definite A, of which the lower triangle is read; 0 where a pivot is rounding."""
    return Factored(A, len(A), infinite_if_rounding).solve(b)


def _without(L: Matrix) -> Callable[[Vector], list[Scalar]]:
    """Return the function that subtracts the product with these rows of L from the first entries of ``[a, L D]``."""
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


UNROLLED = 40
"""The number of rows up to which the factorisation is straight-line code; beyond, it is loops over blocks."""

UNROLLED_COLUMNS = 300
"""The number of right-hand sides times the square of the number of unknowns above which they are solved by a loop."""

REFINEMENTS = 2
"""Corrections of a solution by its residual: each takes the part μ over the eigenvalue off its error."""

TERMS = 3
"""The power of P that is taken for the projector onto the null space."""


class PseudoInverse:
    """``A⁺`` of a matrix of any shape and rank: ``A⁺ b`` is the least x of those with the least ``‖A x − b‖``.

    With ``S = A Aᵀ`` it is ``Aᵀ S⁺``, of a b freed of what A cannot give; for a matrix of more rows than columns, with
    ``S = AᵀA``, it is ``S⁺ Aᵀ``. What squaring A costs in digits comes back by refinement with residuals (Björck,
    Numerical Methods for Least Squares Problems, section 2.4: corrected seminormal equations): errors are some 1e-14 up
    to a condition of 1e3 where the rank is full, and 1e-11 where it is not, whatever b is. A singular value is taken
    for zero from some 1e-5 of the largest down. Rows and columns that are zero while tracing cost nothing.

    Parameters
    ----------
    A : matrix
    width : int
        Number of its columns, also where it has no rows.
    beside : matrix, optional
        What A is a part of: numbers that are nothing beside it are rounding. A itself if not given.
    square : scalar, optional
        Of a number of usual size: should all of A be nothing beside it, that is rounding.
    equations, unknowns : vector, optional
        What the squares count in ``‖A x − b‖²`` and in ``‖x‖²``, v and u; 1 if not given. Numbers of A are large or
        small as ``√(v_i / u_j)`` times what they are.

    Examples
    --------
    >>> pinv = PseudoInverse([[1.0, 1.0], [1.0, 1.0]], width=2)
    >>> [round(x, 12) for x in pinv.times([2.0, 4.0])]
    [1.5, 1.5]
    >>> [round(x, 12) for x in PseudoInverse([[1.0, 1.0]], width=2, unknowns=[1.0, 3.0]).times([2.0])]
    [1.5, 0.5]
    """

    def __init__(
        self,
        A: Matrix,
        width: int,
        beside: Matrix | None = None,
        *,
        square: Scalar = 0.0,
        equations: Vector | None = None,
        unknowns: Vector | None = None,
    ) -> None:
        self.width = width
        self.rows = [i for i, row in enumerate(A) if not all(map(is_zero, row))]
        self.columns = [j for j, column in enumerate(transposed(A)) if not all(map(is_zero, column))]
        v, first = _over_first(equations, len(A), self.rows)
        u, unit = _over_first(unknowns, width, self.columns)
        size = None
        if beside is not None:
            counted = [
                [x * (v_i / u_j) for x, u_j in zip(row, u, strict=True)] for row, v_i in zip(beside, v, strict=True)
            ]
            size = dot([x for row in counted for x in row], [x for row in beside for x in row])
        self.A = [[A[i][j] for j in self.columns] for i in self.rows]
        self.is_wide = len(self.rows) <= len(self.columns)
        kept_v, kept_u = [v[i] for i in self.rows], [u[j] for j in self.columns]
        B, weights = (self.A, [1.0 / x for x in kept_u]) if self.is_wide else (transposed(self.A), kept_v)
        BW = [[x * w for x, w in zip(row, weights, strict=True)] for row in B]
        self.B, self.BW = B, BW
        graded = [1.0 / x for x in kept_v] if self.is_wide else kept_u
        self.factors = _Factors(B, BW, graded, size, square * (unit / first))

    def times(self, b: Vector) -> list[Scalar]:
        """Return ``A⁺ b``."""
        given = [b[i] for i in self.rows]
        x = [0.0] * self.width
        if given:
            found = self._wide(given) if self.is_wide else self._tall(given)
            for j, x_j in zip(self.columns, found, strict=True):
                x[j] = x_j
        return x

    def times_columns(self, columns: Matrix) -> list[list[Scalar]]:
        """Return ``A⁺ b`` for each b: by a loop where they are many."""
        some = [k for k, b in enumerate(columns) if not all(map(is_zero, b))]
        given = [columns[k] for k in some]
        if len(some) * len(self.factors.D) ** 2 > UNROLLED_COLUMNS:
            solved = map_columns(self.times, given, recording(*(x for row in self.A for x in row)))
        else:
            solved = [self.times(b) for b in given]
        found = [[0.0] * self.width for _ in columns]
        for k, x in zip(some, solved, strict=True):
            found[k] = x
        return found

    def _wide(self, b: Vector) -> list[Scalar]:
        b, WBT = minus(b, self.factors.null_forces(b)), transposed(self.BW)
        y = self.factors.solve(b)
        for _ in range(REFINEMENTS):
            y = plus(y, self.factors.solve(minus(b, times(self.B, times(WBT, y)))))
        return times(WBT, y)

    def _tall(self, b: Vector) -> list[Scalar]:
        BT = transposed(self.B)
        x = self.factors.solve(times(self.BW, b))
        for _ in range(REFINEMENTS):
            x = plus(x, self.factors.solve(times(self.BW, minus(b, times(BT, x)))))
        return minus(x, self.factors.null_motions(x))


def _over_first(weights: Vector | None, n: int, kept: Sequence[int]) -> tuple[list[Scalar], Scalar]:
    """Return n weights over the first one that is kept, and that: in one unit they are 1, and cost nothing."""
    first = 1.0 if weights is None or not kept else weights[kept[0]]
    return [1.0] * n if weights is None else [x / first for x in weights], first


class _Factors(Factored):
    """Solutions with ``S + μ``, where ``S = B W Bᵀ`` and row i has the part g_i of μ.

    With ``P = (S + μ)⁻¹ μ``, the powers of P become the projector onto the null space of S: P is 1 there, and nothing
    where an eigenvalue is well above μ. Rows with few couplings come first, so that fewer entries that are zero are
    filled. μ is 1e-10 of the mean of S's diagonal over g, or 1e-5 in arithmetic in which 1 + 1e-10 is 1; of a sum of
    squares that is given, where all of S may be zero; and by 1e-8, in float32 0.01, of the `square` at least.
    """

    def __init__(self, B: Matrix, BW: Matrix, graded: Vector, size: Scalar | None, square: Scalar) -> None:
        n = len(B)
        S: list[list[Scalar]] = [[0.0] * n for _ in B]
        for i, x in enumerate(B):
            for j in range(i + 1):
                S[i][j] = S[j][i] = dot(x, BW[j])
        self.order = sorted(range(n), key=lambda i: sum(not is_zero(x) for x in S[i]))
        if size is None:
            size = sum((S[i][i] / g for i, g in enumerate(graded)), 0.0)
        mean = size * (1.0 / max(1, n))
        least = 0.0 if is_zero(square) else square * select_less(mean, mean + mean * 1e-10, 1e-8, 1e-2)
        mean = select_less(least, mean, mean, 1.0 if is_zero(square) else least)
        mu = select_less(mean, mean + mean * 1e-10, mean * 1e-10, mean * 1e-5)
        self.each = [mu * g for g in graded]
        A = [[S[i][j] + self.each[i] if i == j else S[i][j] for j in self.order] for i in self.order]
        super().__init__(A, UNROLLED)

    def solve(self, b: Vector, scale: Scalar = 1.0) -> list[Scalar]:
        found = super().solve([b[i] for i in self.order], scale)
        x = list(b)
        for i, x_i in zip(self.order, found, strict=True):
            x[i] = x_i
        return x

    def null_motions(self, x: Vector) -> list[Scalar]:
        """Return the part of unknowns that makes no difference, ``P³ x``."""
        for _ in range(TERMS):
            x = self.solve([x_i * mu for x_i, mu in zip(x, self.each, strict=True)])
        return list(x)

    def null_forces(self, b: Vector) -> list[Scalar]:
        """Return the part of right-hand sides that cannot be had, ``(Pᵀ)³ b``."""
        for _ in range(TERMS):
            b = [x * mu for x, mu in zip(self.solve(b), self.each, strict=True)]
        return list(b)
