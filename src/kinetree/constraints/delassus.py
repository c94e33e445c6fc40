"""The Delassus matrix ``G = J M⁻¹ Jᵀ``, and constraint forces: exact, and of minimum norm if rows are redundant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import BranchFactor, Factor, branch_factor
from kinetree.constraints.inputs import masked
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.lazy import cached_property
from kinetree.scalars.factorization import UNROLLED, Factored
from kinetree.scalars.functions import is_zero, select_less, sqrt
from kinetree.scalars.linalg import dot, plus, transposed
from kinetree.spatial import Scalar

TERMS = 3
"""Terms of the series: what is left of the error along an eigenvector of G is (μ over its eigenvalue) to this power."""


class Grades(NamedTuple):
    """What μ is made of, by the arithmetic: `mu` times the mean of G's diagonal.

    An entry of the diagonal may be `reach` times smaller than the mean without a smaller μ of its own. Below the part
    `nothing` of the mean it is that of a row which says nothing: rounding. The least mean is that of rows in which each
    velocity has the square `none` (rad², m²).
    """

    mu: Scalar
    reach: Scalar
    nothing: Scalar
    none: Scalar


DOUBLE, SINGLE = Grades(1e-10, 1e4, 1e-12, 1e-10), Grades(1e-5, 1e2, 1e-6, 1e-4)


class Delassus:
    """``G = B D⁻¹ Bᵀ`` with ``M = LᵀDL`` and ``B = J L⁻¹``, regularised by μ, and by μ/ℓ² where rows are moments.

    Rows that are zero while tracing are left out. A row that is switched off has no force, and what it was does not
    matter: it stays in G, but nothing gives way along it (see `Graded`). `whole` is an entry of G's diagonal of a row
    of lengths, were all entries that J has ℓ of angles and 1 of lengths, and no others in B.
    """

    def __init__(self, model: ConstrainedModel, factor: Factor | BranchFactor, rows: Sequence[Row]) -> None:
        self.factor, self.n = factor, len(rows)
        self.kept = [i for i, row in enumerate(rows) if not all(map(is_zero, row.J))]
        acting = [rows[i] for i in self.kept]
        self.on = [row.on for row in acting]
        inverse = [1.0 / d for d in factor.D]
        moved = sorted(moved_velocities(rows))
        turns, shifts = (
            sum((inverse[k] for k in moved if model.turning[k] == angular), 0.0) for angular in (True, False)
        )
        self.whole: Scalar = turns if is_zero(turns) else turns * (model.length * model.length)
        self.whole = self.whole + shifts
        self.squared = model.squared(row.angular for row in acting)
        self.B, self.BD = list[list[Scalar]](), list[list[Scalar]]()
        G: Matrix = [[0.0] * len(acting) for _ in acting]
        for i, row in enumerate(acting):  # a row's uses are traced next to it: compiled code holds it in registers
            self.B.append(factor.solve_L_transposed(row.J if row.finite else masked(row.on, row.J)))
            self.BD.append([b * d for b, d in zip(self.B[i], inverse, strict=True)])
            for j in range(i + 1):
                G[i][j] = G[j][i] = dot(self.BD[i], self.B[j])
        self.G = G

    def of_all(self, part: Matrix) -> Matrix:
        """Return a matrix of all rows from that of those which are not zero while tracing."""
        whole: Matrix = [[0.0] * self.n for _ in range(self.n)]
        for i, row in zip(self.kept, part, strict=True):
            for j, x in zip(self.kept, row, strict=True):
                whole[i][j] = x
        return whole

    def forces(self, b: Vector) -> list[Scalar]:
        """Return the f of minimum norm with ``G f = −b``, for all rows; 0 for those that are switched off.

        With ``K = (G + μ)⁻¹`` and ``P = μ K``, the proximal-point method from f = 0 on is ``−(1 + P + P² + …) K b``.
        P is small where G is not: for a μ of 1e-10 a few terms have all digits. Where G is singular P is 1, and what
        rounding has left there, divided by μ, stays: as many times the next power of P take all of it off again. With
        rows that have a μ of their own f is the smallest after division by its root.
        """
        whole = [0.0] * self.n
        if not self.kept:
            return whole
        term = self._regularised.solve(
            [-x for on, i in zip(self.on, self.kept, strict=True) for x in masked(on, [b[i]])]
        )
        f = [0.0] * len(term)
        for _ in range(TERMS):
            f = plus(f, term)
            term = self._regularised.damped(term)
        for i, x, y in zip(self.kept, f, term, strict=True):
            whole[i] = x - TERMS * y
        return whole

    def moved(self, b: Vector, y: Vector) -> list[Scalar]:
        """Return b and beside it the motion along the rows that joint forces make, given multiplied by L⁻ᵀ."""
        found = list(b)
        for i, row in zip(self.kept, self.BD, strict=True):
            found[i] = found[i] + dot(row, y)
        return found

    def joint_forces(self, f: Vector) -> list[Scalar]:
        """Return ``Bᵀ f = L⁻ᵀ Jᵀ f``."""
        kept = [f[i] for i in self.kept]
        return [dot(column, kept) for column in transposed(self.B)] if kept else [0.0] * len(self.factor.D)

    def held(self, b: Vector, y: Vector) -> tuple[list[Scalar], list[Scalar]]:
        """Return the forces that cancel the motion b and that of joint forces y along the rows, and y with theirs."""
        f = self.forces(self.moved(b, y))
        return f, plus(y, self.joint_forces(f))

    def motion(self, y: Vector) -> list[Scalar]:
        """Return what joint forces, given multiplied by L⁻ᵀ, make of velocities or accelerations: ``L⁻¹ D⁻¹ y``."""
        return self.factor.solve_L(y, self.factor.D)

    @cached_property
    def scales(self) -> list[Scalar]:
        """Factors of the rows of B with which all are lengths, and those against heavy bodies are like others."""
        if not self.kept:
            return []
        return [sqrt(x * square) for x, square in zip(self._regularised.heavier, self.squared, strict=True)]

    @cached_property
    def _regularised(self) -> Graded:
        return Graded(self.G, self.whole, self.squared, self.on)


class Graded(Factored):
    """Solutions with G + μ, where each row has a μ of its own: by its entry on the diagonal, and the `whole` at least.

    Entries are compared as those of lengths, times what is `squared`. How many times smaller a μ is for that than those
    of most rows is in `heavier`. Rows that are switched off have an infinite entry on the diagonal: the inverse of
    their pivot is zero, and so are their column of the factor and their part of a solution. They do not count in the
    mean.
    """

    def __init__(self, G: Matrix, whole: Scalar, squared: Vector, on: Vector) -> None:
        own_unit = [x for i, row in enumerate(G) for x in masked(on[i], [row[i]])]
        diagonal = [x * square for x, square in zip(own_unit, squared, strict=True)]
        mean = dot(diagonal, [1.0 / len(G)] * len(G))
        by = Grades(*(select_less(mean, mean + mean * DOUBLE.mu, x, y) for x, y in zip(DOUBLE, SINGLE, strict=True)))
        least = whole * by.none
        tiny = select_less(least, mean, mean * by.nothing, least * len(G))  # that of all, where all are rounding
        mean = select_less(least, mean, mean, least)
        own = [select_less(tiny, x, select_less(x * by.reach, mean, x * by.reach, mean), mean) for x in diagonal]
        self.heavier = [mean / x for x in own]
        self.each = [x * (by.mu / square) for x, square in zip(own, squared, strict=True)]
        A = [list(row) for row in G]
        for i, (x, mu) in enumerate(zip(own_unit, self.each, strict=True)):
            A[i][i] = select_less(0.5, on[i], x + mu, math.inf)
        super().__init__(A, UNROLLED)

    def damped(self, b: Vector) -> list[Scalar]:
        """Return ``P b``, with ``P = (G + μ)⁻¹ μ``."""
        return self.solve([x * mu for x, mu in zip(b, self.each, strict=True)])


def delassus_of(model: ConstrainedModel, q: Vector, rows: Sequence[Row]) -> Delassus:
    """Return G of these rows, all at the configuration q."""
    return Delassus(model, branch_factor(model, q, moved_velocities(rows)), rows)


def moved_velocities(rows: Sequence[Row]) -> set[int]:
    """Return the indices of the velocities on which some row depends."""
    return {k for row in rows for k, x in enumerate(row.J) if not is_zero(x)}
