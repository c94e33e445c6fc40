"""The shapes of a URDF: ``<visual>`` and ``<collision>`` with their materials, read when a robot is asked for them."""

from __future__ import annotations

from typing import Final

from kinetree.formats.geometry import Color, Flaws, ShapeReaders, color, lengths, mesh, read_shape
from kinetree.formats.packages import Packages
from kinetree.formats.sdf.values import TEXT, as_attribute
from kinetree.formats.urdf.document import child, origin_of
from kinetree.formats.xml import Element, magnitude, required, vector
from kinetree.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometries, Geometry, Mesh, Sphere


def _mesh(element: Element, files: Packages) -> Mesh:
    factors = element.attributes.get("scale", "1").split()
    if len(factors) == 1:
        element.attributes["scale"] = " ".join(factors * 3)
    return mesh(element, required(element, "filename"), vector(element, "scale", 3), files)


SHAPES: Final[ShapeReaders] = {
    "box": lambda element, _: Box(lengths(element, "size")),
    "sphere": lambda element, _: Sphere(magnitude(element, "radius")),
    "cylinder": lambda element, _: Cylinder(magnitude(element, "radius"), magnitude(element, "length")),
    "capsule": lambda element, _: Capsule(magnitude(element, "radius"), magnitude(element, "length")),
    "ellipsoid": lambda e, _: Ellipsoid((magnitude(e, "a"), magnitude(e, "b"), magnitude(e, "c"))),
    "mesh": _mesh,
}
"""The shapes that are read; Drake's capsules and ellipsoids have a namespace."""


def geometries(robot: Element, files: Packages) -> Geometries:
    """Return the shapes of all links of a URDF document; what cannot be read is named in one warning, and left out."""
    flaws = Flaws(robot.source)
    colors = _colors(robot, flaws)
    friction = {
        block.attributes.get("reference", ""): coefficient
        for block in robot.all("gazebo")
        for mu in block.all("mu1")
        if (coefficient := flaws.catch(_coefficient, mu)) is not None
    }

    def visual(element: Element) -> Geometry:
        material = element.only("material")
        own = None if material is None else colors.get(id(material), colors.get(_name(material)))
        return _geometry(element, files, color=own)

    def collision(element: Element) -> Geometry:
        mu = friction.get(_name(element.parent))
        return _geometry(element, files, friction=() if mu is None else (mu,))

    links = robot.all("link")
    found = Geometries(
        flaws.all(visual, (element for link in links for element in link.all("visual"))),
        flaws.all(collision, (element for link in links for element in link.all("collision"))),
    )
    flaws.warn()
    return found


def _coefficient(element: Element) -> float:
    """Return the number of Gazebo's ``<mu1>``, which is its text, or in older files an attribute."""
    return magnitude(element, "value") if "value" in element.attributes else magnitude(as_attribute(element), TEXT)


def _name(element: Element | None) -> str:
    return "" if element is None else element.attributes.get("name", "")


def _geometry(
    element: Element, files: Packages, *, color: Color | None = None, friction: tuple[float, ...] = ()
) -> Geometry:
    shape = read_shape(child(element, "geometry"), SHAPES, files)
    return Geometry(_name(element.parent), shape, origin_of(element).transform, _name(element), color, friction)


def _colors(robot: Element, flaws: Flaws) -> dict[str | int, Color]:
    """Return the colours of materials, by the identity of their elements, and of those that have names by these.

    A material of the robot comes before one of a link. Textures are passed over.
    """
    of_links = [m for link in robot.all("link") for visual in link.all("visual") for m in visual.all("material")]
    found: dict[str | int, Color] = {}
    for material in (*robot.all("material"), *of_links):
        own = flaws.catch(_rgba, material)
        if own:
            found[id(material)] = own
            if name := _name(material):
                found.setdefault(name, own)
    return found


def _rgba(material: Element) -> Color | None:
    rgba = material.only("color")
    return None if rgba is None else color(rgba, "rgba")
