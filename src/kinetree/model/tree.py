"""Whether links and joints form one tree; where they do not, which of them is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from kinetree.errors import listed, shortened, unknown_name


class Edge(Protocol):
    """A joint: it leads from a parent link to a child link."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def parent(self) -> str: ...  # noqa: D102
    @property
    def child(self) -> str: ...  # noqa: D102


J = TypeVar("J", bound=Edge)


def root_link(
    links: Mapping[str, Any], joints: Iterable[J], error: Callable[..., Exception], place: Callable[[Any], str]
) -> str:
    """Return the one link that is not a joint's child.

    ``error(message)``, ``error(message, joint)`` or ``error(message, joint, "parent")`` makes the exception that is
    raised where there is no such tree; `place` is what messages add to the name of a link or joint: `` (line 3)``.
    """
    parent_joint: dict[str, J] = {}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise error(f"{role} link: {unknown_name('link', link, links)}", joint, role)
        if joint.parent == joint.child:
            raise error(f"parent and child are the same link, {shortened(joint.child)!r}", joint)
        other = parent_joint.setdefault(joint.child, joint)
        if other is not joint:
            raise error(
                f"its child {shortened(joint.child)!r} is the child of joint {shortened(other.name)!r}"
                f"{place(other)} already: a link has one parent; kinetree.load_mechanism reads closed "
                "loops from files, and kinetree.Loop closes a tree",
                joint,
            )
    roots = [name for name in links if name not in parent_joint]
    upwards = [parent_joint[child] for child in cycle({child: joint.parent for child, joint in parent_joint.items()})]
    if upwards:
        ring = [upwards[0], *upwards[:0:-1]]
        names = listed([repr(shortened(joint.name)) for joint in ring])
        path = " → ".join(shortened(joint.parent) for joint in ring[:10]) + (" → …" if len(ring) > 10 else "")
        raise error(
            f"the joints {names} form a cycle ({path} → {shortened(ring[-1].child)}) without a root link: "
            "one of these links must have no parent",
            ring[0],
        )
    if len(roots) > 1:
        named = listed([f"{shortened(name)!r}{place(links[name])}" for name in roots], most=10)
        raise error(
            f"{len(roots)} links have no parent joint: {named}; a robot has one root link, so join them, "
            "with a fixed joint perhaps, or delete what is not used"
        )
    return roots[0]


def cycle(following: Mapping[str, str]) -> list[str]:
    """Return the names of a cycle, from the first of them on, where each is followed by at most one; else none."""
    return next(cycles(following), [])


def cycles(following: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield every cycle, as `cycle` returns the first."""
    order = {name: k for k, name in enumerate(following)}
    finished: set[str] = set()
    for start in following:
        walked: dict[str, None] = {}
        name = start
        while name in following and name not in finished and name not in walked:
            walked[name] = None
            name = following[name]
        if name in walked:
            names = list(walked)[list(walked).index(name) :]
            k = min(range(len(names)), key=lambda k: order[names[k]])
            yield names[k:] + names[:k]
        finished.update(walked)
