"""One thread for NumPy's linear algebra: the matrices here are small, and threads that wait for each other cost most.

With two busy processors a factorization of a thousand rows takes up to thirty times as long on two threads as on one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_")


def on_one_thread(function: F) -> F:
    """Return the function with NumPy's linear algebra on one thread while it runs."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with one_thread():
            return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


@contextmanager
def one_thread() -> Iterator[None]:
    """Have the OpenBLAS that comes with NumPy use one thread; where there is another library, nothing is done."""
    ways = _openblas()
    if ways is None:
        yield
        return
    get, put = ways
    before = int(get())
    put(1)
    try:
        yield
    finally:
        put(before)


@cache
def _openblas() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Return what reads and sets the number of threads, None where there is no such library."""
    package = Path(np.__file__).parent
    places = (package.with_name("numpy.libs"), package / ".dylibs")
    for path in sorted(file for place in places for file in place.glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))  # loaded by NumPy already
        except OSError:
            continue
        for name in NAMES:
            get, put = (getattr(library, name.format(way), None) for way in ("get", "set"))
            if get is not None and put is not None:
                return get, put
    return None
