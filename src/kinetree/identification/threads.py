"""One thread for linear algebra: the matrices here are small, and threads that wait for each other cost most.

With two busy processors a factorization of a thousand rows takes up to thirty times as long on two threads as on one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Have NumPy's linear algebra use one thread, as a context or a decorator: ``@one_thread()``.

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
