"""R of a QR factorization of rows that come in pieces."""

from __future__ import annotations

import numpy as np

from kinetree.validation import Array

FIRST = 1 << 13
"""Rows that are factorized by Householder's reflections before there is a preconditioner."""

REGULAR = 1e-7
"""The least entry on the diagonal of R, relative to its column, with which it is one."""

STRONG = 1e4
"""Rows that are so much stronger than the first, in squares, are factorized like those."""


class Triangle:
    """R with ``RᵀR = Σ AᵀA`` of all pieces A, as precise as by Householder's reflections.

    After the first pieces only ``W = A R⁻¹`` is squared, ``R ← chol(1 + Σ WᵀW) R``: W has columns that are about
    orthogonal, so that nothing is lost by squaring, and products of matrices are a few times as fast as reflections.

    References: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm",
    2015, for squares of preconditioned columns.
    """

    def __init__(self, columns: int) -> None:
        self._R, self._rows = np.zeros((0, columns)), 0
        self._inverse: Array | None = None
        self._squares = np.zeros((columns, columns))

    def add(self, A: Array) -> None:
        """Add rows."""
        if self._inverse is None and self._rows >= FIRST:
            self._inverse = _inverse(self._R)
            self._rows = 0
        if self._inverse is not None:
            W = A @ self._inverse
            squares = W.T @ W
            if squares.diagonal().max(initial=0.0) <= STRONG and self._squares.diagonal().max(initial=0.0) <= STRONG:
                self._squares += squares
                return
        R = self.R
        block = np.empty((len(R) + len(A), A.shape[1]), order="F")
        block[: len(R)], block[len(R) :] = R, A
        self._R = np.asarray(np.linalg.qr(block, mode="r"))
        self._rows += len(A)

    @property
    def R(self) -> Array:
        """The triangular factor, with as many rows as columns or fewer."""
        if self._inverse is not None:
            self._R = np.linalg.cholesky(np.eye(len(self._R)) + self._squares).T @ self._R
            self._inverse, self._rows = None, FIRST
            self._squares[:] = 0.0
        return self._R


def _inverse(R: Array) -> Array | None:
    """Return the inverse of a triangular factor, None where it is near to singular."""
    sizes = np.linalg.norm(R, axis=0)
    diagonal = np.abs(np.diag(R))
    if R.shape[0] < R.shape[1] or (diagonal[:-1] <= REGULAR * sizes[:-1]).any() or diagonal[-1] <= 1e-13 * sizes[-1]:
        return None
    return np.asarray(np.linalg.inv(R / sizes) / sizes[:, None])
