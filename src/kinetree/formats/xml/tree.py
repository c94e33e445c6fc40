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
    upwards = [parent_joint[child] for child in cycle({joint.child: joint.parent for joint in joints})]
    if upwards:
        ring = [upwards[0], *upwards[:0:-1]]
        names = listed([repr(shown(joint.name)) for joint in ring])
        way = " → ".join(shown(joint.parent) for joint in ring[:10]) + (" → …" if len(ring) > 10 else "")
        raise ring[0].element.error(
            f"the joints {names} form a cycle ({way} → {shown(ring[-1].child)}) that hangs on no root link: "
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


def cycle(following: Mapping[str, str]) -> list[str]:
    """Return the names of a cycle, where each is followed by at most one; none where there is none.

    It begins with the one of them that is first in the mapping.

    Examples
    --------
    >>> cycle({"a": "c", "b": "c", "c": "b", "d": "e"})
    ['b', 'c']
    """
    finished: set[str] = set()
    for start in following:
        walked: dict[str, None] = {}
        name = start
        while name in following and name not in finished and name not in walked:
            walked[name] = None
            name = following[name]
        if name in walked:
            names = list(walked)[list(walked).index(name) :]
            members = set(names)
            k = names.index(next(name for name in following if name in members))
            return names[k:] + names[:k]
        finished.update(walked)
    return []
