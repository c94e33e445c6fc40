"""Steps in time with contacts: impulses that keep apart, within friction cones, in place of accelerations.

From the free velocity, that of a step without contacts, impulses λ of the contacts and of what joints do lead to the
velocity at the end of the step: ``M (v⁺ − v_free) = Jᵀ λ``, where λ and ``σ = J v⁺ + b`` solve the contact problem
(`kinetree.contacts`). Of what keeps apart, b is gap/dt: in this step it may come as near as it is far. With v⁺ the
configuration goes on. Where something has met and rebounds, the problem is solved again for the velocity alone, b being
e times that with which it approached: so positions touch before they part. Where friction and rebound would add energy
(`contacts.without_gain`), the rebound is less.

What has penetrated is moved back by the smallest change of positions in the metric of M, without any velocity: so
impulses add no energy, however deep it was.

The linear velocity of a joint that both turns and moves freely, such as a free-flyer, is in the axes of its body: there
it changes by ``−ω × v`` without any force. Over a step it is seen in the axes at its beginning instead, in which
impulses and contacts are, and taken to those at its end by the rotation itself: what rolls or flies then gains no
speed, and flies straight.

References: Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction, 1996; Anitescu and Potra, 1997; here with the cone as it is, and positions apart from velocities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.dynamics.rnea import rnea
from kinetree.constraints.contacts import MOST_ITERATIONS, TOLERANCE, FreeStep, StepContacts, contacts, count, in_joints
from kinetree.constraints.delassus import Delassus
from kinetree.constraints.inputs import mask, row_mask, speeds
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.system import ConstrainedSystem, held
from kinetree.contacts.sets import larger
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.integrators.contract import INTEGRATORS, Integrator, State, System
from kinetree.integrators.euler import implicit_euler, own_derivatives, semi_implicit_euler, with_rotors
from kinetree.joints.base import JointState
from kinetree.model import Body, Model
from kinetree.scalars.functions import Scalar, is_zero, select_less
from kinetree.scalars.linalg import Column, minus
from kinetree.spatial.vector import ZERO


class Stepped(NamedTuple):
    """The state after a step with contacts, and how it was found."""

    q: Column
    v: Column

    impulses: list[Scalar]
    """Along the mechanism's rows, bilateral ones too, and in the joints (`contacts.count`)."""

    iterations: Scalar
    """Of the solutions, of impact and rebound."""

    residual: Scalar
    """A velocity (m/s, rad/s)."""

    solved: Scalar
    """1 where they have arrived, 0 where one took all iterations."""


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
    """Return the state after a step, in which damping and springs of the joints act at its end if it is `implicit`.

    The solution begins with the impulses `start`: those of the step before, or zeros. `method` is how contacts are
    solved (see `kinetree.contacts.solve`).
    """
    model = system.model.with_slots(system.contacts.slots)
    given = replace(system.contacts, active=mask(system.contacts.active))
    lasting, on, after = _lasting(model, given.active, system.anchors(t + dt))
    free = free_step(replace(system, model=model), lasting, on, t, q, v, dt, implicit, after)

    limited, anchors = system.limits in ("position", "all"), system.anchors_within(t, dt)
    joints = [*in_joints(model, q, dt * free.end(), dt, limited)]
    rubbing = [each for each in joints if each.gap is None]
    meeting = [*rubbing, *contacts(model, q, given, anchors), *joints[len(rubbing) :]]
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
    impulses = contact.placed(contact.acting(force), [0.0] * count(model))
    rest = iter(contact.held_by(force))
    for constraint, at in model.blocks:
        if constraint.force_set() is None:
            impulses[at] = [next(rest) for _ in range(constraint.size)]
    iterations, solved, residual = met.iterations, contact.arrived(met), met.dual
    if found is not met:
        iterations, solved = iterations + found.iterations, solved * contact.arrived(found)
        residual = larger(residual, found.dual)
    return Stepped(q_next, v_next, impulses, iterations, residual, solved)


def _lasting(
    model: ConstrainedModel, active: Any, row_motion: Matrix | None
) -> tuple[ConstrainedModel, list[Scalar] | None, Matrix | None]:
    """Return the constraints that hold whatever force it takes, with what is given for these and their rows."""
    lasts = [constraint.force_set() is None for constraint in model.constraints]
    rows = [lasts[i] for i in model.constraint_of_row]
    return (
        replace(model, constraints=tuple(compress(model.constraints, lasts))),
        None if active is None else list(compress(active, lasts)),
        None if row_motion is None else [list(compress(values, rows)) for values in row_motion],
    )


def free_step(
    system: ConstrainedSystem,
    lasting: ConstrainedModel,
    on: Vector | None,
    t: Scalar,
    q: Column,
    v: Column,
    dt: Scalar,
    implicit: bool,
    row_motion: Matrix | None = None,
) -> FreeStep:
    """Return the step; `lasting` has the bilateral constraints, `on` which act, and `row_motion` theirs at its end.

    Damping and springs of the joints act at its end if it is `implicit`. Their Coulomb friction does not act.
    """
    model, tau = system.model, system.motor_forces(t, q, v)
    smooth = replace(model, friction=replace(model.friction, coulomb=False))
    heavier: Model = smooth
    if implicit:
        stiffness, damping = own_derivatives(replace(system, model=smooth, limits="none"), q, v)
        tau = tau - Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
        heavier = with_rotors(smooth, dt * damping + (dt * dt) * stiffness)
    f_ext = system.wrenches and system.wrenches(t)
    factor = factorised(heavier, q)
    h = rnea(smooth, q, v, [0.0] * model.nv, f_ext, f_ext_frame=system.f_ext_frame)
    y = [dt * x for x in factor.solve_L_transposed(minus(tau, h))]
    v = v + dt * centripetal(model, q, v)
    rows = lasting.constraint_rows(q)
    bilateral = Delassus(lasting, factor, rows, row_mask(lasting, on))
    impulses, y = bilateral.held(speeds(rows, v, row_motion), y)
    return FreeStep(factor, v, y, bilateral, impulses)


def centripetal(model: Model, q: Vector, v: Vector) -> Column:
    """Return ``ω × v`` of joints that float, as rates of velocities: the bracket of what turns and what moves."""
    found = [0.0] * model.nv
    for body, _, rate in _floating(model, q, v):
        for k, x in zip(body.v_index, rate, strict=True):
            found[k] = x
    return Column(found)


def turned(model: Model, q: Vector, q_next: Vector, v: Vector) -> Column:
    """Return velocities in the axes at q in those at q_next."""
    found = list(v)
    for body, state, _ in _floating(model, q, v):
        after = body.joint.jcalc([q_next[k] for k in body.q_index], [0.0] * len(body.v_index))
        linear = after.X.E.to_b(state.X.E.to_a(state.vJ.lin))
        for k, s in zip(body.v_index, state.S, strict=True):
            if s.lin != ZERO:
                found[k] = s.lin.dot(linear)
    return Column(found)


def _floating(model: Model, q: Vector, v: Vector) -> Iterator[tuple[Body, JointState, list[Scalar]]]:
    """Yield the bodies whose joints turn and move freely, which are those of groups of motions, and ``ω × v``."""
    for i in model.joint_order:
        body = model.bodies[i]
        own = [v[k] for k in body.v_index]
        state = body.joint.jcalc([q[k] for k in body.q_index], own)
        turns = [x if s.lin == ZERO else 0.0 for x, s in zip(own, state.S, strict=True)]
        moves = [0.0 if s.lin == ZERO else x for x, s in zip(own, state.S, strict=True)]
        rate = body.joint.bracket(turns, moves)
        if not all(map(is_zero, rate)):
            yield body, state, rate


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


def integrator_of(model: Model, integrator: str | Integrator, stick: bool) -> Integrator:
    """Return the integrator of this name for a model, whose contacts are solved unless they stick."""
    known = INTEGRATORS[integrator] if isinstance(integrator, str) else integrator
    if stick or all(constraint.force_set() is None for constraint in getattr(model, "constraints", ())):
        return known
    if known.name not in TIME_STEPPING:
        raise ModelError(
            f"velocities jump where contacts are made, and {known.name!r} is for smooth motions: choose "
            f"{' or '.join(TIME_STEPPING)}, or let the contacts stick: contacts=kinetree.ContactInputs(stick=True)"
        )
    return TIME_STEPPING[known.name]
