"""What the commands share: where they print, and the robot they are given."""

from __future__ import annotations

import argparse
import io
import math
import sys
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

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


def make_table(
    columns: Mapping[str, JustifyMethod],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    optional: str = "",
    marked: Container[int] = (),
) -> Table:
    """Return a table that fits the width: the optional column goes first, then the first column is shortened.

    `columns` maps the headings to alignments; `optional` is a heading, and the rows `marked` stand out.
    """
    wide = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    headings = list(columns)
    shown = list(range(len(columns)))
    if optional and sum(wide) + GAP * (len(wide) - 1) > width:
        shown.remove(headings.index(optional))
    wide[0] = min(wide[0], max(8, width - sum(wide[k] + GAP for k in shown[1:])))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for k in shown:
        table.add_column(headings[k], justify=columns[headings[k]], no_wrap=True, width=wide[k])
    for i, row in enumerate(rows):
        table.add_row(*(Text(shorten(row[k], wide[k])) for k in shown), style="bold red" if i in marked else "")
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
    """Return the robot that the arguments name, and the warnings that it gave."""
    import kinetree

    options = {"gravity": arguments.gravity} if "gravity" in arguments else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = kinetree.load(arguments.robot, floating_base=arguments.floating_base, mimic=arguments.mimic, **options)
    return robot, [str(warning.message) for warning in caught]


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
