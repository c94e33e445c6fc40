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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kinetree.constraints.contact_problem import Unilateral, contacts, count, in_joints
from kinetree.constraints.delassus import on_or_off
from kinetree.constraints.fixed_axes import centripetal, turned
from kinetree.constraints.free_step import free_step
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.step_contacts import MOST_ITERATIONS, TOLERANCE, StepContacts, parts
from kinetree.constraints.system import ConstrainedSystem, held
from kinetree.contacts.sets import larger
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.integrators.contract import INTEGRATORS, Integrator, State, System
from kinetree.integrators.euler import implicit_euler, semi_implicit_euler
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero, select_less


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
    system: ConstrainedSystem,
    t: Scalar,
    q: Column,
    v: Column,
    dt: Scalar,
    start: Vector,
    implicit: bool = False,
    method: str = "auto",
) -> Stepped:
    """Return the state after a step.

    Parameters
    ----------
    start : vector
        Impulses to begin the solution with: the `Stepped.impulses` of the step before, or zeros.
    implicit : bool
        Whether damping and springs of the joints act at the end of the step (see `integrators.euler`).
    method : str
        How contacts are solved (see `kinetree.contacts.solve`).
    """
    given: Any = system.contacts
    model = system.model.with_slots(given.slots)
    lasting = replace(model, constraints=tuple(c for c in model.constraints if c.force_set() is None))
    active = on_or_off(given.active)
    on, after = _of_lasting(model, active), _rows_of_lasting(model, system.anchors(t + dt))
    free = free_step(replace(system, model=model), lasting, on, t, q, v, dt, implicit, after)

    limited, anchors = system.limits in ("position", "all"), system.anchors_within(t, dt)
    joints = [*in_joints(model, q, dt * free.end, dt, limited)]
    rubbing = [each for each in joints if each.gap is None]
    meeting = [*rubbing, *contacts(model, q, active, given.restitution, given.friction, anchors)]
    meeting += joints[len(rubbing) :]
    contact = StepContacts(meeting, free, dt, system.settings, method)
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


def _rows_of_lasting(model: ConstrainedModel, row_motion: Matrix | None) -> Matrix | None:
    """Return what is given for the rows of the constraints that hold whatever force it takes."""
    if row_motion is None:
        return None
    lasting = [model.constraints[i].force_set() is None for i in model.constraint_of_row]
    return [[x for x, lasts in zip(row, lasting, strict=True) if lasts] for row in row_motion]


def _in_place(model: ConstrainedModel, meeting: Sequence[Unilateral], force: Vector, held_by: Vector) -> list[Scalar]:
    """Return all impulses where they belong."""
    found: list[Scalar] = [0.0] * count(model)
    for each, part in parts(meeting, force):
        found[each.at] = part
    rest = list(held_by)
    for constraint, at in zip(model.constraints, model.row_slices.values(), strict=True):
        if constraint.force_set() is None:
            found[at], rest = rest[: constraint.size], rest[constraint.size :]
    return found


@dataclass(frozen=True)
class TimeStepping(Integrator):
    """Steps with contacts. The memory is the impulses of the last step, and four numbers.

    These are the iterations so far, the steps in which they did not arrive, the largest residual (m/s, rad/s) and the
    time of the step in which it was.
    """

    name: str
    tolerance: float = TOLERANCE
    max_iterations: float = MOST_ITERATIONS
    method: str = "auto"

    order = 1
    tolerances = ("tolerance", "max_iterations")
    counts = (("iterations", -4), ("unsolved", -3), ("worst_residual", -2), ("worst_at", -1))
    impulses = True

    @property
    def identity(self) -> str:
        """See `Integrator.identity`."""
        return f"{self.name} {self.method}"

    def memory(self, model: Model) -> int:
        """Return how many numbers it carries from step to step."""
        return count(model) + 4  # type: ignore[arg-type]

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state after a step, and what is carried to the next one."""
        assert isinstance(system, ConstrainedSystem)
        *start, iterations, unsolved, worst, worst_at = memory
        x = stepped(system, t, Column(q), Column(v), dt, start, self.name == "implicit_euler", self.method)
        unsolved = unsolved + (1.0 - x.solved)
        worst_at = select_less(worst, x.residual, t, worst_at)
        worst = select_less(worst, x.residual, x.residual, worst)
        return x.q, x.v, Column([*x.impulses, iterations + x.iterations, unsolved, worst, worst_at])

    def step(self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar) -> State:
        """Return the state after a step that knows of none before."""
        return self.advance(system, t, q, v, dt, Column.zeros(self.memory(system.model)))[:2]

    __call__ = step


TIME_STEPPING = {i.name: TimeStepping(i.name) for i in (semi_implicit_euler, implicit_euler)}
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
            f"{' or '.join(TIME_STEPPING)}, or let the contacts stick: contacts=kinetree.ContactInputs(stick=True)"
        )
    return TIME_STEPPING[known.name]
