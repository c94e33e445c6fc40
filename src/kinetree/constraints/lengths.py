"""A length of a mechanism, by which norms of rad beside m, and of N·m beside N, do not depend on the unit of length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.scalars.functions import Scalar

if TYPE_CHECKING:
    from kinetree.constraints.model import ConstrainedModel
    from kinetree.constraints.types import Row


def squared(model: ConstrainedModel, angular: Iterable[bool]) -> list[Scalar]:
    """Return what squares of motions count beside each other: ℓ² of angles, 1 of lengths."""
    return [model.length * model.length if turns else 1.0 for turns in angular]


def forces_squared(model: ConstrainedModel, angular: Iterable[bool]) -> list[Scalar]:
    """Return what squares of forces count beside each other: ℓ⁻² of moments, 1 of forces."""
    return [1.0 / x for x in squared(model, angular)]


def units(model: ConstrainedModel, angular: Iterable[bool]) -> list[Scalar]:
    """Return the units of motions in which all are angles: ℓ of lengths, 1 of angles."""
    return [1.0 if turns else model.length for turns in angular]


def arms(model: ConstrainedModel, angular: Iterable[bool]) -> list[Scalar]:
    """Return the units of forces in which all are forces: ℓ of moments, 1 of forces."""
    return [model.length if turns else 1.0 for turns in angular]


def angles(model: ConstrainedModel, rows: Sequence[Row]) -> NDArray[Any]:
    """Return the Jacobian of rows of plain numbers, as between angles: lengths are divided by ℓ."""
    J = np.array([list(row.J) for row in rows], dtype=float).reshape(len(rows), model.nv)
    of_rows, of_joints = (
        np.array(units(model, each), dtype=float) for each in ([row.angular for row in rows], model.turning)
    )
    scaled: NDArray[Any] = J / of_rows[:, None] * of_joints
    return scaled
