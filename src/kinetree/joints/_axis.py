"""Axes of joints: normalisation, alignment with a coordinate axis, perpendicular directions, transverse moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

from kinetree.errors import ModelError
from kinetree.spatial import Inertia, Scalar, Sym3, Vec3
from kinetree.spatial.vector import AXES, ZERO
from kinetree.validation import MASKED, has_masked_entries


def unit_axis(axis: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Return the axis with length one. Numbers are checked; other scalars are taken as they are."""
    if has_masked_entries(axis):
        raise ModelError(MASKED.format("a joint axis"))
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
    seed = AXES[0] if x <= y and x <= z else AXES[1] if y <= z else AXES[2]
    a = Vec3(*axis)
    b = a.cross(seed)
    b = b * (1.0 / math.sqrt(b.dot(b)))
    return b, a.cross(b)


def across_axis(axis: tuple[Scalar, Scalar, Scalar], inertia: Inertia) -> Inertia:
    """Return one transverse moment of the inertia, as a massless rod across a coordinate axis; else nothing."""
    along = coordinate_axis(axis)
    if along is None:
        return Inertia.zero()
    k, _ = along
    moment = (inertia.I.zz, inertia.I.xx, inertia.I.yy)[k]
    x, y, z = (0.0 if j == k else moment for j in range(3))
    return Inertia.about_origin(0.0, ZERO, Sym3(x, 0.0, y, 0.0, 0.0, z))


@dataclass(frozen=True)
class AlongAxis:
    """The parameter of joints with one axis, and the inertia that no motion about or along it changes."""

    axis: tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis))

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return a moment of inertia across the axis."""
        return across_axis(self.axis, inertia)

    def turned_around(self) -> Self:
        """Return the joint about or along the opposite axis."""
        x, y, z = self.axis
        return replace(self, axis=(-x, -y, -z))
