"""Rotations as changes of coordinates: `E` takes the coordinates of a vector in frame A to those in frame B.

Two kinds with one set of operations: nine numbers, and the rotation about a coordinate axis, which needs two and
whose products cost a fraction (RBDA section 2.8 writes them rx, ry, rz). And rotation vectors of at most half a turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from kinetree.scalars.functions import Scalar, atan2, larger, or_one, select, select_less, sqrt
from kinetree.spatial.vector import Composite, Mat3, Sym3, Vec3


class GeneralRotation(Composite):
    """A rotation given by its nine numbers."""

    __slots__ = ("matrix",)

    def __init__(self, matrix: Mat3) -> None:
        self.matrix = matrix

    @property
    def inverse(self) -> GeneralRotation:
        """The rotation of A against B."""
        return GeneralRotation(self.matrix.T)

    def to_b(self, v: Vec3) -> Vec3:
        """Return E v."""
        return self.matrix @ v

    def to_a(self, v: Vec3) -> Vec3:
        """Return Eᵀ v."""
        return self.matrix.transposed_times(v)

    def sym_to_a(self, s: Sym3) -> Sym3:
        """Return Eᵀ S E for a symmetric S."""
        columns = self.matrix.T.rows
        x, y, z = (s @ column for column in columns)
        return Sym3(
            columns[0].dot(x), columns[0].dot(y), columns[1].dot(y), columns[0].dot(z), columns[1].dot(z),
            columns[2].dot(z),
        )  # fmt: skip

    moments_to_a = sym_to_a

    def mat_to_a(self, h: Mat3) -> Mat3:
        """Return Eᵀ H E for any H."""
        return self.matrix.T.times(h.times(self.matrix))

    def __repr__(self) -> str:
        return f"GeneralRotation({self.matrix})"


IDENTITY = GeneralRotation(Mat3.of([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))


class AxisRotation(Composite):
    """The rotation of B against A by an angle θ about the coordinate axis k (0, 1, 2), from cos θ and sin θ.

    With ``(i, j, k)`` cyclic: ``v_i' = c v_i + s v_j``, ``v_j' = c v_j − s v_i``, ``v_k' = v_k``. The products with
    matrices take every entry from what it is made of: that the trace does not change would cost less, but where one
    moment of inertia is small against the other, as past a nearly aligned axis, its digits would be lost.
    """

    __slots__ = ("c", "k", "s")

    def __init__(self, k: int, c: Scalar, s: Scalar) -> None:
        self.k, self.c, self.s = k, c, s

    def _ordered(self, i: Scalar, j: Scalar, k: Scalar) -> Vec3:
        """Return the vector with these coordinates along the axes i, j, k."""
        return Vec3(*((i, j, k), (k, i, j), (j, k, i))[(self.k + 1) % 3])

    def _split(self, v: Vec3) -> tuple[Scalar, Scalar, Scalar]:
        """Return the coordinates along the axes i, j, k."""
        x = tuple(v)
        return x[self.k - 2], x[self.k - 1], x[self.k]

    @property
    def matrix(self) -> Mat3:
        """The nine numbers of E."""
        i = self._ordered(self.c, self.s, 0.0)
        j = self._ordered(-self.s, self.c, 0.0)
        k = self._ordered(0.0, 0.0, 1.0)
        return Mat3(self._ordered(i, j, k))

    @property
    def inverse(self) -> AxisRotation:
        """The rotation of A against B."""
        return AxisRotation(self.k, self.c, -self.s)

    def to_b(self, v: Vec3) -> Vec3:
        """Return E v."""
        i, j, k = self._split(v)
        return self._ordered(self.c * i + self.s * j, self.c * j - self.s * i, k)

    def to_a(self, v: Vec3) -> Vec3:
        """Return Eᵀ v."""
        i, j, k = self._split(v)
        return self._ordered(self.c * i - self.s * j, self.c * j + self.s * i, k)

    def sym_to_a(self, s: Sym3) -> Sym3:
        """Return Eᵀ S E for a symmetric S."""
        (ii, ij, _), (_, jj, _), _ = self._split_rows(s.rows)
        cc, cs, ss = self._squares()
        both = (cs + cs) * ij
        block = cc * ii + ss * jj - both, cs * (ii - jj) + (cc - ss) * ij, ss * ii + cc * jj + both
        return self._with_block(s, block)

    def moments_to_a(self, s: Sym3) -> Sym3:
        """Return Eᵀ S E for the moments of inertia of a rigid body.

        It costs less by ``c² + s² = 1``, and the smaller of ii and jj its digits. But by the triangle inequality
        ``|ii − jj| ≤ kk`` the moment about the axis, which stays as it is, is no smaller than what is lost.
        """
        (ii, ij, _), (_, jj, _), _ = self._split_rows(s.rows)
        u = self.c * (ii - jj) - self.s * (ij + ij)
        return self._with_block(s, (jj + self.c * u, ij + self.s * u, ii - self.c * u))

    def _squares(self) -> tuple[Scalar, Scalar, Scalar]:
        """Return c², c s and s²."""
        return self.c * self.c, self.c * self.s, self.s * self.s

    def _with_block(self, s: Sym3, block: tuple[Scalar, Scalar, Scalar]) -> Sym3:
        """Return Eᵀ S E, of which these are the entries ii, ij, jj."""
        (_, _, ik), (_, _, jk), (_, _, kk) = self._split_rows(s.rows)
        ii, ij, jj = block
        ik, jk = self.c * ik - self.s * jk, self.c * jk + self.s * ik
        rows = self._ordered(ii, ij, ik), self._ordered(ij, jj, jk), self._ordered(ik, jk, kk)
        x, y, z = self._ordered(*rows)
        return Sym3(x.x, x.y, y.y, x.z, y.z, z.z)

    def mat_to_a(self, h: Mat3) -> Mat3:
        """Return Eᵀ H E for any H."""
        (ii, ij, ik), (ji, jj, jk), (ki, kj, kk) = self._split_rows(h.rows)
        c, s = self.c, self.s
        cc, cs, ss = self._squares()
        both, across = cs * (ij + ji), cs * (ii - jj)
        new_i = self._ordered(cc * ii + ss * jj - both, cc * ij - ss * ji + across, c * ik - s * jk)
        new_j = self._ordered(cc * ji - ss * ij + across, ss * ii + cc * jj + both, c * jk + s * ik)
        new_k = self._ordered(c * ki - s * kj, c * kj + s * ki, kk)
        return Mat3(self._ordered(new_i, new_j, new_k))

    def _split_rows(self, rows: tuple[Vec3, Vec3, Vec3]) -> Iterator[tuple[Scalar, Scalar, Scalar]]:
        """Yield the rows i, j, k of a matrix, split."""
        return map(self._split, self._split(Vec3(*rows)))

    def __repr__(self) -> str:
        return f"AxisRotation({'xyz'[self.k]}, c={self.c}, s={self.s})"


Rotation: TypeAlias = GeneralRotation | AxisRotation
"""A change of coordinates from frame A to frame B with the same origin."""


class Quaternion(NamedTuple):
    """An orientation as (x, y, z, w); w last, as in SciPy and ROS.

    It need not be normalised. Where its squared norm is zero or overflows (below 1e-162 or above 1e154 in float64), the
    rotation is NaN.
    """

    x: Scalar
    y: Scalar
    z: Scalar
    w: Scalar

    def rotation(self) -> GeneralRotation:
        """Return E of the frame B that stands so in A, ``Eᵀ = I + (2 / q·q)(w [u]× + [u]×²)``.

        The diagonal is made of the four squares, so that it is NaN where they overflow or are all zero: with
        ``1 − (…)`` an overflow would look like no rotation at all.
        """
        x, y, z, w = self
        xx, yy, zz, ww = x * x, y * y, z * z, w * w
        r = 1.0 / ((xx + yy) + (zz + ww))
        t = r + r
        plus, minus, across, along = ww + xx, ww - xx, yy + zz, yy - zz
        xy, xz, yz = x * y, x * z, y * z
        wx, wy, wz = w * x, w * y, w * z
        return GeneralRotation(
            Mat3.of(
                [
                    [r * (plus - across), t * (xy + wz), t * (xz - wy)],
                    [t * (xy - wz), r * (minus + along), t * (yz + wx)],
                    [t * (xz + wy), t * (yz - wx), r * (minus - along)],
                ]
            )
        )


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
    """Return the rotation vector that leads one unit vector the short way to another; to the opposite, one across a."""
    normal = a.cross(b)
    sine, cosine = sqrt(normal.dot(normal)), a.dot(b)
    beside = a.cross(Vec3(select_less(a.x * a.x, 0.5, 1.0, 0.0), select_less(a.x * a.x, 0.5, 0.0, 1.0), 0.0))
    opposite = (sine < 1e-7) & (cosine < 0.0)
    unit = or_one(sine)
    factor = select(opposite, math.pi / sqrt(beside.dot(beside)), atan2(sine, cosine) / unit)
    turn: Vec3 = Vec3(*(select(opposite, b, n) for b, n in zip(beside, normal, strict=True))) * factor
    return turn
