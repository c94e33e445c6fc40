"""What the commands share: where they print, and the robot they are given."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn, SupportsFloat, TypeVar

from rich.console import Console
from rich.markup import escape

from kinetree.errors import ArgumentError
from kinetree.tables import WIDE

if TYPE_CHECKING:
    from kinetree.mechanism_methods import Mechanism
    from kinetree.robot_methods import Robot

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds from which on a terminal shows the progress."""


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


def waiting(what: str, *, shown: bool) -> AbstractContextManager[object]:
    """Show on a terminal that something is being done, while it is."""
    err = console(stderr=True)
    return err.status(what) if shown and err.is_terminal else nullcontext()


@contextmanager
def progress(what: str, *, shown: bool) -> Iterator[Callable[[float], None]]:
    """Give what shows on a terminal which part is done, from 0 to 1, of what takes long."""
    err = console(stderr=True)
    if not shown or not err.is_terminal:
        yield lambda done: None
        return
    from rich.progress import Progress

    begin = time.perf_counter()
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task(escape(what), total=1.0, visible=False)
        yield lambda done: bar.update(task, completed=done, visible=time.perf_counter() - begin > PATIENCE)


def print_json(value: object, *, stderr: bool = False) -> None:
    """Print a value as JSON, where infinities and what is not a number are null."""
    text = json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False)
    print(text, file=sys.stderr if stderr else sys.stdout)


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case bool() | int() | str() | None:
            return value
        case SupportsFloat():
            return float(value) if math.isfinite(float(value)) else None
    return str(value)


def load_robot(arguments: argparse.Namespace) -> tuple[Robot, list[str]]:
    """Return the robot that the arguments name, with what they put on it, and the warnings that it gave."""
    import kinetree

    robot, found = _loaded(kinetree.load, arguments)
    for mass, place, frame in getattr(arguments, "payload", ()):
        load = kinetree.Inertia.from_com(mass, place, [[0.0] * 3] * 3)
        at = robot.frame(frame or _last_body(robot))
        robot = robot.attach(load, at.name)
        if at.body is None:
            found.append(f"--payload has no effect: {at.name} is fixed to the world")
    if getattr(arguments, "friction", False):
        robot = robot.with_friction()
        if not any(any(body.damping + body.friction) for body in robot.model.bodies):
            found.append("--friction has no effect: the file gives neither damping nor friction")
    return robot, found


def load_robot_or_mechanism(arguments: argparse.Namespace) -> tuple[Robot | Mechanism, list[str]]:
    """Return what the arguments name, with closed loops where the file has any, and the warnings that it gave."""
    import kinetree
    from kinetree.formats.spanning import LoopError

    try:
        return _loaded(kinetree.load, arguments)
    except kinetree.FormatError as error:
        try:
            return _loaded(kinetree.load_mechanism, arguments)
        except LoopError:
            raise
        except kinetree.KinetreeError:
            raise error from None


def _loaded(load: Callable[..., T], arguments: argparse.Namespace) -> tuple[T, list[str]]:
    """Return what a function loads, and the warnings that it gave."""
    options = {key: getattr(arguments, key) for key in ("floating_base", "mimic", "lenient")}
    options |= {"gravity": arguments.gravity} if "gravity" in arguments else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load(arguments.robot, **options)
    return loaded, [str(warning.message) for warning in caught]


def _last_body(robot: Robot) -> str:
    """Return the name of the body at the end of a robot that is a single chain."""
    carrying = {body.parent for body in robot.model.bodies}
    ends = [body.name for k, body in enumerate(robot.model.bodies) if k not in carrying]
    if len(ends) == 1:
        return ends[0]
    raise ArgumentError(f"--payload: {robot.name} is no single chain; say where, as in 1.5@{robot.frame_names[-1]}")
