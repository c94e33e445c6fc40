"""From the words of a command line to a command and its arguments; exit codes and messages that all commands share."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import cleandoc

from kinetree._version import __version__
from kinetree.cli.arguments import COMMANDS
from kinetree.cli.interrupts import INTERRUPTED, pressed, tidily
from kinetree.errors import KinetreeError

FAILED, BROKEN_PIPE = 1, 141

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
  kinetree convert arm.urdf arm.xml                a URDF as MJCF, which MuJoCo reads
  kinetree export panda inverse_dynamics -o panda_id.c
  kinetree cache                                   where compiled functions are kept, and how many
"""


def parse_arguments(argv: Sequence[str]) -> tuple[Callable[[argparse.Namespace], None], argparse.Namespace]:
    """Return the function that runs a command, and its arguments, in whatever order they were given."""
    name, *rest = argv or ["--help"]
    if name not in COMMANDS:
        overview().parse_args(argv)
    arguments = make_parser(name).parse_intermixed_args(joined(rest))
    return import_module(f"kinetree.cli.commands.{name.replace('-', '_')}").run, arguments


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
    for name, (_, text) in COMMANDS.items():
        commands.add_parser(name, help=text)
    return parser


def make_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments."""
    add_arguments, _ = COMMANDS[name]
    text, examples, shown = cleandoc(add_arguments.__doc__ or "").partition("for example:\n")
    parser = argparse.ArgumentParser(
        prog=f"kinetree {name}",
        description=text,
        epilog=examples + shown,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    The code is 0, or 1 for an error in what was given (one line on standard error), 130 if interrupted, 141 if the
    reader of the output went away. Wrong usage leaves by `SystemExit` with 2, as argparse does.
    """
    run, arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings(), tidily():
            warnings.showwarning = lambda message, *_: print(f"kinetree: warning: {message}", file=sys.stderr)
            run(arguments)
        sys.stdout.flush()
    except BaseException as error:
        if pressed():
            return _fail("interrupted", INTERRUPTED)
        return _failed(error)
    return 0


def _failed(error: BaseException) -> int:
    """Return the exit code for what has gone wrong, with a line about it; raise what nobody expects."""
    match error:
        case KeyboardInterrupt():
            return _fail("interrupted", INTERRUPTED)
        case BrokenPipeError():
            # Python would complain once more when it flushes standard output at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        case KinetreeError():
            return _fail(str(error), FAILED)
        case MemoryError():
            return _fail("out of memory: the motion is too long to be held at once", FAILED)
        case OSError():
            return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), FAILED)
    raise error


def _fail(message: str, code: int) -> int:
    print(f"kinetree: {message}", file=sys.stderr)
    return code
