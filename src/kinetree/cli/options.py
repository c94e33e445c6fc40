"""Options that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

from kinetree.cli.readers import gravity, payload
from kinetree.errors import ArgumentError
from kinetree.options import Option, options

T = TypeVar("T")


def add_fields(group: argparse._ArgumentGroup, kind: type) -> None:
    """Add an option for each field of a class of choices, see `kinetree.options`."""
    for name, said in options(kind):
        about: dict[str, Any] = {"dest": name, "help": said.help.replace("%", "%%")}
        if said.choices:
            about["choices"] = said.choices
        elif said.read is None and said.metavar is None:
            about["action"] = "store_true"
        else:
            about |= {"type": _reader(name, said), "metavar": said.metavar or "X"}
        if said.repeated:
            about |= {"action": "append"}
        group.add_argument(f"--{said.name}", default=None, **about)


def value_of(arguments: argparse.Namespace, kind: type[T]) -> T:
    """Return the choices that the arguments give; what is not given is as it is by default."""
    given = {name: (x, said) for name, said in options(kind) if (x := getattr(arguments, name)) is not None}
    return kind(**{name: dict(x) if said.repeated else x for name, (x, said) in given.items()})


def _reader(name: str, said: Option) -> Callable[[str], Any]:
    """Return what reads an option's text, and checks it as Python does."""

    def read(text: str) -> Any:
        try:
            x = text if said.read is None else said.read(text)
            return x if said.repeated or said.check is None else said.check(name, x)
        except ArgumentError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number") from None

    return read


def add_robot_options(command: argparse.ArgumentParser) -> None:
    """Add how a robot is loaded."""
    base = command.add_mutually_exclusive_group()
    base.add_argument(
        "--floating-base",
        action="store_true",
        default=None,
        help="let the root link move freely (go2 and g1 do unless told otherwise)",
    )
    base.add_argument(
        "--fixed-base", action="store_false", dest="floating_base", default=None, help="fix the root link"
    )
    command.add_argument(
        "--mimic",
        choices=("follow", "independent"),
        default="follow",
        help="joints that mimic another: follow it, or move by themselves (follow)",
    )
    command.add_argument(
        "--lenient", action="store_true", help="warn of faults in the file that others let pass, and read it"
    )


def add_dynamics_options(command: argparse.ArgumentParser, *, friction: bool = True) -> None:
    """Add gravity, payloads, and friction where no other option chooses it."""
    group = command.add_argument_group("what acts on the robot")
    add_gravity(group)
    if friction:
        group.add_argument("--friction", action="store_true", help="count the damping and friction that the file gives")
    group.add_argument(
        "--payload",
        type=payload,
        action="append",
        default=[],
        metavar="M[,X,Y,Z][@FRAME]",
        help="a point mass (kg) at X, Y, Z (m) in a frame; without FRAME, on the last body of a single chain",
    )


def add_gravity(group: argparse._ArgumentGroup) -> None:
    """Add gravity to a group."""
    group.add_argument(
        "--gravity",
        type=gravity,
        metavar="X,Y,Z",
        default=(0.0, 0.0, -9.81),
        help="m/s², separated by commas or blanks (0,0,-9.81)",
    )
