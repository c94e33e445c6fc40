"""Least squares of least norm by a regularised factorisation, for matrices of any rank, without branches."""

from __future__ import annotations

from kinetree.scalars.factorization import Factored
from kinetree.scalars.functions import Scalar, is_zero, select_less
from kinetree.scalars.linalg import Matrix, Vector, dot, minus, plus, times, transposed
from kinetree.scalars.loops import map_columns, recording

UNROLLED = 40
"""The number of rows up to which the factorisation is straight-line code; beyond, it is loops over blocks."""

UNROLLED_COLUMNS = 300
"""The number of right-hand sides times the square of the number of unknowns above which they are solved by a loop."""

REFINEMENTS = 2
"""Corrections of a solution by its residual: each takes the part μ over the eigenvalue off its error."""


class Regularised(Factored):
    """Solutions with ``S + μ`` for a symmetric, positive semidefinite S whose mean eigenvalue is not zero.

    μ is 1e-10 of that mean, or 1e-5 in arithmetic in which 1 + 1e-10 is 1. With ``P = μ (S + μ)⁻¹``, the powers of P
    become the projector onto the null space of S: P is 1 there, and nothing where an eigenvalue is well above μ.
    """

    def __init__(self, S: Matrix, mean: Scalar) -> None:
        self.mu = select_less(mean, mean + mean * 1e-10, mean * 1e-10, mean * 1e-5)
        super().__init__(
            [[x + self.mu if i == j else x for j, x in enumerate(row)] for i, row in enumerate(S)], UNROLLED
        )

    def damped(self, b: Vector) -> list[Scalar]:
        """Return ``P b``."""
        return self.solve(b, self.mu)

    def in_range(self, b: Vector) -> list[Scalar]:
        """Return b without its part in the null space of S, ``b − P³ b``."""
        null = self.damped(self.damped(self.damped(b)))
        return [x - y for x, y in zip(b, null, strict=True)]


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

    Examples
    --------
    >>> pinv = PseudoInverse([[1.0, 1.0], [1.0, 1.0]], width=2)
    >>> [round(x, 12) for x in pinv.times([2.0, 4.0])]
    [1.5, 1.5]
    """

    def __init__(self, A: Matrix, width: int, beside: Matrix | None = None, *, square: Scalar = 0.0) -> None:
        self.width = width
        self.rows = [i for i, row in enumerate(A) if not all(map(is_zero, row))]
        self.columns = [j for j, column in enumerate(transposed(A)) if not all(map(is_zero, column))]
        self.A = [[A[i][j] for j in self.columns] for i in self.rows]
        self.AT = transposed(self.A)
        self.is_wide = len(self.rows) <= len(self.columns)
        size = dot(*[[x for row in beside or A for x in row]] * 2)
        self.factors = _Factors(self.A if self.is_wide else self.AT, size, square)

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
        b = self.factors.in_range(b)
        y = self.factors.solve(b)
        for _ in range(REFINEMENTS):
            y = plus(y, self.factors.solve(minus(b, times(self.A, times(self.AT, y)))))
        return times(self.AT, y)

    def _tall(self, b: Vector) -> list[Scalar]:
        x = self.factors.solve(times(self.AT, b))
        for _ in range(REFINEMENTS):
            x = plus(x, self.factors.solve(times(self.AT, minus(b, times(self.A, x)))))
        return self.factors.in_range(x)


class _Factors(Regularised):
    """The factors of ``S = B Bᵀ``, rows with few couplings first, so that fewer entries that are zero are filled.

    μ is by a sum of squares that may be zero where all of B is; by 1e-8, in float32 0.01, of the `square` at least.
    """

    def __init__(self, B: Matrix, size: Scalar, square: Scalar) -> None:
        S: list[list[Scalar]] = [[0.0] * len(B) for _ in B]
        for i, x in enumerate(B):
            for j in range(i + 1):
                S[i][j] = S[j][i] = dot(x, B[j])
        self.order = sorted(range(len(S)), key=lambda i: sum(not is_zero(x) for x in S[i]))
        mean = size * (1.0 / max(1, len(S)))
        least = 0.0 if is_zero(square) else square * select_less(mean, mean + mean * 1e-10, 1e-8, 1e-2)
        mean = select_less(least, mean, mean, 1.0 if is_zero(square) else least)
        super().__init__([[S[i][j] for j in self.order] for i in self.order], mean)

    def solve(self, b: Vector, scale: Scalar = 1.0) -> list[Scalar]:
        found = super().solve([b[i] for i in self.order], scale)
        x = list(b)
        for i, x_i in zip(self.order, found, strict=True):
            x[i] = x_i
        return x
