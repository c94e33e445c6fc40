"""What dynamics reads of URDF's elements, and elements in which nothing that it reads is misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kinetree.errors import unknown_name
from kinetree.formats.xml import Element
from kinetree.lazy import lazy_method

get_close_matches = lazy_method("difflib", "get_close_matches")

READ: Final = {
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "velocity", "effort"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "loop_joint": ("name", "type"),
    "link1": ("link", "xyz", "rpy"),
    "link2": ("link", "xyz", "rpy"),
    "loop": ("name", "type"),
    "predecessor": ("link",),
    "successor": ("link",),
}
"""The attributes that are read of each element."""

IGNORED: Final = {
    "link": ("type", "id", "self_collide"),
    "joint": ("dont_collapse", "id", "independent"),
    "limit": ("acceleration", "deceleration", "jerk", "command_effort", "current", "gear_velocity"),
    "dynamics": (
        *("D", "K", "mu_coulomb", "mu_viscous", "stiffness", "spring_stiffness", "spring_reference", "spring_mount"),
        *("armature", "rotor_inertia"),
    ),
}
"""Attributes of URDF 1.2, of URDF+ and of simulators that real files have, and that are not read."""


CHILDREN: Final = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "loop_joint": ("link1", "link2", "axis"),
    "loop": ("predecessor", "successor", "axis"),
}
"""The elements that are read inside others, which may have any further ones."""


def checked(element: Element) -> Element:
    """Return the element if its attributes are known or namespaced, and no child has nearly a name that is read."""
    read, ignored = READ.get(element.tag, ()), IGNORED.get(element.tag, ())
    for name in element.attributes if element.tag in READ else ():
        if name not in read and name not in ignored and not name.startswith("{"):
            element.fault(f"<{element.tag}> has {unknown_name('attribute', name, read)}", "it is not read")
    refuse_misspelt(element, CHILDREN.get(element.tag, ()))
    return element


def refuse_misspelt(element: Element, known: Sequence[str]) -> None:
    """Raise where a child has nearly one of these names."""
    for child in element.children if known else ():
        foreign = child.tag in known or child.tag.startswith("{")
        if not foreign and (near := get_close_matches(child.tag.lower(), known, n=1, cutoff=0.75)):
            message = f"<{element.tag}> has no element <{child.tag}>, did you mean <{near[0]}>?"
            child.fault(message, "it is not read")


def part(element: Element, tag: str) -> Element | None:
    """Return the child of that name, checked; None where there is none."""
    found = element.only(tag)
    return None if found is None else checked(found)


def child(element: Element, tag: str) -> Element:
    """Return the child of that name, checked; where there is none, an error."""
    found = part(element, tag)
    if found is None:
        raise element.error(f"<{tag}> is missing")
    return found
