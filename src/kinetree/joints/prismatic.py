"""The prismatic joint: translation along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import AlongAxis, perpendicular
from kinetree.joints.base import Joint, JointState
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform, Vec3
from kinetree.spatial.rotation import IDENTITY
from kinetree.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Prismatic(AlongAxis, Joint):
    """Translation by q (m) along an axis (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.

    Examples
    --------
    >>> Prismatic((1, 0, 0)).jcalc([0.5], [2.0]).X.r
    Vec3(0.5, 0.0, 0.0)
    """

    nq = nv = 1
    span = 1.0

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        S = Motion(ZERO, Vec3(*self.axis))
        return JointState(Transform(IDENTITY, Vec3(*self.axis) * q[0]), (S,), S * v[0], Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        b, c = perpendicular(self.axis)
        return (*(Force(axis, ZERO) for axis in AXES), Force(ZERO, b), Force(ZERO, c))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return the rotational inertia alone: a translation neither changes it nor feels it."""
        return Inertia.about_origin(0.0, ZERO, inertia.I)
