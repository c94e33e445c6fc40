"""Where commands print, and what a terminal shows of work that takes long."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NoReturn, Self

from rich.console import Console
from rich.markup import escape

from kinetree.motions.extremes import plain
from kinetree.runtime import kernels
from kinetree.tables import WIDE

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0  # seconds that work takes before a terminal shows it


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to `main`, which knows the exit code."""
        raise


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout or stderr: plain text where it is not a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    return _Console(file=stream, highlight=False, emoji=False, width=None if stream.isatty() else WIDE)


def print_files(wrote: Iterable[str | None], drew: Iterable[str | None] = (), holds: str = "") -> None:
    """Print which files there are now, with what they hold; "-" and "show" are none."""
    for verb, names in (("wrote", wrote), ("drew", drew)):
        for name in names:
            if name not in (None, "-", "show"):
                console().print(f"{verb} {escape(name)}{f' ({holds})' if holds and verb == 'wrote' else ''}")


def print_json(value: object, *, stderr: bool = False) -> None:
    """Print a value as JSON, where infinities and what is not a number are null."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False)
    print(text, file=sys.stderr if stderr else sys.stdout)


class Working:
    """One line on a terminal while work takes long: which part is done, what is compiled or drawn. Removed afterwards.

    Called with how much is done, and of how much.
    """

    def __init__(self, what: str, robot: str, *, shown: bool) -> None:
        self._what, self._begin = what, time.perf_counter()
        self._robot = "".join(c if c.isprintable() else "?" for c in robot)
        self._console = console(stderr=True)
        self._shown = shown and self._console.is_terminal
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        self._before = kernels.observer
        if self._shown:
            kernels.observer = lambda name: self.during(f"compiling {name} of {self._robot} …")
        return self

    def __exit__(self, *_: object) -> None:
        kernels.observer = self._before
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: float, total: float = 1.0, what: str = "") -> None:
        """Show how much is done, of something that is not the whole where it is named."""
        if self._shown and time.perf_counter() - self._begin > PATIENCE:
            self._show(what or self._what, done, total)

    @contextlib.contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Show that this is being done, where it takes long."""
        timer = threading.Timer(PATIENCE, self._show, [what, 0.0, None])
        timer.daemon = True
        if self._shown:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if self._shown:
                timer.join()
            if self._bar is not None:
                self._show(self._what, 0.0, None)

    def _show(self, what: str, done: float, total: float | None) -> None:
        text = escape(what)
        if self._bar is None:
            from rich.progress import Progress

            self._bar = Progress(console=self._console, transient=True)
            self._bar.add_task(text, total=None)
            self._bar.start()
        now = total is None  # Python may do nothing else for a while
        self._bar.update(self._bar.task_ids[0], description=text, completed=done, total=total, refresh=now)
