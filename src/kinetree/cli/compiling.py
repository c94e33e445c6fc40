"""What a terminal shows while a function is compiled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from kinetree.cli.terminal import console
from kinetree.runtime import kernels
from kinetree.tables import shorten

PATIENCE = 1.0
"""Seconds that a compilation takes before it is shown."""


class CompilingNotice:
    """One line on standard error while a function of this robot is compiled, removed afterwards.

    `show` takes the line's text, or an empty one; a progress bar can put its own in this place.
    """

    def __init__(self, robot: str) -> None:
        self._robot = "".join(c if c.isprintable() else "?" for c in robot)
        self._console = console(stderr=True)
        self.show: Callable[[str], None] = self._show_line

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Show that the function of this name is compiled, where it takes long."""
        shown = False

        def show() -> None:
            nonlocal shown
            shown = True
            self.show(f"compiling {name} of {self._robot} …")

        timer = threading.Timer(PATIENCE, show)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            if shown:
                self.show("")

    def _show_line(self, text: str) -> None:
        width = self._console.width - 1
        self._console.file.write(f"\r{shorten(text, width):{width}}\r")
        self._console.file.flush()


@contextlib.contextmanager
def compiling_notice(robot: str, *, shown: bool) -> Iterator[CompilingNotice]:
    """Show on a terminal what is compiled inside."""
    notice, before = CompilingNotice(robot), kernels.observer
    if shown and console(stderr=True).is_terminal:
        kernels.observer = notice
    try:
        yield notice
    finally:
        kernels.observer = before
