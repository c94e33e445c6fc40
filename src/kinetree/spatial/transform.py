"""Plücker transforms as a rotation and a translation (RBDA sections 2.8 and A.4): never a 6×6 matrix.

``X = Transform(E, r)`` takes coordinates in frame A to coordinates in frame B, where B's origin is at r in A and E
is the rotation from A's axes to B's. As in the book, ``X @ v`` carries a motion from A to B, and ``X.T @ f`` a
force or an inertia from B back to A (``Xᵀ f``, ``Xᵀ I X``). A mobility, the inverse of an inertia, goes as a motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from kinetree.scalars.functions import Scalar
from kinetree.spatial.inertia import ArticulatedInertia, Inertia
from kinetree.spatial.rotation import IDENTITY, GeneralRotation, Rotation
from kinetree.spatial.vector import ZERO, Composite, Force, Mat3, Motion, Sym3, Vec3, centripetal


class Transform(Composite):
    """The change of coordinates from frame A to frame B.

    Examples
    --------
    >>> X = Transform.translation([1.0, 0.0, 0.0])
    >>> X @ Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    Motion(0.0, 0.0, 1.0, 0.0, 1.0, 0.0)
    """

    __slots__ = ("E", "r")

    def __init__(self, E: Rotation, r: Vec3) -> None:
        self.E, self.r = E, r

    @classmethod
    def identity(cls) -> Transform:
        """Return the transform from a frame to itself."""
        return cls(IDENTITY, ZERO)

    @classmethod
    def translation(cls, r: Iterable[Scalar]) -> Transform:
        """Return the transform to a frame with parallel axes at r."""
        return cls(IDENTITY, Vec3.of(r))

    @classmethod
    def placed(cls, rotation: Iterable[Iterable[Scalar]], translation: Iterable[Scalar]) -> Transform:
        """Return the transform to the frame that stands so in A: the columns of the rotation are B's axes."""
        return cls(GeneralRotation(Mat3.of(rotation).T), Vec3.of(translation))

    @property
    def placement(self) -> tuple[tuple[Scalar, ...], ...]:
        """The pose of B in A as the rows of a 4×4 matrix."""
        x, y, z = self.E.matrix.T.rows
        return ((*x, self.r.x), (*y, self.r.y), (*z, self.r.z), (0.0, 0.0, 0.0, 1.0))

    @property
    def T(self) -> Backward:
        """The transpose, which takes forces and inertias from B back to A."""
        return Backward(self)

    def inverse(self) -> Transform:
        """Return the transform from B to A."""
        return Transform(self.E.inverse, -self.E.to_b(self.r))

    @overload
    def __matmul__(self, b: Motion) -> Motion: ...
    @overload
    def __matmul__(self, b: Force) -> Force: ...
    @overload
    def __matmul__(self, b: Transform) -> Transform: ...
    def __matmul__(self, b: Motion | Force | Transform) -> Motion | Force | Transform:
        if isinstance(b, Motion):
            return Motion(self.E.to_b(b.ang), self.E.to_b(b.lin + b.ang.cross(self.r)))
        if isinstance(b, Force):
            return Force(self.E.to_b(b.ang + b.lin.cross(self.r)), self.E.to_b(b.lin))
        return Transform(GeneralRotation(self.E.matrix.times(b.E.matrix)), b.r + b.E.to_a(self.r))

    def inv_apply(self, m: Motion) -> Motion:
        """Return ``X⁻¹ m``: a motion from B back to A."""
        w = self.E.to_a(m.ang)
        return Motion(w, self.E.to_a(m.lin) + self.r.cross(w))

    def carry(self, v: Motion, a: Motion) -> tuple[Motion, Motion]:
        """Return X v and X a seen from the inertial frame in which B's origin is at rest, as A's was: `at_rest`."""
        acc = a.lin + a.ang.cross(self.r) + centripetal(v.ang, self.r)
        return Motion(self.E.to_b(v.ang), ZERO), Motion(self.E.to_b(a.ang), self.E.to_b(acc))

    def __eq__(self, b: object) -> bool:
        return isinstance(b, Transform) and self.E.matrix == b.E.matrix and self.r == b.r

    def __hash__(self) -> int:
        return hash((self.E.matrix, self.r))

    def __repr__(self) -> str:
        return f"Transform({self.E}, {self.r})"


class Chain(Composite):
    """Two transforms, applied in turn: ``Chain(X2, X1) @ v = X2 @ (X1 @ v)``, at less cost than their dense product."""

    __slots__ = ("first", "last")

    def __init__(self, last: Transform, first: Transform) -> None:
        self.last, self.first = last, first

    @property
    def T(self) -> Backward:
        """The transpose, which takes forces and inertias from B back to A."""
        return Backward(self.last, self.first)

    def __matmul__(self, m: Motion) -> Motion:
        return self.last @ (self.first @ m)


class Backward:
    """``X.T``: forces and inertias from frame B back to frame A, through these transforms, the last one first."""

    __slots__ = ("transforms",)

    def __init__(self, *transforms: Transform) -> None:
        self.transforms = transforms

    @overload
    def __matmul__(self, b: Force) -> Force: ...
    @overload
    def __matmul__(self, b: Inertia) -> Inertia: ...
    @overload
    def __matmul__(self, b: ArticulatedInertia) -> ArticulatedInertia: ...
    def __matmul__(self, b: Force | Inertia | ArticulatedInertia) -> Force | Inertia | ArticulatedInertia:
        for X in self.transforms:
            E, r = X.E, X.r
            if isinstance(b, Force):
                f = E.to_a(b.lin)
                b = Force(E.to_a(b.ang) + r.cross(f), f)
            elif isinstance(b, Inertia):
                b = _shifted(b.m, E.to_a(b.h), E.moments_to_a(b.I), r)
            else:
                b = _shifted_articulated(E.sym_to_a(b.M), E.mat_to_a(b.H), E.sym_to_a(b.I), r)
        return b


def _shifted(m: Scalar, h: Vec3, I: Sym3, r: Vec3) -> Inertia:
    """Return the inertia about a point from which the present origin is at r (parallel axes)."""
    moved = h + r * m
    k, half = h + moved, r * 0.5
    x, y, z = k.x * r.x, k.y * r.y, k.z * r.z
    return Inertia.about_origin(
        m,
        moved,
        Sym3(
            I.xx + (y + z),
            I.xy - (k.x * half.y + k.y * half.x),
            I.yy + (x + z),
            I.xz - (k.x * half.z + k.z * half.x),
            I.yz - (k.y * half.z + k.z * half.y),
            I.zz + (x + y),
        ),
    )


def _shifted_articulated(M: Sym3, H: Mat3, I: Sym3, r: Vec3) -> ArticulatedInertia:
    """Return the same for an articulated inertia: ``H' = H + r×M``, ``I' = I − (H r×)ᵀ − H' r×``."""
    moved = H + Mat3(r.cross(column) for column in M.rows).T
    (ax, ay, az), (bx, by, bz) = (row.cross(r) for row in H.rows), (row.cross(r) for row in moved.rows)
    return ArticulatedInertia(
        M,
        moved,
        Sym3(
            I.xx - (ax.x + bx.x),
            I.xy - (ay.x + bx.y),
            I.yy - (ay.y + by.y),
            I.xz - (az.x + bx.z),
            I.yz - (az.y + by.z),
            I.zz - (az.z + bz.z),
        ),
    )


class Mobility(Composite):
    """The symmetric matrix Ω of ``a = Ω f`` for a body on joints that move freely: 21 numbers.

    With moments and forces exchanged it is to changes of coordinates what an inertia is, and kept as one.
    """

    __slots__ = ("exchanged",)

    def __init__(self, exchanged: ArticulatedInertia) -> None:
        self.exchanged = exchanged

    @classmethod
    def zero(cls) -> Mobility:
        """Return that of the ground."""
        return cls(ArticulatedInertia(Sym3.zero(), Mat3.of([[0.0] * 3] * 3), Sym3.zero()))

    def __matmul__(self, f: Force) -> Motion:
        a = self.exchanged @ Motion(f.lin, f.ang)
        return Motion(a.lin, a.ang)

    def at(self, X: Transform | Chain) -> Mobility:
        """Return ``X Ω Xᵀ``, the same in the coordinates that X changes to."""
        return Mobility(Backward(*(Y.inverse() for Y in reversed(X.T.transforms))) @ self.exchanged)

    def freed(self, S: Motion, UD: Force, D_inverse: Scalar, rotor: Scalar) -> Mobility:
        """Return ``E Ω Eᵀ + S D⁻¹ Sᵀ`` with ``E = 1 − S UDᵀ``: the mobility beyond a joint of this pivot.

        E takes out what S and UD have in common. Along a coordinate axis that is a component, which is left out of
        the sums: of a light body that carries a heavy one, it is large against all that remains.
        """
        along = Force(S.ang, S.lin)
        g = self @ UD
        h = g - S * ((g.dot(UD) + D_inverse) * 0.5)
        v = along * (rotor * D_inverse) - (UD - along * S.dot(UD))
        y = self @ v
        row = (y - S * y.dot(along)) + S * (y.dot(v) + D_inverse)
        (S_, h_, row_) = (Force(m.lin, m.ang) for m in (S, h, row))
        loose = self.exchanged.minus_outer(S_, h_).minus_outer(h_, S_)
        return Mobility(loose.with_product(Motion(S.lin, S.ang), row_))
