"""Velocities of bodies that float, seen in axes that do not turn with them during a step.

The linear velocity of a joint that both turns and moves freely, such as a free-flyer, is in the axes of its body: there
it changes by ``−ω × v`` without any force. Over a step it is seen in the axes at its beginning instead, in which
impulses and contacts are, and taken to those at its end by the rotation itself: what rolls or flies then gains no
speed, and flies straight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.glossary.symbols import Vector
from kinetree.joints.base import JointState
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar
from kinetree.spatial import Vec3
from kinetree.spatial.vector import ZERO


def centripetal(model: Model, q: Vector, v: Vector) -> Column:
    """Return ``ω × v`` of such joints, as rates of velocities."""
    found = [0.0] * model.nv
    for index, state in _floating(model, q, v):
        _put(found, index, state, state.vJ.ang.cross(state.vJ.lin))
    return Column(found)


def turned(model: Model, q: Vector, q_next: Vector, v: Vector) -> Column:
    """Return velocities in the axes at q in those at q_next."""
    found = list(v)
    pairs = zip(_floating(model, q, v), _floating(model, q_next, v), strict=True)
    for (index, state), (_, after) in pairs:
        _put(found, index, state, after.X.E.to_b(state.X.E.to_a(state.vJ.lin)))
    return Column(found)


def _floating(model: Model, q: Vector, v: Vector) -> Iterator[tuple[Sequence[int], JointState]]:
    for i in model.joint_order:
        body = model.bodies[i]
        state = body.joint.jcalc([q[k] for k in body.q_index], [v[k] for k in body.v_index])
        if len(state.S) > 2 and any(s.lin != ZERO for s in state.S) and any(s.ang != ZERO for s in state.S):
            yield body.v_index, state


def _put(found: list[Scalar], index: Sequence[int], state: JointState, linear: Vec3) -> None:
    """Put a linear velocity, of which the joint's directions are unit vectors, in its entries."""
    for k, s in zip(index, state.S, strict=True):
        if s.lin != ZERO:
            found[k] = s.lin.dot(linear)
