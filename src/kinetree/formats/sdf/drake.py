"""Drake's ``<drake:ball_constraint>``, which SDF and URDF files have: a ball joint that closes a loop."""

from __future__ import annotations

from collections.abc import Collection

from kinetree.errors import unknown_name
from kinetree.formats.graph import GraphJoint
from kinetree.formats.sdf.values import as_text, three
from kinetree.formats.xml.elements import Element, Triple, triple
from kinetree.joints import Spherical
from kinetree.spatial import Transform


def is_ball_constraint(element: Element) -> bool:
    """Return whether an element of a model is one."""
    return element.tag.endswith("}ball_constraint")


def ball_constraint(element: Element, name: str, scope: str, links: Collection[str]) -> GraphJoint:
    """Return the joint of this name: a point of body A is a point of body B, links whose names begin with `scope`."""
    a, b = (scope + _name(_part(element, f"body_{end}")) for end in "AB")
    for link in (a, b):
        if link not in links:
            raise element.error(unknown_name("link", link, links))
    p, q = (Transform.translation(_point(_part(element, f"p_{end}"))) for end in ("AP", "BQ"))
    return GraphJoint(name, element, "ball", a, b, Spherical(), p, q, closes=True)


def _part(element: Element, tag: str) -> Element:
    found = [child for child in element.children if child.tag.endswith(f"}}ball_constraint_{tag}")]
    if len(found) != 1:
        raise element.error(f"there are {len(found)} elements <drake:ball_constraint_{tag}>, one is needed")
    return found[0]


def _name(element: Element) -> str:
    return element.attributes.get("name") or as_text(element)


def _point(element: Element) -> Triple:
    return triple(element, "value") if "value" in element.attributes else three(element)
