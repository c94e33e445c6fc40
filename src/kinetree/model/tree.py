"""Joints before there are bodies: whether they form one tree, the leaders of mimic joints, the entries of q and v."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from kinetree.errors import ModelError, listed, shortened, unknown_name
from kinetree.joints import Joint, Mimic
from kinetree.model.body import NO_SPRING, JointLimits, JointSpring
from kinetree.spatial import Scalar, Transform


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


Follows = tuple[Scalar, Scalar]
"""Factor and offset of a follower, see `Joint.follows`."""


@dataclass(frozen=True)
class JointSpec:
    """A joint before there are bodies: X leads to its frame, X_child from that, as it moves, to the child's."""

    name: str
    parent: str
    child: str
    joint: Joint
    X: Transform
    limits: JointLimits
    damping: float
    friction: float
    armature: float
    leader: str | None = None
    spring: JointSpring = NO_SPRING
    X_child: Transform | None = None


def resolve_leaders(joints: Mapping[str, JointSpec]) -> list[JointSpec]:
    """Return the joints, mimic joints with a leader that mimics no other, and resistance as that one feels it."""
    resolved: dict[str, JointSpec] = {}
    for spec in joints.values():
        chain: dict[str, JointSpec] = {}
        while spec.leader is not None and spec.name not in resolved:
            chain[spec.name] = spec
            spec = _leader(spec, joints)
            if spec.name in chain:
                raise ModelError(f"the joints {', '.join(map(repr, chain))} mimic each other: one must lead")
        resolved.setdefault(spec.name, spec)
        for follower in reversed(chain.values()):
            resolved[follower.name] = _followed(follower, resolved[_leader(follower, joints).name])
    return [_reflected(resolved[name]) for name in joints]


def _leader(spec: JointSpec, joints: Mapping[str, JointSpec]) -> JointSpec:
    leader = joints.get(spec.leader or "")
    if leader is None:
        raise ModelError(f"joint {spec.name!r} mimics: " + unknown_name("joint", spec.leader, joints))
    if (leader.joint.nq, leader.joint.nv) != (1, 1):
        raise ModelError(f"joint {spec.name!r} mimics {leader.name!r}, which must have exactly one coordinate")
    return leader


def _followed(spec: JointSpec, leader: JointSpec) -> JointSpec:
    """Return a mimic joint with the leader of its own leader, where that mimics another joint."""
    own, its = spec.joint.follows, leader.joint.follows
    if leader.leader is None or own is None or its is None:
        return spec
    joint = Mimic(spec.joint.alone, own[0] * its[0], own[0] * its[1] + own[1])
    return replace(spec, joint=joint, leader=leader.leader)


def _reflected(spec: JointSpec) -> JointSpec:
    """Return a mimic joint with what resists at its own speed, f times the leader's, as the leader feels it."""
    if spec.leader is None or spec.joint.follows is None:
        return spec
    f, _ = spec.joint.follows
    figures = {"armature": f * f * spec.armature, "damping": f * f * spec.damping, "friction": abs(f) * spec.friction}
    return replace(spec, **figures, spring=spring_at_leader(spec.joint.follows, spec.spring))


def spring_at_leader(follows: Follows, spring: JointSpring) -> JointSpring:
    """Return the spring of a follower as its leader feels it: ``f q + offset − q_rest`` is ``f (q − that rest)``."""
    f, offset = follows
    return JointSpring(f * f * spring.stiffness, (spring.rest - offset) / f) if f != 0 else NO_SPRING


def with_leaders_limits(joints: list[JointSpec]) -> list[JointSpec]:
    """Return the joints, those that lead others within the limits that their followers leave them."""
    limits = {spec.name: spec.limits for spec in joints}
    for spec in joints:
        if spec.leader is not None and spec.joint.follows is not None:
            own = limits[spec.leader]
            within = narrowed(own, spec.joint.follows, spec.limits)
            limits[spec.leader] = within or own  # contradictory files mean the leader's
    return [spec if limits[spec.name] is spec.limits else replace(spec, limits=limits[spec.name]) for spec in joints]


def narrowed(own: JointLimits, follows: Follows, limits: JointLimits) -> JointLimits | None:
    """Return a leader's limits within which a follower, at ``factor · q + offset``, keeps its own; None if none do."""
    factor, offset = follows
    if factor == 0.0:
        return own
    low, high = sorted(((limits.lower - offset) / factor, (limits.upper - offset) / factor))
    low, high = max(own.lower, low), min(own.upper, high)
    if low > high:
        return None
    return JointLimits(low, high, min(own.fastest, limits.fastest / abs(factor)), own.effort)


def entries(joints: list[JointSpec], count: str) -> list[tuple[int, ...]]:
    """Return the entries of each joint in q (count "nq") or in v ("nv"); those of a mimic joint are its leader's."""
    own: dict[str, tuple[int, ...]] = {}
    n = 0
    for spec in joints:
        if spec.leader is None:
            own[spec.name] = tuple(range(n, n + getattr(spec.joint, count)))
            n += len(own[spec.name])
    return [own[spec.name if spec.leader is None else spec.leader] for spec in joints]
