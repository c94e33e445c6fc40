"""``kinetree convert``: a robot's file in another format."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from rich.markup import escape

from kinetree.cli.options import load_robot_or_mechanism
from kinetree.cli.terminal import console, print_json
from kinetree.errors import ArgumentError
from kinetree.formats.save import WRITERS, format_of
from kinetree.robot.export import save
from kinetree.tables import print_warnings


def run(arguments: argparse.Namespace) -> None:
    """Write the file, and say what it does not hold."""
    output, format = Path(arguments.output), format_of(arguments.output)
    if output.exists() and Path(arguments.robot).exists() and output.samefile(arguments.robot):
        raise ArgumentError(f"{arguments.output!r} is the file that is read: choose another name for the output")
    robot, said = load_robot_or_mechanism(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(robot, output, lenient=arguments.lenient)
    said += [str(warning.message) for warning in caught]
    if arguments.json:
        print_json({"robot": robot.model.name, "format": format, "output": str(output), "warnings": said})
        return
    out = console()
    out.print(f"wrote {escape(str(output))}: {escape(robot.model.name)} in {WRITERS[format].name}")
    print_warnings(out, said)
