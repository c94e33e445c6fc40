"""The planar joint: motion in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute, across_axis
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform, Vec3, cos, sin
from kinetree.spatial.scalars import sqrt


@dataclass(frozen=True)
class Planar(Joint):
    """Motion in the joint's x, y plane: q = (x, y, θ), in m and rad.

    ν = (ω, v_x, v_y): the rate of θ, and the velocity of the child's origin in the child's axes (rad/s, m/s).
    """

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        """See `Joint.jcalc`."""
        S = tuple(Motion.of(float(j == k) for j in range(6)) for k in (2, 3, 4))
        X = Transform(Revolute((0.0, 0.0, 1.0)).rotation(q[2]), Vec3(q[0], q[1], 0.0))
        return JointState(X, S, Motion(Vec3(0.0, 0.0, v[0]), Vec3(v[1], v[2], 0.0)), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """See `Joint.constraint_subspace`."""
        return tuple(Force.of(float(j == k) for j in range(6)) for k in (0, 1, 5))

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.integrate`: the exponential on SE(2), an arc of a circle."""
        x, y, theta = q
        w, vx, vy = dv
        a, b = _sinc(w), _versine(w)
        step_x, step_y = a * vx - b * vy, b * vx + a * vy
        c, s = cos(theta), sin(theta)
        return [x + c * step_x - s * step_y, y + s * step_x + c * step_y, theta + w]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.difference`: the logarithm on SE(2); θ is a number and its turns count."""
        c, s = cos(q0[2]), sin(q0[2])
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        step_x, step_y, w = c * dx + s * dy, c * dy - s * dx, q1[2] - q0[2]
        a, b = _sinc(w), _versine(w)
        d = 1.0 / (a * a + b * b)
        return [w, (a * step_x + b * step_y) * d, (a * step_y - b * step_x) * d]

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the plane's normal."""
        return across_axis((0.0, 0.0, 1.0), inertia)


def _size(w: Scalar) -> Scalar:
    """Return |w|, or something tiny where that is zero."""
    return sqrt(w * w + 1e-300)


def _sinc(w: Scalar) -> Scalar:
    """Return sin w / w."""
    return sin(_size(w)) / _size(w)


def _versine(w: Scalar) -> Scalar:
    """Return (1 − cos w) / w, from the half angle, which loses no digits."""
    half = sin(_size(w) * 0.5) / _size(w)
    return 2.0 * half * half * w
