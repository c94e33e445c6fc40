"""The robot that a command is given, and what its options make of it."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import kinetree
from kinetree.errors import ArgumentError, FormatError, KinetreeError

if TYPE_CHECKING:
    from kinetree.mechanism_methods import Mechanism
    from kinetree.robot_methods import Robot

T = TypeVar("T")


def load_robot(arguments: argparse.Namespace) -> tuple[Robot, list[str]]:
    """Return the robot that the arguments name, with what they put on it, and the warnings that it gave.

    Where it is to move, `ArgumentError` if it cannot, or if nothing would be said of that.
    """
    if "quiet" in arguments and arguments.quiet and arguments.json:
        raise ArgumentError("--quiet leaves nothing for --json to print: leave out one of them")
    robot, found = _loaded(kinetree.load, arguments)
    if "quiet" in arguments and robot.nv == 0:
        raise ArgumentError(f"{robot.name} has no moving joint")
    for mass, place, frame in getattr(arguments, "payload", ()):
        load = kinetree.Inertia.from_com(mass, place or [0.0] * 3, [[0.0] * 3] * 3)
        at = robot.frame(frame or _last_body(robot))
        robot = robot.attach(load, at.name)
        if at.body is None:
            found.append(f"--payload has no effect: {at.name} is fixed to the world")
    if getattr(arguments, "friction", False):
        robot = robot.with_friction()
        if not any(any(body.damping + body.friction) for body in robot.model.bodies):
            found.append("--friction has no effect: the file gives neither damping nor friction")
    return robot, found


def load_robot_or_mechanism(arguments: argparse.Namespace) -> tuple[Robot | Mechanism, list[str]]:
    """Return what the arguments name, with closed loops where the file has any, and the warnings that it gave."""
    from kinetree.formats.spanning import LoopError

    try:
        return _loaded(kinetree.load, arguments)
    except FormatError as error:
        try:
            return _loaded(kinetree.load_mechanism, arguments)
        except LoopError:
            raise
        except KinetreeError:
            raise error from None


def _loaded(load: Callable[..., T], arguments: argparse.Namespace) -> tuple[T, list[str]]:
    """Return what a function loads, and the warnings that it gave."""
    options = {key: getattr(arguments, key) for key in ("floating_base", "mimic", "lenient")}
    options |= {"gravity": arguments.gravity} if "gravity" in arguments else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load(arguments.robot, **options)
    return loaded, [str(warning.message) for warning in caught]


def _last_body(robot: Robot) -> str:
    """Return the name of the body at the end of a robot that is a single chain."""
    carrying = {body.parent for body in robot.model.bodies}
    ends = [body.name for k, body in enumerate(robot.model.bodies) if k not in carrying]
    if len(ends) == 1:
        return ends[0]
    raise ArgumentError(f"--payload: {robot.name} is not a single chain; say where, as in 1.5@{robot.frame_names[-1]}")
