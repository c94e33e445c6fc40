"""The traces that are active in this thread, with their substitutions.

A call of a compiled function inside a trace becomes part of it. While something is substituted, such as the gravity of
a robot by an argument, that holds for calls with plain arrays too: `substituting_flag` sends them past the call glue.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Hashable, Iterator, Mapping
from types import FrameType
from typing import Any

from kinetree import locks
from kinetree.graph import Graph

substituting_flag = ctypes.c_int32(0)
"""How many traces with substitutions there are in all threads; the call glue reads it."""

_substituting: set[TraceContext] = set()
_lock = threading.RLock()
locks.fork_waits_for(lambda: _lock)


class TraceContext:
    """A trace: its substitutions, and which were asked for; the graph of a user's function, and if that is exact.

    `undifferentiated` are the functions without derivatives that are part of it.
    """

    def __init__(
        self,
        substitutions: Mapping[Hashable, Mapping[Any, Any]],
        own: bool,
        graph: Graph | None,
        exact: bool,
        frame: FrameType,
    ) -> None:
        self.substitutions = substitutions
        self.graph = graph
        self.own = own
        self.exact = exact
        self.asked: set[Hashable] = set()
        self.undifferentiated: set[str] = set()
        self._frame = frame

    def is_interrupted(self) -> bool:
        """Return whether the caller is, or was called by, a signal handler that interrupted what is traced.

        Such a handler has the frame that it interrupted, which is the one that it returns to, as an argument.
        """
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._frame:
            back = frame.f_back
            for value in frame.f_locals.values():
                if back is not None and (value is back or (isinstance(value, tuple) and any(x is back for x in value))):
                    return True
            frame = back
        return False


class _Local(threading.local):
    def __init__(self) -> None:
        self.contexts: list[TraceContext] = []


_local = _Local()


def current() -> TraceContext | None:
    """Return the innermost trace of this thread, None outside any."""
    return _local.contexts[-1] if _local.contexts else None


def outermost() -> TraceContext | None:
    """Return the trace that all others of this thread are part of, None outside any."""
    return _local.contexts[0] if _local.contexts else None


def substitutions(key: Hashable) -> Mapping[Any, Any]:
    """Return the substitute for this key, None by default, and note that it was asked for."""
    context = current()
    if context is None:
        return {}
    context.asked.add(key)
    return context.substitutions.get(key, {})


@contextlib.contextmanager
def tracing(
    new: Mapping[Hashable, Mapping[Any, Any]], graph: Graph | None = None, exact: bool = False
) -> Iterator[TraceContext]:
    """Trace in this context; the substitutions of the contexts around it hold too, and so does their graph."""
    outer = current()
    if graph is None and outer is not None:
        graph = outer.graph
    merged = dict(outer.substitutions) if outer else {}
    merged.update({key: {**merged.get(key, {}), **values} for key, values in new.items()})
    context = TraceContext(merged, bool(new), graph, exact, sys._getframe(2))  # the caller's, behind contextlib's
    contexts = _local.contexts
    try:  # from here on an interrupt leaves nothing behind
        if context.own:
            _substituting.add(context)
        _local.contexts = [*contexts, context]
        _count()
        yield context
    finally:
        _local.contexts = contexts
        _substituting.discard(context)
        _count()
        if outer:
            outer.asked |= context.asked
            outer.undifferentiated |= context.undifferentiated


@contextlib.contextmanager
def with_declared_derivatives() -> Iterator[None]:
    """Trace what has derivatives of its own, so that functions without any may be part of it."""
    known = set(context.undifferentiated) if (context := current()) else set()
    yield
    if context is not None:
        context.undifferentiated = known


def _count() -> None:
    with _lock:
        substituting_flag.value = len(_substituting)


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Be outside every trace: what is traced here is a function of its own."""
    contexts = _local.contexts
    try:
        _local.contexts = []
        yield
    finally:
        _local.contexts = contexts


def _after_fork() -> None:
    """Count the traces of the thread that forked: the child has no other."""
    _substituting.intersection_update(_local.contexts)
    substituting_flag.value = len(_substituting)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
