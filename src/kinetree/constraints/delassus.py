"""The Delassus matrix ``G = J M⁻¹ Jᵀ``, and constraint forces: exact, and of minimum norm if rows are redundant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import BranchFactor, Factor
from kinetree.constraints.lengths import squared
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.lazy import cached_property
from kinetree.scalars.factorization import UNROLLED, Factored
from kinetree.scalars.functions import is_zero, select, select_less, sqrt
from kinetree.scalars.linalg import dot, transposed
from kinetree.spatial import Scalar

TERMS = 3
"""Terms of the series: what is left of the error along an eigenvector of G is (μ over its eigenvalue) to this power."""


class Grades(NamedTuple):
    """What μ is made of, by the arithmetic.

    Attributes
    ----------
    mu : scalar
        μ over the mean of G's diagonal.
    reach : scalar
        How many times smaller than the mean an entry of the diagonal may be without a smaller μ of its own.
    nothing : scalar
        Below this part of the mean, an entry is that of a row which says nothing: rounding.
    none : scalar
        The least mean, by that of rows in which each velocity has this square (rad², m²).
    """

    mu: Scalar
    reach: Scalar
    nothing: Scalar
    none: Scalar


DOUBLE, SINGLE = Grades(1e-10, 1e4, 1e-12, 1e-10), Grades(1e-5, 1e2, 1e-6, 1e-4)


class Delassus:
    """``G = B D⁻¹ Bᵀ`` with ``M = LᵀDL`` and ``B = J L⁻¹``, regularised by μ, and by μ/ℓ² where rows are moments.

    Rows that are zero while tracing are left out. A row that is switched off has no force, and what it was does not
    matter: it stays in G, but nothing gives way along it (see `Graded`).

    Parameters
    ----------
    model : ConstrainedModel
        Of which ℓ is the length.
    factor : Factor or BranchFactor
        Of M.
    rows : sequence of Row
        All of them.
    active : vector, optional
        1 or 0 for each of them, as `switches` gives it.

    Attributes
    ----------
    whole : scalar
        An entry of G's diagonal of a row of lengths, were all entries that J has ℓ of angles and 1 of lengths, and no
        others in B.
    """

    def __init__(
        self,
        model: ConstrainedModel,
        factor: Factor | BranchFactor,
        rows: Sequence[Row],
        active: Vector | None = None,
    ) -> None:
        self.model, self.factor, self.n, J = model, factor, len(rows), [row.J for row in rows]
        self.kept = [i for i, row in enumerate(J) if not all(map(is_zero, row))]
        self.active = None if active is None else [active[i] for i in self.kept]
        inverse = [1.0 / d for d in factor.D]
        moved = sorted({k for i in self.kept for k, x in enumerate(J[i]) if not is_zero(x)})
        turns, shifts = (
            sum((inverse[k] for k in moved if model.turning[k] == angular), 0.0) for angular in (True, False)
        )
        self.whole: Scalar = turns if is_zero(turns) else turns * (model.length * model.length)
        self.whole = self.whole + shifts
        self.squared = squared(model, [rows[i].angular for i in self.kept])
        self.B, self.BD = list[list[Scalar]](), list[list[Scalar]]()
        G: Matrix = [[0.0] * len(self.kept) for _ in self.kept]
        for i, row in enumerate(self.kept):  # a row's uses are traced next to it: compiled code holds it in registers
            acting = J[row] if self.active is None or rows[row].finite else switched(self.active[i], J[row])
            self.B.append(factor.solve_L_transposed(acting))
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

        Rows against bodies much heavier than those of others have a μ of their own, with which f is the smallest after
        division by its root. Should all rows be nothing but rounding, f is zero but for that.
        """
        if not self.kept:
            return [0.0] * self.n
        b = each_switched(self.active, [b[i] for i in self.kept])
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
    def scales(self) -> list[Scalar]:
        """Factors of the rows of B with which all are lengths, and those against heavy bodies are like others."""
        if not self.kept:
            return []
        return [sqrt(x * square) for x, square in zip(self._regularised.heavier, self.squared, strict=True)]

    @cached_property
    def _regularised(self) -> Graded:
        return Graded(self.G, self.whole, self.squared, self.active)


class Graded(Factored):
    """Solutions with G + μ, where each row has a μ of its own: by its entry on the diagonal, and the `whole` at least.

    Entries are compared as those of lengths, times what is `squared`. How many times smaller a μ is for that than those
    of most rows is in `heavier`. Rows that are switched off have an infinite entry on the diagonal: the inverse of
    their pivot is zero, and so are their column of the factor and their part of a solution. They do not count in the
    mean.
    """

    def __init__(self, G: Matrix, whole: Scalar, squared: Vector, active: Vector | None = None) -> None:
        own_unit = each_switched(active, [row[i] for i, row in enumerate(G)])
        diagonal = [x * square for x, square in zip(own_unit, squared, strict=True)]
        mean = dot(diagonal, [1.0 / len(G)] * len(G))
        by = Grades(*(select_less(mean, mean + mean * DOUBLE.mu, x, y) for x, y in zip(DOUBLE, SINGLE, strict=True)))
        least = whole * by.none
        tiny = select_less(least, mean, mean * by.nothing, least * len(G))  # that of all, where all are rounding
        mean = select_less(least, mean, mean, least)
        own = [select_less(tiny, x, select_less(x * by.reach, mean, x * by.reach, mean), mean) for x in diagonal]
        self.heavier = [mean / x for x in own]
        self.each = [x * (by.mu / square) for x, square in zip(own, squared, strict=True)]
        pivots = [x + mu for x, mu in zip(own_unit, self.each, strict=True)]
        if active is not None:
            pivots = [select_less(0.5, on, x, math.inf) for on, x in zip(active, pivots, strict=True)]
        A = [[pivots[i] if i == j else x for j, x in enumerate(row)] for i, row in enumerate(G)]
        super().__init__(A, UNROLLED)

    def damped(self, b: Vector) -> list[Scalar]:
        """Return ``P b``, with ``P = (G + μ)⁻¹ μ``."""
        return self.solve([x * mu for x, mu in zip(b, self.each, strict=True)])


def on_or_off(active: Vector | None) -> list[Scalar] | None:
    """Return for each constraint 1 where what is given for it is above one half, else 0, NaN for NaN."""
    return None if active is None else [select_less(0.5, x, 1.0, select(x <= 0.5, 0.0, x)) for x in active]


def switches(model: ConstrainedModel, active: Vector | None) -> list[Scalar] | None:
    """Return the same for each row."""
    return row_values(model, on_or_off(active))


def switched(on: Scalar, values: Vector) -> list[Scalar]:
    """Return values where this is 1, and zero, or NaN, where it is that."""
    return [x if is_zero(x) else select_less(0.5, on, x, on) for x in values]


def each_switched(active: Vector | None, values: Vector) -> list[Scalar]:
    """Return values, each where its own switch is 1, and zero, or NaN, where that is; all of them without switches."""
    return (
        list(values) if active is None else [y for on, x in zip(active, values, strict=True) for y in switched(on, [x])]
    )


def row_values(model: ConstrainedModel, values: Vector | None) -> list[Scalar] | None:
    """Return for each row what is given for its constraint; None where nothing is."""
    return None if values is None else [values[i] for i in model.constraint_of_row]


def moved_velocities(rows: Sequence[Row]) -> set[int]:
    """Return the indices of the velocities on which some row depends."""
    return {k for row in rows for k, x in enumerate(row.J) if not is_zero(x)}
