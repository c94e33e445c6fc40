"""What the commands share: where they print, and the robot they are given."""

from __future__ import annotations

import argparse
import io
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from kinetree.robot import Robot

WIDE = 100_000
"""Columns of an output that is no terminal: nothing is cut or wrapped there."""


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


@contextmanager
def waiting(what: str, *, shown: bool) -> Iterator[None]:
    """Show on a terminal that something is being done, while it is."""
    err = console(stderr=True)
    if not (shown and err.is_terminal):
        yield
        return
    with err.status(what):
        yield


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, how it is aligned, and whether a narrow terminal does without it."""

    heading: str
    justify: Literal["left", "center", "right"] = "left"
    optional: bool = False


GAP = 2


def make_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, marked: set[int]) -> Table:
    """Return a table that fits the width: optional columns go first, then the first column is shortened.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of rows of text
    width : int
        Of the terminal.
    marked : set of int
        The rows that stand out.
    """
    wide = [max(len(c.heading), *(len(row[k]) for row in rows)) for k, c in enumerate(columns)]
    shown = list(range(len(columns)))
    for k in [k for k, c in enumerate(columns) if c.optional]:
        if sum(wide[j] + GAP for j in shown) - GAP > width:
            shown.remove(k)
    wide[0] = min(wide[0], max(8, width - sum(wide[j] + GAP for j in shown[1:])))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for k in shown:
        table.add_column(columns[k].heading, justify=columns[k].justify, no_wrap=True, width=wide[k])
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
