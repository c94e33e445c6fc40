"""R of a QR factorization of rows that come in pieces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.validation import Array

SAMPLED = 3
"""Rows of a piece that a preconditioner is made of, for each column."""

REGULAR = 1e-7
"""The least entry on the diagonal of R, relative to its column, with which it is one."""

ORTHOGONAL = 0.1
"""The same with which columns are about orthogonal, so that none is needed."""

NOISE = 1e-3
"""The same of the last column, the right-hand side, whose residual is precise to ten digits then."""

STRONG, LARGE = 1e4, 1e2
"""Rows that are so much stronger than those that it is made of, in squares, need another one; or without one."""

DEPENDENT = 1e-13
"""What is left of a column below this, relative to it, is rounding: it follows from those before it."""

WHOLE = 32
"""Columns of a factor that is inverted as one."""

SMALLEST = 1e-100
"""The size of a column that is zero."""


class Triangle:
    """R with ``RᵀR = Σ AᵀA`` of all pieces A, as precise as by Householder's reflections.

    ``W = A P⁻¹`` is squared, ``R = chol(Σ WᵀW) P``. Where columns are about orthogonal, P are their sizes; elsewhere it
    is the factor by reflections of some of the rows, of which all are squared then. So W has columns that are about
    orthogonal, and nothing is lost by squaring. Products of matrices are a few times as fast as reflections, which
    take over where P is near to singular. P is made anew, of what was found until then and the next piece, when rows
    come that are much stronger.

    References: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm",
    2015, for squares of preconditioned columns.
    """

    def __init__(self, columns: int) -> None:
        self._R: Array | None = np.zeros((0, columns))
        self._by: Preconditioner | None = None
        self._squares = np.zeros((columns, columns))

    def add(self, A: Array) -> None:
        """Add rows."""
        if self._squared(A):
            return
        R, step = self.R, len(A) // (SAMPLED * A.shape[1])
        if self._squared_by_sizes(R, A):
            return
        self._by, self._squares = _sampled(R, A[::step]) if step > 1 else None, np.zeros_like(self._squares)
        if not (self._squared(R) and self._squared(A)):
            self._R, self._by = _triangular(R, A), None

    @np.errstate(over="ignore", invalid="ignore")  # what is so large is too strong
    def _squared(self, A: Array) -> bool:
        """Add the squares of rows, if there is a preconditioner that these are not too strong for."""
        if self._by is None:
            return False
        W = A if self._by.inverse is None else A @ self._by.inverse
        squares = self._squares + W.T @ W
        if not (squares.diagonal() <= self._by.most).all():
            return False
        self._squares, self._R = squares, None
        return True

    @np.errstate(over="ignore", invalid="ignore")
    def _squared_by_sizes(self, R: Array, A: Array) -> bool:
        """Begin anew with the squares of these rows, if columns in units of their sizes are about orthogonal."""
        squares = R.T @ R + A.T @ A
        sizes = np.sqrt(squares.diagonal())
        independent = (sizes > 0.0).astype(float)
        scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        by = Preconditioner(sizes, None, scale, independent, LARGE * squares.diagonal())
        try:
            R = by.factor(squares)
        except np.linalg.LinAlgError:
            return False
        left = R.diagonal() >= ORTHOGONAL * sizes
        if not (left[:-1].all() and R[-1, -1] >= NOISE * sizes[-1]):
            return False
        self._by, self._squares, self._R = by, squares, R
        return True

    @property
    def R(self) -> Array:
        """The triangular factor, with as many rows as columns or fewer."""
        if self._R is None:
            assert self._by is not None
            self._R = self._by.factor(self._squares)
        return self._R


class Preconditioner(NamedTuple):
    """What rows are divided by before they are squared.

    Attributes
    ----------
    P : (n, n) or (n,) array
        Triangular; or diagonal, and then squares are divided.
    inverse : (n, n) array or None
        Of a triangular P.
    scale : (n,) array
        What squares are multiplied by.
    independent : (n,) array
        Zero of columns that depend on those before them, where P has a one in units of the column; one of others.
    most : (n,) array
        What the sums of squares may be: nothing of such columns.
    """

    P: Array
    inverse: Array | None
    scale: Array
    independent: Array
    most: Array

    def factor(self, squares: Array) -> Array:
        """Return the triangular factor of all rows by sums of squares."""
        regular = self.scale[:, None] * squares * self.scale
        regular.flat[:: len(regular) + 1] += 1.0 - self.independent
        R = np.linalg.cholesky(regular).T * self.independent[:, None]
        return np.asarray(R * self.P if self.inverse is None else R @ self.P)


@np.errstate(over="ignore", invalid="ignore")
def _sampled(R: Array, A: Array) -> Preconditioner | None:
    """Return that of what was found until now and of some rows; None where it is near to singular."""
    P = _triangular(R, A)
    sizes = np.maximum(np.linalg.norm(P, axis=0), SMALLEST)
    P /= sizes
    diagonal = np.abs(P.diagonal())
    independent = diagonal > DEPENDENT
    if (diagonal[:-1] <= REGULAR)[independent[:-1]].any() or not independent[-1]:
        return None
    P[~independent, ~independent] = 1.0
    most = np.where(independent, STRONG, (10.0 * DEPENDENT) ** 2)
    inverse, ones = inverse_of(P) / sizes[:, None], independent.astype(float)
    return Preconditioner(P * sizes, inverse, ones, ones, most)


def inverse_of(R: Array) -> Array:
    """Return the inverse of a triangular factor, by halves: NumPy's does not know where the zeros are."""
    n = len(R)
    if n <= WHOLE:
        return np.asarray(np.linalg.inv(R))
    out, k = np.zeros((n, n)), n // 2
    first, last = out[:k, :k], out[k:, k:]
    first[:], last[:] = inverse_of(R[:k, :k]), inverse_of(R[k:, k:])
    out[:k, k:] = -first @ R[:k, k:] @ last
    return out


def _triangular(R: Array, A: Array) -> Array:
    """Return the factor of these rows by reflections."""
    block = np.empty((len(R) + len(A), A.shape[1]), order="F")
    block[: len(R)], block[len(R) :] = R, A
    return np.asarray(np.linalg.qr(block, mode="r"))
