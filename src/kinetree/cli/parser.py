"""From the words of a command line to a command and its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from kinetree._version import __version__
from kinetree.cli.commands import COMMANDS, command

EXAMPLES = """\
examples:
  kinetree info                                    list the robots that need no file
  kinetree info panda                              joints, limits, masses, frames
  kinetree info my_robot.urdf --floating-base
  kinetree inverse-dynamics panda motion.csv -o torques.csv
  kinetree inverse-dynamics panda --plot torques.png
  kinetree simulate panda --duration 2 --plot fall.png --animate fall.gif
  kinetree excite panda -o motion.csv --plot motion.png
  kinetree identify arm.urdf a.csv b.csv --validate c.csv -o identified.urdf --report report.html
  kinetree export panda inverse_dynamics -o panda_id.c
  kinetree cache                                   where compiled functions are kept, and how many
"""


def parse_arguments(argv: Sequence[str]) -> tuple[Callable[[argparse.Namespace], None], argparse.Namespace]:
    """Return the function that runs a command, and its arguments, in whatever order they were given."""
    name, *rest = argv or ["--help"]
    if name not in COMMANDS:
        overview().parse_args(argv)
    return command(name).run, make_parser(name).parse_intermixed_args(joined(rest))


def overview() -> argparse.ArgumentParser:
    """Return the parser that knows the commands' names."""
    parser = argparse.ArgumentParser(
        prog="kinetree",
        description="Rigid-body dynamics of robots.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kinetree {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text)
    return parser


def make_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments."""
    chosen = command(name)
    text, examples, shown = (chosen.__doc__ or "").partition("for example:\n")
    parser = argparse.ArgumentParser(
        prog=f"kinetree {name}",
        description=text,
        epilog=examples + shown,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chosen.add_arguments(parser)
    return parser


def joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with the three numbers after --gravity as one: argparse takes "-1,0,0" for an option."""
    given, joined = list(argv), []
    while given:
        text = given.pop(0)
        if text == "--gravity" and given:
            text = f"--gravity={given.pop(0)}"
            while given and len(text.replace(",", " ").split()) < 3:
                text += f" {given.pop(0)}"
        joined.append(text)
    return joined
