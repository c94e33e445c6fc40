"""What joint types are made of: axes, the quaternion manifold over any scalar without a branch, and compositions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kinetree.errors import ModelError
from kinetree.joints.base import JointState
from kinetree.scalars.functions import atan2, larger, select_less
from kinetree.spatial import Inertia, Motion, Quaternion, Scalar, Sym3, Vec3, cos, sin, sqrt
from kinetree.spatial.vector import AXES, ZERO
from kinetree.validation import MASKED, has_masked_entries

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


def unit_axis(axis: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Return the axis with length one. Numbers are checked; other scalars are taken as they are."""
    if has_masked_entries(axis):
        raise ModelError(MASKED.format("a joint axis"))
    try:
        x, y, z = axis
    except (TypeError, ValueError):
        raise ModelError(f"an axis has three coordinates, such as (0, 0, 1); {axis!r:.80} was given") from None
    if not all(isinstance(a, Real) for a in (x, y, z)):
        return x, y, z
    norm = math.hypot(x, y, z)
    if not (math.isfinite(norm) and norm > 0.0):
        raise ModelError(f"the joint axis {(x, y, z)} has no direction: give a finite, non-zero vector")
    if abs(norm - 1.0) < 4e-16:  # normalised already: dividing again would only move the last bit
        return float(x), float(y), float(z)
    return float(x / norm), float(y / norm), float(z / norm)


def coordinate_axis(axis: tuple[Any, Any, Any]) -> tuple[int, float] | None:
    """Return (k, ±1) for an axis that is plus or minus the coordinate axis k, None for any other."""
    for k in range(3):
        if all(isinstance(axis[j], Real) and axis[j] == 0 for j in range(3) if j != k) and isinstance(axis[k], Real):
            return k, math.copysign(1.0, axis[k])
    return None


def perpendicular(axis: tuple[Any, Any, Any]) -> tuple[Vec3, Vec3]:
    """Return two directions that are perpendicular to a numeric axis and to each other."""
    x, y, z = (abs(a) for a in axis)
    seed = AXES[0] if x <= y and x <= z else AXES[1] if y <= z else AXES[2]
    a = Vec3(*axis)
    b = a.cross(seed)
    b = b * (1.0 / math.sqrt(b.dot(b)))
    return b, a.cross(b)


def across_axis(axis: tuple[Scalar, Scalar, Scalar], inertia: Inertia) -> Inertia:
    """Return one transverse moment of the inertia, as a massless rod across a coordinate axis; else nothing."""
    along = coordinate_axis(axis)
    if along is None:
        return Inertia.zero()
    k, _ = along
    moment = (inertia.I.zz, inertia.I.xx, inertia.I.yy)[k]
    x, y, z = (0.0 if j == k else moment for j in range(3))
    return Inertia.about_origin(0.0, ZERO, Sym3(x, 0.0, y, 0.0, 0.0, z))


@dataclass(frozen=True)
class AlongAxis:
    """The parameter of joints with one axis, and the inertia that no motion about or along it changes."""

    axis: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the axis."""
        return across_axis(self.axis, inertia)

    def turned_around(self) -> Self:
        """Return the joint about or along the opposite axis."""
        x, y, z = self.axis
        return replace(self, axis=(-x, -y, -z))


def compose(first: JointState, then: JointState) -> JointState:
    """Return the state of the joint that is `first` followed by `then`; its cJ comes from the transform of `then`."""
    X = then.X
    carried = X @ first.vJ
    S: tuple[Motion, ...] = (*(X @ column for column in first.S), *then.S)
    return JointState(X @ first.X, S, carried + then.vJ, X @ first.cJ + then.cJ + carried.cross(then.vJ))


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the product a b: first the rotation b, then a."""
    return Quaternion(
        a.w * b.x + b.w * a.x + a.y * b.z - a.z * b.y,
        a.w * b.y + b.w * a.y + a.z * b.x - a.x * b.z,
        a.w * b.z + b.w * a.z + a.x * b.y - a.y * b.x,
        a.w * b.w - (a.x * b.x + a.y * b.y + a.z * b.z),
    )


def _squared(q: Quaternion) -> Scalar:
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w


def _one(x: Scalar) -> Scalar:
    """Return 1, and NaN where x is zero or infinite (a traced x / x would be 1 always)."""
    return (x + x) / x - 1.0


NEAR = 0.01
"""The square of a small angle: below it power series keep the digits of all derivatives, which closed forms lose."""

_HALF_SINE = [0.5 * (-0.25) ** k / math.factorial(2 * k + 1) for k in range(6)]
_HALF_COSINE = [(-0.25) ** k / math.factorial(2 * k) for k in range(6)]
_ARCTANGENT = [(-1) ** k / (2 * k + 1) for k in range(9)]


def series(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """Return the polynomial with these coefficients, that of the constant first."""
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def half_angle(square: Scalar) -> tuple[Scalar, Scalar]:
    """Return sin(θ/2)/θ and cos(θ/2) for θ² = square."""
    angle = sqrt(larger(square, NEAR))
    return (
        select_less(square, NEAR, series(_HALF_SINE, square), sin(angle * 0.5) / angle),
        select_less(square, NEAR, series(_HALF_COSINE, square), cos(angle * 0.5)),
    )


def quaternion_integrate(q: Quaternion, w: Vec3) -> Quaternion:
    """Return the unit quaternion reached by turning at the body rate w for a unit of time."""
    s, c = half_angle(w.dot(w))
    turned = multiply(q, Quaternion(w.x * s, w.y * s, w.z * s, c))
    square = _squared(turned)
    scale = _one(square) / sqrt(square)
    return Quaternion(*(x * scale for x in turned))


def quaternion_difference(a: Quaternion, b: Quaternion) -> Vec3:
    """Return the rotation vector, of at most half a turn, that leads from a to b, in a's axes."""
    r = multiply(Quaternion(-a.x, -a.y, -a.z, a.w), b)
    square = r.x * r.x + r.y * r.y + r.z * r.z
    size = select_less(r.w, 0.0, -r.w, r.w)  # q and −q are the same rotation
    near = NEAR * (r.w * r.w)
    length, cosine = sqrt(larger(square, near)), select_less(square, near, size, 1.0)
    tangent_squared = select_less(square, near, square, 0.0) / (cosine * cosine)
    angle = select_less(square, near, series(_ARCTANGENT, tangent_squared) / cosine, atan2(length, size) / length)
    valid = _one(_squared(a)) * _one(_squared(b))  # a zero quaternion would differ from every other by nothing
    factor = 2.0 * select_less(r.w, 0.0, -angle, angle)
    angles: Vec3 = Vec3(r.x, r.y, r.z) * (factor * valid)
    return angles


def random_quaternion(rng: Generator, size: tuple[int, ...]) -> NDArray[np.float64]:
    """Return quaternions (*size, 4) uniform over all rotations."""
    q = rng.normal(size=(*size, 4))
    unit: NDArray[np.float64] = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return unit
