"""Locks that a fork waits for, so that a child process never inherits one held by a thread that it does not have.

A thread that holds one of these may take those that come after it here, never those before.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

Lock = contextlib.AbstractContextManager[object]

compiling = threading.RLock()
"""Held to trace and compile, not to call or to load what is compiled already, in memory or in the disk cache.

Of two threads that want the same kernel one compiles and the other waits. Finer locks would gain nothing (llvmlite has
a single lock of its own) and could deadlock where tracing one function calls another. Loading takes no lock but
llvmlite's, which is held to compile one piece of code (`kinetree.backends.llvm.compile`).
"""

importing = threading.RLock()
"""Held to import a module from inside a function: importlib's own lock on that module would stay locked in a child."""

installing = threading.RLock()
"""Held for a moment to make what is compiled part of a function's call."""

_waited_for: list[Callable[[], Lock]] = [lambda: compiling, lambda: importing, lambda: installing]
_held: list[contextlib.ExitStack] = []


def fork_waits_for(lock: Callable[[], Lock]) -> None:
    """Let a fork wait for one more lock, the last to be taken; it is looked up at every fork."""
    _waited_for.append(lock)


_loads: set[object] = set()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Load code that is compiled already; a thread that compiles gives way (llvmlite's lock is not fair)."""
    this = object()
    try:
        _loads.add(this)
        yield
    finally:
        _loads.discard(this)


def let_loads_pass(patience: float = 1.0) -> None:
    """Wait until other threads have loaded what they are loading, but not for ever.

    A signal handler that interrupted a load may be waiting for what this thread compiles.
    """
    end = time.monotonic() + patience
    while _loads and time.monotonic() < end:
        time.sleep(1e-4)


def _take_all() -> None:
    stack = contextlib.ExitStack()
    for lock in _waited_for:
        stack.enter_context(lock())
    _held.append(stack)


def _release_all() -> None:
    _held.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_release_all)
    os.register_at_fork(after_in_child=_loads.clear)
