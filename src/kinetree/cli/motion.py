"""What commands that make motions have in common: the files they write, and how many numbers they take and keep."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

from kinetree.drawing.panels import check_plot
from kinetree.errors import ArgumentError
from kinetree.logs.codecs.parquet import check_installed
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.validation import Array

MOST = 100_000_000  # numbers that a motion has at most, 0.8 GB


def check_results(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for a file of a motion, or a picture of it, that cannot be written."""
    if arguments.output is not None:
        check_output(arguments.output, None, (".csv", ".npz", ".parquet"))
        if arguments.output.lower().endswith(".parquet"):
            check_installed()
    check_plot(arguments.plot)
    if arguments.plot not in (None, "show"):
        check_output(arguments.plot, None, (".png", ".svg", ".pdf"))


def numbers(option: str, given: Iterable[str], names: tuple[str, ...]) -> Array:
    """Return numbers, one for each name, separated by blanks or commas."""
    try:
        values = np.array([float(text) for text in " ".join(given).replace(",", " ").split()])
    except ValueError as error:
        raise ArgumentError(f"{option}: {error}") from None
    if len(values) != len(names):
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        raise ArgumentError(f"{option} takes {len(names)} numbers ({shown}); {len(values)} were given")
    return values


def configuration(arguments: argparse.Namespace, robot: Robot) -> Array:
    """Return the configuration that --q names or has the numbers of."""
    name, *rest = arguments.q or ["neutral"]
    if rest or not name[:1].isalpha():
        return numbers("--q", arguments.q, robot.q_names)
    return robot.neutral() if name == "neutral" else robot.configuration(name)
