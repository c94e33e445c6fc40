"""What a subtree answers to a change of its body's motion: the moments of a cloud of particles, and how they change.

Each body is seen from the inertial frame in which its origin is at rest (`at_rest`), so that its motion is the angular
velocity ω, the angular acceleration ω̇ and the acceleration acc of its origin. The particles of the subtree have the
moments ``m = Σ m``, ``h = Σ m x`` and ``P = Σ m x xᵀ``, whose rates enter doubled: ``h2 = 2 Σ m ẋ`` and
``N = 2 Σ m x ẋᵀ``. A change of the body's motion changes their force f by

    R(δω, δω̇, δacc) = I (δω̇ + ω × δω, δacc) + (tr(N) δω − Nᵀ δω, δω × h2)
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.scalars.functions import is_zero
from kinetree.spatial import Force, Inertia, Mat3, Motion, Scalar, Sym3, Vec3
from kinetree.spatial.rotation import AxisRotation, GeneralRotation


class Change(NamedTuple):
    """A change of a body's motion: of ω, and of (ω̇, acc)."""

    w: Vec3
    a: Motion


class Covector(NamedTuple):
    """A linear function of changes, ``b · δω + F · ((δω̇, δacc) − V × δω)``, with a motion V of the body's choice.

    Of a joint that is carried it is (ω, 0): the velocity of a revolute joint then leaves b alone. Of a joint of several
    freedoms on the ground it is (0, v), and the angular velocity of a floating base leaves b alone.
    """

    b: Vec3
    F: Force

    def of(self, change: Change, V: Motion) -> Scalar:
        """Return its value."""
        w, (ang, lin) = change.w, (change.a.ang, change.a.lin)
        return self.b.dot(w) + Motion(ang - V.ang.cross(w), lin + V.lin.cross(w)).dot(self.F)


class Cloud(NamedTuple):
    """The moments of the particles of a subtree, in its body's axes about its origin, and the force on them."""

    m: Scalar
    h: Vec3
    P: Sym3
    h2: Vec3
    N: Mat3
    f: Force

    @classmethod
    def of(cls, inertia: Inertia, w: Vec3, f: Force) -> Cloud:
        """Return that of a body which turns at ω, on which this force acts."""
        I = inertia.I
        half = (I.xx + I.yy + I.zz) * 0.5
        P = Sym3(half - I.xx, -I.xy, half - I.yy, -I.xz, -I.yz, half - I.zz)
        N = Mat3(w.cross(row * 2.0) for row in P.rows)
        return cls(inertia.m, inertia.h, P, w.cross(inertia.h * 2.0), N, f)

    def with_other(self, b: Cloud) -> Cloud:
        """Return both together."""
        return Cloud(self.m + b.m, self.h + b.h, self.P + b.P, self.h2 + b.h2, self.N + b.N, self.f + b.f)

    def wrench(self, a: Motion) -> Force:
        """Return ``I a``, with I the inertia."""
        P = self.P
        I = Sym3(P.yy + P.zz, -P.xy, P.xx + P.zz, -P.xz, -P.yz, P.xx + P.yy)
        return Force(I @ a.ang + self.h.cross(a.lin), a.lin * self.m - self.h.cross(a.ang))

    def response(self, w: Vec3, change: Change) -> Force:
        """Return the change of the force on a cloud that turns at ω, R(δω, δω̇, δacc)."""
        (a, b, c), d = self.N.rows, change.w
        turned = Vec3(
            (b.y + c.z) * d.x - b.x * d.y - c.x * d.z,
            (a.x + c.z) * d.y - a.y * d.x - c.y * d.z,
            (a.x + b.y) * d.z - a.z * d.x - b.z * d.y,
        )
        return Force(turned, d.cross(self.h2)) + self.wrench(Motion(change.a.ang + w.cross(d), change.a.lin))

    def row(self, w: Vec3, V: Motion, S: Motion) -> Covector:
        """Return ``Rᵀ S``: the change of the joint force of a motion S with a change of the motion of the body."""
        (a, b, c), s, F = self.N.rows, S.ang, self.wrench(S)
        turned = Vec3(
            (b.y + c.z) * s.x - a.y * s.y - a.z * s.z,
            (a.x + c.z) * s.y - b.x * s.x - b.z * s.z,
            (a.x + b.y) * s.z - c.x * s.x - c.y * s.y,
        )
        return Covector(turned + self.h2.cross(S.lin) + F.ang.cross(w + V.ang) + V.lin.cross(F.lin), F)

    def back(self, E: GeneralRotation | AxisRotation) -> Cloud:
        """Return it in the axes from which E leads to the present ones."""
        f = Force(E.to_a(self.f.ang), E.to_a(self.f.lin))
        return Cloud(self.m, E.to_a(self.h), E.sym_to_a(self.P), E.to_a(self.h2), E.mat_to_a(self.N), f)

    def shifted(self, r: Vec3, u2: Vec3) -> Cloud:
        """Return it about a point from which the present one is at r, and moves at ``u2 / 2``."""
        h = self.h + r * self.m
        k = (self.h + h) * 0.5
        x, y, z = k.x * r.x, k.y * r.y, k.z * r.z
        P = self.P + Sym3(
            x + x,
            k.x * r.y + k.y * r.x,
            y + y,
            k.x * r.z + k.z * r.x,
            k.y * r.z + k.z * r.y,
            z + z,
        )
        N = self.N + Mat3(u2 * entry for entry in h) + Mat3(self.h2 * entry for entry in r)
        f = Force(self.f.ang + r.cross(self.f.lin), self.f.lin)
        return Cloud(self.m, h, P, self.h2 + u2 * self.m, N, f)


def centripetal_slope(r: Vec3, w: Vec3, V: Motion) -> Mat3:
    """Return what the f of a covector adds to b where it climbs from r: ``∂(ω × (ω × r))/∂ω``, transposed.

    To this comes what V adds there (`Covector`), ``(r × f) × ρ + v × f``; ρ is ω or zero.
    """
    turning = not all(map(is_zero, V.ang))
    rw, (x, y, z) = [[a * b for b in w] for a in r], V.lin
    across = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]

    def entry(a: int, c: int) -> Scalar:
        if a == c:
            return sum((rw[d][d] for d in range(3) if d != a), 0.0) * (1.0 + turning)
        return (0.0 if turning else rw[a][c]) - rw[c][a] * 2.0 + across[a][c]

    return Mat3(Vec3(*(entry(a, c) for c in range(3))) for a in range(3))
