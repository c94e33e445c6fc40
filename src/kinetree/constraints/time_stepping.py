"""Steps in time with contacts: impulses that keep apart, within friction cones, in place of accelerations.

From the free velocity, that of a step without contacts, impulses λ of the contacts and of what joints do lead to the
velocity at the end of the step: ``M (v⁺ − v_free) = Jᵀ λ``, where λ and ``σ = J v⁺ + b`` solve the contact problem
(`kinetree.contacts`). Of what keeps apart, b is gap/dt: in this step it may come as near as it is far. With v⁺ the
configuration goes on. Where something has met and rebounds, the problem is solved again for the velocity alone, b being
e times that with which it approached: so positions touch before they part. Where friction and rebound would add energy
(`restitution`), the rebound is less.

What has penetrated is moved back by the smallest change of positions in the metric of M, without any velocity: so
impulses add no energy, however deep it was.

References: Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction, 1996; Anitescu and Potra, 1997; here with the cone as it is, and positions apart from velocities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kinetree.constraints.contact_problem import Eliminated, Unilateral, contacts, count, friction, stops
from kinetree.constraints.delassus import on_or_off
from kinetree.constraints.fixed_axes import centripetal, turned
from kinetree.constraints.free_step import FreeStep, free_step
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.restitution import mixed, without_gain
from kinetree.constraints.system import ConstrainedSystem, held
from kinetree.contacts import NotNegative, Problem, Solution, solve
from kinetree.contacts.sets import larger, largest, positive_part
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.integrators.contract import INTEGRATORS, Integrator, State
from kinetree.integrators.euler import semi_implicit_euler
from kinetree.integrators.implicit import implicit_euler
from kinetree.integrators.system import System
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import dot, times

TOLERANCE = 1e-6
"""Of velocities, beside the largest along a row; of the work, beside that times the largest force."""

MOST_ITERATIONS = 500.0

NEARBY = 10.0
"""What is so many times farther from touching than the deepest has penetrated is as far as that, in moving back."""

MOST_PUSHES = 50.0
"""Iterations in which what has penetrated is moved back; the next step goes on."""


class Stepped(NamedTuple):
    """The state after a step with contacts, and how it was found.

    Attributes
    ----------
    q, v : columns
    impulses : list of scalars
        Along the mechanism's rows, bilateral ones too, and in the joints (`contact_problem.count`).
    iterations, residual : scalar
        Of the solutions, of impact and rebound; the residual is a velocity (m/s, rad/s).
    solved : scalar
        1 where they have arrived, 0 where one took all iterations.
    """

    q: Column
    v: Column
    impulses: list[Scalar]
    iterations: Scalar
    residual: Scalar
    solved: Scalar


def stepped(
    system: ConstrainedSystem, t: Scalar, q: Column, v: Column, dt: Scalar, start: Vector, implicit: bool = False
) -> Stepped:
    """Return the state after a step.

    Parameters
    ----------
    start : vector
        Impulses to begin the solution with: the `Stepped.impulses` of the step before, or zeros.
    implicit : bool
        Whether damping and springs of the joints act at the end of the step (see `integrators.implicit`).
    """
    model = system.model.with_slots(system.slots)
    lasting = replace(model, constraints=tuple(c for c in model.constraints if c.force_set() is None))
    active = on_or_off(system.active)
    on, after = _of_lasting(model, active), _rows_of_lasting(model, system.anchors(t + dt))
    free = free_step(replace(system, model=model), lasting, on, t, q, v, dt, implicit, after)

    meeting = [*contacts(model, q, active, system.restitution, system.friction, system.anchors_within(t, dt))]
    meeting += [*(stops(model, q, dt * free.end) if system.limits in ("position", "all") else ()), *friction(model, dt)]
    contact = _Contact(meeting, free, dt, system.settings)
    met = found = contact.solved(contact.near, start)
    if any(not is_zero(each.restitution) for each in meeting):
        found = contact.solved(contact.rebounding(v, met.force), contact.placed(met.force, start))
    force = met.force if found is met else contact.without_gain(met.force, found.force)
    v_met, v_next, back = contact.velocity(met.force), contact.velocity(force), contact.moved_back(met.sigma)
    q_next = system.moved(q, dt * (v_met + (-0.5 * dt) * centripetal(model, q, v_met)) + back)
    v_next = turned(model, q, q_next, v_next)
    if lasting.constraints:
        q_next, v_next = held(lasting, q_next, v_next, on, after)
    impulses = _in_place(model, meeting, contact.acting(force), contact.held_by(force))
    iterations, solved, residual = met.iterations, contact.arrived(met), met.dual
    if found is not met:
        iterations, solved = iterations + found.iterations, solved * contact.arrived(found)
        residual = larger(residual, found.dual)
    return Stepped(q_next, v_next, impulses, iterations, residual, solved)


def _of_lasting(model: ConstrainedModel, values: Vector | None) -> list[Scalar] | None:
    """Return what is given for the constraints that hold whatever force it takes."""
    if values is None:
        return None
    return [x for x, constraint in zip(values, model.constraints, strict=True) if constraint.force_set() is None]


def _rows_of_lasting(model: ConstrainedModel, drift: Matrix | None) -> Matrix | None:
    """Return what is given for the rows of the constraints that hold whatever force it takes."""
    if drift is None:
        return None
    lasting = [model.constraints[i].force_set() is None for i in model.constraint_of_row]
    return [[x for x, lasts in zip(row, lasting, strict=True) if lasts] for row in drift]


def _parts(meeting: Sequence[Unilateral], values: Vector) -> Iterator[tuple[Unilateral, list[Scalar]]]:
    """Yield each with its part of what is given for all rows."""
    rest = list(values)
    for each in meeting:
        yield each, rest[: len(each.J)]
        rest = rest[len(each.J) :]


def _last_rows(meeting: Sequence[Unilateral]) -> Iterator[tuple[Unilateral, int]]:
    """Yield what keeps apart, with the number of the row along which it does."""
    end = 0
    for each in meeting:
        end += len(each.J)
        if each.gap is not None:
            yield each, end - 1


class _Contact:
    """The contact problem of a step, beside the free one.

    Attributes
    ----------
    free : list of scalars
        How fast rows move against their anchors without these impulses.
    near : list of scalars
        For each row that keeps apart, how fast it may come nearer in this step; 0 for others.
    """

    def __init__(
        self, meeting: Sequence[Unilateral], free: FreeStep, dt: Scalar, settings: Mapping[str, Scalar]
    ) -> None:
        self.meeting, self.alone, self.dt, self.settings = meeting, free, dt, settings
        self.J = [row for each in meeting for row in each.J]
        self.rows = Eliminated(free.factor, self.J, free.bilateral, [len(each.J) for each in meeting])
        self.anchor = [x for each in meeting for x in each.anchor or [0.0] * len(each.J)]
        moving = zip(self.J, self.rows.CD, self.anchor, strict=True)
        self.free = [dot(row, free.v) + dot(push, free.y) - x for row, push, x in moving]
        self.near: list[Scalar] = [0.0] * len(self.J)
        for each, last in _last_rows(meeting):
            self.near[last] = positive_part(each.gap) / dt

    def solved(self, b: Vector, start: Vector) -> Solution:
        """Return the impulses for which ``σ = J v⁺ + b``. How far away something is does not count in what is small."""
        g = [x + y for x, y in zip(self.free, b, strict=True)]
        scale = largest([abs(x) for x in g])
        part = largest([abs(x) for x in self.free]) / select_less(0.0, scale, scale, 1.0)
        return solve(
            Problem(self.rows.G, g, [each.force_set for each in self.meeting]),
            start=self.acting([x for each in self.meeting for x in start[each.at]]),
            tolerance=self.settings.get("tolerance", TOLERANCE) * part,
            max_iterations=self.settings.get("max_iterations", MOST_ITERATIONS),
        )

    def arrived(self, found: Solution) -> Scalar:
        """Return 1 where a solution took fewer iterations than it may, else 0."""
        return select_less(found.iterations, self.settings.get("max_iterations", MOST_ITERATIONS), 1.0, 0.0)

    def rebounding(self, begin: Column, force: Vector) -> list[Scalar]:
        """Return b where what met under these impulses, approaching with the velocity `begin`, rebounds."""
        b = list(self.near)
        for each, last in _last_rows(self.meeting):
            if not is_zero(each.restitution):
                before = dot(self.J[last], begin) - self.anchor[last]
                b[last] = select((force[last] > 0.0) & (before < 0.0), each.restitution * before, b[last])
        return b

    def without_gain(self, met: Vector, rebound: Vector) -> list[Scalar]:
        """Return the impulses of a rebound, less where they would add energy (see `restitution`)."""
        met, rebound = self.acting(met), self.acting(rebound)
        s = without_gain(self.free, met, times(self.rows.G, met), rebound, times(self.rows.G, rebound))
        return mixed(s, met, rebound)

    def acting(self, force: Vector) -> list[Scalar]:
        """Return impulses, 0 where none may act."""
        return [x * each.on for each, part in _parts(self.meeting, force) for x in part]

    def velocity(self, force: Vector) -> Column:
        """Return the velocity after these impulses."""
        pushed = self.rows.joint_forces(self.acting(force))
        y = [x + z for x, z in zip(self.alone.y, pushed, strict=True)]
        return self.alone.v + Column(self.alone.factor.solve_L(y, self.alone.factor.D))

    def held_by(self, force: Vector) -> list[Scalar]:
        """Return the impulses of the bilateral constraints beside these."""
        answers = self.rows.answers(self.acting(force))
        return [x + z for x, z in zip(self.alone.impulses, answers, strict=True)]

    def moved_back(self, sigma: Vector) -> Column:
        """Return by how much positions change, beside the step with this σ, so that nothing has penetrated after it."""
        pushes: list[Scalar] = [0.0] * len(self.J)
        apart: list[tuple[int, Scalar]] = []
        for each, last in _last_rows(self.meeting):
            within = select_less(each.gap, 0.0, each.gap, 0.0)
            apart.append((last, self.dt * positive_part(sigma[last]) + within))
        deepest = largest([positive_part(-gap) for _, gap in apart])
        G = [[self.rows.G[i][j] for j, _ in apart] for i, _ in apart]
        gaps = [select_less(gap, NEARBY * deepest, gap, NEARBY * deepest) for _, gap in apart]
        found = solve(Problem(G, gaps, [NotNegative()] * len(apart)), "pgs", max_iterations=MOST_PUSHES)
        for (i, _), push in zip(apart, found.force, strict=True):
            pushes[i] = push
        factor = self.alone.factor
        return Column(factor.solve_L(self.rows.joint_forces(pushes), factor.D))

    def placed(self, force: Vector, start: Vector) -> list[Scalar]:
        """Return all impulses with these in their places."""
        found = list(start)
        for each, part in _parts(self.meeting, force):
            found[each.at] = part
        return found


def _in_place(model: ConstrainedModel, meeting: Sequence[Unilateral], force: Vector, held_by: Vector) -> list[Scalar]:
    """Return all impulses where they belong."""
    found: list[Scalar] = [0.0] * count(model)
    for each, part in _parts(meeting, force):
        found[each.at] = part
    rest = list(held_by)
    for constraint, at in zip(model.constraints, model.row_slices.values(), strict=True):
        if constraint.force_set() is None:
            found[at], rest = rest[: constraint.size], rest[constraint.size :]
    return found


class TimeStepping(Integrator):
    """Steps with contacts. The memory is the impulses of the last step, and three numbers.

    These are the iterations so far, the steps in which they did not arrive, and the largest residual (m/s, rad/s).
    """

    impulses = True

    def memory(self, model: Model) -> int:
        """Return how many numbers it carries from step to step."""
        return count(model) + 3  # type: ignore[arg-type]

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state after a step, and what is carried to the next one."""
        assert isinstance(system, ConstrainedSystem)
        *start, iterations, unsolved, worst = memory
        x = stepped(system, t, Column(q), Column(v), dt, start, self.name == "implicit_euler")
        unsolved = unsolved + (1.0 - x.solved)
        worst = select_less(worst, x.residual, x.residual, worst)
        return x.q, x.v, Column([*x.impulses, iterations + x.iterations, unsolved, worst])

    def __call__(self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar) -> State:
        """Return the state after a step that knows of none before."""
        return self.advance(system, t, q, v, dt, Column.zeros(self.memory(system.model)))[:2]


COUNTS = (("iterations", -3), ("unsolved", -2), ("worst_residual", -1))
SETTINGS = (("tolerance", TOLERANCE), ("max_iterations", MOST_ITERATIONS))

TIME_STEPPING = {
    i.name: TimeStepping(i.name, i.order, i.step, SETTINGS, COUNTS) for i in (semi_implicit_euler, implicit_euler)
}
"""The integrators of mechanisms with contacts that are solved, by name."""


def integrator_of(model: Model, integrator: str | Integrator, contacts: str) -> Integrator:
    """Return the integrator of this name for a model, whose contacts are "solved" or "stick"."""
    known = INTEGRATORS[integrator] if isinstance(integrator, str) else integrator
    constraints = getattr(model, "constraints", ())
    if contacts == "stick" or all(c.force_set() is None for c in constraints):
        return known
    if known.name not in TIME_STEPPING:
        raise ModelError(
            f"velocities jump where contacts are made, and {known.name!r} is for smooth motions: choose "
            f'{" or ".join(TIME_STEPPING)}, or let the contacts stick: contacts="stick"'
        )
    return TIME_STEPPING[known.name]
