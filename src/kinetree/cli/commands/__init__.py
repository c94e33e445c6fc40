"""The commands, a module each: its docstring is its help, `add_arguments` adds its arguments, and `run` runs it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Protocol, cast

COMMANDS = {
    "info": "what a robot is made of: joints, limits, masses, frames",
    "inverse-dynamics": "joint torques of a motion, against the limits",
    "simulate": "how a robot moves: falling, held, or under torques",
    "excite": "a motion to record for identification, within the limits",
    "identify": "from recorded motions to a robot file with the estimated parameters",
    "export": "a function of a robot as C",
    "cache": "where compiled functions are kept, how many; clear removes them",
}
"""What there is, with a line of help each."""


class Command(Protocol):
    """What the module of a command has. In its docstring, examples are shown below the options."""

    __doc__: str | None

    def add_arguments(self, command: ArgumentParser) -> None:
        """Add what it takes."""

    def run(self, arguments: Namespace) -> None:
        """Do it, and print what comes out; a `KinetreeError` is an error of one line."""


def command(name: str) -> Command:
    """Return the module of a command: only that of the one that is run is imported."""
    return cast(Command, import_module(f"{__name__}.{name.replace('-', '_')}"))
