"""Eigenvalues of small symmetric matrices, in compiled functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.tracing.arrays import is_traced
from kinetree.tracing.condition import choice
from kinetree.tracing.linalg import Rows, divided, like, relaxed, scales, square


def eigh3(A: Any) -> tuple[Any, Any]:
    """Return the eigenvalues of a symmetric 3×3 matrix, the smallest first, and its eigenvectors as columns.

    Traced, it is five sweeps of Jacobi's method, with errors of a few units in the last place of the largest
    eigenvalue whatever the matrix, equal eigenvalues included; on a plain array it is `numpy.linalg.eigh`. Only the
    lower triangle of A is read. The signs of the vectors, and their choice among equal eigenvalues, are left open.

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors = eigh3(np.diag([3.0, 1.0, 2.0]))
    >>> values
    array([1., 2., 3.])
    """
    A = square("eigh3", A)
    if A.shape[-2:] != (3, 3):
        raise ArgumentError(f"eigh3 takes a symmetric 3×3 matrix; its shape is {A.shape}")
    if not is_traced(A):
        values, vectors = np.linalg.eigh(A)
        return values, vectors
    lower = relaxed(A).tolist()
    scaled, back = scales([x for i, row in enumerate(lower) for x in row[: i + 1]])
    a = [[scaled(lower[max(i, j)][min(i, j)]) for j in range(3)] for i in range(3)]
    V: Rows = [[float(i == j) for j in range(3)] for i in range(3)]
    for _ in range(5):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            _rotate(a, V, p, q)
    w: list[Any] = [a[k][k] for k in range(3)]
    for i, j in ((0, 1), (1, 2), (0, 1)):
        swap = w[j] < w[i]
        for row in (w, *V):
            row[i], row[j] = choice(swap, row[j], row[i]), choice(swap, row[i], row[j])
    return like([back(x) for x in w], (3,), A), like([x for row in V for x in row], (3, 3), A)


def _rotate(a: Rows, V: Rows, p: int, q: int) -> None:
    """Rotate in the plane of p and q by the angle, up to 45°, that makes ``a[p][q]`` zero."""
    x, d, r = a[p][q], a[q][q] - a[p][p], 3 - p - q
    double = 2.0 * x
    size = operator.abs(d) + (d * d + double * double) ** 0.5
    tangent = choice(size > 0.0, divided(double, size), 0.0)
    tangent = choice(d < 0.0, -tangent, tangent)
    cosine = 1.0 / (1.0 + tangent * tangent) ** 0.5
    sine = cosine * tangent
    a[p][p], a[q][q] = a[p][p] - tangent * x, a[q][q] + tangent * x
    a[p][q] = a[q][p] = 0.0
    for row in (a[r], *V):
        row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]
    a[p][r], a[q][r] = a[r][p], a[r][q]
