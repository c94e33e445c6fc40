"""R of a QR factorization of rows that come in pieces, one for each joint, on one thread.

The matrices are small, and threads that wait for each other cost most: with two busy processors a factorization of a
thousand rows takes up to thirty times as long on two threads as on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinetree.lazy import cached_property
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array

F = TypeVar("F", bound=Callable[..., Any])

REGULAR = 1e-7  # the least entry on the diagonal of R, relative to its column, with which other rows are divided by R
STRONG = 1e4  # rows that are so much stronger than those that R is made of, in squares, need another one
EXACT = 1e-13  # residuals below this, relative to the forces, are rounding


class Triangle:
    """R with ``RᵀR = Σ AᵀA`` of all pieces A, as precise as by Householder's reflections.

    The first piece is reflected, and its factor P divides the next ones: ``W = A P⁻¹`` has columns that are about
    orthogonal, so that nothing is lost by squaring it, ``R = chol(I + Σ WᵀW) P``. Products of matrices are a few times
    as fast as reflections, which take over where P is near to singular, and when rows come that are much stronger.

    References: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm",
    2015, for squares of preconditioned columns.
    """

    def __init__(self, columns: int) -> None:
        self._P: Array = np.zeros((0, columns))
        self._inverse: Array = np.zeros((0, 0))
        self._squares = np.eye(columns)

    @np.errstate(over="ignore", invalid="ignore")  # what is so large is too strong
    def add(self, A: Array) -> None:
        """Add rows."""
        if len(self._inverse):
            W = A @ self._inverse
            squares = self._squares + W.T @ W
            if (squares.diagonal() <= STRONG).all():
                self._squares = squares
                return
        block = np.empty((len(self.R) + len(A), A.shape[1]), order="F")
        block[: -len(A)], block[-len(A) :] = self.R, A
        self._P, self._squares = np.asarray(np.linalg.qr(block, mode="r")), np.eye(A.shape[1])
        diagonal, sizes = np.abs(self._P.diagonal()), np.linalg.norm(self._P, axis=0)
        regular = len(diagonal) == len(sizes) and (diagonal > REGULAR * sizes).all()
        self._inverse = np.asarray(np.linalg.inv(self._P), np.float64) if regular else np.zeros((0, 0))

    @property
    def R(self) -> Array:
        """The triangular factor, with as many rows as columns or fewer."""
        return np.asarray(np.linalg.cholesky(self._squares).T @ self._P) if len(self._inverse) else self._P


class QRFactors:
    """R of a QR factorization of ``[Y_k | τ_k]`` for each entry k of v: all that least squares need.

    There are `count` samples, of which `counts` (nv,) have a force that was measured, and is not friction at rest.
    """

    def __init__(self, pattern: Sequence[NDArray[Any]], dimension: int, of_bodies: NDArray[np.intp]) -> None:
        self.pattern, self.dimension, self.of_bodies, self.count = pattern, dimension, of_bodies, 0
        self._triangles = [Triangle(len(columns) + 1) for columns in pattern]
        self.counts, self._sum, self._squares = np.zeros((3, len(pattern)))

    def add(self, rows: list[Array], tau: Array) -> None:
        """Add some samples; it is done before anything is asked for."""
        self.count += len(tau)
        self._sum += tau.sum(axis=0)
        self._squares += (tau * tau).sum(axis=0)
        for k, (triangle, Y) in enumerate(zip(self._triangles, rows, strict=True)):
            block = np.column_stack([Y, tau[:, k]])
            count = len(tau) if block[:, -1].all() else np.count_nonzero(block.any(axis=1))
            self.counts[k] += count
            if count:  # others were not measured
                triangle.add(block)

    @cached_property
    def R(self) -> list[Array]:
        """The triangular factors, (m_k + 1, m_k + 1) or fewer rows."""
        return [triangle.R for triangle in self._triangles]

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """Mask (n,) of the parameters that no force depends on, those of bodies by no more than rounding."""
        heard = np.zeros(self.dimension, bool)
        for R, columns in zip(self.R, self.pattern, strict=True):
            sizes = np.linalg.norm(R[:, :-1], axis=0)
            of_bodies = np.isin(columns, self.of_bodies)  # columns of users have any size
            heard[columns] |= sizes > np.where(of_bodies, EXACT * sizes[of_bodies].max(initial=0.0), 0.0)
        return ~heard

    @cached_property
    def _stacked(self) -> tuple[Array, Array, NDArray[np.intp]]:
        joints = np.repeat(np.arange(len(self.R)), [len(R) for R in self.R])
        A = np.zeros((len(joints), self.dimension))
        for k, (R, columns) in enumerate(zip(self.R, self.pattern, strict=True)):
            A[np.ix_(joints == k, columns)] = R[:, :-1]
        A[:, self.silent] = 0.0  # scaled by their own size, they would look as well determined as others
        return A, np.concatenate([R[:, -1] for R in self.R]), joints

    def with_factors(self, R: list[Array], sizes: Array | float = 1.0) -> QRFactors:
        """Return the same with other triangular factors, and forces in other units (nv,)."""
        other = copy(self)
        other._sum, other._squares = self._sum * sizes, self._squares * sizes**2
        for name in ("_stacked", "silent"):
            vars(other).pop(name, None)
        vars(other)["R"] = R
        return other

    @property
    def spread(self) -> Array:
        """Standard deviation of the joint forces (nv,)."""
        return np.asarray(np.sqrt(np.maximum(self.mean_squares - (self._sum / np.maximum(self.counts, 1.0)) ** 2, 0.0)))

    @property
    def mean_squares(self) -> Array:
        """Mean squares of the joint forces (nv,)."""
        return np.asarray(self._squares / np.maximum(self.counts, 1.0))

    @property
    def least_noise(self) -> float:
        """Noise below this is rounding."""
        return EXACT * float(np.sqrt(self.mean_squares.max(initial=0.0))) or 1.0

    @property
    def joints(self) -> NDArray[np.intp]:
        """The joint of each row of `stacked`."""
        return self._stacked[2]

    def stacked(self, scales: Array) -> tuple[Array, Array]:
        """Return A and b of ``A π = b`` with the rows of each joint divided by its scale."""
        A, b, joints = self._stacked
        return A / scales[joints, None], b / scales[joints]

    def squares(self, values: Array) -> Array:
        """Return the sums of squared residuals (nv,)."""
        A, b, _ = self._stacked
        return self.by_joint((A @ values - b) ** 2)

    def by_joint(self, x: Array) -> Array:
        """Return the sums (nv,) over the rows of each joint."""
        return np.asarray(np.bincount(self.joints, x, len(self.pattern)), dtype=np.float64)


def on_one_thread(function: F) -> F:
    """Return the function with `one_thread` while it runs."""
    own = friendly_call_errors(function)

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:  # a decorator of contextlib's would be where warnings point
        with one_thread():
            return own(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


@contextmanager
def one_thread() -> Iterator[None]:
    """Have NumPy's linear algebra use one thread, if threadpoolctl, of the extra ``identification``, is installed."""
    if (pools := _pools()) is None:
        yield
        return
    with pools.limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> Any:
    """Return the controller of the threads of loaded libraries, None where it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
