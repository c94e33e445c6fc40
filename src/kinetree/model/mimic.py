"""The joints as the builder is told of them, and the entries of q and v that they get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kinetree.errors import ModelError, unknown_name
from kinetree.joints import Joint, Mimic
from kinetree.model.model import JointLimits
from kinetree.spatial import Transform


@dataclass(frozen=True)
class JointSpec:
    """A joint between two links, before there are bodies; its leader is the joint that it mimics."""

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


def following(spec: JointSpec, joints: Mapping[str, JointSpec]) -> JointSpec:
    """Return the joint with a leader that follows no other one itself."""
    seen = [spec.name]
    while spec.leader is not None:
        leader = joints.get(spec.leader)
        if leader is None:
            raise ModelError(f"joint {spec.name!r} mimics: " + unknown_name("joint", spec.leader, joints))
        if leader.name in seen:
            raise ModelError(f"the joints {', '.join(map(repr, seen))} mimic each other: one must lead")
        if (leader.joint.nq, leader.joint.nv) != (1, 1):
            raise ModelError(f"joint {spec.name!r} mimics {leader.name!r}, which has not one coordinate")
        if leader.leader is None:
            break
        seen.append(leader.name)
        own, its = spec.joint, leader.joint
        assert isinstance(own, Mimic)
        assert isinstance(its, Mimic)
        joint = Mimic(own.joint, own.factor * its.factor, own.factor * its.offset + own.offset)
        spec = replace(spec, joint=joint, leader=leader.leader)
    if spec.leader is None or not isinstance(spec.joint, Mimic):
        return spec
    f = spec.joint.factor  # what resists at the joint's own speed, f times the leader's, as the leader feels it
    return replace(spec, armature=f * f * spec.armature, damping=f * f * spec.damping, friction=abs(f) * spec.friction)


def leaders_limits(joints: list[JointSpec]) -> dict[str, JointLimits]:
    """Return the limits of the joints that lead others: their own, and those that their followers leave them."""
    limits = {spec.name: spec.limits for spec in joints}
    for spec in joints:
        if spec.leader is not None and isinstance(spec.joint, Mimic):
            limits[spec.leader] = _narrowed(limits[spec.leader], spec)
    return limits


def _narrowed(own: JointLimits, follower: JointSpec) -> JointLimits:
    """Return a leader's limits within which a follower, at ``factor · q + offset``, keeps its own."""
    joint, limits = follower.joint, follower.limits
    assert isinstance(joint, Mimic)
    factor, offset = joint.factor, joint.offset
    if factor == 0.0:
        return own
    low, high = sorted(((limits.lower - offset) / factor, (limits.upper - offset) / factor))
    low, high = max(own.lower, low), min(own.upper, high)
    if low > high:  # files whose limits contradict each other mean the leader's
        return own
    return JointLimits(low, high, min(own.velocity, limits.velocity / abs(factor)), own.effort)


def slices(joints: list[JointSpec]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the entries in q and in v of each joint; those of a mimic joint are its leader's."""
    at: dict[str, int] = {spec.name: k for k, spec in enumerate(joints)}
    q_index: list[tuple[int, ...]] = []
    v_index: list[tuple[int, ...]] = []
    nq = nv = 0
    for spec in joints:
        own = (spec.joint.nq, spec.joint.nv) if spec.leader is None else (0, 0)
        q_index.append(tuple(range(nq, nq + own[0])))
        v_index.append(tuple(range(nv, nv + own[1])))
        nq, nv = nq + own[0], nv + own[1]
    leaders = [k if spec.leader is None else at[spec.leader] for k, spec in enumerate(joints)]
    return [q_index[k] for k in leaders], [v_index[k] for k in leaders]
