"""Validation of the builder's numbers; which inertias no body can have, and the warning about them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelError, NonPhysicalInertiaWarning, listed, shortened, warn_user
from kinetree.spatial import GeneralRotation, Inertia, Mat3, Scalar, Transform, Vec3
from kinetree.validation import ROTATION_HINT, Array, as_poses, check_poses

V = TypeVar("V", Vec3, Mat3, Inertia)
Pose: TypeAlias = Any
"""A `Transform`, a 4×4 matrix of any scalars, or what has ``as_matrix()``: SciPy's `RigidTransform` and `Rotation`."""


class TooLargeError(ModelError):
    """Numbers that are finite by themselves, and not when they are put together."""


def as_transform(placement: Pose | None, what: str) -> Transform:
    """Return the transform for a placement given as one, a 4×4 matrix or nothing; `ModelError` if it is not a pose."""
    if placement is None:
        return Transform.identity()
    if isinstance(placement, Transform):
        x, y, z = placement.E.matrix.rows
        numbers = (*placement.r, *x, *y, *z)
        if type(placement.E) is GeneralRotation and {*map(type, numbers)} == {float} and math.isfinite(sum(numbers)):
            return placement
        check_finite(what, numbers)
        return Transform(GeneralRotation(as_floats(placement.E.matrix)), as_floats(placement.r))
    if hasattr(placement, "as_matrix"):
        placement = as_poses(what, placement, batch=False, error=ModelError)
    try:
        rows = [list(row) for row in placement]
    except TypeError:
        raise ModelError(f"{what} must be a 4×4 matrix; {placement!r} was given") from None
    if [len(row) for row in rows] != [4, 4, 4, 4]:
        lengths = [len(row) for row in rows]
        hint = ROTATION_HINT if lengths == [3, 3, 3] else ""
        raise ModelError(f"{what} must be a 4×4 matrix; its rows have the lengths {lengths}{hint}")
    check_finite(what, [x for row in rows for x in row])
    if all(isinstance(x, Real) for row in rows for x in row):
        check_poses(what, np.array(rows, dtype=np.float64), ModelError)
    return as_transform(Transform.placed([row[:3] for row in rows[:3]], [row[3] for row in rows[:3]]), what)


def as_vector(values: Iterable[Scalar], what: str) -> Vec3:
    """Return the vector of these three numbers; `ModelError` if they are not three, or not finite."""
    try:
        vector = as_floats(Vec3.of(values))
    except (TypeError, ValueError):
        raise ModelError(f"{what} takes three numbers; {values!r} was given") from None
    check_finite(what, vector)
    return vector


def check_not_negative(name: str, **resistances: Scalar) -> None:
    """Raise a `ModelError` where something that resists a joint's motion is negative."""
    for what, value in resistances.items():
        if isinstance(value, Real) and value < 0:
            raise ModelError(f"joint {name!r}: {what} is {value}, and cannot be negative")


def check_size(what: str, numbers: Iterable[Scalar]) -> None:
    """Raise a `TooLargeError` where finite numbers, put together, have overflowed."""
    if not all(math.isfinite(x) for x in numbers if isinstance(x, Real)):
        raise TooLargeError(f"{what} overflows; the numbers are too large: kilograms and metres are meant")


def check_finite(what: str, numbers: Iterable[Scalar]) -> None:
    """Raise a `ModelError` that names what holds a number that is not finite."""
    for x in numbers:
        if type(x) is float and math.isfinite(x):  # of thousands in a large robot
            continue
        if isinstance(x, str):
            raise ModelError(f"{what} holds the text {x!r}: it takes numbers")
        if isinstance(x, Real) and not math.isfinite(x):
            raise ModelError(f"{what} holds the number {x}: all numbers must be finite")


def as_floats(value: V) -> V:
    """Return the value with its real numbers as floats (an integer would be taken for structure)."""
    if isinstance(value, Vec3):
        return Vec3(*map(_number, value))
    if isinstance(value, Mat3):
        return Mat3(as_floats(row) for row in value.rows)
    return Inertia.from_parameters(map(_number, value))


def _number(x: Scalar) -> Scalar:
    return x if type(x) is float or not isinstance(x, Real) else float(x)


TOLERANCE = 1e-6
"""Tolerance of the triangle inequality, relative to the largest moment: published figures are rounded."""

FLAT = 1e-12
"""A principal moment below this, relative to the largest, counts as zero or negative: the rest is rounding."""

ROUNDING = 64 * 2.0**-52
"""Error of an inertia about the centre of mass that is computed from one about another point, relative to that."""


def inertia_defect(mass: float, moments: ArrayLike, *, ideal: bool = False, error: float = 0.0) -> str | None:
    """Return the fault of a mass and moments (3, 3) about the centre of mass; None where they are physical.

    A body with extent has positive principal moments, and ``J1 + J2 ≥ J3`` for the largest, J3, because each is a
    sum of two second moments. A link without mass and inertia is only a frame: that is not a defect. With `ideal`,
    point masses and thin rods, whose moments are zero, are bodies too; `error` is that of the moments (kg·m²).

    Examples
    --------
    >>> inertia_defect(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 3]])
    'triangle inequality violated'
    >>> inertia_defect(1.0, np.diag([1, 1, 0])), inertia_defect(1.0, np.diag([1, 1, 0]), ideal=True)
    ('not positive definite', None)
    """
    if mass < 0.0:
        return "negative mass"
    J = np.asarray(moments, dtype=np.float64)
    largest = np.abs(J).max()
    if largest <= error:
        return "mass without inertia" if mass > 0.0 and not ideal else None
    if mass == 0.0:
        return "inertia without mass"
    principal, slack = np.linalg.eigvalsh(J / largest), error / largest
    if principal[0] < (-FLAT if ideal else FLAT) - slack:
        return "not positive definite"
    if principal[0] + principal[1] < principal[2] * (1.0 - TOLERANCE) - slack:
        return "triangle inequality violated"
    return None


def check_inertias(source: str, inertias: Iterable[tuple[str, float, ArrayLike]]) -> None:
    """Warn about links, given as (name, mass, moments about the centre of mass), whose inertia no body can have."""
    _warn(source, ((name, inertia_defect(mass, moments)) for name, mass, moments in inertias))


def check_bodies(source: str, inertias: Iterable[tuple[str, Inertia]]) -> None:
    """Warn about links of these inertias, given in a program as numbers, that no body can have, be it an ideal one."""
    _warn(source, ((name, _defect(I)) for name, I in inertias if all(isinstance(x, Real) for x in I)))


def is_body(inertia: Inertia) -> bool:
    """Return whether a body with extent can have this inertia."""
    with np.errstate(over="ignore", invalid="ignore"):
        J = about_com(inertia)
    return bool(np.isfinite(J).all()) and inertia_defect(float(inertia.m), J) is None


def about_com(inertia: Inertia) -> Array:
    """Return the rotational inertia about the centre of mass, (3, 3), in the same axes."""
    I = np.array([list(row) for row in inertia.I.rows], dtype=np.float64)
    if inertia.m == 0.0:
        return I
    h = np.array(list(inertia.h), dtype=np.float64)
    com_I: Array = I - (h @ h * np.eye(3) - np.outer(h, h)) / inertia.m
    return com_I


def _defect(inertia: Inertia) -> str | None:
    if inertia.m == 0.0 and any(inertia.h):
        return "inertia without mass"
    error = ROUNDING * max(map(abs, inertia.I))
    return inertia_defect(inertia.m, about_com(inertia), ideal=True, error=error)


def _warn(source: str, found: Iterable[tuple[str, str | None]]) -> None:
    defects: dict[str, list[str]] = {}
    for name, defect in found:
        if defect:
            defects.setdefault(defect, []).append(shortened(name))
    if defects:
        text = "; ".join(f"{defect}: {listed(names)}" for defect, names in defects.items())
        warn_user(f"{source}: no body has these inertias; they are used as given. {text}", NonPhysicalInertiaWarning)
