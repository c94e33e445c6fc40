"""The spherical joint: any rotation about a point, as a unit quaternion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.joints._parts import quaternion_difference, quaternion_integrate, random_quaternion
from kinetree.joints.base import Joint, JointState, Limit
from kinetree.spatial import Force, Inertia, Motion, Quaternion, Scalar, Transform, Vec3
from kinetree.spatial.vector import AXES, ZERO, Sym3

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Spherical(Joint):
    """Rotation about the joint's origin: q = (x, y, z, w), the quaternion of the child in the joint's frame.

    ν is the angular velocity of the child against the parent, in the child's axes (rad/s). A quaternion that is
    not normalised stands for the same rotation; a zero one gives NaN.
    """

    nq, nv = 4, 3
    q_names = ("qx", "qy", "qz", "qw")
    v_names = ("wx", "wy", "wz")

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        S = tuple(Motion(axis, ZERO) for axis in AXES)
        return JointState(Transform(Quaternion(*q).rotation(), ZERO), S, Motion(Vec3(*v), ZERO), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return tuple(Force(ZERO, axis) for axis in AXES)

    def turned_around(self) -> Spherical:
        """See `Joint.turned_around`: itself, with the inverse rotation."""
        return self

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.integrate`: the quaternion times the exponential of dv; unit length."""
        return list(quaternion_integrate(Quaternion(*q), Vec3(*dv)))

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.difference`: the rotation vector of q1 seen from q0, at most half a turn."""
        return list(quaternion_difference(Quaternion(*q0), Quaternion(*q1)))

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.bracket`: the cross product."""
        return list(Vec3(*a).cross(Vec3(*b)))

    def random(
        self, rng: Generator, lower: Limit = None, upper: Limit = None, size: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """See `Joint.random`: uniform over all rotations."""
        return random_quaternion(rng, size)

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return the mass, as a point at the joint's centre."""
        return Inertia.about_origin(inertia.m, ZERO, Sym3.zero())
