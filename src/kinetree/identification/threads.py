"""One thread for linear algebra: the matrices here are small, and threads that wait for each other cost most.

With two busy processors a factorization of a thousand rows takes up to thirty times as long on two threads as on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar

from kinetree.signatures import told

F = TypeVar("F", bound=Callable[..., Any])


def on_one_thread(function: F) -> F:
    """Return the function with `one_thread` while it runs."""
    own = told(function)

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:  # a decorator of contextlib's would be where warnings point
        with one_thread():
            return own(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


@contextmanager
def one_thread() -> Iterator[None]:
    """Have NumPy's linear algebra use one thread.

    Without threadpoolctl, of the extra ``identification``, nothing is done.
    """
    if (pools := _pools()) is None:
        yield
        return
    with pools.limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> Any:
    """Return what limits the threads of the libraries that are loaded, None where it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
