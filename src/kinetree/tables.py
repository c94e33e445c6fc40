"""Tables, warnings and numbers for people, as text of a given width."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

WIDE = 100_000
"""Columns of an output that is not a terminal: nothing is cut or wrapped there."""

GAP = 2
"""Blanks between the columns of a table."""


def print_warnings(out: Console, warnings: Iterable[str]) -> None:
    """Print warnings, one a line."""
    for warning in warnings:
        out.print(f"[yellow]warning:[/] {escape(warning)}")


class Cells(NamedTuple):
    """A table of results: `str` of it is text, and a page or a terminal has it too.

    Attributes
    ----------
    columns : mapping of str to "left" or "right"
        Headings, and how what is below them is aligned.
    rows : sequence of sequence of str
    optional : sequence of str
        Headings that a narrow terminal leaves out, in this order.
    marked : set of int
        Rows that stand out.
    cut : int
        The column that is shortened where a terminal is too narrow for the others.

    Examples
    --------
    >>> print(Cells({"joint": "left", "noise": "right"}, [("hip", "0.5"), ("ankle", "12")]))
    joint  noise
    hip      0.5
    ankle     12
    """

    columns: Mapping[str, JustifyMethod]
    rows: Sequence[Sequence[str]]
    optional: Sequence[str] = ()
    marked: Set[int] = frozenset()
    cut: int = 0

    @property
    def widths(self) -> list[int]:
        """The width of each column."""
        return [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]

    def __str__(self) -> str:
        """Return lines of text."""
        signs = ["<" if side == "left" else ">" for side in self.columns.values()]
        lines = [
            (GAP * " ").join(f"{x:{sign}{n}}" for x, sign, n in zip(row, signs, self.widths, strict=True))
            for row in ([*self.columns], *self.rows)
        ]
        return "\n".join(map(str.rstrip, lines))

    def for_terminal(self, width: int) -> Table:
        """Return the table of a terminal that is so wide; a line below says which columns are left out."""
        wide, headings = self.widths, list(self.columns)
        shown = set(range(len(headings)))

        def rest() -> int:
            return width + GAP - sum(wide[k] + GAP for k in shown)

        gone = []
        for k in map(headings.index, self.optional):
            if rest() < 0:
                shown.remove(k)
                gone.append(k)
        for k in gone[::-1]:  # a narrow one may have gone before a wide one
            if rest() >= wide[k] + GAP:
                shown.add(k)
                gone.remove(k)
        wide[self.cut] = max(min(wide[self.cut], 8), wide[self.cut] + min(0, rest()))
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
        if gone:
            table.caption = f"not shown in {width} columns: {', '.join(headings[k] for k in gone)}"
            table.caption_justify = "left"
        for k in sorted(shown):
            table.add_column(headings[k], justify=self.columns[headings[k]], no_wrap=True, width=wide[k])
        for i, row in enumerate(self.rows):
            texts = (Text(shorten(row[k], wide[k])) for k in sorted(shown))
            table.add_row(*texts, style="bold red" if i in self.marked else "")
        return table

    def html(self) -> str:
        """Return the table of a page."""
        kinds = [' class="left"' if side == "left" else "" for side in self.columns.values()]

        def line(tag: str, row: Iterable[str]) -> str:
            return "".join(f"<{tag}{kind}>{html.escape(x)}</{tag}>" for x, kind in zip(row, kinds, strict=True))

        head = f"<tr>{line('th', self.columns)}</tr>"
        rows = [f"<tr{' class=marked' * (i in self.marked)}>{line('td', row)}</tr>" for i, row in enumerate(self.rows)]
        return "\n".join(['<div class="wide"><table>', head, *rows, "</table></div>"])


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
