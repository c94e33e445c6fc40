"""The writers of robots by format: what is given to them, and what they say of what a format cannot have."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetree.errors import FormatError, ModelError, listed, warn_user
from kinetree.geometry import NO_GEOMETRY, Geometries
from kinetree.joints import Joint
from kinetree.lazy import lazy_method
from kinetree.model import Actuator, Model
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


class Limit(NamedTuple):
    """What a format cannot have: what is said of it ("{}" stands for the names), and of whom.

    With something else `instead` the robot moves otherwise: an error, unless it is lenient. Else a warning will do.
    """

    said: str
    names: Callable[[Export], Iterable[str]]
    instead: str = ""


OTHERS = Limit("constraints: {}", lambda robot: robot.others, "they are left out")
EQUIPMENT = (
    Limit("named configurations: {}", lambda robot: robot.configurations),
    Limit("actuators: {}", lambda robot: [actuator.name for actuator in robot.actuators]),
    Limit("gears: {}", lambda robot: [coupling.name for coupling in robot.couplings], "they couple nothing"),
    OTHERS,
)
"""The limits of formats that have only links, joints and their shapes."""

Thing = TypeVar("Thing", Closing, Coupling, Actuator)


class Losses:
    """What a format has no place for, as a writer finds it; `report` says it."""

    def __init__(self, format: str, lenient: bool) -> None:
        self.format, self.lenient = format, lenient
        self._noted: dict[tuple[str, str], dict[str, None]] = {}

    def note(self, said: str, names: Iterable[str] = ("",), instead: str = "") -> None:
        """Note what the format cannot have of these names, as in `Limit`."""
        for name in names:
            self._noted.setdefault((said, instead), {})[name] = None

    def check(self, robot: Export, limits: Iterable[Limit]) -> None:
        """Note what of a robot is beyond limits."""
        for limit in limits:
            self.note(limit.said, limit.names(robot), limit.instead)

    def kept(self, things: Iterable[Thing], fits: Callable[[Thing], bool], said: str, instead: str = "") -> list[Thing]:
        """Return the things that fit; note the names of the others."""
        things = list(things)
        self.note(said, [thing.name for thing in things if not fits(thing)], instead)
        return [thing for thing in things if fits(thing)]

    def report(self) -> None:
        """Raise where the robot would move otherwise, unless it is lenient; warn of the rest."""
        noted = [(said.replace("{}", listed([*names])), instead) for (said, instead), names in self._noted.items()]
        refused = [(said, instead) for said, instead in noted if instead]
        if refused and not self.lenient:
            what = "; ".join(f"{said} (lenient=True: {instead})" for said, instead in refused)
            raise ModelError(f"{self.format} has no place for this robot: {what}")
        if noted:
            found = [*(f"{said} ({instead})" for said, instead in refused), *(s for s, instead in noted if not instead)]
            warn_user(f"left out of the {self.format}: {'; '.join(found)}")


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


# -- elements --------------------------------------------------------------------------------------------------------

Fields = Mapping[str, Any]
"""What is in an element, by name: texts, numbers, elements with fields of their own; nothing where that is empty."""


def add(
    parent: ET.Element, tag: str, fields: Fields, put: Callable[[ET.Element, str, str], None] = ET.Element.set
) -> ET.Element:
    """Add an element with these fields, and return it; `put` adds a text or numbers, usually as an attribute."""
    element = ET.SubElement(parent, tag)
    for name, value in fields.items():
        if isinstance(value, Mapping):
            if value:
                add(element, name, value, put)
        elif value not in ("", (), None):
            put(element, name, value if isinstance(value, str) else numbers(value))
    return element


def text_of(element: ET.Element) -> str:
    """Return an element as text, one line for each element in it."""
    ET.indent(element)
    return ET.tostring(element, encoding="unicode").replace(" />", "/>")  # names have &gt; for >


def numbers(values: float | Iterable[float]) -> str:
    """Return numbers that read back as the same, with blanks between them."""
    given = values if isinstance(values, Iterable) else (values,)
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in given)
