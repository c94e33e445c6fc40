"""All functions there are, and who must see their calls.

Where a robot's numbers are arguments of a function that is being traced, the robot's functions must become part of the
trace even if they are called with plain arrays, which the call glue would take.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.runtime.function import Function

_lock = threading.RLock()
_functions: weakref.WeakSet[Function] = weakref.WeakSet()
watching: list[None] = []  # as many as there are traces that must see all calls


def add(function: Function) -> None:
    """Enter a function."""
    with _lock:
        _functions.add(function)


@contextlib.contextmanager
def calls_seen(wanted: bool = True) -> Iterator[None]:
    """Let all calls of all functions take the general path, in all threads, if wanted."""
    if not wanted:
        yield
        return
    _change(watching.append, None)
    try:
        yield
    finally:
        _change(watching.pop)


def _change(change: Callable[..., None], *args: None) -> None:
    with _lock:
        change(*args)
        for function in list(_functions):
            function.expose()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
