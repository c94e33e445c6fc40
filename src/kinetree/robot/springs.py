"""The springs of all joints as arrays."""

from __future__ import annotations

import numpy as np

from kinetree.model import Body, JointSpring, Model
from kinetree.validation import Array


def combined(model: Model, body: Body) -> JointSpring:
    """Return the one spring that a joint of one degree of freedom and those that follow it are together."""
    springs = [other.spring for other in model.bodies if other.v_index == body.v_index and other.spring.stiffness]
    if len(springs) < 2:
        return springs[0] if springs else body.spring
    total = sum(s.stiffness for s in springs)
    return JointSpring(total, sum(s.stiffness * s.rest for s in springs) / total)


def stiffness(model: Model) -> Array:
    """Return the stiffness at each entry of v."""
    values = np.zeros(model.nv)
    for body in model.leading:
        values[list(body.v_index)] = combined(model, body).stiffness
    return values


def rest_positions(model: Model) -> Array:
    """Return the configuration in which the springs are relaxed."""
    values = np.empty(model.nq)
    for body in model.leading:
        rest = combined(model, body).rest if body.has_one_coordinate else body.joint.neutral()
        values[list(body.q_index)] = rest
    return values
