"""What SDFormat writes as the text of elements: numbers, vectors, names and poses; strict, as in attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from kinetree.errors import shortened, unknown_name
from kinetree.formats.graph import Pose
from kinetree.formats.urdf.document import refuse_misspelt
from kinetree.formats.xml import (
    Element,
    Triple,
    number,
    quaternion_rotation,
    required,
    resistance,
    rpy_rotation,
    triple,
    vector,
)

TEXT: Final = "text"
"""The attribute as which the text of an element is read."""
BOOLEANS: Final = {"1": True, "true": True, "0": False, "false": False}
CHILDREN: Final = {
    "model": ("pose", "link", "joint", "frame", "model", "static", "include"),
    "link": ("pose", "inertial", "gravity"),
    "inertial": ("pose", "mass", "inertia"),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "joint": ("pose", "parent", "child", "axis", "axis2", "screw_thread_pitch", "thread_pitch"),
    "axis": ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction", "spring_reference", "spring_stiffness"),
    "mimic": ("multiplier", "offset", "reference"),
}
"""The elements that are read inside others, which may have any further ones."""
POSE_ATTRIBUTES: Final = ("relative_to", "frame", "degrees", "rotation_format")


@dataclass(frozen=True)
class PlacedIn:
    """A pose as written, and the name of the frame in which it is given, empty where none is named."""

    pose: Pose
    frame: str


def part(element: Element, tag: str) -> Element | None:
    """Return the child of that name, in which no element is misspelt; None where there is none."""
    found = element.only(tag)
    return None if found is None else checked(found)


def checked(element: Element) -> Element:
    """Return the element if no child has nearly a name that is read."""
    refuse_misspelt(element, CHILDREN.get("axis" if element.tag == "axis2" else element.tag, ()))
    return element


def text(element: Element, tag: str) -> str:
    """Return the text of a child that must be there and not empty: a name."""
    return as_text(required_part(element, tag))


def required_part(element: Element, tag: str) -> Element:
    """Return the child of that name, which must be there."""
    found = element.only(tag)
    if found is None:
        raise element.error(f"<{tag}> is missing")
    return found


def as_text(element: Element) -> str:
    """Return the text of an element that must not be empty."""
    if not element.text:
        raise element.error("there is no text in this element")
    return element.text


def amount(element: Element | None, tag: str, default: float, *, infinite: bool = False) -> float:
    """Return the number in a child; where there is none, or no such element, the default."""
    found = None if element is None else element.only(tag)
    return default if found is None else number(as_attribute(found), TEXT, infinite=infinite)


def not_negative(element: Element | None, tag: str) -> float:
    """Return the number in a child, by default 0; a negative one is a fault, and 0 instead."""
    found = None if element is None else element.only(tag)
    return 0.0 if found is None else resistance(as_attribute(found), TEXT)


def three(element: Element) -> Triple:
    """Return the three numbers in an element."""
    return triple(as_attribute(element), TEXT)


def is_true(element: Element, tag: str, default: bool = False) -> bool:
    """Return a child's truth value; the default where there is no child."""
    found = element.only(tag)
    if found is None:
        return default
    return boolean(found, as_text(found))


def boolean(element: Element, word: str) -> bool:
    """Return whether a word says true."""
    if word.lower() not in BOOLEANS:
        raise element.error(f"{shortened(word)!r} is neither true nor false")
    return BOOLEANS[word.lower()]


def pose(element: Element) -> PlacedIn:
    """Return the pose that `<pose>` gives, none at all where there is no such element, or nothing in it."""
    found = element.only("pose")
    if found is None:
        return PlacedIn(Pose(), "")
    for name in found.attributes:
        if name not in POSE_ATTRIBUTES and not name.startswith("{"):
            found.fault(f"<pose> has {unknown_name('attribute', name, POSE_ATTRIBUTES)}", "it is not read")
    frame = found.attributes.get("relative_to") or found.attributes.get("frame", "")
    if not found.text:
        return PlacedIn(Pose(), frame)
    form = found.attributes.get("rotation_format", "euler_rpy")
    degrees = boolean(found, found.attributes.get("degrees", "false"))
    if form not in ("euler_rpy", "quat_xyzw"):
        raise found.error(f"rotation_format={shortened(form)!r}: it is 'euler_rpy' or 'quat_xyzw'")
    x, y, z, *rotation = vector(as_attribute(found), TEXT, 6 if form == "euler_rpy" else 7)
    if form == "euler_rpy":
        return PlacedIn(
            Pose(rpy_rotation(list(map(math.radians, rotation)) if degrees else rotation), (x, y, z)), frame
        )
    if not any(rotation):
        raise found.error("the quaternion is zero, which is not an orientation: '0 0 0 1' is none at all")
    return PlacedIn(Pose(quaternion_rotation(rotation), (x, y, z)), frame)


def name_of(element: Element) -> str:
    """Return the name of an element, which SDFormat must not have reserved."""
    name = required(element, "name")
    if name == "world" or (name.startswith("__") and name.endswith("__")):
        raise element.error(f"the name {name!r} has a meaning of its own in SDFormat: give another one")
    return name


def as_attribute(element: Element) -> Element:
    """Return the element with its text as an attribute, so that it is read as those are."""
    element.attributes[TEXT] = as_text(element)
    return element
