"""Goals of frames: what is wanted of them, how far they are from it, and how that changes with the joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.recursions.path import Path, path_to
from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar, or_one, select_less, sqrt
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import rotation_vector, turn_between
from kinetree.spatial.vector import Mat3, Vec3

SHAPES = {"pose": (4, 4), "orientation": (3, 3), "position": (3,), "look_at": (2, 3)}
"""The shapes of targets by kind: poses and rotation matrices in the world, the place of the frame's origin there; a
point that an axis of the frame is to point at, and that axis in the frame."""

PARTS = {
    "pose": ("orientation", "position"),
    "orientation": ("orientation",),
    "position": ("position",),
    "look_at": ("orientation",),
}
"""What counts, by kind: errors of three coordinates each."""


class Goal(NamedTuple):
    """What is wanted of a frame, without the numbers: its name, and the kind of target, one of `SHAPES`."""

    frame: str
    kind: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its target."""
        return SHAPES[self.kind]

    def support(self, model: Model) -> set[int]:
        """Return the indices of the velocities that move the frame."""
        found: set[int] = set()
        i = model.frame(self.frame).body
        while i != WORLD:
            found.update(model.bodies[i].v_index)
            i = model.bodies[i].parent
        return found

    def prepared(self, target: Any) -> Any:
        """Return a target as `goal_rows` takes it: the axis that is to point somewhere has length one."""
        if self.kind != "look_at":
            return target
        point, axis = target
        direction = Vec3.of(axis)
        return [point, list(direction * (1.0 / sqrt(direction.dot(direction))))]


class Rows(NamedTuple):
    """An error of three coordinates, what moves it, and how curved it is."""

    error: Vec3
    columns: dict[int, Vec3]  # J = −∂e/∂v by velocity index
    curvature: Scalar  # a bound of what JᵀJ lacks of the second derivative of ½ e·e, beside the length of e


class Placed(NamedTuple):
    """A frame in the world: its placement, its Jacobian's columns at its origin, and its accelerations."""

    X: Transform
    columns: dict[int, Motion]  # by velocity index
    linear: Scalar  # bounds of the accelerations of the origin, at constant rates of the joints of length one,
    angular: Scalar  # and of the turning
    turning: Scalar  # the sum of the squares of the columns' angular parts


def goal_rows(
    model: Model, goal: Goal, target: Any, q: Sequence[Scalar], own_axes: bool, steps: Mapping[int, Scalar]
) -> list[Rows]:
    """Return the errors of a goal's parts at q, in the world's axes or, with `own_axes`, in those of the pose wanted.

    To first order in the error its rate is ``−J v``; a rotation vector is an eigenvector of what is neglected, so the
    gradient ``Jᵀe`` of ``½ e·e`` is exact. With `own_axes`, for weights of coordinates, its rate is exact as well.
    Columns are in the units of `steps`. A rotation vector bends by up to θ/4 beside the square of its rate, which is up
    to π/2 times that of the rotation.
    """
    placed = _frame(model, goal.frame, q, steps)
    X, columns = placed.X, placed.columns
    if goal.kind == "look_at":
        return [_axis_rows(placed, Vec3.of(target[0]), Vec3.of(target[1]))]
    linear = {k: m.lin for k, m in columns.items()}
    if goal.kind == "position":
        return [Rows(Vec3.of(target) - X.r, linear, placed.linear)]
    R = Mat3.of(row[:3] for row in target[:3])
    e, half_cotangent = rotation_vector(R.times(X.E.matrix))
    turns = {k: _rate(e, half_cotangent, m.ang) if own_axes else m.ang for k, m in columns.items()}
    bent = 0.5 * math.pi * placed.angular + 0.25 * sqrt(e.dot(e)) * placed.turning if own_axes else placed.angular
    found = [Rows(e, turns, bent)]
    if goal.kind == "pose":
        found.append(Rows(Vec3.of(row[3] for row in target[:3]) - X.r, linear, placed.linear))
    if own_axes:
        found = [Rows(R.transposed_times(e), {k: R.transposed_times(c) for k, c in J.items()}, b) for e, J, b in found]
    return found


def _frame(model: Model, frame: str, q: Sequence[Scalar], steps: Mapping[int, Scalar]) -> Placed:
    """Return the placement of a frame in the world, and how its joints move it.

    At constant rates d of the joints the origin accelerates by ``Σ dᵢ dⱼ ωᵢ × Jⱼ``, with ωᵢ of the joint that is nearer
    to the base: the root of the sum of ``(|ωᵢ| |Jⱼ|)²`` (Frobenius's norm) bounds the eigenvalues of any ``x·∂²p/∂q²``
    beside the length of x. A turning has the pairs of different joints alone, half in each of two entries.
    """
    path = path_to(model, frame, q)
    to_body = path.outward(Transform.identity())
    X = path.X @ to_body[-1] if to_body else path.X
    columns: dict[int, Motion] = {}
    followers: dict[int, int] = {}
    linear: Scalar = 0.0
    angular: Scalar = 0.0
    turning: Scalar = 0.0
    for link, Y in zip(path.links, to_body, strict=True):
        if steps.keys().isdisjoint(link.body.v_index):
            continue
        own = [(k, column * steps[k]) for k, column in Path((link,)).columns([Transform(Y.E, Y.r - X.r)])]
        for k, column in own:
            columns[k] = columns[k] + column if k in columns else column
            followers[k] = followers.get(k, 0) + 1
        turns = [S_k.ang * steps[k] for k, S_k in zip(link.body.v_index, link.state.S, strict=True)]
        rate, several = sum(w.dot(w) for w in turns), len(own) > 1
        pairs = 2.0 * turning + (2.0 * rate if several else rate)
        linear = linear + pairs * sum(column.lin.dot(column.lin) for _, column in own)
        angular = angular + 0.5 * (turning + rate if several else turning) * rate
        turning = turning + rate
    together = max(followers.values(), default=1)  # joints that have one rate count as that many do, each with its own
    return Placed(X, columns, together * sqrt(linear), together * sqrt(angular), together * turning)


def _rate(e: Vec3, half_cotangent: Scalar, w: Vec3) -> Vec3:
    """Return the rate of a rotation vector, negated, where what it leads from turns at w."""
    square = e.dot(e)
    along = (1.0 - half_cotangent) / or_one(square)
    rate: Vec3 = w * half_cotangent + e.cross(w) * 0.5 + e * (along * e.dot(w))
    return rate


def _axis_rows(placed: Placed, point: Vec3, axis: Vec3) -> Rows:
    """Return the rotation vector that leads an axis of the frame the short way to where it points at a point.

    The squared angle α between axis and direction, of rates u and w, bends beside α by up to ``0.37 (u² + w²)`` more
    than its rows say (``(1 + cos α)(α/sin α − 1) ≤ 0.37 α``), by the frame's accelerations, by half of ``|ω|²`` as the
    axis is carried round, and by ``(ṗ/ρ)²`` as the distance ρ changes.
    """
    X, columns = placed.X, placed.columns
    a, way = X.E.to_a(axis), point - X.r
    square = way.dot(way)
    inverse = 1.0 / sqrt(or_one(square))
    d = way * inverse
    e, between = turn_between(a, d), a + d  # the error has no part along the bisector, and its rate none to first order
    length = between.dot(between)
    along = select_less(1e-14, length, 1.0 / select_less(1e-14, length, length, 1.0), 0.0)
    J = {}
    for k, m in columns.items():
        rate = m.ang - a * a.dot(m.ang) + d.cross(m.lin) * inverse
        J[k] = rate - between * (along * between.dot(rate))
    speed = sum((m.lin.dot(m.lin) for m in columns.values()), 0.0) * inverse * inverse
    return Rows(e, J, placed.angular + 0.87 * placed.turning + placed.linear * inverse + 1.37 * speed)
