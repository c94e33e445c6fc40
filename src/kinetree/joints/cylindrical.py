"""The cylindrical joint: rotation about an axis and translation along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.joints._axis import perpendicular, unit_axis
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute, across_axis
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Rotation by q[0] (rad) about an axis and translation by q[1] (m) along it (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.
    """

    axis: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 1.0)

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    q_names: ClassVar[tuple[str, ...]] = ("angle", "distance")
    v_names: ClassVar[tuple[str, ...]] = ("angle", "distance")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis))

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        axis = Vec3(*self.axis)
        S = (Motion(axis, ZERO), Motion(ZERO, axis))
        X = Transform(Revolute(self.axis).rotation(q[0]), axis * q[1])
        return JointState(X, S, Motion(axis * v[0], axis * v[1]), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        b, c = perpendicular(self.axis)
        return (Force(b, ZERO), Force(c, ZERO), Force(ZERO, b), Force(ZERO, c))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the axis."""
        return across_axis(self.axis, inertia)
