"""R of a QR factorization of rows that come in pieces, on one thread.

The matrices are small, and threads that wait for each other cost most: with two busy processors a factorization of a
thousand rows takes up to thirty times as long on two threads as on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array

F = TypeVar("F", bound=Callable[..., Any])

REGULAR = 1e-7  # the least entry on the diagonal of R, relative to its column, with which other rows are divided by R
STRONG = 1e4  # rows that are so much stronger than those that R is made of, in squares, need another one


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
