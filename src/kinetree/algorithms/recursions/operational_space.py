"""Factors of the operational-space inertia, from which the quantities of that space are computed."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.kinematics.jacobian import jacobian
from kinetree.glossary.symbols import ROWS, Matrix, Vector
from kinetree.model import Model
from kinetree.scalars.linalg import dot, transposed
from kinetree.scalars.orthogonal import orthogonal_rows
from kinetree.spatial import Scalar, sqrt


class OperationalSpace(NamedTuple):
    """The rows of a frame's Jacobian weighted by the mass matrix, made orthogonal.

    With ``M = LᵀDL`` and ``B = J L⁻¹ D^-½``: ``K B = Q`` with orthogonal rows, and E⁺ has the inverses of their squared
    norms, 0 for directions in which the frame cannot move. So ``(J M⁻¹ Jᵀ)⁺ = (B Bᵀ)⁺ = Kᵀ E⁺ K``, and B Bᵀ is never
    formed: that would lose half of the digits. With damping d, ``[B d]`` takes the place of B: ``(B Bᵀ + d²)⁻¹``.
    """

    factor: Factor
    root_D: list[Scalar]
    scale: list[Scalar]  # D^-½
    K: Matrix
    Q: Matrix
    E_plus: list[Scalar]


def operational(
    model: Model, q: Vector, frame: str, reference: str, rows: str, damping: Scalar | None
) -> OperationalSpace:
    """Return the factors for these rows of a frame's Jacobian."""
    J, factor = jacobian(model, q, frame=frame, reference=reference), factorised(model, q)
    root_D = [sqrt(d) for d in factor.D]
    scale = [1.0 / d for d in root_D]
    B = [[y * s for y, s in zip(factor.solve_L_transposed(row), scale, strict=True)] for row in selected(J, rows)]
    if damping is not None:
        B = [[*row, *(damping if i == j else 0.0 for j in range(len(B)))] for i, row in enumerate(B)]
    K, Q, E_plus = orthogonal_rows(B)
    return OperationalSpace(factor, root_D, scale, K, [row[: model.nv] for row in Q], E_plus)


def selected(x: list[Scalar], rows: str) -> list[Scalar]:
    """Return these of six rows or numbers, the angular ones being first."""
    return x[ROWS[rows]]


def inertia(space: OperationalSpace) -> Matrix:
    """Return ``Λ = Kᵀ E⁺ K``."""
    columns, m = transposed(space.K), len(space.K)
    weighted = [_weighted(space, column) for column in columns]
    lower = [[dot(columns[i], weighted[j]) for j in range(i + 1)] for i in range(m)]
    return [[lower[max(i, j)][min(i, j)] for j in range(m)] for i in range(m)]


def consistent_inverse(space: OperationalSpace) -> Matrix:
    """Return the columns of ``J̄ = M⁻¹ Jᵀ Λ = L⁻¹ D^-½ Qᵀ E⁺ K``."""
    return [_joint_velocities(space, _weighted(space, column)) for column in transposed(space.K)]


def null_space(space: OperationalSpace) -> Matrix:
    """Return ``1 − Jᵀ J̄ᵀ = 1 − (Lᵀ D^½ Qᵀ) E⁺ (Q D^-½ L⁻ᵀ)``: the rows of Q being orthogonal, it is a projector."""
    left, right = [], []
    for k, row in enumerate(space.Q):
        left.append(space.factor.times_L_transposed([x * d for x, d in zip(row, space.root_D, strict=True)]))
        unit = [float(i == k) for i in range(len(space.Q))]
        right.append(_joint_velocities(space, _weighted(space, unit)))
    n = range(len(space.root_D))
    return [[float(i == j) - dot(transposed(left)[i], transposed(right)[j]) for j in n] for i in n]


def _weighted(space: OperationalSpace, column: Vector) -> list[Scalar]:
    return [x * e for x, e in zip(column, space.E_plus, strict=True)]


def _joint_velocities(space: OperationalSpace, x: Vector) -> list[Scalar]:
    """Return ``L⁻¹ D^-½ Qᵀ x``."""
    return space.factor.solve_L([dot(row, x) * s for row, s in zip(transposed(space.Q), space.scale, strict=True)])
