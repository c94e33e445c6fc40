"""The shapes of an SDFormat model: ``<visual>`` and ``<collision>``, read when a robot is asked for them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Final

from kinetree.formats.geometry import Color, Flaws, ShapeReaders, color, lengths, mesh, read_shape
from kinetree.formats.graph import GraphLink
from kinetree.formats.packages import Packages
from kinetree.formats.sdf.frames import Frames
from kinetree.formats.sdf.values import TEXT, amount, as_attribute, as_text, pose, required_part, text, three
from kinetree.formats.xml import Element, Triple, magnitude, quaternion_rotation, vector
from kinetree.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometries, Geometry, Mesh, Plane, Sphere
from kinetree.spatial import Transform

ALL_BITS: Final = 0xFFFF
"""The mask of a collision for which none is given."""


def _length(element: Element, tag: str) -> float:
    return magnitude(as_attribute(required_part(element, tag)), TEXT)


def _lengths(element: Element, tag: str) -> Triple:
    return lengths(as_attribute(required_part(element, tag)), TEXT)


def _mesh(element: Element, files: Packages) -> Mesh:
    if element.all("submesh"):
        raise element.error("<submesh> is not read: save that part as a file of its own")
    scale = element.only("scale")
    return mesh(element, text(element, "uri"), (1.0, 1.0, 1.0) if scale is None else three(scale), files)


def _plane(element: Element, _: Packages) -> Plane:
    x, y = vector(as_attribute(required_part(element, "size")), TEXT, 2)
    return Plane((x, y))


SHAPES: Final[ShapeReaders] = {
    "box": lambda element, _: Box(_lengths(element, "size")),
    "sphere": lambda element, _: Sphere(_length(element, "radius")),
    "cylinder": lambda element, _: Cylinder(_length(element, "radius"), _length(element, "length")),
    "capsule": lambda element, _: Capsule(_length(element, "radius"), _length(element, "length")),
    "ellipsoid": lambda element, _: Ellipsoid(_lengths(element, "radii")),
    "plane": _plane,
    "mesh": _mesh,
}
"""The shapes that are read."""
INFINITE_PLANE: Final[ShapeReaders] = {**SHAPES, "plane": lambda element, _: Plane()}
"""Those of collisions: the size of a plane is for the eyes."""


def geometries(source: str, links: Iterable[GraphLink], frames: Frames, files: Packages) -> Geometries:
    """Return the shapes of links; what cannot be read is named in one warning, and left out."""
    flaws = Flaws(source)
    visual, collision = list[Geometry](), list[Geometry]()
    for link in links:
        visual += flaws.all(partial(_visual, link.name, frames, files, flaws), link.element.all("visual"))
        collision += flaws.all(partial(_collision, link.name, frames, files), link.element.all("collision"))
    flaws.warn()
    return Geometries(tuple(visual), tuple(collision))


def _visual(link: str, frames: Frames, files: Packages, flaws: Flaws, element: Element) -> Geometry:
    shape = read_shape(required_part(element, "geometry"), SHAPES, files)
    own = flaws.catch(_color, element)
    return Geometry(link, shape, _placement(element, link, frames), element.attributes.get("name", ""), own)


def _collision(link: str, frames: Frames, files: Packages, element: Element) -> Geometry:
    shape = read_shape(required_part(element, "geometry"), INFINITE_PLANE, files)
    mu = _below(element, "surface", "friction", "ode", "mu")
    contact = _below(element, "surface", "contact")
    touches = _mask(contact, "collide_bitmask", ALL_BITS)
    return Geometry(
        link,
        shape,
        _placement(element, link, frames),
        element.attributes.get("name", ""),
        friction=() if mu is None else (magnitude(as_attribute(mu), TEXT),),
        contype=_mask(contact, "category_bitmask", touches),
        conaffinity=touches,
    )


def _placement(element: Element, link: str, frames: Frames) -> Transform:
    """Return the transform from a link to a shape; the z axis of a plane's frame is its normal."""
    assert element.parent is not None
    at = pose(element)
    X = at.pose.transform
    if at.frame:
        scope = link.removesuffix(element.parent.attributes["name"])
        if scope + at.frame not in frames.placed:
            raise element.error(f"relative_to: no frame {at.frame!r}")
        X = X @ frames.between(link, scope + at.frame)
    normal = _below(element, "geometry", "plane", "normal")
    return X if normal is None else _upright(normal) @ X


def _upright(element: Element) -> Transform:
    """Return the transform to the frame whose z axis has the direction that an element gives."""
    x, y, z = three(element)
    length = math.hypot(x, y, z)
    if not 0.0 < length < math.inf:
        raise element.error("<normal> has no direction")
    x, y, z = x / length, y / length, z / length
    w = 1.0 + z if z > 0.0 else (x * x + y * y) / (1.0 - z)
    half_way = (-y, x, 0.0, w) if x or y or w else (1.0, 0.0, 0.0, 0.0)
    return Transform.placed(quaternion_rotation(half_way), (0.0, 0.0, 0.0))


def _color(element: Element) -> Color | None:
    """Return the colour of a ``<visual>``, which may be transparent."""
    diffuse = _below(element, "material", "diffuse")
    if diffuse is None:
        return None
    r, g, b, a = color(as_attribute(diffuse), TEXT)
    return r, g, b, a * (1.0 - min(max(amount(element, "transparency", 0.0), 0.0), 1.0))


def _mask(element: Element | None, tag: str, default: int) -> int:
    found = None if element is None else element.only(tag)
    if found is None:
        return default
    try:
        return int(as_text(found), 0)
    except ValueError:
        raise found.error(f"{found.text[:80]!r} is not a mask such as 0x01") from None


def _below(element: Element, *tags: str) -> Element | None:
    """Return the element that is reached through children of these names."""
    found: Element | None = element
    for tag in tags:
        found = None if found is None else found.only(tag)
    return found
