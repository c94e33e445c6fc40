"""The contact problem of a mechanism: its contacts' rows, with all other constraints eliminated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.contact_problem import Eliminated
from kinetree.constraints.delassus import Delassus, each_switched, switched, switches
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.contacts import ForceSet, FrictionCone, Problem, Residuals, SlidingCone, solve
from kinetree.contacts.solvers import ContactSolver
from kinetree.glossary.symbols import Vector
from kinetree.scalars.functions import select_less, sqrt
from kinetree.scalars.linalg import dot
from kinetree.spatial import Scalar

REST = 1e-6
"""The speed (m/s) up to which a contact is at rest."""


class Settings(NamedTuple):
    """How contacts are solved; what is None is as `kinetree.contacts.solve` has it, or as the constraints have it."""

    solver: ContactSolver | None = None
    friction: Vector | None = None
    compliance: Vector | None = None
    f_start: Vector | None = None


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
        on = switches(model, active)
        self.on = [1.0] * len(rows) if on is None else on
        self.J = [switched(self.on[i], rows[i].J) for i in self.contacts]
        held = [rows[i] for i in self.held]
        sizes = [c.size for c, sized in zip(model.constraints, self.sized, strict=True) if sized]
        self._bilateral = Delassus(model, factor, held, None if on is None else [on[i] for i in self.held])
        self._eliminated = Eliminated(factor, self.J, self._bilateral, sizes)

    def solve(self, b: Vector, settings: Settings, y: Vector | None = None, velocity: Vector | None = None) -> Solved:
        """Return what makes the motions ``J a + b`` obey the laws of all rows.

        Parameters
        ----------
        b : (nrows,) scalars
            The motion along the rows while the joints have none.
        y : (nv,) scalars, optional
            Joint forces that act as well, multiplied by L⁻ᵀ.
        velocity : (nrows,) scalars, optional
            Along the rows, where motions are accelerations: what slides has friction against it.
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
                [x + dot(row, a) for x, row in zip(self._acting([b[i] for i in self.contacts]), self.J, strict=True)],
                list(self._sets(settings.friction, velocity)),
                None if settings.compliance is None else self._acting([settings.compliance[i] for i in self.contacts]),
            ),
            start=None if settings.f_start is None else self._acting([settings.f_start[i] for i in self.contacts]),
            **({} if settings.solver is None else settings.solver.arguments),
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

    def _sets(self, friction: Vector | None, velocity: Vector | None) -> Iterator[ForceSet]:
        """Yield the force sets of the contacts, in the order of their rows."""
        for k, (constraint, rows) in enumerate(
            zip(self.model.constraints, self.model.row_slices.values(), strict=True)
        ):
            each = constraint.force_set(None if friction is None else switched(self.on[rows.start], [friction[k]])[0])
            if isinstance(each, FrictionCone) and velocity is not None:
                each = _sliding(each, velocity[rows][:2])
            if each is not None:
                yield each

    def _acting(self, force: Vector) -> list[Scalar]:
        """Return what the contacts have along their rows, 0 where they are switched off."""
        return each_switched([self.on[i] for i in self.contacts], force)


def _sliding(cone: FrictionCone, v: Vector) -> SlidingCone:
    """Return the cone of a contact with this velocity along the plane."""
    square = dot(v, v)
    slides = select_less(REST * REST, square, 1.0, 0.0)
    per_speed = 1.0 / sqrt(select_less(0.5, slides, square, 1.0))
    return SlidingCone(cone.mu, (v[0] * per_speed, v[1] * per_speed), slides)


def touching(model: ConstrainedModel, velocity: Vector, active: Vector | None) -> list[Scalar]:
    """Return for each constraint whether it acts: a contact that lifts off with this velocity does not."""
    on: list[Scalar] = [1.0] * model.nconstraints if active is None else list(active)
    for k, (constraint, rows) in enumerate(zip(model.constraints, model.row_slices.values(), strict=True)):
        if constraint.force_set() is not None:
            on[k] = select_less(REST, velocity[rows][-1], 0.0, on[k])
    return on
