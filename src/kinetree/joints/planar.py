"""The planar joint: motion in a plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import across_axis, half_angle, unit_axis
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform, Vec3, cos, sin
from kinetree.spatial.vector import ZERO


@dataclass(frozen=True)
class Planar(Joint):
    """Motion in a plane: q = (x, y, θ), in m and rad.

    ν = (ω, v_x, v_y): the rate of θ, and the velocity of the child's origin along its own two directions in the
    plane (rad/s, m/s).

    Parameters
    ----------
    normal : sequence of 3 scalars
        Normal of the plane, in the joint's frame and in the child's. With the default, the directions x and y in the
        plane are the axes of those names; with another normal, the coordinate axes that follow its largest coordinate
        in the cycle x, y, z, brought into the plane.
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    nq = nv = 3
    q_names = ("x", "y", "theta")
    v_names = ("w", "vx", "vy")

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", unit_axis(self.normal))

    @property
    def direction(self) -> tuple[float, float, float]:
        return self.normal

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        n, (x, y) = Vec3(*self.normal), self._directions()
        S = (Motion(n, ZERO), Motion(ZERO, x), Motion(ZERO, y))
        X = Transform(Revolute(self.normal).rotation(q[2]), x * q[0] + y * q[1])
        return JointState(X, S, Motion(n * v[0], x * v[1] + y * v[2]), Motion.zero())

    def _directions(self) -> tuple[Vec3, Vec3]:
        """Return the directions of x and y in the plane."""
        n = Vec3(*self.normal)
        largest = max(range(3), key=lambda k: abs(self.normal[k]))
        seed = Vec3(*(float(k == (largest + 1) % 3) for k in range(3)))
        x = seed - n * n.dot(seed)
        x = x * (1.0 / math.sqrt(x.dot(x)))
        return x, n.cross(x)

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        x, y = self._directions()
        return (Force(x, ZERO), Force(y, ZERO), Force(ZERO, Vec3(*self.normal)))

    def turned_around(self) -> Planar:
        """See `Joint.turned_around`: itself, with the inverse motion."""
        return self

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.integrate`: the exponential on SE(2), an arc of a circle."""
        x, y, theta = q
        w, vx, vy = dv
        a, b = _arc(w)
        step_x, step_y = a * vx - b * vy, b * vx + a * vy
        c, s = cos(theta), sin(theta)
        return [x + c * step_x - s * step_y, y + s * step_x + c * step_y, theta + w]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.difference`: the logarithm on SE(2); θ is a number and its turns count."""
        c, s = cos(q0[2]), sin(q0[2])
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        step_x, step_y, w = c * dx + s * dy, c * dy - s * dx, q1[2] - q0[2]
        a, b = _arc(w)
        d = 1.0 / (a * a + b * b)
        return [w, (a * step_x + b * step_y) * d, (a * step_y - b * step_x) * d]

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.bracket`: the cross product of twists in the plane."""
        return [0.0, b[0] * a[2] - a[0] * b[2], a[0] * b[1] - b[0] * a[1]]

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the plane's normal."""
        return across_axis(self.normal, inertia)


def _arc(w: Scalar) -> tuple[Scalar, Scalar]:
    """Return sin w / w and (1 − cos w) / w, from the half angle, which loses no digits."""
    s, c = half_angle(w * w)
    return 2.0 * s * c, 2.0 * s * s * w
