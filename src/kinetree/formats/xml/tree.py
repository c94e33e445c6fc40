"""Whether links and joints are one tree; where they are not, which element is to blame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from kinetree.errors import unknown_name
from kinetree.formats.warnings import listed
from kinetree.formats.xml.elements import Element, shown


class Named(Protocol):
    """A link or a joint: a name, and where it stands in the file."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def element(self) -> Element: ...  # noqa: D102


class Edge(Named, Protocol):
    """A joint: it leads from a parent link to a child link."""

    @property
    def parent(self) -> str: ...  # noqa: D102
    @property
    def child(self) -> str: ...  # noqa: D102


def check_names(kind: str, items: Iterable[Named]) -> None:
    """Raise a FormatError at the second of two links (or joints) of one name."""
    seen: dict[str, Named] = {}
    for item in items:
        first = seen.setdefault(item.name, item)
        if first is not item:
            raise item.element.error(
                f"a second {kind} of this name, the first is on line {first.element.line}: names must differ"
            )


def check_tree(robot: Element, links: Mapping[str, Named], joints: Sequence[Edge]) -> str:
    """Return the name of the root link.

    Parameters
    ----------
    robot : Element
        Where to point when no single link is to blame.
    links : mapping of name to link
        All links, in file order.
    joints : sequence of joints
        All joints, in file order.

    Raises
    ------
    FormatError
        If a joint names an unknown link or connects a link to itself, a link has two parents, there is a cycle,
        or there is not just one root.
    """
    _check_ends(links, joints)
    parent_joint = _parents(joints)
    roots = [name for name in links if name not in parent_joint]
    cycle = _cycle(links, joints, parent_joint)
    if cycle:
        names = listed([repr(shown(joint.name)) for joint in cycle])
        way = " → ".join(shown(joint.parent) for joint in cycle[:10]) + (" → …" if len(cycle) > 10 else "")
        raise cycle[0].element.error(
            f"the joints {names} form a cycle ({way} → {shown(cycle[-1].child)}) that hangs on no root link: "
            "one of these links must have no parent"
        )
    if len(roots) > 1:
        named = listed([f"{shown(name)!r} (line {links[name].element.line})" for name in roots])
        raise robot.error(
            f"{len(roots)} links have no parent joint: {named}; a robot has one root link, so join them, "
            "with a fixed joint perhaps, or delete what is not used"
        )
    return roots[0]


def _check_ends(links: Collection[str], joints: Sequence[Edge]) -> None:
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                blamed = joint.element.only(role) or joint.element
                raise blamed.error(f"{role} link: {unknown_name('link', link, links)}")
        if joint.parent == joint.child:
            raise joint.element.error(f"parent and child are the same link, {shown(joint.child)!r}")


def _parents(joints: Sequence[Edge]) -> dict[str, Edge]:
    parent_joint: dict[str, Edge] = {}
    for joint in joints:
        other = parent_joint.setdefault(joint.child, joint)
        if other is not joint:
            raise joint.element.error(
                f"its child {shown(joint.child)!r} is the child of joint {shown(other.name)!r} (line "
                f"{other.element.line}) already: a link has one parent; a closed loop cannot be written this way"
            )
    return parent_joint


def _cycle(links: Collection[str], joints: Sequence[Edge], parent_joint: Mapping[str, Edge]) -> list[Edge]:
    """Return the joints of a cycle from parent to child, from the first in the file; none where there is none.

    Each link has at most one parent, so walking up from any link ends at a root or goes round.
    """
    finished: set[str] = set()
    for start in links:
        walked: dict[str, Edge] = {}
        link = start
        while link in parent_joint and link not in finished and link not in walked:
            walked[link] = parent_joint[link]
            link = walked[link].parent
        if link in walked:
            upwards = list(walked.values())[list(walked).index(link) :]
            members = {joint.name for joint in upwards}
            first = next(joint for joint in joints if joint.name in members)
            k = upwards.index(first)
            return [*upwards[k::-1], *upwards[:k:-1]]
        finished.update(walked)
    return []
