"""Anchors that move: in place of zero, rows keep the `row_motion`, positions d, velocities ḋ and accelerations d̈."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.constraints.types import Row
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import dot, transposed


def moved_anchors(row_motion: Matrix, dt: Scalar) -> Matrix:
    """Return the row_motion a time dt later, where anchors accelerate evenly."""
    d, d_dot, d_ddot = row_motion
    later = [x + dt * (y + (0.5 * dt) * z) for x, y, z in zip(d, d_dot, d_ddot, strict=True)]
    return [later, [y + dt * z for y, z in zip(d_dot, d_ddot, strict=True)], list(d_ddot)]


def speeds(rows: Sequence[Row], v: Vector, row_motion: Matrix | None) -> list[Scalar]:
    """Return ``J v − ḋ``, the velocity along each row against its anchor."""
    found = [dot(row.J, v) for row in rows]
    return found if row_motion is None else [x - y for x, y in zip(found, row_motion[1], strict=True)]


def positions(rows: Sequence[Row], row_motion: Matrix | None) -> list[Scalar | None]:
    """Return ``φ − d``, None where only velocities are constrained."""
    if row_motion is None:
        return [row.phi for row in rows]
    return [None if row.phi is None else row.phi - d for row, d in zip(rows, row_motion[0], strict=True)]


def motions(rows: Sequence[Row], v: Vector, omega: Scalar, row_motion: Matrix | None) -> list[Scalar]:
    """Return ``γ − d̈ + 2ω (J v − ḋ) + ω² (φ − d)``, which the accelerations along the rows cancel."""
    kept = [None] * len(rows) if row_motion is None else transposed(row_motion)
    return [_motion(row, v, omega, d) for row, d in zip(rows, kept, strict=True)]


def _motion(row: Row, v: Vector, omega: Scalar, row_motion: Vector | None) -> Scalar:
    if row_motion is None:
        position = 0.0 if row.phi is None else row.phi * omega
        return row.gamma + (dot(row.J, v) * 2.0 + position) * omega
    d, d_dot, d_ddot = row_motion
    position = 0.0 if row.phi is None else (row.phi - d) * omega
    return row.gamma - d_ddot + ((dot(row.J, v) - d_dot) * 2.0 + position) * omega
