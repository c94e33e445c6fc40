"""Which joints of a graph are cut, so that a tree is left."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kinetree.errors import ArgumentError, FormatError, listed, shortened, unknown_name
from kinetree.formats.graph import GraphFrame, GraphJoint, KinematicGraph
from kinetree.joints import Joint
from kinetree.spatial import Transform

MOST_LOOPS: Final = 1000


class LoopError(FormatError):
    """A loop none of whose joints may be cut."""


def cut_into_tree(
    graph: KinematicGraph, cut: Sequence[str], closes: Callable[[Joint], bool]
) -> tuple[KinematicGraph, tuple[GraphJoint, ...]]:
    """Return the tree that is left when loops are cut, with two frames at each joint that is cut, and those joints.

    The joints of these names are cut, and those of which the file says that they close a loop. Where loops remain, the
    tree with the most rows is kept (Prim's algorithm, from the root link), so that the fewest rows close the loops; of
    equal ones, that whose joints need not be turned around, then that which is first in the file. No joint with a
    motor is cut unless it is named, and none with a spring or a follower, or at which no loop can close.
    """
    _check_ends(graph)
    names = [joint.name for joint in graph.joints]
    if unknown := next((name for name in cut if name not in names), None):
        raise ArgumentError(f"cut: {unknown_name('joint', unknown, names)}")
    followed = {name for joint in graph.joints if joint.mimic for name in (joint.name, joint.mimic.joint)}
    bound = {joint.name for joint in graph.joints if joint.spring.stiffness or joint.name in followed}
    for name in cut:
        if name in bound:
            raise ArgumentError(f"cut: {shortened(name)!r} has a spring or mimics, and needs its coordinate")
    stay = {
        joint.name: (not (joint.name in bound or not closes(joint.joint)), not joint.actuated) for joint in graph.joints
    }
    tree = _spanning(graph, [joint for joint in graph.joints if not (joint.closes or joint.name in cut)], stay)
    kept = {joint.name for joint in tree}
    cuts = tuple(joint for joint in graph.joints if joint.name not in kept)
    for joint in cuts:
        if not (joint.closes or joint.name in cut or all(stay[joint.name])):
            _refuse(joint, tree, stay)
    if len(cuts) > MOST_LOOPS:
        raise graph.element.error(f"there are {len(cuts)} closed loops, {MOST_LOOPS} are read: is this a robot?")
    if not cuts:
        raise graph.element.error("there is no closed loop in this file: kinetree.load reads it")
    return graph._replace(joints=tuple(tree), frames=(*graph.frames, *_cut_frames(cuts))), cuts


def frame_names(joint: GraphJoint) -> tuple[str, str]:
    """Return the names of the frames where a joint that is cut has its two sides, the child's first."""
    return f"{joint.name}.child", f"{joint.name}.parent"


def _cut_frames(cuts: Sequence[GraphJoint]) -> Iterator[GraphFrame]:
    for joint in cuts:
        of_child, of_parent = frame_names(joint)
        yield GraphFrame(of_parent, joint.parent, joint.in_parent)
        yield GraphFrame(of_child, joint.child, joint.in_child or Transform.identity())


def _check_ends(graph: KinematicGraph) -> None:
    links = {link.name for link in graph.links}
    for joint in graph.joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                element = joint.element.only(role) or joint.element
                raise element.error(f"{role} link: {unknown_name('link', link, (link.name for link in graph.links))}")
        if joint.parent == joint.child:
            raise joint.element.error(f"parent and child are the same link, {shortened(joint.child)!r}")


def _spanning(
    graph: KinematicGraph, joints: Sequence[GraphJoint], stay: dict[str, tuple[bool, bool]]
) -> list[GraphJoint]:
    """Return the joints of the best tree, in file order, those turned around that are reached from their child."""
    at: dict[str, list[int]] = {}
    for k, joint in enumerate(joints):
        at.setdefault(joint.parent, []).append(k)
        at.setdefault(joint.child, []).append(k)
    children = {joint.child for joint in joints}
    names = [link.name for link in graph.links]
    root = next((name for name in names if name not in children), names[0])
    reached, found, waiting = {root}, dict[int, GraphJoint](), list[tuple[tuple[object, ...], int, str]]()

    def leave(link: str) -> None:
        for k in at.get(link, ()):
            joint = joints[k]
            turned = joint.child == link
            to = joint.parent if turned else joint.child
            rank = (*stay[joint.name], joint.joint.nv, turned, k)
            heapq.heappush(waiting, (rank, k, to))

    leave(root)
    while waiting:
        _, k, to = heapq.heappop(waiting)
        if to not in reached:
            reached.add(to)
            found[k] = joints[k] if to == joints[k].child else joints[k].turned_around()
            leave(to)
    if apart := [shortened(name) for name in names if name not in reached]:
        raise graph.element.error(
            f"no joint that is left connects these links to {shortened(root)!r}: {listed(apart)}; a robot is one piece"
        )
    return [found[k] for k in sorted(found)]


def _refuse(joint: GraphJoint, tree: Sequence[GraphJoint], stay: dict[str, tuple[bool, bool]]) -> None:
    """Raise because this joint closes a loop with joints none of which is better to cut."""
    up = {other.child: other for other in tree}

    def ancestors(link: str) -> list[GraphJoint]:
        found = []
        while link in up:
            found.append(up[link])
            link = up[link].parent
        return found

    one, other = ancestors(joint.parent), ancestors(joint.child)
    shared = {j.name for j in one} & {j.name for j in other}
    loop = [joint, *(j for j in (*one, *other) if j.name not in shared)]
    names = listed([repr(shortened(j.name)) for j in loop], most=10)
    if stay[joint.name][0]:
        why = "every one has a motor; cut= names the one at which it is to close"
    else:
        why = (
            "no loop can close at any of them: it closes at revolute, prismatic, ball and fixed joints without a spring"
        )
    raise LoopError(f"{joint.element.source}: the loop of the joints {names}: {why}")
