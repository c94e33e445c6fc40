"""The shapes of an SDFormat model: ``<visual>`` and ``<collision>``, read when a robot is asked for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kinetree.formats.geometry import Color, Flaws, color, read_shape
from kinetree.formats.graph import GraphLink
from kinetree.formats.packages import Packages
from kinetree.formats.sdf.frames import Frames
from kinetree.formats.sdf.values import TEXT, amount, as_attribute, as_text, pose, required_part, three
from kinetree.formats.xml import Element, magnitude, quaternion_rotation
from kinetree.geometry import Geometries, Geometry, Plane
from kinetree.spatial import Transform

ALL_BITS: Final = 0xFFFF
"""The mask of a collision for which none is given."""


def geometries(source: str, links: Sequence[GraphLink], frames: Frames, files: Packages) -> Geometries:
    """Return the shapes of links; what cannot be read is named in one warning, and left out."""
    flaws, names = Flaws(source), {id(link.element): link.name for link in links}

    def geometry(element: Element) -> Geometry:
        shape = read_shape(required_part(element, "geometry"), "sdf", _field, files)
        link = names[id(element.parent)]
        return Geometry(link, shape, _placement(element, link, frames), element.attributes.get("name", ""))

    def visual(element: Element) -> Geometry:
        return replace(geometry(element), color=flaws.catch(_color, element))

    def collision(element: Element) -> Geometry:
        found, contact = geometry(element), _below(element, "surface", "contact")
        mu, touches = _below(element, "surface", "friction", "ode", "mu"), _mask(contact, "collide_bitmask", ALL_BITS)
        return replace(
            found,
            shape=Plane() if isinstance(found.shape, Plane) else found.shape,  # its size is for the eyes
            friction=() if mu is None else (magnitude(as_attribute(mu), TEXT),),
            contype=_mask(contact, "category_bitmask", touches),
            conaffinity=touches,
        )

    return flaws.geometries([link.element for link in links], visual=visual, collision=collision)


def _field(element: Element, name: str, default: str = "") -> tuple[Element, str]:
    """Return the child of that name, whose text is the value."""
    if default and element.only(name) is None:
        element.attributes[TEXT] = default
        return element, TEXT
    return as_attribute(required_part(element, name)), TEXT


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
