"""Validation of the builder's numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kinetree.errors import ModelError
from kinetree.spatial import GeneralRotation, Inertia, Mat3, Scalar, Transform, Vec3
from kinetree.validation import ROTATION_HINT, as_poses, check_poses

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
        check_finite(what, (*placement.r, *(x for row in placement.E.matrix.rows for x in row)))
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
    return float(x) if isinstance(x, Real) else x
