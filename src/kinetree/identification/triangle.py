"""R of a QR factorization of rows that come in pieces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.validation import Array

SAMPLED = 3
"""Rows of a piece that a first factor is made of, for each column."""

REGULAR = 1e-7
"""The least entry on the diagonal of R, relative to its column, with which it is one."""

STRONG = 1e4
"""Rows that are so much stronger than those of the first factor, in squares, need another one."""

SMALLEST = 1e-100
"""The size of a column that is zero."""

DEPENDENT = 1e-13
"""What is left of a column below this, relative to it, is rounding: it follows from those before it."""


class Triangle:
    """R with ``RᵀR = Σ AᵀA`` of all pieces A, as precise as by Householder's reflections.

    Reflections make a first factor ``R`` of some rows only. Of all, these included, ``W = A R⁻¹`` is squared:
    ``R ← chol(Σ WᵀW) R``. W has columns that are about orthogonal, so that nothing is lost by squaring, and products of
    matrices are a few times as fast as reflections. Where they are not, the first factor is made anew, of what was
    found until then and some rows of the next piece, or reflections do it all.

    References: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm",
    2015, for squares of preconditioned columns.
    """

    def __init__(self, columns: int) -> None:
        self._R = np.zeros((0, columns))
        self._first: First | None = None
        self._squares = np.zeros((columns, columns))

    def add(self, A: Array) -> None:
        """Add rows."""
        if not self._squared(A):
            R, step = self.R, len(A) // (SAMPLED * A.shape[1])
            if step > 1:
                self._first = _first(_triangular(R, A[::step]))
                if self._squared(R) and self._squared(A):
                    return
            self._R, self._first = _triangular(R, A), None
            self._squares[:] = 0.0

    def _squared(self, A: Array) -> bool:
        """Add the squares of rows by the first factor, if there is one that these are not too strong for."""
        if self._first is None:
            return False
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are too strong
            W = A @ self._first.inverse
            squares = W.T @ W
        if not (self._squares.diagonal() + squares.diagonal() <= self._first.most).all():
            return False
        self._squares += squares * self._first.told
        return True

    @property
    def R(self) -> Array:
        """The triangular factor, with as many rows as columns or fewer."""
        if self._first is not None:
            told = self._first.told.diagonal()
            self._R = (np.linalg.cholesky(self._squares + np.diag(1.0 - told)).T * told) @ self._first.R
            self._squares[:], self._first = 0.0, None
        return self._R


class First(NamedTuple):
    """A first factor.

    Attributes
    ----------
    R, inverse : (n, n) arrays
        With ones on the diagonal, in units of the columns, where columns depend on those before them.
    most : (n,) array
        What the squares of W may be: nothing of columns that depend on others.
    told : (n, n) array
        One for all pairs of columns that do not, zero for others.
    """

    R: Array
    inverse: Array
    most: Array
    told: Array


def _first(R: Array) -> First | None:
    """Return what rows are multiplied by, None where R is near to singular."""
    if R.shape[0] < R.shape[1]:
        return None
    sizes = np.maximum(np.linalg.norm(R, axis=0), SMALLEST)
    R = R / sizes
    diagonal = np.abs(np.diag(R))
    told = diagonal > DEPENDENT
    if (diagonal[:-1] <= REGULAR)[told[:-1]].any() or not told[-1]:
        return None
    R[~told, ~told] = 1.0
    most = np.where(told, STRONG, (10.0 * DEPENDENT) ** 2)
    return First(R * sizes, np.linalg.inv(R) / sizes[:, None], most, np.outer(told, told).astype(float))


def _triangular(R: Array, A: Array) -> Array:
    """Return the factor of these rows by reflections."""
    block = np.empty((len(R) + len(A), A.shape[1]), order="F")
    block[: len(R)], block[len(R) :] = R, A
    return np.asarray(np.linalg.qr(block, mode="r"))
