"""Vectors of three scalars, symmetric matrices of six; motion and force vectors, angular part first (RBDA ch. 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from kinetree.scalars.functions import Scalar


class Composite:
    """A value made of named parts, its slots: equal where all parts are, and hashed by them."""

    __slots__ = ()
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of the parts, sorted."""

    def __init_subclass__(cls) -> None:
        cls.parts = tuple(sorted({*cls.parts, *cls.__dict__.get("__slots__", ())}))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.parts)

    def __eq__(self, b: object) -> bool:
        return type(b) is type(self) and self._values() == b._values()

    def __hash__(self) -> int:
        return hash(self._values())


class Vec3(Composite):
    """Three coordinates, over any scalar.

    Examples
    --------
    >>> Vec3(1, 0, 0).cross(Vec3(0, 1, 0))
    Vec3(0, 0, 1)
    """

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.x, self.y, self.z = x, y, z

    @classmethod
    def of(cls, xyz: Iterable[Scalar]) -> Vec3:
        """Return the vector with these three coordinates."""
        x, y, z = xyz
        return cls(x, y, z)

    def __iter__(self) -> Iterator[Scalar]:
        yield self.x
        yield self.y
        yield self.z

    def __add__(self, b: Vec3) -> Vec3:
        return Vec3(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Vec3) -> Vec3:
        return Vec3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vec3:
        return Vec3(self.x * s, self.y * s, self.z * s)

    __rmul__ = __mul__

    def dot(self, b: Vec3) -> Scalar:
        """Return a · b."""
        return self.x * b.x + self.y * b.y + self.z * b.z

    def cross(self, b: Vec3) -> Vec3:
        """Return a × b."""
        return Vec3(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x)

    def __repr__(self) -> str:
        return f"Vec3({self.x}, {self.y}, {self.z})"


ZERO = Vec3(0.0, 0.0, 0.0)
AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


class Sym3(Composite):
    """A symmetric 3×3 matrix: six numbers."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(self, xx: Scalar, xy: Scalar, yy: Scalar, xz: Scalar, yz: Scalar, zz: Scalar) -> None:
        self.xx, self.xy, self.yy, self.xz, self.yz, self.zz = xx, xy, yy, xz, yz, zz

    @classmethod
    def zero(cls) -> Sym3:
        """Return the zero matrix."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __iter__(self) -> Iterator[Scalar]:
        yield from (self.xx, self.xy, self.yy, self.xz, self.yz, self.zz)

    def __add__(self, b: Sym3) -> Sym3:
        return Sym3(*(p + q for p, q in zip(self, b, strict=True)))

    def __sub__(self, b: Sym3) -> Sym3:
        return Sym3(*(p - q for p, q in zip(self, b, strict=True)))

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    @property
    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three rows."""
        return Vec3(self.xx, self.xy, self.xz), Vec3(self.xy, self.yy, self.yz), Vec3(self.xz, self.yz, self.zz)

    def with_row(self, k: int, v: Vec3) -> Sym3:
        """Return the matrix with v as its row and column k."""
        rows = [[*row[:k], x, *row[k + 1 :]] for row, x in zip(map(tuple, self.rows), v, strict=True)]
        rows[k] = list(v)
        (xx, _, _), (xy, yy, _), (xz, yz, zz) = rows
        return Sym3(xx, xy, yy, xz, yz, zz)

    def __repr__(self) -> str:
        return f"Sym3(xx={self.xx}, xy={self.xy}, yy={self.yy}, xz={self.xz}, yz={self.yz}, zz={self.zz})"


class Mat3(Composite):
    """A general 3×3 matrix, as three rows."""

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Vec3]) -> None:
        a, b, c = rows
        self.rows: tuple[Vec3, Vec3, Vec3] = (a, b, c)

    @classmethod
    def of(cls, rows: Iterable[Iterable[Scalar]]) -> Mat3:
        """Return the matrix with these rows of three."""
        return cls(Vec3.of(row) for row in rows)

    @classmethod
    def skew(cls, r: Vec3) -> Mat3:
        """Return r×, the matrix of the cross product with r."""
        return cls((Vec3(0.0, -r.z, r.y), Vec3(r.z, 0.0, -r.x), Vec3(-r.y, r.x, 0.0)))

    @property
    def T(self) -> Mat3:
        """The transpose."""
        return Mat3.of(zip(*self.rows, strict=True))

    def with_row(self, k: int, v: Vec3) -> Mat3:
        """Return the matrix with v as its row k."""
        return Mat3(v if i == k else row for i, row in enumerate(self.rows))

    def __add__(self, b: Mat3) -> Mat3:
        return Mat3(p + q for p, q in zip(self.rows, b.rows, strict=True))

    def __sub__(self, b: Mat3) -> Mat3:
        return Mat3(p - q for p, q in zip(self.rows, b.rows, strict=True))

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(*(row.dot(v) for row in self.rows))

    def transposed_times(self, v: Vec3) -> Vec3:
        """Return Aᵀ v."""
        a, b, c = self.rows
        total: Vec3 = a * v.x + b * v.y + c * v.z
        return total

    def times(self, b: Mat3) -> Mat3:
        """Return the matrix product A B."""
        columns = b.T.rows
        return Mat3(Vec3(*(row.dot(column) for column in columns)) for row in self.rows)

    def __repr__(self) -> str:
        return f"Mat3({self.rows[0]}, {self.rows[1]}, {self.rows[2]})"


V = TypeVar("V", bound="_Spatial")


class _Spatial(Composite):
    """What the two kinds of spatial vector share; they are never added to each other."""

    __slots__ = ("ang", "lin")

    def __init__(self, ang: Vec3, lin: Vec3) -> None:
        self.ang, self.lin = ang, lin

    @classmethod
    def of(cls: type[V], six: Iterable[Scalar]) -> V:
        """Return the vector with these six coordinates, angular first."""
        a, b, c, d, e, f = six
        return cls(Vec3(a, b, c), Vec3(d, e, f))

    @classmethod
    def zero(cls: type[V]) -> V:
        """Return the zero vector."""
        return cls(ZERO, ZERO)

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.ang
        yield from self.lin

    def __add__(self: V, b: V) -> V:
        if type(b) is not type(self):
            return NotImplemented
        return type(self)(self.ang + b.ang, self.lin + b.lin)

    def __sub__(self: V, b: V) -> V:
        if type(b) is not type(self):
            return NotImplemented
        return type(self)(self.ang - b.ang, self.lin - b.lin)

    def __mul__(self: V, s: Scalar) -> V:
        return type(self)(self.ang * s, self.lin * s)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self))})"


class Force(_Spatial):
    """A spatial force (n, f): moment about the origin, and force."""

    __slots__ = ()


class Motion(_Spatial):
    """A spatial velocity or acceleration (ω, v), v that of the point at the origin.

    Examples
    --------
    >>> Motion.of([0, 0, 1, 0, 0, 0]).dot(Force.of([1, 2, 3, 4, 5, 6]))
    3
    """

    __slots__ = ()

    def dot(self, f: Force) -> Scalar:
        """Return the power of a force along this motion."""
        return self.ang.dot(f.ang) + self.lin.dot(f.lin)

    def cross(self, m: Motion) -> Motion:
        """Return v × m, the rate of a motion vector that moves with v (RBDA eq. 2.31)."""
        return Motion(self.ang.cross(m.ang), self.ang.cross(m.lin) + self.lin.cross(m.ang))

    def cross_force(self, f: Force) -> Force:
        """Return v ×* f, the rate of a force vector that moves with v (RBDA eq. 2.32)."""
        return Force(self.ang.cross(f.ang) + self.lin.cross(f.lin), self.ang.cross(f.lin))


def at_rest(v: Motion, a: Motion) -> tuple[Motion, Motion]:
    """Return v and a as seen from the inertial frame in which the origin is momentarily at rest.

    Mechanics is the same in every inertial frame. In this one the linear velocity is zero and the linear part
    of the spatial acceleration is the ordinary acceleration of the origin, ``a.lin + ω × v.lin``.
    """
    return Motion(v.ang, ZERO), Motion(a.ang, a.lin + v.ang.cross(v.lin))


def centripetal(w: Vec3, r: Vec3) -> Vec3:
    """Return ω × (ω × r), from products of ω that other terms share."""
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    return Vec3(
        xy * r.y + xz * r.z - (yy + zz) * r.x,
        xy * r.x + yz * r.z - (xx + zz) * r.y,
        xz * r.x + yz * r.y - (xx + yy) * r.z,
    )
