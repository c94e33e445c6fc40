"""The cylindrical joint: rotation about an axis and translation along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import AlongAxis, perpendicular
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute
from kinetree.spatial import Force, Motion, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


@dataclass(frozen=True)
class Cylindrical(AlongAxis, Joint):
    """Rotation by q[0] (rad) about an axis and translation by q[1] (m) along it (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.
    """

    nq = nv = 2
    q_names = v_names = ("angle", "distance")

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        axis = Vec3(*self.axis)
        S = (Motion(axis, ZERO), Motion(ZERO, axis))
        X = Transform(Revolute(self.axis).rotation(q[0]), axis * q[1])
        return JointState(X, S, Motion(axis * v[0], axis * v[1]), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        b, c = perpendicular(self.axis)
        return (Force(b, ZERO), Force(c, ZERO), Force(ZERO, b), Force(ZERO, c))
