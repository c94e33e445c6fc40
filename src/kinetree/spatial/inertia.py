"""Rigid-body inertia (10 numbers) and articulated-body inertia (21 numbers)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from numbers import Complex, Real
from typing import Any

from kinetree.errors import ModelError
from kinetree.scalars.functions import Scalar, is_zero
from kinetree.signatures import friendly_call_errors
from kinetree.spatial.vector import ZERO, Composite, Force, Mat3, Motion, Sym3, Vec3
from kinetree.validation import MASKED, as_number, has_masked_entries


@friendly_call_errors
class Inertia(Composite):
    """The inertia of a rigid body: its mass, its centre of mass, and its inertia about that.

    It is kept about the origin of the body's frame, as ``m``, ``h`` = m c and ``I``, in which inertias of one body add
    up; iterating gives the ten inertial parameters (m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), and so does
    `numpy.array`.

    Parameters
    ----------
    mass : float
        In kg; negative only for what is taken away (`Robot.attach`).
    com : (3,) array-like
        Centre of mass in the body's frame (m).
    inertia : (3, 3) array-like
        About the centre of mass, in the body's axes, symmetric (kg·m²).

    Raises
    ------
    ModelError
        If one of them is something else, or not finite.

    Examples
    --------
    >>> ball = Inertia(2.0, [0, 0, 1], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> ball.I.xx, ball.h.z
    (2.1, 2.0)
    >>> [*ball]
    [2.0, 0.0, 0.0, 2.0, 2.1, 0.0, 2.1, 0.0, 0.0, 0.1]
    """

    __slots__ = ("I", "h", "m")

    def __init__(self, mass: Scalar, com: Iterable[Scalar], inertia: Iterable[Iterable[Scalar]]) -> None:
        m, c, I = _number("a mass", mass), _vector(com), _symmetric(inertia)
        h = c * m
        self.m, self.h, self.I = m, h, I + _steiner(h, c)

    @classmethod
    def about_origin(cls, m: Scalar, h: Vec3, I: Sym3) -> Inertia:
        """Return the inertia from mass, first moments h = m c and the inertia about the frame's origin, unchecked."""
        made = object.__new__(cls)
        made.m, made.h, made.I = m, h, I
        return made

    @classmethod
    def zero(cls) -> Inertia:
        """Return the inertia of nothing."""
        return cls.about_origin(0.0, ZERO, Sym3.zero())

    @classmethod
    def from_com(cls, mass: Scalar, com: Iterable[Scalar], inertia: Iterable[Iterable[Scalar]]) -> Inertia:
        """Return ``Inertia(mass, com, inertia)``, by a name that says about which point the inertia is."""
        return cls(mass, com, inertia)

    @classmethod
    def from_parameters(cls, ten: Iterable[Scalar]) -> Inertia:
        """Return the inertia from (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)."""
        m, hx, hy, hz, *six = ten
        return cls.about_origin(m, Vec3(hx, hy, hz), Sym3(*six))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the ten inertial parameters as an array, so that an `Inertia` can be given where those are meant."""
        import numpy as np

        return np.array(list(self), dtype=dtype)

    def __iter__(self) -> Iterator[Scalar]:
        """Yield the ten inertial parameters, in the order of `from_parameters`."""
        yield self.m
        yield from self.h
        yield from self.I

    def __add__(self, b: Inertia) -> Inertia:
        return Inertia.about_origin(self.m + b.m, self.h + b.h, self.I + b.I)

    def __sub__(self, b: Inertia) -> Inertia:
        return Inertia.about_origin(self.m - b.m, self.h - b.h, self.I - b.I)

    def __matmul__(self, v: Motion) -> Force:
        return Force(self.I @ v.ang + self.h.cross(v.lin), v.lin * self.m - self.h.cross(v.ang))

    def wrench(self, v: Motion, a: Motion) -> Force:
        """Return I a + v ×* I v, the force that moves the body so (Newton and Euler).

        Written with the matrix ``Ψ = [ω̇]× + [ω]×²`` and the acceleration of the origin, ``a.lin + ω × v.lin``:
        the force is ``m acc + Ψ h``, and the moment's gyroscopic terms share Ψ's entries.
        """
        w, dw = v.ang, a.ang
        xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
        xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
        Psi = Mat3(
            (
                Vec3(-(yy + zz), xy - dw.z, xz + dw.y),
                Vec3(xy + dw.z, -(xx + zz), yz - dw.x),
                Vec3(xz - dw.y, yz + dw.x, -(xx + yy)),
            )
        )
        I, (X, Y, Z) = self.I, Psi.rows
        euler = Vec3(
            I.xx * dw.x + (I.zz - I.yy) * yz + I.yz * (yy - zz) + I.xz * Y.x - I.xy * Z.x,
            I.yy * dw.y + (I.xx - I.zz) * xz + I.xz * (zz - xx) + I.xy * Z.y - I.yz * X.y,
            I.zz * dw.z + (I.yy - I.xx) * xy + I.xy * (xx - yy) + I.yz * X.z - I.xz * Y.z,
        )
        acc = a.lin + w.cross(v.lin)
        return Force(euler + self.h.cross(acc), acc * self.m + Psi @ self.h)

    def __repr__(self) -> str:
        return f"<Inertia m={self.m}, h={self.h}, I={self.I}>"


ORDER = "an Inertia takes mass, centre of mass (3) and inertia about it (3×3), such as Inertia(1.0, [0, 0, -0.5], I)"


def _number(what: str, x: Scalar) -> Scalar:
    """Return a real number as a finite float, and a traced or symbolic one as it is."""
    if has_masked_entries(x):
        raise ModelError(MASKED.format(what))
    if isinstance(x, bool | str | bytes | list | tuple | dict) or x is None or getattr(x, "ndim", False):
        raise ModelError(f"{what} is made of numbers; {x!r} was given: {ORDER}")
    x = x.item() if getattr(x, "ndim", None) == 0 else x  # NumPy's scalars
    if isinstance(x, Complex) and not isinstance(x, Real):
        raise ModelError(f"{what} is made of real numbers; {x!r} was given: {ORDER}")
    if not isinstance(x, Real):
        return x
    if not math.isfinite(found := as_number(x)):
        raise ModelError(f"{what} holds the number {x!s:.80}: all numbers must be finite")
    return found


def _vector(com: Iterable[Scalar]) -> Vec3:
    try:
        if isinstance(com, Mapping | Set):  # they have no order
            raise TypeError
        x, y, z = com
    except (TypeError, ValueError):
        raise ModelError(f"a centre of mass has three coordinates; {com!r} was given: {ORDER}") from None
    return Vec3(*(_number("a centre of mass", c) for c in (x, y, z)))


def _symmetric(inertia: Iterable[Iterable[Scalar]]) -> Sym3:
    try:
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = ([_number("an inertia", x) for x in row] for row in inertia)
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"an inertia is a symmetric 3×3 matrix; {inertia!r} was given: {ORDER}") from None
    for a, b in ((xy, yx), (xz, zx), (yz, zy)):
        known = all(isinstance(x, Real) for x in (a, b, xx, yy, zz))
        if known and abs(a - b) > 1e-9 * (abs(xx) + abs(yy) + abs(zz)):
            raise ModelError(f"an inertia is a symmetric matrix; this one has {a} and {b} across its diagonal")
    return Sym3(xx, xy, yy, xz, yz, zz)


def _steiner(h: Vec3, c: Vec3) -> Sym3:
    """Return m (c·c 1 − c cᵀ) for h = m c: the parallel-axis term."""
    x, y, z = h.x * c.x, h.y * c.y, h.z * c.z
    return Sym3(y + z, -(h.x * c.y), x + z, -(h.x * c.z), -(h.y * c.z), x + y)


class ArticulatedInertia(Composite):
    """The inertia that a body seems to have with the bodies it carries: 21 numbers.

    ``n = I α + H a`` and ``f = Hᵀ α + M a`` for an acceleration (α, a); a rigid body has M = m 1 and H = h×.
    """

    __slots__ = ("H", "I", "M")

    def __init__(self, M: Sym3, H: Mat3, I: Sym3) -> None:
        self.M, self.H, self.I = M, H, I

    @classmethod
    def rigid(cls, b: Inertia) -> ArticulatedInertia:
        """Return the same inertia, of a body that carries nothing."""
        return cls(Sym3(b.m, 0.0, b.m, 0.0, 0.0, b.m), Mat3.skew(b.h), b.I)

    def __add__(self, b: ArticulatedInertia | Inertia) -> ArticulatedInertia:
        b = ArticulatedInertia.rigid(b) if isinstance(b, Inertia) else b
        return ArticulatedInertia(self.M + b.M, self.H + b.H, self.I + b.I)

    def __matmul__(self, a: Motion) -> Force:
        return Force(self.I @ a.ang + self.H @ a.lin, self.H.transposed_times(a.ang) + self.M @ a.lin)

    def minus_outer(self, U: Force, UD: Force) -> ArticulatedInertia:
        """Return this − U UDᵀ, where UD is a multiple of U (so that the result stays symmetric)."""
        return ArticulatedInertia(
            self.M - _sym_outer(U.lin, UD.lin),
            self.H - Mat3(UD.lin * n for n in U.ang),
            self.I - _sym_outer(U.ang, UD.ang),
        )

    def with_product(self, S: Motion, F: Force) -> ArticulatedInertia:
        """Return the same inertia where it is known that ``self @ S = F``, which rounding has left it close to.

        Along plus or minus a coordinate axis that is a row and a column. Along any other S nothing is done.
        """
        along = [(k, x) for k, x in enumerate(S) if not is_zero(x)]
        if len(along) != 1 or not isinstance(along[0][1], Real) or abs(along[0][1]) != 1.0:
            return self
        k, sign = along[0]
        F = F * sign
        if k < 3:
            return ArticulatedInertia(self.M, self.H.with_row(k, F.lin), self.I.with_row(k, F.ang))
        return ArticulatedInertia(self.M.with_row(k - 3, F.lin), self.H.T.with_row(k - 3, F.ang).T, self.I)


def _sym_outer(a: Vec3, b: Vec3) -> Sym3:
    return Sym3(a.x * b.x, a.x * b.y, a.y * b.y, a.x * b.z, a.y * b.z, a.z * b.z)
