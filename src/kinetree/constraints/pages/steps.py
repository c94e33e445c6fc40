"""Steps in time, and with contacts: impulses that keep apart, within friction cones, in place of accelerations.

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector
from kinetree.constraints.contacts import Contacts, contacts_of_step, limited_joints
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.system import ConstrainedSystem
from kinetree.constraints.types import Row
from kinetree.contacts import PUSHES, Problem, Solution, solve
from kinetree.contacts.sets import larger, largest, positive_part
from kinetree.errors import ModelError
from kinetree.glossary.symbols import FORWARDS
from kinetree.integrators.contract import INTEGRATORS, Integrator, State, System
from kinetree.integrators.euler import implicit_euler, own_derivatives, semi_implicit_euler, with_rotors
from kinetree.integrators.step import OWN, held
from kinetree.joints.base import JointState
from kinetree.model import Body, Model
from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import Column, minus, plus
from kinetree.spatial.vector import ZERO

TOLERANCE = 1e-6
"""Of velocities, beside the largest along a row; of the work, beside that times the largest force."""

MOST_ITERATIONS = 500.0

FASTEST = 1e6
"""Velocities (m/s, rad/s) beyond this one allow no larger residual: rounding alone would be one."""

SLACK = 1.1
"""By how much residuals may exceed the tolerance afterwards: sweeps add σ up with rounding of their own."""

NEARBY = 10.0
"""What is so many times farther from touching than the deepest has penetrated is as far as that, in moving back."""

MOST_PUSHES = 50.0
"""Iterations in which what has penetrated is moved back; the next step goes on."""


@dataclass(frozen=True)
class TimeStepping(Integrator):
    """Steps with contacts. The memory is the impulses of the last step, and four numbers.

    The impulses are those along the mechanism's rows, bilateral ones too, and then of each velocity's joint. The
    numbers are the iterations so far, the steps in which they did not arrive, the largest residual (m/s, rad/s) and the
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
        return model.nrows + model.nv + len(self.counts)  # type: ignore[attr-defined, no-any-return]

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state after a step, whose solution begins with the impulses of the one before, and the memory."""
        assert isinstance(system, ConstrainedSystem)
        model, q, v = system.model.with_slots(system.contacts.slots), Column(q), Column(v)
        system, given = replace(system, model=model, stick=False), system.given(t + dt)
        factor, y = self._pushed(system, t, q, v, dt)
        joints = limited_joints(model, q, dt, system.limits in ("position", "all"))
        rows, nothing = model.constraint_rows(q, None, given), Row([0.0] * model.nv, 0.0, None)
        touching = list(contacts_of_step(model, q, rows, given, dt))
        rows += [joints[k][0] if k in joints else nothing for k in range(model.nv)]
        contact = Contacts(model, factor, rows, [*(each for _, each in joints.values()), *touching])

        v_free = v + dt * centripetal(model, q, v)
        impulses, y, free = contact.alone([row.speed(v_free) for row in rows], y)
        near = [0.0] * len(free)
        for each, at in contact.blocks:
            if each.gap is not None:
                near[at.stop - 1] = positive_part(each.gap) / dt
        settings = {name: system.settings.get(name, getattr(type(self), name)) for name in self.tolerances}
        settings["size"] = largest([abs(x) for x in free])  # how far away things are is no size
        *start, iterations, unsolved, worst, worst_at = memory
        met = contact.solve(plus(free, near), contact.of(start), solver=self.method, **settings)
        force, iterations, residual = met.force, iterations + met.iterations, met.dual
        solved = _arrived(contact, met, settings)
        if any(not is_zero(each.restitution) for each in touching):
            b = _rebounding(contact, v, met.force, near)
            found = contact.solve(plus(free, b), contact.acting(force), solver=self.method, **settings)
            force, iterations = contact.without_gain(free, force, found.force), iterations + found.iterations
            residual, solved = larger(residual, found.dual), solved * _arrived(contact, found, settings)
        v_met = v_free + contact.bilateral.motion(contact.pushed(contact.acting(met.force), y))
        impulses, y = contact.together(force, impulses, y)
        v_next = v_free + contact.bilateral.motion(y)
        moved = dt * (v_met + (-0.5 * dt) * centripetal(model, q, v_met)) + _moved_back(contact, met.sigma, dt)
        q_next = system.moved(q, moved)
        v_next = turned(model, q, q_next, v_next)
        if len(touching) < model.nconstraints:
            q_next, v_next = system.held(t + dt, q_next, v_next)
        worst_at = select_less(worst, residual, t, worst_at)
        worst = select_less(residual, worst, worst, residual)
        return q_next, v_next, Column([*impulses, iterations, unsolved + (1.0 - solved), worst, worst_at])

    def step(self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar) -> State:
        """Return the state after a step that knows of none before."""
        return self.advance(system, t, q, v, dt, Column.zeros(self.memory(system.model)))[:2]

    __call__ = step

    def _pushed(
        self, system: ConstrainedSystem, t: Scalar, q: Column, v: Column, dt: Scalar
    ) -> tuple[Factor, list[Scalar]]:
        """Return the factors of M, and joint impulses of a step times L⁻ᵀ, without constraints and Coulomb friction."""
        model, tau = system.model, system.motor_forces(t, q, v)
        smooth = replace(model, friction=replace(model.friction, coulomb=False))
        heavier: Model = smooth
        if self.name == "implicit_euler":
            stiffness, damping = own_derivatives(replace(system, model=smooth, limits="none"), q, v)
            tau = tau - Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
            heavier = with_rotors(smooth, dt * damping + (dt * dt) * stiffness)
        f_ext, factor = system.wrenches and system.wrenches(t), factorised(heavier, q)
        h = rnea(smooth, q, v, [0.0] * model.nv, f_ext, f_ext_frame=system.f_ext_frame)
        return factor, [dt * x for x in factor.solve_L_transposed(minus(tau, h))]


def _arrived(contact: Contacts, found: Solution, settings: Mapping[str, Scalar]) -> Scalar:
    """Return 1 where the residuals of a solution are within the tolerance, else 0."""
    part, speed = SLACK * settings["tolerance"], settings["size"]
    dual = part * select_less(speed, FASTEST, speed, FASTEST)
    size = largest([each.force_set.magnitude(found.force[at]) for each, at in contact.blocks])
    return select((found.dual <= dual) & (found.complementarity <= part * speed * size), 1.0, 0.0)


def _rebounding(contact: Contacts, v: Column, force: Vector, near: Vector) -> list[Scalar]:
    """Return b where what met under these impulses, approaching with the velocity v, rebounds."""
    b = list(near)
    for each, at in contact.blocks:
        if each.gap is not None and not is_zero(each.restitution):
            last, before = at.stop - 1, contact.rows[each.at][-1].speed(v)
            b[last] = select((force[last] > 0.0) & (before < 0.0), each.restitution * before, b[last])
    return b


def _moved_back(contact: Contacts, sigma: Vector, dt: Scalar) -> Column:
    """Return by how much positions change, beside the step with this σ, so that nothing has penetrated after it."""
    apart = [*_apart(contact, sigma, dt)]
    deepest = largest([positive_part(-gap) for *_, gap in apart])
    G = [[contact.G[i][j] * (a * b) for j, b, _ in apart] for i, a, _ in apart]
    gaps = [select_less(gap, NEARBY * deepest, gap, NEARBY * deepest) for *_, gap in apart]
    found = solve(Problem(G, gaps, [PUSHES] * len(apart)), "pgs", max_iterations=MOST_PUSHES)
    pushes: list[Scalar] = [0.0] * len(contact.J)
    for (i, sign, _), push in zip(apart, found.force, strict=True):
        pushes[i] = push * sign
    return Column(contact.bilateral.motion(contact.pushed(pushes, [0.0] * len(contact.bilateral.factor.D))))


def _apart(contact: Contacts, sigma: Vector, dt: Scalar) -> Iterator[tuple[int, Scalar, Scalar]]:
    """Yield the rows along which things keep apart, with a sign, and how far they are after the step.

    Of the stops of a joint it is the one that is nearer then.
    """
    for each, at in contact.blocks:
        sign, gap, moved = 1.0, each.gap, sigma[at.stop - 1]
        below, above = each.between
        if below is not None and above is not None:
            after = below + dt * moved, above - dt * moved
            sign, gap = select_less(*after, 1.0, -1.0), select_less(*after, below, above)
        elif each.between != (None, None):
            sign, gap = (1.0, below) if above is None else (-1.0, above)
        if gap is not None:
            moved = moved if each.gap is not None else moved * sign + positive_part(gap) / dt
            yield at.stop - 1, sign, dt * positive_part(moved) + select_less(gap, 0.0, gap, 0.0)


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


@mechanism_algorithm(
    "step",
    outputs={"q": ("nq",), "v": ("nv",)},
    options={"integrator": tuple(name for name in OWN if name != "variational")},
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "friction", "slots", "row_motion", "stick"),
)
def step(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector]:
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

    A mechanism with `Contact`s takes a step with impulses, as `contact_step` does, unless they stick. At the end of a
    step loops and the like are closed again, and velocities along them taken away, by the smallest change in the metric
    of M. `simulate` takes many steps, with controllers and events.

    Anchors that move do so by the `row_motion` at the beginning of the step; they accelerate evenly.

    >>> falling = mech.step(q, v, [0.0] * robot.nv, 1e-3, contacts=kt.ContactInputs(stick=True, active=[0] * 4))
    >>> bool(abs(falling.v - robot.step(q, v, [0.0] * robot.nv, 1e-3).v).max() < 1e-9)
    True
    """
    system = ConstrainedSystem(model, lambda *_: tau, held(f_ext), f_ext_frame, limits, False, {}, contacts)
    return integrator_of(model, integrator, contacts.stick)(system, 0.0, q, v, dt)


@mechanism_algorithm(
    "contact_step",
    outputs={"q": ("nq",), "v": ("nv",), "f": ("nrows",), "iterations": (), "dual": ()},
    options={"integrator": tuple(TIME_STEPPING)},
    raises=SINGULAR,
    joint_space=True,
    ranges=FORWARDS,
    group=taking("active", "restitution", "friction", "slots", "row_motion"),
)
def contact_step(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    f_start: Vector | None = None,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector, list[Scalar], Scalar, Scalar]:
    """Return the configuration and velocity a time dt later, with the impulses of contacts that push and rub.

    Contacts touch, slide and rebound by Signorini's and Coulomb's laws, unrelaxed, and so do the stops of joints where
    limits of position count, and their Coulomb friction if it is turned on. What has penetrated is moved back without a
    velocity, so that impulses add no energy. Time goes forwards: dt is positive. Anchors that move do so by the
    `row_motion` at the beginning of the step; they accelerate evenly.

    Returns
    -------
    f
        The impulses of the step divided by dt (N, N·m); as the next step's `f_start` they save iterations.

    References: Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
    and Coulomb friction (1996); Anitescu and Potra (1997).

    >>> standing = mech.contact_step(robot.neutral(), 0 * v, [0.0] * robot.nv, 1e-3)
    >>> standing.f.shape, bool(standing.dual < 1e-6)
    ((12,), True)
    """
    system = ConstrainedSystem(model, lambda *_: tau, held(f_ext), f_ext_frame, limits, False, {}, contacts)
    stepping, impulses = (
        TIME_STEPPING[integrator],
        [0.0] * model.nrows if f_start is None else [x * dt for x in f_start],
    )
    memory = Column([*impulses, *[0.0] * (stepping.memory(model) - model.nrows)])
    q, v, memory = stepping.advance(system, 0.0, q, v, dt, memory)
    return q, v, [y / dt for y in memory[: model.nrows]], memory[-4], memory[-2]
