"""Motion and force vectors, angular part first (RBDA chapter 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from kinetree.scalars.functions import Scalar
from kinetree.spatial.vector import ZERO, Composite, Vec3

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
