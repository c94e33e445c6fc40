"""Axes of joints: normalisation, alignment with a coordinate axis, perpendicular directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from kinetree.errors import ModelError
from kinetree.spatial import Scalar, Vec3


def unit_axis(axis: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Return the axis with length one. Numbers are checked; other scalars are taken as they are."""
    if len(tuple(axis)) != 3:
        raise ModelError(f"a joint axis has three coordinates; {tuple(axis)!r} was given")
    x, y, z = axis
    if not all(isinstance(a, Real) for a in (x, y, z)):
        return x, y, z
    norm = math.hypot(x, y, z)
    if not (math.isfinite(norm) and norm > 0.0):
        raise ModelError(f"the joint axis {(x, y, z)} has no direction: give a finite, non-zero vector")
    if abs(norm - 1.0) < 4e-16:  # normalised already: dividing again would only move the last bit
        return float(x), float(y), float(z)
    return float(x / norm), float(y / norm), float(z / norm)


def coordinate_axis(axis: tuple[Any, Any, Any]) -> tuple[int, float] | None:
    """Return (k, ±1) for an axis that is plus or minus the coordinate axis k, None for any other."""
    for k in range(3):
        if all(isinstance(axis[j], Real) and axis[j] == 0 for j in range(3) if j != k) and isinstance(axis[k], Real):
            return k, math.copysign(1.0, axis[k])
    return None


def perpendicular(axis: tuple[Any, Any, Any]) -> tuple[Vec3, Vec3]:
    """Return two directions that are perpendicular to a numeric axis and to each other."""
    x, y, z = (abs(a) for a in axis)
    seed = Vec3(1.0, 0.0, 0.0) if x <= y and x <= z else Vec3(0.0, 1.0, 0.0) if y <= z else Vec3(0.0, 0.0, 1.0)
    a = Vec3(*axis)
    b = a.cross(seed)
    b = b * (1.0 / math.sqrt(b.dot(b)))
    return b, a.cross(b)
