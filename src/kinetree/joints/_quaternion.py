"""The quaternion manifold, over any scalar and without a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.scalars.functions import atan2, or_one, select_less
from kinetree.spatial import Quaternion, Scalar, Vec3, cos, sin, sqrt

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


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


def _scaled(q: Quaternion, s: Scalar) -> Quaternion:
    return Quaternion(q.x * s, q.y * s, q.z * s, q.w * s)


def half_angle(square: Scalar) -> tuple[Scalar, Scalar]:
    """Return sin(θ/2)/θ and cos(θ/2) for θ² = square.

    Where the square is zero, or has become it, they are what their series begin with: exact there, and the rates are
    right too.
    """
    angle = sqrt(or_one(square))
    return (
        select_less(0.0, square, sin(angle * 0.5) / angle, 0.5 - square * (1 / 48)),
        select_less(0.0, square, cos(angle * 0.5), 1.0 - square * 0.125),
    )


def quaternion_integrate(q: Quaternion, w: Vec3) -> Quaternion:
    """Return the unit quaternion reached by turning at the body rate w for a unit of time."""
    s, c = half_angle(w.dot(w))
    turned = multiply(q, Quaternion(w.x * s, w.y * s, w.z * s, c))
    square = _squared(turned)
    return _scaled(turned, _one(square) / sqrt(square))


def quaternion_difference(a: Quaternion, b: Quaternion) -> Vec3:
    """Return the rotation vector, of at most half a turn, that leads from a to b, in a's axes."""
    r = multiply(Quaternion(-a.x, -a.y, -a.z, a.w), b)
    square = r.x * r.x + r.y * r.y + r.z * r.z
    length = sqrt(or_one(square))
    size = select_less(r.w, 0.0, -r.w, r.w)  # q and −q are the same rotation
    angle = select_less(0.0, square, atan2(length, size), 1.0)
    valid = _one(_squared(a)) * _one(_squared(b))  # a zero quaternion would differ from every other by nothing
    factor = 2.0 * select_less(r.w, 0.0, -angle, angle) / select_less(0.0, square, length, size)
    angles: Vec3 = Vec3(r.x, r.y, r.z) * (factor * valid)
    return angles


def random_quaternion(rng: Generator, size: tuple[int, ...]) -> NDArray[np.float64]:
    """Return quaternions (*size, 4) uniform over all rotations."""
    q = rng.normal(size=(*size, 4))
    unit: NDArray[np.float64] = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return unit
