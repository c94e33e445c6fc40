"""The free-flyer: six degrees of freedom, the joint of a floating base."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.joints._parts import half_angle, quaternion_difference, quaternion_integrate, random_quaternion, series
from kinetree.joints.base import Joint, JointState, Limit
from kinetree.scalars.functions import larger, select_less
from kinetree.spatial import Force, Motion, Quaternion, Scalar, Transform, Vec3, cos, sin, sqrt

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FreeFlyer(Joint):
    """No constraint: q = (x, y, z, qx, qy, qz, qw), position and orientation of the body in the joint's frame.

    ν = (ω, v): angular velocity and the velocity of the body's origin, both in the body's axes.
    """

    nq, nv = 7, 6
    q_names = ("x", "y", "z", "qx", "qy", "qz", "qw")
    v_names = ("wx", "wy", "wz", "vx", "vy", "vz")
    actuated = False

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        S = tuple(Motion.of(float(j == k) for j in range(6)) for k in range(6))
        X = Transform(Quaternion(*q[3:]).rotation(), Vec3(*q[:3]))
        return JointState(X, S, Motion.of(v), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """See `Joint.constraint_subspace`: nothing is constrained."""
        return ()

    def turned_around(self) -> FreeFlyer:
        """See `Joint.turned_around`: itself, with the inverse pose."""
        return self

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.integrate`: q times the exponential of the twist dv on SE(3)."""
        w, v = Vec3(*dv[:3]), Vec3(*dv[3:])
        b, c = exponential_coefficients(w)
        wv = w.cross(v)
        step = v + wv * b + w.cross(wv) * c
        turned = Quaternion(*q[3:])
        position = Vec3(*q[:3]) + turned.rotation().to_a(step)
        return [*position, *quaternion_integrate(turned, w)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.difference`: the logarithm on SE(3) of q1 seen from q0."""
        a, b = Quaternion(*q0[3:]), Quaternion(*q1[3:])
        w = quaternion_difference(a, b)
        step = a.rotation().to_b(Vec3(*q1[:3]) - Vec3(*q0[:3]))
        ws = w.cross(step)
        return [*w, *(step - ws * 0.5 + w.cross(ws) * logarithm_coefficient(w))]

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """See `Joint.bracket`: the cross product of twists (RBDA eq. 2.31)."""
        return list(Motion.of(a).cross(Motion.of(b)))

    def random(
        self, rng: Generator, lower: Limit = None, upper: Limit = None, size: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """See `Joint.random`: a position within a metre, uniform over all rotations."""
        return np.concatenate([rng.uniform(-1.0, 1.0, (*size, 3)), random_quaternion(rng, size)], axis=-1)


# Even functions of θ = |w| whose closed forms lose their digits near zero: below θ = 1 their power series in θ².
_SINE_DEFICIT = [(-1) ** k / math.factorial(2 * k + 3) for k in range(10)]
_BERNOULLI = [1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330]
_COTANGENT = [b / math.factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI)]


def exponential_coefficients(w: Vec3) -> tuple[Scalar, Scalar]:
    """Return (1 − cos θ)/θ² and (θ − sin θ)/θ³."""
    square = w.dot(w)
    s, c = half_angle(square)
    far = (1.0 - 2.0 * s * c) / larger(square, 1.0)
    return 2.0 * s * s, select_less(square, 1.0, series(_SINE_DEFICIT, square), far)


def logarithm_coefficient(w: Vec3) -> Scalar:
    """Return (1 − (θ/2) cot(θ/2)) / θ²."""
    square = w.dot(w)
    beyond = larger(square, 1.0)
    half = sqrt(beyond) * 0.5
    far = (1.0 - half * cos(half) / sin(half)) / beyond
    return select_less(square, 1.0, series(_COTANGENT, square), far)
