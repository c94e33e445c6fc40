"""Shapes in files: how formats spell them. What cannot be read is named in one warning, and left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Final, NamedTuple, Protocol, TypeVar

from kinetree.errors import FormatError, listed, shortened, warn_user
from kinetree.formats.packages import Packages
from kinetree.formats.xml import Element, required, vector
from kinetree.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometries, Geometry, Mesh, Plane, Shape, Sphere

Color = tuple[float, float, float, float]
T = TypeVar("T")


class Spelling(NamedTuple):
    """A shape, the names of its numbers in URDF and in SDF, and its size in MJCF as parts of these numbers."""

    shape: type[Shape]
    urdf: tuple[str, ...]
    sdf: tuple[str, ...]
    mjcf: tuple[float, ...]


SHAPES: Final = {
    "box": Spelling(Box, ("size",), ("size",), (0.5, 0.5, 0.5)),
    "sphere": Spelling(Sphere, ("radius",), ("radius",), (1.0,)),
    "cylinder": Spelling(Cylinder, ("radius", "length"), ("radius", "length"), (1.0, 0.5)),
    "capsule": Spelling(Capsule, ("radius", "length"), ("radius", "length"), (1.0, 0.5)),
    "ellipsoid": Spelling(Ellipsoid, ("a", "b", "c"), ("radii",), (1.0, 1.0, 1.0)),
    "plane": Spelling(Plane, (), ("size",), (0.5, 0.5)),
    "mesh": Spelling(Mesh, ("filename", "scale"), ("uri", "scale"), ()),
}
"""The shapes by their elements. URDF's ellipsoids are Drake's, and only read; capsules are of its version 1.2."""
TAGS: Final = {row.shape: tag for tag, row in SHAPES.items()}


class Field(Protocol):
    """How a format has values: returns the element and the attribute in which the one of that name is."""

    def __call__(self, element: Element, name: str, default: str = "") -> tuple[Element, str]: ...  # noqa: D102


class Flaws:
    """What of a file's shapes cannot be read."""

    def __init__(self, source: str) -> None:
        self.source, self.found = source, list[str]()

    def catch(self, read: Callable[[Element], T], element: Element) -> T | None:
        """Return what is read of an element; where it cannot be, note why, and return None."""
        try:
            return read(element)
        except FormatError as error:
            self.found.append(str(error).removeprefix(f"{self.source}, "))
            return None

    def geometries(self, links: Iterable[Element], **roles: Callable[[Element], Geometry]) -> Geometries:
        """Return what is read of the ``<visual>`` and ``<collision>`` of links; warn of all that was noted."""
        elements = {role: [element for link in links for element in link.all(role)] for role in roles}
        found = {role: [g for e in elements[role] if (g := self.catch(roles[role], e))] for role in roles}
        if self.found:
            warn_user(f"{self.source}: shapes and colours that cannot be read are left out: {listed(self.found, 5)}")
        return Geometries(tuple(found["visual"]), tuple(found["collision"]))


def read_shape(element: Element, format: str, field: Field, files: Packages) -> Shape:
    """Return the shape that a ``<geometry>`` has."""
    if not element.children:
        raise element.error("there is no shape in it")
    first = element.children[0]
    tag = first.tag.rpartition("}")[2]  # Drake's have a namespace
    known: dict[str, tuple[str, ...]] = {tag: names for tag, row in SHAPES.items() if (names := getattr(row, format))}
    if tag not in known:
        raise first.error(f"this shape is not read; those that are: {', '.join(known)}")
    row, names = SHAPES[tag], known[tag]
    shape: Callable[..., Shape] = row.shape
    if row.shape is Mesh:
        return _mesh(first, required(*field(first, names[0])), vector(*field(first, names[1], "1 1 1"), 3), files)
    values = [x for name in names for x in lengths(*field(first, name), len(row.mjcf) // len(names))]
    return shape(*values) if len(values) == len(fields(row.shape)) else shape(tuple(values))


def _mesh(element: Element, uri: str, scale: tuple[float, ...], files: Packages) -> Mesh:
    """Return a mesh by the path of its file; by its name in the robot's file where there is no such file."""
    if element.all("submesh"):
        raise element.error("<submesh> is not read: save that part as a file of its own")
    if 0.0 in scale:
        raise element.error("the scale of the mesh is zero")
    x, y, z = scale
    return Mesh(files.locate(uri) or uri, (x, y, z))


def lengths(element: Element, attribute: str, count: int) -> tuple[float, ...]:
    """Return an attribute as that many numbers that are not negative."""
    values = vector(element, attribute, count)
    if min(values) < 0.0:
        raise element.error(f"{attribute}={shortened(element.attributes[attribute])!r}: lengths cannot be negative")
    return values


def color(element: Element, attribute: str) -> Color:
    """Return an attribute as red, green, blue and, by default 1, opacity."""
    few = len(element.attributes.get(attribute, "").split()) == 3
    r, g, b, a = (*vector(element, attribute, 3), 1.0) if few else vector(element, attribute, 4)
    if not all(0.0 <= x <= 1.0 for x in (r, g, b, a)):
        raise element.error(
            f"{attribute}={shortened(element.attributes[attribute])!r}: a colour's numbers are from 0 to 1"
        )
    return r, g, b, a
