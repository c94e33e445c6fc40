"""In what two models differ, but for rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kinetree.model.body import WORLD, Body
from kinetree.model.leaves import flatten
from kinetree.model.model import Model
from kinetree.spatial import Inertia, Motion, Transform

SAMPLE = (0.3, -0.7, 0.45, 0.2, -0.55, 0.6, 0.35)
"""Where the motions of two joints are compared: at a configuration and velocity like any other."""

NAMES = ("name", "body_names", "joint_names", "actuated", "gravity", "base_inertia", "friction")
"""What of a model is compared beside its bodies and frames: fields, and names in their order."""


@dataclass(frozen=True)
class Differences:
    """What one model has otherwise than another.

    Attributes
    ----------
    model : tuple of str
        Fields of `Model`, and ``body_names`` and ``joint_names`` where their order differs.
    joints : dict of str to tuple of str
        By the field of `Body`, the joints whose bodies differ in it.
    frames : tuple of str
        Frames of the first that the second has not, or has elsewhere.
    """

    model: tuple[str, ...]
    joints: dict[str, tuple[str, ...]]
    frames: tuple[str, ...]


def differences(model: Model, other: Model) -> Differences:
    """Return how another model with joints of the same names differs from this one.

    Bodies are compared by the names of their joints, joints by how they move, and numbers up to rounding. The other may
    have more frames, and another root link.
    """
    theirs = {body.joint_name: body for body in other.bodies}
    of_model = tuple(x for x in NAMES if not _same(getattr(model, x), getattr(other, x)))
    joints: dict[str, tuple[str, ...]] = {}
    for field in fields(Body):
        read = _READ.get(field.name, lambda body, _, name=field.name: getattr(body, name))
        odd = (b.joint_name for b in model.bodies if not _same(read(b, model), read(theirs[b.joint_name], other)))
        if found := tuple(odd):
            joints[field.name] = found
    there = set(other.frame_names)
    frames = (name for name in model.frame_names if name not in there or not _same(_at(model, name), _at(other, name)))
    return Differences(of_model, joints, tuple(frames))


def _joint_of(model: Model, body: int) -> str | None:
    return None if body == WORLD else model.bodies[body].joint_name


def _at(model: Model, name: str) -> tuple[Any, ...]:
    frame = model.frame(name)
    return _joint_of(model, frame.body), frame.X


def _motion(body: Body, _: Model) -> tuple[Any, ...]:
    """Return how a joint moves: its transform and motion subspace at a place like any other."""
    state = body.joint.jcalc(SAMPLE[: len(body.q_index)], SAMPLE[: len(body.v_index)])
    return state.X, state.S


_READ: dict[str, Callable[[Body, Model], Any]] = {
    "parent": lambda body, model: _joint_of(model, body.parent),
    "joint": _motion,
}
"""What is compared of a body's field, where that is not its value."""


def _same(a: Any, b: Any) -> bool:
    """Return whether two values of one type have the same structure, and the same numbers but for rounding."""
    if isinstance(a, Transform):
        (*R, _), (*S, _) = a.placement, b.placement
        return _close([x for row in R for x in row], [x for row in S for x in row], at_least=1.0)
    if isinstance(a, Inertia):
        return all(_close(x, y) for x, y in (([a.m], [b.m]), ([*a.h], [*b.h]), ([*a.I], [*b.I])))
    if isinstance(a, Motion):
        return _close([*a.ang, *a.lin], [*b.ang, *b.lin])
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    (structure, numbers), (its, others) = flatten(a), flatten(b)
    return structure == its and all(_close([x], [y]) for x, y in zip(numbers, others, strict=True))


def _close(a: Sequence[Any], b: Sequence[Any], at_least: float = 0.0) -> bool:
    """Return whether two arrays of numbers are the same but for rounding, measured by the largest of them."""
    finite = [abs(x) for x in (*a, *b) if math.isfinite(x)]
    tolerance = 1e-9 * max([at_least, *finite])
    return all(x == y or abs(x - y) <= tolerance for x, y in zip(a, b, strict=True))
