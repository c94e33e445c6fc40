"""Ctrl-C without a traceback, at any moment."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

INTERRUPTED = 130
_pressed: list[int] = []


def leave(*_: object) -> NoReturn:
    """End this process at once. There is nothing to tidy up while modules are imported and at the end."""
    with contextlib.suppress(OSError):
        os.write(2, b"kinetree: interrupted\n")
    os._exit(INTERRUPTED)


def quietly() -> None:
    """Let Ctrl-C end this process without a word more, from here to its end; where it is not ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
        sys.unraisablehook = _unraisable


@contextlib.contextmanager
def tidily() -> Iterator[None]:
    """Have Ctrl-C raise `KeyboardInterrupt` inside, so that what is half written is removed."""
    before = signal.getsignal(signal.SIGINT)
    if before is not leave:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def pressed() -> bool:
    """Return whether Ctrl-C was pressed inside `tidily`: an import that it breaks off may raise any other error."""
    return bool(_pressed)


def _interrupt(number: int, _: object) -> NoReturn:
    _pressed.append(number)
    raise KeyboardInterrupt


def _unraisable(what: Any) -> None:
    """Leave where Python cannot raise `KeyboardInterrupt`, in a finalizer or a callback from C."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        leave()
    sys.__unraisablehook__(what)
