"""Rotation vectors of at most half a turn: of a rotation matrix, and from one direction to another."""

from __future__ import annotations

import math

from kinetree.scalars.functions import Scalar, atan2, larger, or_one, select, select_less, sqrt
from kinetree.spatial.vector import Mat3, Vec3


def rotation_vector(R: Mat3) -> tuple[Vec3, Scalar]:
    """Return the rotation vector, of at most half a turn, of a rotation matrix, and ``θ/2 cot(θ/2)``.

    Computed from a row of ``4 q qᵀ``, whose ten entries are sums of entries of R: the one with the largest entry on the
    diagonal (Shepperd 1978). So it is accurate both at small angles and near half a turn.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R.rows
    x, y, z = zy - yz, xz - zx, yx - xy
    best, largest = (x, y, z, 1.0 + xx + yy + zz), xx + yy + zz
    for diagonal, row in (
        (xx - yy - zz, (1.0 + xx - yy - zz, xy + yx, xz + zx, x)),
        (yy - xx - zz, (xy + yx, 1.0 - xx + yy - zz, yz + zy, y)),
        (zz - xx - yy, (xz + zx, yz + zy, 1.0 - xx - yy + zz, z)),
    ):
        best = tuple(select_less(largest, diagonal, b, a) for a, b in zip(best, row, strict=True))
        largest = larger(largest, diagonal)
    axis, w = Vec3(*best[:3]), best[3]
    size = select_less(w, 0.0, -w, w)
    square = axis.dot(axis)
    length = sqrt(or_one(square))
    factor = 2.0 * select_less(0.0, square, atan2(length, size), 1.0) / select_less(0.0, square, length, size)
    return axis * select_less(w, 0.0, -factor, factor), 0.5 * factor * size


def turn_between(a: Vec3, b: Vec3) -> Vec3:
    """Return the rotation vector that leads one unit vector the short way to another.

    Of those that lead to the opposite direction it is one, across a.
    """
    normal = a.cross(b)
    sine, cosine = sqrt(normal.dot(normal)), a.dot(b)
    beside = a.cross(Vec3(select_less(a.x * a.x, 0.5, 1.0, 0.0), select_less(a.x * a.x, 0.5, 0.0, 1.0), 0.0))
    opposite = (sine < 1e-7) & (cosine < 0.0)
    unit = or_one(sine)
    factor = select(opposite, math.pi / sqrt(beside.dot(beside)), atan2(sine, cosine) / unit)
    turn: Vec3 = Vec3(*(select(opposite, b, n) for b, n in zip(beside, normal, strict=True))) * factor
    return turn
