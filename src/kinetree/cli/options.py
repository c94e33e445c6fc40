"""Options: from the fields of values, those that several commands have, what their texts mean; the robot they make."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import kinetree
from kinetree.errors import ArgumentError, FormatError, KinetreeError
from kinetree.options import Option, options, read_numbers

if TYPE_CHECKING:
    from kinetree.mechanism_methods import Mechanism
    from kinetree.robot_methods import Robot

T = TypeVar("T")

ROBOT = "an embedded robot (ur5, panda, go2, g1), a URDF, xacro, SDF or MJCF file, or a robot_descriptions name"


def add_fields(group: Any, kind: type, *names: str, usual: str = "", **called: str) -> None:
    """Add an option for each field of a class of choices, or for some of them: see `kinetree.options`.

    Some may be called otherwise; `usual` is what happens without them, where that is not the default in Python.
    """
    for name, said in options(kind):
        if (names or called) and name not in (*names, *called):
            continue
        number = getattr(kind, name, None)
        default = usual or (f"{number:g}" if type(number) in (int, float) else "")
        text = said.help.replace("%", "%%").replace("`", "") + (f" ({default})" if default else "")
        about: dict[str, Any] = {"dest": name, "help": text}
        if said.choices:
            about["choices"] = said.choices
        elif said.read is None and said.metavar is None:
            about["action"] = "store_true"
        else:
            about |= {"type": _reader(name, said), "metavar": said.metavar or "X"}
        if said.repeated:
            about |= {"action": "append"}
        group.add_argument(f"--{called.get(name, said.name)}", default=None, **about)


def value_of(arguments: argparse.Namespace, kind: type[T]) -> T:
    """Return the choices that the arguments give; what is not given is as it is by default."""
    given = {name: (x, said) for name, said in options(kind) if (x := getattr(arguments, name, None)) is not None}
    return kind(**{name: dict(x) if said.repeated else x for name, (x, said) in given.items()})


def _reader(name: str, said: Option) -> Callable[[str], Any]:
    """Return a function that reads an option's text, and checks it as Python does."""

    def read(text: str) -> Any:
        try:
            x = text if said.read is None else said.read(text)
            return x if said.repeated or said.check is None else said.check(name, x)
        except ArgumentError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None

    return read


def add_robot(command: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the robot, and how it is loaded."""
    command.add_argument("robot", metavar="ROBOT", nargs="?" if optional else None, help=ROBOT)
    base = command.add_mutually_exclusive_group()
    freely = "let the root link move freely (go2 and g1 do unless told otherwise)"
    base.add_argument("--floating-base", action="store_true", default=None, help=freely)
    base.add_argument(
        "--fixed-base", action="store_false", dest="floating_base", default=None, help="fix the root link"
    )
    follow = "joints that mimic another: follow it, or move by themselves (follow)"
    command.add_argument("--mimic", choices=("follow", "independent"), default="follow", help=follow)
    lenient = "warn of faults in the file that others let pass, and read it"
    command.add_argument("--lenient", action="store_true", help=lenient)
    add_many(
        command, "--xacro", setting, "NAME=VALUE", "an argument of a xacro file; NAME:=VALUE, as xacro has it, too"
    )
    add_many(command, "--package", setting, "NAME=FOLDER", "where a ROS package is, for its meshes and included files")


def add_dynamics(command: argparse.ArgumentParser, *, friction: str | None = None, payload: bool = True) -> None:
    """Add gravity, payloads, and friction where no other option chooses it."""
    group = command.add_argument_group("what acts on the robot")
    down = "m/s², separated by commas or blanks (0,0,-9.81)"
    group.add_argument("--gravity", type=gravity, metavar="X,Y,Z", default=(0.0, 0.0, -9.81), help=down)
    if friction is not None:
        group.add_argument("--friction", action="store_true", help=friction)
    if payload:
        what = "a point mass (kg) at X, Y, Z (m) in a frame; without FRAME, on the last body of a single chain"
        add_many(group, "--payload", point_mass, "M[,X,Y,Z][@FRAME]", what)


def add_results(command: argparse.ArgumentParser, **files: str) -> None:
    """Add which files are written, and what is printed."""
    for name, text in files.items():
        metavar, short = ("OUT", ["-o"]) if name == "output" else ("FILE", [])
        command.add_argument(*short, f"--{name}", metavar=metavar, help=text)
    command.add_argument("-q", "--quiet", action="store_true", help="no summary, no progress")
    add_json(command)


def add_json(command: argparse.ArgumentParser) -> None:
    """Add whether what is printed is for programs."""
    command.add_argument("--json", action="store_true", help="print it as JSON, for programs")


def add_terms(group: Any) -> None:
    """Add what is estimated of the joints."""
    from kinetree.identification.parameters.terms import TERMS

    usual = "armature,damping,friction"
    text = f"what joints do: {', '.join(TERMS)}, of all joints or some; none for inertias alone ({usual})"
    group.add_argument("--terms", type=joint_terms, default=usual, metavar="TERM[@JOINT],…", help=text)


def add_many(group: Any, name: str, read: Callable[[str], Any], metavar: str, text: str) -> None:
    """Add an option that may be given several times, as a list."""
    group.add_argument(name, type=read, action="append", default=[], metavar=metavar, help=text)


def reader(needed: str, read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a reader whose `ValueError` becomes what argparse shows: what the text is not."""

    def reads(text: str) -> T:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} {needed}") from None

    return reads


def floats(text: str, *counts: int, least: float = -math.inf) -> list[float]:
    """Return finite numbers that commas separate; `ValueError` if their count is another, or one is below the least."""
    found = list(map(float, text.split(",")))
    if len(found) not in counts or not all(math.isfinite(x) and x >= least for x in found):
        raise ValueError
    return found


def _named(text: str, count: int, least: float = -math.inf) -> tuple[str, list[float]]:
    name, _, rest = text.rpartition("=")
    if not name:
        raise ValueError
    return name.strip(), floats(rest, count, least=least)


def _setting(text: str) -> tuple[str, str]:
    """Return a name and its value."""
    name, sign, value = text.partition("=")
    if not (name.rstrip(":") and sign):
        raise ValueError
    return name.rstrip(":"), value


def _point_mass(text: str) -> tuple[float, list[float], str]:
    """Return mass, place and frame of a payload; place and frame are empty where none is given."""
    numbers, _, frame = text.partition("@")
    mass, *place = floats(numbers, 1, 4)
    if mass < 0.0:
        raise ValueError
    return mass, place, frame


def _load(text: str) -> tuple[str, tuple[float, list[float], str]]:
    """Return the log and the payload, with its frame, of ``held.csv=5,0,0,0.1@flange``; of a mass alone no place."""
    log, _, what = text.rpartition("=")
    if not log or not what.partition("@")[2]:
        raise ValueError
    return log, _point_mass(what)


def integer(least: int) -> Callable[[str], int]:
    """Return a reader of integers, this one or more."""

    def read(text: str) -> int:
        if (found := int(text)) < least:
            raise ValueError
        return found

    return reader(f"is not an integer ≥ {least}", read)


above_zero = reader("is not a number > 0", lambda text: floats(text, 1, least=math.ulp(0.0))[0])
gravity = reader(
    "is not a gravity: give three numbers, as in 0,0,-1.62",
    lambda text: tuple(floats(",".join(text.replace(",", " ").split()), 3)),
)
setting = reader("is not NAME=VALUE", _setting)
point_mass = reader("is not a payload: give a mass ≥ 0, as in 1.5 or 1.5,0,0,0.1@tool", _point_mass)
load = reader("is not a load: give a log, a mass and a frame, as in held.csv=5@flange", _load)
several = reader("is not a number, and not one for each joint: give 0.5, or 0.5,0.5,0.2", read_numbers)
gains = reader("are no gains: give two numbers ≥ 0, as in 100,20", lambda text: floats(text, 2, least=0.0))
limit = reader("is not JOINT=LOWER,UPPER,SPEED", lambda text: _named(text, 3))
known = reader("is not PARAMETER=STD with STD ≥ 0, as in 'damping of elbow=0'", lambda text: _named(text, 1, least=0.0))


def names(text: str) -> list[str]:
    """Return names that commas separate."""
    return [name for part in text.split(",") if (name := part.strip())]


def _joint_terms(text: str) -> dict[str, list[str] | None]:
    """Return which joints have each term, None for all: ``damping,stiffness@joint2,stiffness@joint3``.

    Examples
    --------
    >>> _joint_terms("damping,stiffness@joint2,stiffness@joint3"), _joint_terms("none")
    ({'damping': None, 'stiffness': ['joint2', 'joint3']}, {})
    """
    found: dict[str, list[str] | None] = {}
    for part in text.split(",") if text != "none" else ():
        term, at, joint = part.strip().partition("@")
        joints = found.get(term, [])
        if not term or (at and (not joint or joints is None)) or (not at and term in found):
            raise ValueError
        found[term] = [*(joints or []), joint] if at else None
    return found


joint_terms = reader("are no terms: give them as in damping,friction,stiffness@joint2", _joint_terms)


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
    """Return the robot that the arguments name, with closed loops where the file has any, and the warnings given."""
    from kinetree.formats.save import WRITERS
    from kinetree.formats.spanning import LoopError

    if arguments.robot.lower().endswith(WRITERS["mjcf"].endings):  # which has loops beside a tree
        with suppress(KinetreeError):
            return _loaded(kinetree.load_mechanism, arguments)
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
    """Return the robot that a function loads, and the warnings given."""
    options = {key: getattr(arguments, key) for key in ("floating_base", "mimic", "lenient")}
    options |= {"gravity": arguments.gravity} if "gravity" in arguments else {}
    options |= {"packages": dict(arguments.package), "xacro": dict(arguments.xacro) or None}
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
