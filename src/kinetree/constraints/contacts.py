"""The contact problem of a mechanism: its contacts' rows, with all other constraints eliminated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.delassus import Delassus, row_values
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.contacts import Problem, Residuals, Solution, solve
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.spatial import Scalar


class Settings(NamedTuple):
    """How contacts are solved; what is None is as `kinetree.contacts.solve` has it, or as the constraints have it."""

    solver: str = "auto"
    friction: Vector | None = None
    compliance: Vector | None = None
    f_start: Vector | None = None
    tolerance: Scalar | None = None
    max_iterations: Scalar | None = None


class Solved(NamedTuple):
    """Forces of all rows, the joint forces that they are, multiplied by L⁻ᵀ, and how well contacts are solved."""

    f: list[Scalar]
    joint_forces: list[Scalar]
    iterations: Scalar
    residuals: Residuals


class HeldContacts:
    """Contacts of a mechanism whose other constraints, loops, welds and so on, hold exactly.

    With the rows h of those and c of the contacts, ``G_hh f_h = −b_h − G_hc λ`` gives f_h, and the contacts are left
    with ``G_cc + G_ch X`` for ``X = −G_hh⁺ G_hc``, the Schur complement.
    """

    def __init__(self, model: ConstrainedModel, factor: Factor, rows: Sequence[Row], active: Vector | None) -> None:
        self.model, self.rows = model, rows
        self.on = row_values(model, active)
        limited = [constraint.force_set() is not None for constraint in model.constraints]
        self.contacts = [i for i, k in enumerate(model.constraint_of_row) if limited[k]]
        self.held = [i for i, k in enumerate(model.constraint_of_row) if not limited[k]]
        self._held = Delassus(factor, [rows[i].J for i in self.held], _of(self.on, self.held))
        self._free = Delassus(factor, [rows[i].J for i in self.contacts])
        self._across = self._couplings()
        columns = [self._held.forces(column) for column in transposed(self._across)]
        self._X = transposed(columns) if columns else self._across

    def solve(self, b: Vector, settings: Settings, y: Vector | None = None) -> Solved:
        """Return what makes ``b + BD y + G f`` obey the laws of all rows.

        Parameters
        ----------
        b : (nrows,) scalars
            The motion along the rows without the constraints' forces.
        y : (nv,) scalars, optional
            What is added to it by joint forces, multiplied by L⁻ᵀ.
        """
        b = list(b)
        if y is not None:
            for where, delassus in ((self.held, self._held), (self.contacts, self._free)):
                for i, row in zip(delassus.kept, delassus.BD, strict=True):
                    b[where[i]] = b[where[i]] + dot(row, y)
        alone = self._held.forces([b[i] for i in self.held])
        g = [b[i] + x for i, x in zip(self.contacts, self._on_contacts(alone), strict=True)]
        found = self._solution(g, settings)
        force = self._switched(found.force)
        held = [x + dot(row, force) for x, row in zip(alone, self._X, strict=True)]
        f: list[Scalar] = [0.0] * len(b)
        for where, values in ((self.held, held), (self.contacts, force)):
            for i, x in zip(where, values, strict=True):
                f[i] = x
        parts = zip(self._held.joint_forces(held), self._free.joint_forces(force), strict=True)
        residuals = Residuals(found.primal, found.dual, found.complementarity)
        return Solved(f, [x + z for x, z in parts], found.iterations, residuals)

    def _solution(self, g: Vector, settings: Settings) -> Solution:
        constraints, mu = self.model.constraints, settings.friction
        sets = [each.force_set(None if mu is None else mu[k]) for k, each in enumerate(constraints)]
        problem = Problem(
            self._matrix(),
            self._switched(g),
            [each for each in sets if each is not None],
            _of(settings.compliance, self.contacts),
        )
        start = _of(settings.f_start, self.contacts)
        given = {"tolerance": settings.tolerance, "max_iterations": settings.max_iterations}
        numbers = {name: x for name, x in given.items() if x is not None}
        return solve(problem, settings.solver, start=None if start is None else self._switched(start), **numbers)

    def _matrix(self) -> Matrix:
        """Return the Delassus matrix of the contacts; those that are switched off are coupled with none."""
        G, on = self._free.matrix, _of(self.on, self.contacts)
        for i, effect in enumerate(transposed(self._across) if self.held else []):
            for j in range(i + 1):
                G[i][j] = G[j][i] = G[i][j] + dot(effect, [row[j] for row in self._X])
        if on is None:
            return G
        return [
            [x if i == j else x * (on[max(i, j)] * on[min(i, j)]) for j, x in enumerate(row)] for i, row in enumerate(G)
        ]

    def _couplings(self) -> Matrix:
        """Return ``G_hc``."""
        C: Matrix = [[0.0] * len(self.contacts) for _ in self.held]
        for i, row in zip(self._held.kept, self._held.BD, strict=True):
            for j, other in zip(self._free.kept, self._free.B, strict=True):
                C[i][j] = dot(row, other)
        return C

    def _on_contacts(self, held: Vector) -> list[Scalar]:
        """Return the motion of the contacts due to the forces of the others."""
        return times(transposed(self._across), held) if self.held else [0.0] * len(self.contacts)

    def _switched(self, values: Vector) -> list[Scalar]:
        """Return what is given for the contacts' rows, 0 where they are switched off."""
        on = _of(self.on, self.contacts)
        return list(values) if on is None else [x * a for x, a in zip(values, on, strict=True)]


def _of(values: Vector | None, rows: Sequence[int]) -> list[Scalar] | None:
    """Return the values of these rows; None where there are none at all."""
    return None if values is None else [values[i] for i in rows]
