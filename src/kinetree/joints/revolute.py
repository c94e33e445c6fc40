"""The revolute joint: rotation about an axis fixed in both bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import AlongAxis, coordinate_axis, perpendicular
from kinetree.joints.base import Joint, JointState
from kinetree.spatial import Force, Inertia, Mat3, Motion, Scalar, Transform, Vec3, cos, sin
from kinetree.spatial.rotation import AxisRotation, GeneralRotation, Rotation
from kinetree.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Revolute(AlongAxis, Joint):
    """Rotation by q (rad) about an axis through the joint's origin (RBDA Table 4.1).

    Parameters
    ----------
    axis : sequence of 3 scalars
        Direction of the axis, in the joint's frame and in the child's; normalised if it is not.

    Examples
    --------
    >>> Revolute((0, 0, 2)).axis
    (0.0, 0.0, 1.0)
    """

    nq = nv = 1

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        S = Motion(Vec3(*self.axis), ZERO)
        return JointState(Transform(self.rotation(q[0]), ZERO), (S,), S * v[0], Motion.zero())

    def rotation(self, angle: Scalar) -> Rotation:
        """Return E of the child's frame turned by this angle (rad)."""
        c, s = cos(angle), sin(angle)
        along = coordinate_axis(self.axis)
        if along is not None:
            k, sign = along
            return AxisRotation(k, c, s * sign)
        x, y, z = self.axis
        d = 1.0 - c
        return GeneralRotation(
            Mat3.of(
                [
                    [x * x + c * (1.0 - x * x), x * y * d + z * s, x * z * d - y * s],
                    [x * y * d - z * s, y * y + c * (1.0 - y * y), y * z * d + x * s],
                    [x * z * d + y * s, y * z * d - x * s, z * z + c * (1.0 - z * z)],
                ]
            )
        )

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        b, c = perpendicular(self.axis)
        return (Force(b, ZERO), Force(c, ZERO), *(Force(ZERO, axis) for axis in AXES))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return the mass and its first moment on the axis, and a rod's inertia across it.

        A rod on the axis, without inertia about it, takes no momentum at any angle. It takes the mass, the first moment
        and one transverse moment of inertia; which one is a choice, so that a coordinate axis leaves the most zeros.
        """
        across = super().inertia_for_parent(inertia)
        along = coordinate_axis(self.axis)
        if along is None:
            return across
        h = tuple(inertia.h)
        return Inertia.about_origin(inertia.m, Vec3(*(h[j] if j == along[0] else 0.0 for j in range(3))), across.I)


@dataclass(frozen=True)
class Continuous(Revolute):
    """A revolute joint without position limits; q (rad) is one number and may grow beyond a turn."""
