"""The Delassus matrix ``G = J M⁻¹ Jᵀ``, and constraint forces: exact, and of minimum norm if rows are redundant."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.branches import BranchFactor
from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.lazy import cached_property
from kinetree.scalars.functions import is_zero
from kinetree.scalars.linalg import dot, transposed
from kinetree.scalars.pseudo_inverse import Regularised, mean_diagonal
from kinetree.spatial import Scalar

TERMS = 3
"""Terms of the series: what is left of the error along an eigenvector of G is (μ over its eigenvalue) to this power."""


class Delassus:
    """``G = B D⁻¹ Bᵀ`` with ``M = LᵀDL`` and ``B = J L⁻¹``, regularised by μ.

    Rows that are zero while tracing are left out. A row that is switched off loses its couplings, and keeps its place
    on the diagonal, so that its force is zero.

    Parameters
    ----------
    factor : Factor or BranchFactor
        Of M.
    J : matrix
        All rows.
    active : vector, optional
        1 or 0 for each of them.
    """

    def __init__(self, factor: Factor | BranchFactor, J: Sequence[Vector], active: Vector | None = None) -> None:
        self.factor, self.n = factor, len(J)
        self.kept = [i for i, row in enumerate(J) if not all(map(is_zero, row))]
        self.active = None if active is None else [active[i] for i in self.kept]
        inverse = [1.0 / d for d in factor.D]
        self.B, self.BD = list[list[Scalar]](), list[list[Scalar]]()
        G: Matrix = [[0.0] * len(self.kept) for _ in self.kept]
        for i, row in enumerate(
            self.kept
        ):  # each row's uses are traced next to it: compiled code holds it in registers
            self.B.append(factor.solve_L_transposed(J[row]))
            self.BD.append([b * d for b, d in zip(self.B[i], inverse, strict=True)])
            for j in range(i + 1):
                G[i][j] = G[j][i] = dot(self.BD[i], self.B[j])
        self.G = G

    @property
    def matrix(self) -> Matrix:
        """G of all rows."""
        G: Matrix = [[0.0] * self.n for _ in range(self.n)]
        for i, row in zip(self.kept, self.G, strict=True):
            for j, x in zip(self.kept, row, strict=True):
                G[i][j] = x
        return G

    def forces(self, b: Vector) -> list[Scalar]:
        """Return the f of minimum norm with ``G f = −b``, for all rows; 0 for those that are switched off.

        With ``K = (G + μ)⁻¹`` and ``P = μ K``, the proximal-point method from f = 0 on is ``−(1 + P + P² + …) K b``.
        P is small where G is not: for a μ of 1e-10 a few terms have all digits. Where G is singular P is 1, and what
        rounding has left there, divided by μ, stays: as many times the next power of P take all of it off again.
        """
        b = [b[i] for i in self.kept]
        if not b:
            return [0.0] * self.n
        if self.active is not None:
            b = [x * a for x, a in zip(b, self.active, strict=True)]
        term = self._regularised.solve([-x for x in b])
        f = [0.0] * len(b)
        for _ in range(TERMS):
            f = [x + y for x, y in zip(f, term, strict=True)]
            term = self._regularised.damped(term)
        whole = [0.0] * self.n
        for i, x, y in zip(self.kept, f, term, strict=True):
            whole[i] = x - TERMS * y
        return whole

    def joint_forces(self, f: Vector) -> list[Scalar]:
        """Return ``Bᵀ f = L⁻ᵀ Jᵀ f``."""
        kept = [f[i] for i in self.kept]
        return [dot(column, kept) for column in transposed(self.B)] if kept else [0.0] * len(self.factor.D)

    @cached_property
    def _regularised(self) -> Regularised:
        return Regularised(self._coupled(), mean_diagonal(self.G))

    def _coupled(self) -> Matrix:
        """Return G with the couplings of the rows that are switched on."""
        if self.active is None:
            return self.G
        on = self.active
        return [
            [x if i == j else x * (on[max(i, j)] * on[min(i, j)]) for j, x in enumerate(row)]
            for i, row in enumerate(self.G)
        ]


def row_values(model: ConstrainedModel, values: Vector | None) -> list[Scalar] | None:
    """Return for each row what is given for its constraint; None where nothing is."""
    return None if values is None else [values[i] for i in model.constraint_of_row]


def moved_velocities(rows: Sequence[Row]) -> set[int]:
    """Return the indices of the velocities on which some row depends."""
    return {k for row in rows for k, x in enumerate(row.J) if not is_zero(x)}
