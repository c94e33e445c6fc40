"""The helical joint: a screw."""

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
class Helical(Joint):
    """Rotation by q (rad) about an axis, with a translation of ``pitch · q`` along it (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.
    pitch : scalar
        Advance along the axis (m/rad); ``lead / 2π``.
    """

    axis: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 1.0)
    pitch: Scalar = 0.0

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis))
        if isinstance(self.pitch, int):
            object.__setattr__(self, "pitch", float(self.pitch))

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        axis = Vec3(*self.axis)
        S = Motion(axis, axis * self.pitch)
        X = Transform(Revolute(self.axis).rotation(q[0]), axis * (self.pitch * q[0]))
        return JointState(X, (S,), S * v[0], Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        axis, (b, c) = Vec3(*self.axis), perpendicular(self.axis)
        return (Force(axis * self.pitch, -axis), Force(b, ZERO), Force(c, ZERO), Force(ZERO, b), Force(ZERO, c))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the axis."""
        return across_axis(self.axis, inertia)
