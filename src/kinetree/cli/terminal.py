"""What the commands share: where they print, and the robot they are given."""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from kinetree.robot import Robot

WIDE = 1000
"""Columns of an output that is no terminal: nothing is cut or wrapped there."""


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout or stderr: plain text where it is not a terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, soft_wrap=False, width=None if stream.isatty() else WIDE)


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
    if 10**digits <= abs(x) < 10**9:
        return f"{x:.0f}"
    return f"{x:.{digits}g}"
