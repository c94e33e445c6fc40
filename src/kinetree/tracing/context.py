"""The traces that are active in this thread, with their substitutions.

A call of a compiled function inside a trace becomes part of it. While something is substituted, such as the gravity of
a robot by an argument, that holds for calls with plain arrays too: `substituting_flag` sends them past the call glue.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from kinetree import locks

substituting_flag = ctypes.c_int32(0)
"""How many traces with substitutions there are, read by the call glue; it changes under `locks.compiling` only."""


class TraceContext:
    """A trace: its substitutions by key, opaque to the compiler, and which keys were asked for."""

    def __init__(self, substitutions: Mapping[Hashable, Mapping[Any, Any]]) -> None:
        self.substitutions = substitutions
        self.asked: set[Hashable] = set()


class _Local(threading.local):
    def __init__(self) -> None:
        self.contexts: list[TraceContext] = []


_local = _Local()


def current() -> TraceContext | None:
    """Return the innermost trace of this thread, None outside any."""
    return _local.contexts[-1] if _local.contexts else None


def substitutions(key: Hashable) -> Mapping[Any, Any]:
    """Return what is substituted for this key, nothing by default, and note that it was asked for."""
    context = current()
    if context is None:
        return {}
    context.asked.add(key)
    return context.substitutions.get(key, {})


@contextlib.contextmanager
def tracing(new: Mapping[Hashable, Mapping[Any, Any]]) -> Iterator[TraceContext]:
    """Trace in this context; the substitutions of the contexts around it hold too."""
    outer = current()
    merged = dict(outer.substitutions) if outer else {}
    merged.update({key: {**merged.get(key, {}), **values} for key, values in new.items()})
    context = TraceContext(merged)
    with _bypassing_glue() if new else contextlib.nullcontext():
        _local.contexts.append(context)
        try:
            yield context
        finally:
            _local.contexts.pop()
            if outer:
                outer.asked |= context.asked


@contextlib.contextmanager
def _bypassing_glue() -> Iterator[None]:
    """Send all calls of compiled functions past the call glue, and keep those of signal handlers out of the trace."""
    with locks.compiling, _signal_handlers_outside():
        substituting_flag.value += 1
        try:
            yield
        finally:
            substituting_flag.value -= 1


@contextlib.contextmanager
def _signal_handlers_outside() -> Iterator[None]:
    """Run Python's signal handlers, which interrupt the main thread anywhere, outside every trace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with locks.importing:
        import signal
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    own = {n: h for n, h in handlers.items() if callable(h) and h is not signal.default_int_handler}

    def outside(number: Any, frame: Any) -> None:
        contexts, _local.contexts = _local.contexts, []
        try:
            own[number](number, frame)
        finally:
            _local.contexts = contexts

    for number in own:
        signal.signal(number, outside)
    try:
        yield
    finally:
        for number, handler in own.items():
            if signal.getsignal(number) is outside:  # unless the traced function has set another one
                signal.signal(number, handler)
