"""The shapes of a URDF: ``<visual>`` and ``<collision>`` with their materials, read when a robot is asked for them."""

from __future__ import annotations

from dataclasses import replace

from kinetree.formats.geometry import Color, Flaws, color, read_shape
from kinetree.formats.packages import Packages
from kinetree.formats.sdf.values import TEXT, as_attribute
from kinetree.formats.urdf.document import child, origin_of
from kinetree.formats.xml import Element, magnitude
from kinetree.geometry import Geometries, Geometry


def geometries(robot: Element, files: Packages) -> Geometries:
    """Return the shapes of all links of a URDF document; what cannot be read is named in one warning, and left out."""
    flaws = Flaws(robot.source)
    colors = _colors(robot, flaws)
    friction = {
        block.attributes.get("reference", ""): (coefficient,)
        for block in robot.all("gazebo")
        for mu in block.all("mu1")
        if (coefficient := flaws.catch(_coefficient, mu)) is not None
    }

    def visual(element: Element) -> Geometry:
        material = element.only("material")
        own = None if material is None else colors.get(id(material), colors.get(_name(material)))
        return replace(collision(element), color=own, friction=())

    def collision(element: Element) -> Geometry:
        link, shape = _name(element.parent), read_shape(child(element, "geometry"), "urdf", _field, files)
        at = origin_of(element).transform
        return Geometry(link, shape, at, _name(element), friction=friction.get(link, ()))

    return flaws.geometries(robot.all("link"), visual=visual, collision=collision)


def _field(element: Element, name: str, default: str = "") -> tuple[Element, str]:
    """Return the attribute of that name; one factor is that of all three axes."""
    if default:
        given = element.attributes.get(name, default)
        element.attributes[name] = " ".join([given] * 3) if len(given.split()) == 1 else given
    return element, name


def _coefficient(element: Element) -> float:
    """Return the number of Gazebo's ``<mu1>``, which is its text, or in older files an attribute."""
    return magnitude(element, "value") if "value" in element.attributes else magnitude(as_attribute(element), TEXT)


def _name(element: Element | None) -> str:
    return "" if element is None else element.attributes.get("name", "")


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
