"""Goals of frames: what is wanted of them, how far they are from it, and how that changes with the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.recursions.path import path_to
from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar, select_less, sqrt
from kinetree.spatial import Motion, Transform
from kinetree.spatial.turns import rotation_vector, turn_between
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
    """An error of three coordinates, and ``J = −∂e/∂v`` by velocity index: what moves it."""

    error: Vec3
    columns: dict[int, Vec3]


def goal_rows(model: Model, goal: Goal, target: Any, q: Sequence[Scalar], own_axes: bool) -> list[Rows]:
    """Return the errors of a goal's parts at q.

    A position's error is the place wanted less the origin, an orientation's the rotation vector that leads to the one
    wanted, and that of an axis the rotation vector that leads it there the short way; all in the world's axes. To
    first order in the error its rate is ``−J v``; since a rotation vector is an eigenvector of what is neglected, the
    gradient ``Jᵀe`` of ``½ e·e`` is exact all the same. With `own_axes`, where coordinates are to have weights of
    their own, errors are in the axes of the pose that is wanted, and the rates of rotation vectors are exact.
    """
    X, columns = _frame(model, goal.frame, q)
    if goal.kind == "look_at":
        return [_axis_rows(X, columns, Vec3.of(target[0]), Vec3.of(target[1]))]
    linear = {k: m.lin for k, m in columns.items()}
    if goal.kind == "position":
        return [Rows(Vec3.of(target) - X.r, linear)]
    R = Mat3.of(row[:3] for row in target[:3])
    e, half_cotangent = rotation_vector(R.times(X.E.matrix))
    turns = {k: _rate(e, half_cotangent, m.ang) if own_axes else m.ang for k, m in columns.items()}
    found = [Rows(e, turns)]
    if goal.kind == "pose":
        found.append(Rows(Vec3.of(row[3] for row in target[:3]) - X.r, linear))
    if own_axes:
        found = [Rows(R.transposed_times(e), {k: R.transposed_times(c) for k, c in J.items()}) for e, J in found]
    return found


def _frame(model: Model, frame: str, q: Sequence[Scalar]) -> tuple[Transform, dict[int, Motion]]:
    """Return the placement of a frame, and the columns of its Jacobian in the world's axes at its origin."""
    path = path_to(model, frame, q)
    to_body = path.outward(Transform.identity())
    X = path.X @ to_body[-1] if to_body else path.X
    columns: dict[int, Motion] = {}
    for k, column in path.columns([Transform(Y.E, Y.r - X.r) for Y in to_body]):
        columns[k] = columns[k] + column if k in columns else column
    return X, columns


def _rate(e: Vec3, half_cotangent: Scalar, w: Vec3) -> Vec3:
    """Return the rate of a rotation vector, negated, where what it leads from turns at w."""
    square = e.dot(e)
    along = (1.0 - half_cotangent) / select_less(0.0, square, square, 1.0)
    rate: Vec3 = w * half_cotangent + e.cross(w) * 0.5 + e * (along * e.dot(w))
    return rate


def _axis_rows(X: Transform, columns: dict[int, Motion], point: Vec3, axis: Vec3) -> Rows:
    """Return the rotation vector that leads an axis of the frame the short way to where it points at a point."""
    a, way = X.E.to_a(axis), point - X.r
    square = way.dot(way)
    inverse = 1.0 / sqrt(select_less(0.0, square, square, 1.0))
    d = way * inverse
    return Rows(
        turn_between(a, d), {k: m.ang - a * a.dot(m.ang) + d.cross(m.lin) * inverse for k, m in columns.items()}
    )
