"""The contact problem of a mechanism: its contacts' rows, with all other constraints eliminated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.contact_problem import Eliminated
from kinetree.constraints.delassus import Delassus, row_values
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.contacts import Problem, Residuals, solve
from kinetree.glossary.symbols import Vector
from kinetree.scalars.linalg import dot
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
    """Forces of all rows, all joint forces multiplied by L⁻ᵀ, and how well contacts are solved."""

    f: list[Scalar]
    y: list[Scalar]
    iterations: Scalar
    residuals: Residuals


class HeldContacts:
    """Contacts of a mechanism whose other constraints, loops, welds and so on, hold exactly.

    Rows that are switched off are zero: nothing moves along them, and no force acts.
    """

    def __init__(self, model: ConstrainedModel, factor: Factor, rows: Sequence[Row], active: Vector | None) -> None:
        self.model, self.factor = model, factor
        self.sized = [constraint.force_set() is not None for constraint in model.constraints]
        self.contacts = [i for i, k in enumerate(model.constraint_of_row) if self.sized[k]]
        self.held = [i for i, k in enumerate(model.constraint_of_row) if not self.sized[k]]
        on = row_values(model, active)
        self.on = [1.0] * len(rows) if on is None else on
        self.J = [[x * self.on[i] for x in rows[i].J] for i in self.contacts]
        held = [rows[i].J for i in self.held]
        self._bilateral = Delassus(factor, held, None if on is None else [on[i] for i in self.held])
        self._eliminated = Eliminated(factor, self.J, self._bilateral)

    def solve(self, b: Vector, settings: Settings, y: Vector | None = None) -> Solved:
        """Return what makes the motions ``J a + b`` obey the laws of all rows.

        Parameters
        ----------
        b : (nrows,) scalars
            The motion along the rows while the joints have none.
        y : (nv,) scalars, optional
            Joint forces that act as well, multiplied by L⁻ᵀ.
        """
        y = [0.0] * self.model.nv if y is None else y
        wanted = [b[i] for i in self.held]
        for i, row in zip(self._bilateral.kept, self._bilateral.BD, strict=True):
            wanted[i] = wanted[i] + dot(row, y)
        alone = self._bilateral.forces(wanted)
        y = [x + z for x, z in zip(y, self._bilateral.joint_forces(alone), strict=True)]
        a = self.factor.solve_L(y, self.factor.D)
        found = solve(
            Problem(
                self._eliminated.G,
                [b[i] * self.on[i] + dot(row, a) for i, row in zip(self.contacts, self.J, strict=True)],
                [s for k, c in enumerate(self.model.constraints) if (s := c.force_set(_entry(settings.friction, k)))],
                None if settings.compliance is None else [settings.compliance[i] for i in self.contacts],
            ),
            settings.solver,
            start=None if settings.f_start is None else self._acting([settings.f_start[i] for i in self.contacts]),
            **{name: x for name in ("tolerance", "max_iterations") if (x := getattr(settings, name)) is not None},
        )
        force = self._acting(found.force)
        held = [x + z for x, z in zip(alone, self._eliminated.answers(force), strict=True)] if force else alone
        f: list[Scalar] = [0.0] * len(b)
        for where, values in ((self.held, held), (self.contacts, force)):
            for i, x in zip(where, values, strict=True):
                f[i] = x
        if force:
            y = [x + z for x, z in zip(y, self._eliminated.joint_forces(force), strict=True)]
        return Solved(f, y, found.iterations, Residuals(found.primal, found.dual, found.complementarity))

    def _acting(self, force: Vector) -> list[Scalar]:
        """Return the contacts' forces, 0 where they are switched off."""
        return [x * self.on[i] for i, x in zip(self.contacts, force, strict=True)]


def _entry(values: Vector | None, k: int) -> Scalar | None:
    return None if values is None else values[k]
