"""Small linear algebra: functions of NumPy arrays that can be traced into a compiled function, unrolled.

On plain arrays they are NumPy's own. Their arithmetic is simplified and fused, also between lines that are computed as
they are written. Pivots are chosen by selections, so that every state takes its own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, cast

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import ieee
from kinetree.graph.ops import OPS
from kinetree.scalars.factorization import Factored
from kinetree.scalars.linalg import dot
from kinetree.tracing.arrays import is_traced, traced_array
from kinetree.tracing.condition import choice
from kinetree.tracing.expr import ExactExpr, Expr, recast
from kinetree.tracing.numpy_dispatch import implements, plain

Rows = list[list[Any]]
Scale = Callable[[Any], Any]


@implements(np.linalg.solve)
def solve(A: Any, b: Any) -> Any:
    """Return x with ``A x = b``, for any regular A.

    Traced, it is Gaussian elimination with scaled partial pivoting, about 2/3 n³ operations and as many choices: meant
    for n up to ten or so. Where A is singular the result is inf or NaN, unless equal or known entries cancel while it
    is traced (``x / x`` is 1). `solve_spd`, for symmetric positive definite A, is about twice as fast. (For the mass
    matrix, `robot.solve_mass_matrix` exploits its sparsity.)

    Parameters
    ----------
    A : (n, n) array
        On plain arrays (..., n, n).
    b : (n,) or (n, m) array
        One right-hand side, or one per column; on plain arrays (..., n) if it has one axis less than A, else
        (..., n, m).

    Returns
    -------
    (n,) or (n, m) array

    Raises
    ------
    ArgumentError
        If the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> solve(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([5.0, 13.0]))
    array([-1.,  5.])
    """
    return _solution("solve", _eliminated, A, b)


def solve_spd(A: Any, b: Any) -> Any:
    """Return x with ``A x = b``, for a symmetric positive definite A.

    Traced, it is an ``L D Lᵀ`` factorization without pivoting, which reads only the lower triangle of A and is as
    accurate as Cholesky's. Where A is indefinite the result may be far off; where A is singular it is inf or NaN. The
    factorization is unrolled, about n³/6 operations plus n² per column of b: meant for n up to ten or so.

    Parameters
    ----------
    A : (n, n) array
        Such as ``J @ Minv @ J.T``. On plain arrays (..., n, n).
    b : (n,) or (n, m) array
        As for `solve`.

    Returns
    -------
    (n,) or (n, m) array

    Raises
    ------
    ArgumentError
        If the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> solve_spd(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([5.0, 10.0]))
    array([1., 3.])
    """
    return _solution("solve_spd", _factorised, A, b)


@implements(np.linalg.inv)
def inv(A: Any) -> Any:
    """Return the inverse of a regular matrix, by `solve`; to solve a system, `solve` is faster and more accurate.

    Examples
    --------
    >>> import numpy as np
    >>> inv(np.array([[0.0, 2.0], [1.0, 0.0]]))
    array([[0. , 1. ],
           [0.5, 0. ]])
    """
    A = square("inv", A)
    return solve(A, np.eye(len(A))) if is_traced(A) else np.linalg.inv(A)


@implements(np.linalg.det)
def _det(A: Any) -> Any:
    A = square("det", A)
    rows = relaxed(A).tolist()
    determinant: Any = _triangular(rows)
    for k, row in enumerate(rows):
        determinant = determinant * row[k]
    return like([determinant], (), A)


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = np.asanyarray(x)
    if axis is None and (x.ndim == 1 or ord is None):
        x, axis = x.ravel(), 0
    if not (ord in (None, 1, 2, np.inf) and isinstance(axis, int)) and not (ord in (None, "fro") and axis is None):
        raise TypeError(f"np.linalg.norm with ord={ord!r} cannot be traced into a compiled function")
    if ord in (1, np.inf):
        sizes = np.abs(x)
        return sizes.sum(axis, keepdims=keepdims) if ord == 1 else sizes.max(axis, keepdims=keepdims)
    return np.sqrt((x * x).sum(axis, keepdims=keepdims))


def scales(entries: list[Any]) -> tuple[Scale, Scale]:
    """Return multiplications by the power of two that brings the largest entry close to 1, and its inverse."""
    largest = functools.reduce(lambda a, b: choice(a < b, b, a), map(operator.abs, entries))
    exponent = choice(largest > 0.0, _apply("exponent", largest), 0.0)
    half = _apply("rint", exponent * 0.5)
    down, up = ([_apply("pow2", sign * h) for h in (half, exponent - half)] for sign in (-1.0, 1.0))
    return (lambda x: x * down[0] * down[1]), (lambda x: x * up[0] * up[1])


def _apply(name: str, x: Any) -> Any:
    """Return an operation of the table on a traced or a plain number."""
    return x.apply_function(name, x) if isinstance(x, Expr) else OPS[name].evaluate(float(x))


def _solution(name: str, method: Callable[[Rows, Rows], Rows], A: Any, b: Any) -> Any:
    """Return the solution by `method` for traced A and the columns of b; NumPy's for plain ones."""
    A, b = np.asanyarray(A), np.asanyarray(b)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or not b.ndim:
        raise ArgumentError(
            f"{name} takes a square matrix and a vector or a matrix; the shapes are {A.shape}, {b.shape}"
        )
    vector = b.ndim == A.ndim - 1
    if b.ndim < A.ndim - 1 or b.shape[-1 if vector else -2] != A.shape[-1]:
        raise ArgumentError(f"{name}: b of shape {b.shape} does not fit A of shape {A.shape}")
    if not is_traced(A) and not is_traced(b):
        return np.linalg.solve(A, b[..., None])[..., 0] if vector else np.linalg.solve(A, b)
    if A.ndim != 2:
        raise ArgumentError(f"{name} takes one matrix while a function is being compiled; A has shape {A.shape}")
    columns = [relaxed(b).tolist()] if vector else relaxed(b).T.tolist()
    solved = method(relaxed(A).tolist(), columns)
    rows = solved if vector else [list(row) for row in zip(*solved, strict=True)]
    return like([x for row in rows for x in row], b.shape, A, b)


def square(name: str, A: Any) -> Any:
    """Return A as an array, if it is one square matrix, or plain ones."""
    A = np.asanyarray(A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or (A.ndim > 2 and is_traced(A)):
        raise ArgumentError(f"{name} takes a square matrix; its shape is {A.shape}")
    return A


_cast: Any = np.frompyfunc(recast, 2, 1)


def relaxed(array: Any) -> Any:
    """Return the entries as values whose arithmetic is simplified and fused: what is computed here is nobody's line."""
    return _cast(plain(array), Expr)


def like(entries: list[Any], shape: tuple[int, ...], *arguments: Any) -> Any:
    """Return the array of these entries, whose arithmetic is recorded as that of the arguments."""
    exact = any(isinstance(entry, ExactExpr) for array in arguments for entry in array.flat)
    return traced_array([recast(entry, ExactExpr if exact else Expr) for entry in entries], shape)


def divided(a: Any, b: Any) -> Any:
    """Return a/b, infinite or NaN where the number b is zero."""
    return ieee.div(float(a), float(b)) if isinstance(a, Real) and isinstance(b, Real) else a / b


def _triangular(rows: Rows) -> Any:
    """Eliminate below the diagonal of the square part, pivoting the largest; return the sign of the permutation."""
    n, sign = len(rows), cast(Any, 1.0)
    for k in range(n):
        for i in range(k + 1, n):
            larger = operator.abs(rows[i][k]) > operator.abs(rows[k][k])
            pairs = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [choice(larger, b, a) if j >= k else a for j, (a, b) in enumerate(pairs)]
            rows[i] = [choice(larger, a, b) if j >= k else b for j, (a, b) in enumerate(pairs)]
            sign = choice(larger, -sign, sign)
        for row in rows[k + 1 :]:
            factor = divided(row[k], rows[k][k])
            row[k + 1 :] = [b - factor * a for a, b in zip(rows[k][k + 1 :], row[k + 1 :], strict=True)]
    return sign


def _eliminated(A: Rows, columns: Rows) -> Rows:
    """Return the solutions by Gaussian elimination with partial pivoting, of rows scaled by powers of two."""
    n = len(A)
    scaled = [scales(row)[0] for row in A]
    rows = [[scaled[i](x) for x in (*row, *(b[i] for b in columns))] for i, row in enumerate(A)]
    _triangular(rows)
    solutions = []
    for c in range(n, n + len(columns)):
        x: list[Any] = [0.0] * n
        for i in reversed(range(n)):
            x[i] = divided(rows[i][c] - dot(rows[i][i + 1 : n], x[i + 1 :]), rows[i][i])
        solutions.append(x)
    return solutions


def _factorised(A: Rows, columns: Rows) -> Rows:
    """Return the solutions for these right-hand sides, by ``A = L D Lᵀ``."""
    zero = next((x for row in (*A, *columns) for x in row if isinstance(x, Expr)), 0.0) * 0.0
    factors = Factored([[zero + x for x in row] for row in A], len(A))  # numbers are traced too: 1/0 is infinite
    return [factors.solve(b) for b in columns]


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
