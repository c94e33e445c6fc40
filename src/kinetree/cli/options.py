"""Options that several commands have."""

from __future__ import annotations

import argparse

from kinetree.cli.readers import gravity, payload


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
