"""A length of a mechanism, by which norms of rad beside m, and of N·m beside N, do not depend on the unit of length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar, is_zero, select_less
from kinetree.scalars.linalg import norm

if TYPE_CHECKING:
    from kinetree.constraints.model import ConstrainedModel
    from kinetree.constraints.types import Row


def turning(model: Model) -> tuple[bool, ...]:
    """Return for each velocity whether it turns (rad/s); the others only shift (m/s)."""
    found = [True] * model.nv
    for body in model.leading:
        S = body.joint.jcalc(body.joint.neutral(), [0.0] * body.joint.nv).S
        for k, column in zip(body.v_index, S, strict=True):
            found[k] = not all(map(is_zero, column.ang))
    return tuple(found)


def reach(model: ConstrainedModel) -> Scalar:
    """Return the longest way along the tree, from joint to joint, to a joint or to where a constraint acts.

    Where all of them are at one place there is no length, and it is 1.
    """
    ways: list[Scalar] = []
    for body in model.bodies:
        before = 0.0 if body.parent == WORLD else ways[body.parent]
        ways.append(before + norm([*body.X_T.r]))
    ends = [end for constraint in model.constraints for end in constraint.reaches(model).items() if end[0] != WORLD]
    longest: Scalar = 0.0
    for way in [*ways, *(ways[i] + further for i, further in ends)]:
        longest = select_less(longest, way, way, longest)
    return 1.0 if is_zero(longest) else longest


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
