"""A length of a model, by which angles and lengths are compared."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar, is_zero, select_less
from kinetree.scalars.linalg import norm


def turning(model: Model) -> tuple[bool, ...]:
    """Return for each velocity whether it turns (rad/s); the others only shift (m/s)."""
    found = [True] * model.nv
    for body in model.leading:
        S = body.joint.jcalc(body.joint.neutral(), [0.0] * body.joint.nv).S
        for k, column in zip(body.v_index, S, strict=True):
            found[k] = not all(map(is_zero, column.ang))
    return tuple(found)


def reach(model: Model, ends: Iterable[tuple[int, Scalar]]) -> Scalar:
    """Return the longest way along the tree, from joint to joint, to a joint or to one of the ends.

    An end is the index of its body, and how far from the body's origin it is; ends in the world do not count. Where all
    of them are at one place there is no length, and it is 1.
    """
    ways: list[Scalar] = []
    for body in model.bodies:
        before = 0.0 if body.parent == WORLD else ways[body.parent]
        ways.append(before + norm([*body.X_T.r]))
    longest: Scalar = 0.0
    for way in [*ways, *(ways[i] + further for i, further in ends if i != WORLD)]:
        longest = select_less(longest, way, way, longest)
    return 1.0 if is_zero(longest) else longest
