"""The writers of robots by format: what is given to them, and what they say of what a format cannot have."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kinetree.errors import FormatError, ModelError, listed, warn_user
from kinetree.formats.load import load_model
from kinetree.geometry import NO_GEOMETRY, Geometries
from kinetree.joints import Joint
from kinetree.lazy import lazy_method
from kinetree.model import WORLD, Actuator, Body, Model
from kinetree.model.differences import differences
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree.validation import Array


class Closing(NamedTuple):
    """A joint that closes a loop: `frame` is carried by it, from the place X in the frame `to` (None: the world).

    `at_zero` tells whether the loop is closed while all other joints are at their zero.
    """

    name: str
    frame: str
    to: str | None
    joint: Joint
    X: Transform
    at_zero: bool


class Coupling(NamedTuple):
    """``Σ c_j q_j = offset`` of joints with one coordinate."""

    name: str
    ratios: tuple[tuple[str, float], ...]
    offset: float


class Losses:
    """What a format has no place for: `left_out` is named in a warning, `refused` in an error unless it is lenient."""

    def __init__(self, format: str, lenient: bool) -> None:
        self.format, self.lenient = format, lenient
        self._said: dict[str, dict[str, None]] = {}
        self._refused: dict[tuple[str, str], dict[str, None]] = {}

    def leave_out(self, what: str, names: Iterable[str] = ("",)) -> None:
        """Note what is left out, for these names if there are any; "{}" stands for them."""
        for name in names:
            self._said.setdefault(what, {})[name] = None

    def refuse(self, what: str, instead: str, names: Iterable[str] = ("",)) -> None:
        """Note what the format cannot have, and what is written instead where that will do."""
        for name in names:
            self._refused.setdefault((what, instead), {})[name] = None

    def report(self) -> None:
        """Raise what is refused, warn of the rest."""
        refused = [(_named(what, names), instead) for (what, instead), names in self._refused.items()]
        if refused and not self.lenient:
            said = "; ".join(f"{what} (lenient=True: {instead})" for what, instead in refused)
            raise ModelError(f"{self.format} has no place for this robot: {said}")
        found = [f"{what} ({instead})" for what, instead in refused]
        if found := [*found, *(_named(what, names) for what, names in self._said.items())]:
            warn_user(f"left out of the {self.format}: {'; '.join(found)}")


def _named(what: str, names: Collection[str]) -> str:
    return what.replace("{}", listed([*names]))


class Export(NamedTuple):
    """What is written of a robot, or of a mechanism."""

    model: Model
    configurations: Mapping[str, Array] = MappingProxyType({})
    geometry: Geometries = NO_GEOMETRY
    actuators: tuple[Actuator, ...] = ()
    closings: tuple[Closing, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    others: tuple[str, ...] = ()
    """The names of constraints that no format has."""


class Writer(NamedTuple):
    """A format: its name, the endings of its files, and what makes a document of a robot."""

    name: str
    endings: tuple[str, ...]
    write: Callable[[Export, Losses], str]


WRITERS: dict[str, Writer] = {
    "urdf": Writer("URDF", (".urdf",), lazy_method("kinetree.formats.urdf.write", "write_urdf")),
    "sdf": Writer("SDF", (".sdf",), lazy_method("kinetree.formats.sdf.write", "write_sdf")),
    "mjcf": Writer("MJCF", (".xml", ".mjcf"), lazy_method("kinetree.formats.mjcf.write", "write_mjcf")),
}
"""The formats that are written: a new one is a module and a row."""


UNWRITABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
"""What no XML document may hold."""


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a file by its ending; `FormatError` where none has it."""
    name = os.fspath(path)
    for format, writer in WRITERS.items():
        if name.lower().endswith(writer.endings):
            return format
    known = ", ".join(f"{ending} ({writer.name})" for writer in WRITERS.values() for ending in writer.endings)
    raise FormatError(f"{name!r}: the ending says what is written, and is one of {known}")


def written(robot: Export, format: str, lenient: bool) -> str:
    """Return the document of a robot in a format; raise, or warn, as the methods of robots say."""
    writer = WRITERS[format]
    losses = Losses(writer.name, lenient)
    text = writer.write(robot, losses)
    if odd := UNWRITABLE.search(text):
        raise ModelError(f"a name holds the character {odd[0]!r}, which XML has not: give it another one")
    losses.report()
    return text


OF_MODEL = {
    "name": "its name, {0.name!r}",
    "body_names": "the order of the bodies, {0.body_names}",
    "gravity": "gravity ({0.gravity.x}, {0.gravity.y}, {0.gravity.z}) (load the file with gravity=)",
    "friction": "whether friction counts (with_friction)",
}
"""The fields of a model for which files have no place, and what to say of them."""

OF_JOINTS = {
    ("armature", "spring"): "armature and springs: those of {}",
    ("damping", "friction"): "damping and friction at a floating base, or other ones in each direction: those of {}",
    ("name",): "links that are not at their joint: the moving bodies of {} have other names",
}
"""The fields of bodies for which files have no place, and what to say of their joints."""

WORDS = {"X_T": "the placement", "joint": "the motion"}
"""What fields of bodies are called in messages."""


def read_again(
    model: Model,
    text: str,
    losses: Losses,
    of: str,
    *,
    floating_base: bool | None = None,
    apart: Collection[str] = (),
    said: Mapping[tuple[str, ...], str] = OF_JOINTS,
) -> None:
    """Note the properties of a model that its document does not say; `of` begins the message of the error.

    That is a `ModelError` if the document describes another robot: it names all that is different and that the format
    has a place for, but for the frames `apart`; `said` has the fields of bodies for which it has none.
    """
    with warnings.catch_warnings():  # of the robot, which it had before
        warnings.simplefilter("ignore")
        try:
            again = load_model(text, floating_base=floating_base, lenient=True)
        except FormatError as error:
            raise ModelError(f"{losses.format} has no place for this robot: {error}") from None
    lost = differences(model, again)
    known = {field for fields in said for field in fields}
    odd = [x for x in lost.model if x not in OF_MODEL]
    odd += [
        f"{WORDS.get(field, field)} of {listed(names)}" for field, names in lost.joints.items() if field not in known
    ]
    moved = [name for name in lost.frames if name not in apart]
    odd += [f"the frames {listed(moved)}"] * bool(moved)
    if odd:
        raise ModelError(f"{of}: {'; '.join(odd)} differ")
    for field in lost.model:
        losses.leave_out(OF_MODEL[field].format(model))
    for fields, text in said.items():
        losses.leave_out(text, [name for field in fields for name in lost.joints.get(field, ())])


def without_world(robot: Export, losses: Losses) -> Export:
    """Return a robot that floats without the frames and shapes that stand in the world beside it, noted as left out."""
    model = robot.model
    standing = {frame.name for frame in model.frames if frame.body == WORLD and model.has_floating_base}
    if not standing:
        return robot
    losses.leave_out("what stands in the world beside a robot that floats: {}", sorted(standing))
    left = (tuple(g for g in shapes if g.link not in standing) for shapes in robot.geometry)
    frames = tuple(frame for frame in model.frames if frame.name not in standing)
    return robot._replace(model=replace(model, frames=frames), geometry=Geometries(*left))


def leave_out_equipment(robot: Export, losses: Losses) -> None:
    """Note what a format has no place for that has only links, joints and their shapes."""
    losses.leave_out("named configurations: {}", robot.configurations)
    losses.leave_out("actuators: {}", [actuator.name for actuator in robot.actuators])
    losses.refuse("gears: {}", "they couple nothing", [coupling.name for coupling in robot.couplings])
    losses.refuse("constraints: {}", "they are left out", robot.others)


class Physics(NamedTuple):
    """What a joint has beside how it moves, as its own coordinate feels it, also where it follows another one."""

    armature: float
    damping: float
    friction: float
    stiffness: float
    rest: float


def own_physics(body: Body, v: int = 0) -> Physics:
    """Return what a body's joint has in one of its directions."""
    f, offset = body.joint.follows or (1.0, 0.0)
    factor, spring = abs(f) or 1.0, body.spring
    armature, damping, stiffness = (x / factor**2 for x in (body.armature[v], body.damping[v], spring.stiffness))
    return Physics(armature, damping, body.friction[v] / factor, stiffness, f * spring.rest + offset)


def in_order(model: Model) -> Iterator[Body]:
    """Yield the bodies in the order of their joints in q, followers where they are among the bodies."""
    followers = [i for i in range(model.nb) if i not in model.joint_order]
    for i in model.joint_order:
        while followers and followers[0] < i:
            yield model.bodies[followers.pop(0)]
        yield model.bodies[i]
    yield from (model.bodies[i] for i in followers)


def roll_pitch_yaw(R: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Return the angles of ``R = Rz(yaw) Ry(pitch) Rx(roll)``."""
    yaw = math.atan2(R[1][0], R[0][0])
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1])  # whatever yaw is at a pitch of 90°
    return roll, math.atan2(-R[2][0], c * R[0][0] + s * R[1][0]), yaw


def number(x: float) -> str:
    """Return a number that reads back as the same."""
    return repr(float(x) + 0.0).removesuffix(".0")


def numbers(values: Iterable[float]) -> str:
    """Return numbers with blanks between them."""
    return " ".join(map(number, values))


def mesh_uri(path: str) -> str:
    """Return the address of a mesh: ``file://`` of one that is there, else its name in the robot's file."""
    return Path(os.path.abspath(path)).as_uri() if os.path.isfile(path) else path
