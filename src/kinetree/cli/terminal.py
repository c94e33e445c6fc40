"""What the commands share: where they print, and the robot they are given."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NoReturn, SupportsFloat

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from kinetree.errors import ArgumentError

if TYPE_CHECKING:
    from kinetree.robot import Robot

WIDE = 100_000
"""Columns of an output that is no terminal: nothing is cut or wrapped there."""

GAP = 2
"""Blanks between the columns of a table."""


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to `main`, which knows the exit code."""
        raise


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout or stderr: plain text where it is not a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    return _Console(file=stream, highlight=False, width=None if stream.isatty() else WIDE)


def waiting(what: str, *, shown: bool) -> AbstractContextManager[object]:
    """Show on a terminal that something is being done, while it is."""
    err = console(stderr=True)
    return err.status(what) if shown and err.is_terminal else nullcontext()


def print_warnings(out: Console, warnings: Iterable[str]) -> None:
    """Print warnings, one a line."""
    for warning in warnings:
        out.print(f"[yellow]warning:[/] {escape(warning)}")


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


def make_table(
    columns: Mapping[str, JustifyMethod],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    optional: Sequence[str] = (),
    cut: int = 0,
    marked: Container[int] = (),
) -> Table:
    """Return a table that fits the width: optional columns go in their order, then the column `cut` is shortened.

    `columns` maps the headings to alignments; the rows `marked` stand out. A line below says which columns went.
    """
    wide = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    headings = list(columns)
    shown = set(range(len(columns)))

    def rest() -> int:
        return width + GAP - sum(wide[k] + GAP for k in shown)

    gone = []
    for k in map(headings.index, optional):
        if rest() < 0:
            shown.remove(k)
            gone.append(k)
    for k in gone[::-1]:  # a narrow one may have gone before a wide one
        if rest() >= wide[k] + GAP:
            shown.add(k)
            gone.remove(k)
    wide[cut] = max(min(wide[cut], 8), wide[cut] + min(0, rest()))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    if gone:
        table.caption = f"not shown in {width} columns: {', '.join(headings[k] for k in gone)}"
        table.caption_justify = "left"
    for k in sorted(shown):
        table.add_column(headings[k], justify=columns[headings[k]], no_wrap=True, width=wide[k])
    for i, row in enumerate(rows):
        table.add_row(*(Text(shorten(row[k], wide[k])) for k in sorted(shown)), style="bold red" if i in marked else "")
    return table


def shorten(text: str, width: int) -> str:
    """Return a text cut in its middle, since names differ at both ends.

    Examples
    --------
    >>> shorten("right_shoulder_pitch_joint", 18)
    'right_sho…ch_joint'
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def load_robot(arguments: argparse.Namespace) -> tuple[Robot, list[str]]:
    """Return the robot that the arguments name, with what they put on it, and the warnings that it gave."""
    import kinetree

    options = {key: getattr(arguments, key) for key in ("floating_base", "mimic", "lenient")}
    options |= {"gravity": arguments.gravity} if "gravity" in arguments else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = kinetree.load(arguments.robot, **options)
    for mass, place, frame in getattr(arguments, "payload", ()):
        load = kinetree.Inertia.from_com(mass, place, [[0.0] * 3] * 3)
        robot = robot.attach(load, frame or _last_body(robot))
    found = [str(warning.message) for warning in caught]
    if getattr(arguments, "friction", False):
        robot = robot.with_friction()
        if not any(any(body.damping + body.friction) for body in robot.model.bodies):
            found.append("--friction has no effect: the file gives neither damping nor friction")
    return robot, found


def _last_body(robot: Robot) -> str:
    """Return the name of the body at the end of a robot that is a single chain."""
    carrying = {body.parent for body in robot.model.bodies}
    ends = [body.name for k, body in enumerate(robot.model.bodies) if k not in carrying]
    if len(ends) == 1:
        return ends[0]
    raise ArgumentError(f"--payload: {robot.name} is no single chain; say where, as in 1.5@{robot.frame_names[-1]}")


def number(x: float, digits: int = 4) -> str:
    """Return a number for people: a few digits, no exponent if it can be helped, ``–`` where there is none.

    Examples
    --------
    >>> number(2.8973), number(-87.0), number(0.000123456), number(float("inf")), number(123456.0)
    ('2.897', '-87', '0.0001235', '–', '123456')
    """
    if not math.isfinite(x):
        return "–"
    if 10**digits <= abs(x) < 10**12:
        return f"{x:.0f}"
    return f"{x:.{digits}g}"
