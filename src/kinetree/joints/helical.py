"""The helical joint: a screw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import AlongAxis, perpendicular
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute
from kinetree.spatial import Force, Motion, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


@dataclass(frozen=True)
class Helical(AlongAxis, Joint):
    """Rotation by q (rad) about an axis, with a translation of ``pitch · q`` along it (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.
    pitch : scalar
        Advance along the axis (m/rad); ``lead / 2π``.
    """

    pitch: Scalar = 0.0

    nq = nv = 1

    def __post_init__(self) -> None:
        super().__post_init__()
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
