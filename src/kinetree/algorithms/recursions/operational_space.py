"""Factors of the operational-space inertia, from which the quantities of that space are computed."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.kinematics.jacobian import jacobian
from kinetree.algorithms.recursions.path import path_to
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.model import Model
from kinetree.scalars.linalg import dot, orthogonal_rows, solve_lower, transposed
from kinetree.spatial import Scalar, sqrt

TOO_FEW = "If fewer than six joint velocities move the frame."


class OperationalSpace(NamedTuple):
    """The Jacobian of a frame weighted by the mass matrix, factorised.

    With ``M = LᵀDL``: ``J L⁻¹ D^-½ = C Q``, where C is unit lower triangular and the rows of Q are orthogonal with
    squared norms E. So ``J M⁻¹ Jᵀ = C E Cᵀ``, which is never formed: that would lose half of the digits.
    """

    J: Matrix
    factor: Factor
    root_D: list[Scalar]
    C: Matrix
    Q: Matrix
    E: list[Scalar]


def operational(model: Model, q: Vector, frame: str, reference: str) -> OperationalSpace:
    """Return the factors for a frame; `ModelError` if it cannot move in all six directions."""
    movers = {k for link in path_to(model, frame, q).links for k in link.body.v_index}
    if len(movers) < 6:
        raise ModelError(
            f"frame {frame!r} of {model.name!r} is moved by {len(movers)} joint velocities: "
            "choose a frame that six or more move, or form J M⁻¹ Jᵀ from the rows of the Jacobian that matter"
        )
    J, factor = jacobian(model, q, frame=frame, reference=reference), factorised(model, q)
    root_D = [sqrt(d) for d in factor.D]
    scale = [1.0 / d for d in root_D]
    B = [[y * s for y, s in zip(factor.solve_L_transposed(row), scale, strict=True)] for row in J]
    return OperationalSpace(J, factor, root_D, *orthogonal_rows(B))


def inertia(space: OperationalSpace) -> Matrix:
    """Return ``Λ = C⁻ᵀ E⁻¹ C⁻¹``."""
    columns = _inverse_columns(space.C)
    weighted = [[x / e for x, e in zip(column, space.E, strict=True)] for column in columns]
    lower = [[dot(columns[i], weighted[j]) for j in range(i + 1)] for i in range(6)]
    return [[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def consistent_inverse(space: OperationalSpace) -> Matrix:
    """Return ``J̄ = M⁻¹ Jᵀ Λ = L⁻¹ D^-½ Qᵀ E⁻¹ C⁻¹``."""
    Q_T = transposed(space.Q)
    columns = []
    for column in _inverse_columns(space.C):
        weighted = [x / e for x, e in zip(column, space.E, strict=True)]
        b = [dot(row, weighted) / d for row, d in zip(Q_T, space.root_D, strict=True)]
        columns.append(space.factor.solve_L(b))
    return transposed(columns)


def _inverse_columns(C: Matrix) -> Matrix:
    """Return the columns of C⁻¹."""
    n = len(C)
    return [solve_lower(C, [float(i == j) for i in range(n)]) for j in range(n)]
