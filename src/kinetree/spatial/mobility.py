"""The mobility of an articulated body: the accelerations that forces on it cause."""

from __future__ import annotations

from kinetree.scalars.functions import Scalar
from kinetree.spatial.inertia import ArticulatedInertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.transform import Backward, Chain, Transform
from kinetree.spatial.vector import Composite, Mat3, Sym3


class Mobility(Composite):
    """The symmetric matrix Ω of ``a = Ω f`` for a body on joints that move freely: 21 numbers.

    With moments and forces exchanged it is to changes of coordinates what an inertia is, and kept as one.

    Examples
    --------
    >>> hinge = Mobility.zero().freed(Motion.of([0, 0, 1, 0, 0, 0]), Force.of([0, 0, 1, 0, 0, 0]), 0.5, 0.0)
    >>> hinge @ Force.of([0, 0, 3, 0, 0, 0])
    Motion(0.0, 0.0, 1.5, 0.0, 0.0, 0.0)
    >>> hinge.at(Transform.translation([2.0, 0.0, 0.0])) @ Force.of([0, 0, 0, 0, 3, 0])
    Motion(0.0, 0.0, 3.0, 0.0, 6.0, 0.0)
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
