"""Velocities of bodies that float, seen in axes that do not turn with them during a step.

The linear velocity of a joint that both turns and moves freely, such as a free-flyer, is in the axes of its body: there
it changes by ``−ω × v`` without any force. Over a step it is seen in the axes at its beginning instead, in which
impulses and contacts are, and taken to those at its end by the rotation itself: what rolls or flies then gains no
speed, and flies straight.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.glossary.symbols import Vector
from kinetree.joints.base import JointState
from kinetree.model import Body, Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero
from kinetree.spatial.vector import ZERO


def centripetal(model: Model, q: Vector, v: Vector) -> Column:
    """Return ``ω × v`` of such joints, as rates of velocities: the bracket of what turns and what moves."""
    found = [0.0] * model.nv
    for body, _, rate in _floating(model, q, v):
        for k, x in zip(body.v_index, rate, strict=True):
            found[k] = x
    return Column(found)


def turned(model: Model, q: Vector, q_next: Vector, v: Vector) -> Column:
    """Return velocities in the axes at q in those at q_next."""
    found = list(v)
    for body, state, _ in _floating(model, q, v):
        after = body.joint.jcalc([q_next[k] for k in body.q_index], [0.0] * len(body.v_index))
        linear = after.X.E.to_b(state.X.E.to_a(state.vJ.lin))
        for k, s in zip(body.v_index, state.S, strict=True):
            if s.lin != ZERO:
                found[k] = s.lin.dot(linear)
    return Column(found)


def _floating(model: Model, q: Vector, v: Vector) -> Iterator[tuple[Body, JointState, list[Scalar]]]:
    """Yield the bodies with such joints, which are those of groups of motions, and ``ω × v``."""
    for i in model.joint_order:
        body = model.bodies[i]
        own = [v[k] for k in body.v_index]
        state = body.joint.jcalc([q[k] for k in body.q_index], own)
        turns = [x if s.lin == ZERO else 0.0 for x, s in zip(own, state.S, strict=True)]
        moves = [0.0 if s.lin == ZERO else x for x, s in zip(own, state.S, strict=True)]
        rate = body.joint.bracket(turns, moves)
        if not all(map(is_zero, rate)):
            yield body, state, rate
