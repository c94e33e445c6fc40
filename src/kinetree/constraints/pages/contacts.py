"""Contacts that push, lift off and slide: forces within Coulomb's cones, and impacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector
from kinetree.constraints.contacts import mixed, without_gain
from kinetree.constraints.delassus import Delassus, Eliminated
from kinetree.constraints.inputs import (
    NONE_GIVEN,
    ContactInputs,
    each_masked,
    masked,
    motions,
    row_mask,
    row_values,
    speeds,
    taking,
)
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.types import Row
from kinetree.contacts import ForceSet, FrictionCone, Problem, SlidingCone, solve
from kinetree.scalars.functions import is_zero, select_less, sqrt
from kinetree.scalars.linalg import dot, minus, plus
from kinetree.spatial import Scalar

REST = 1e-6
"""The speed (m/s) up to which a contact is at rest."""

Results = tuple[list[Scalar], list[Scalar], *tuple[Scalar, ...]]
RESIDUALS = "iterations primal dual complementarity"


@mechanism_algorithm(
    "contact_dynamics",
    outputs=f"a f {RESIDUALS}",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "friction", "row_motion", "solver"),
)
def contact_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    compliance: Vector | None = None,
    f_start: Vector | None = None,
    *,
    f_ext_frame: str = "body",
) -> Results:
    """Accelerations under the joint forces τ where contacts push only and slide, and the constraints' forces f.

    `forward_dynamics` in which each `Contact` obeys Signorini's condition and Coulomb's law. What rests, to 1e-6 m/s,
    obeys them in terms of accelerations: ``0 ≤ f_n ⟂ σ_n ≥ 0`` and ``‖f_T‖ ≤ μ f_n``, against σ_T where there is any,
    for ``σ = J a + γ``, all contacts touching but those that are not `active`; what slides has ``f_T = −μ f_n d``
    against the direction d of its velocity; and what lifts off has no force. (What approaches with a velocity needs an
    impulse, `contact_impulse`.) Nothing is relaxed: in convex formulations what slides lifts off. All other constraints
    hold as they do in `forward_dynamics`. In a mechanism with a `stabilization` ω, ``σ = J a + γ + 2ω J v + ω² φ``.
    Where anchors move, by the `row_motion`, all motions are those against them: ``J v − ḋ``, ``J a + γ − d̈``.

    Nothing is raised where the solver does not arrive (some problems have no solution): the residuals, computed from
    the final forces, tell. Where forces are hyperstatic f is one of many, and a the same for all of them.

    References: De Saxcé and Feng, The bipotential method (1998), for the cone complementarity; the solvers:
    Jourdan, Alart and Jean, A Gauss–Seidel like algorithm to solve frictional contact problems (1998), and Carpentier,
    Le Lidec and Montaut, From compliant to rigid contact simulation (arXiv 2405.17020).

    >>> standing = mech.contact_dynamics(robot.neutral(), 0 * v, 0 * v)
    >>> bool(standing.dual < 1e-4), bool(standing.primal < 1e-9)
    (True, True)
    """
    rows, factor = model.constraint_rows(q, v), factorised(model, q)
    h = rnea(model, q, v, [0.0] * model.nv, f_ext, f_ext_frame=f_ext_frame)
    y, moved = factor.solve_L_transposed(minus(tau, h)), contacts.row_motion
    b, velocity = motions(rows, v, model.stabilization, moved), speeds(rows, v, moved)
    acting = replace(contacts, active=touching(model, velocity, contacts.active))
    f, y, counts = HeldContacts(model, factor, rows, acting, compliance).solve(b, f_start, y, velocity)
    return factor.solve_L(y, factor.D), f, *counts


@mechanism_algorithm(
    "contact_impulse",
    outputs=f"v_next impulse {RESIDUALS}",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "friction", "row_motion", "solver"),
)
def contact_impulse(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    contacts: ContactInputs = NONE_GIVEN,
    compliance: Vector | None = None,
    f_start: Vector | None = None,
) -> Results:
    """Velocity after an impact in which contacts push only and slide, and the impulses.

    `impulse` in which each `Contact` obeys Signorini's condition and Coulomb's law in terms of velocities, with the
    rebound ``v_n⁺ ≥ −e v_n⁻`` of what approaches (`Contact.restitution` if not given); all contacts touch but those
    that are not `active`. See `contact_dynamics`. With friction and rebound together this law, Newton's, would add
    energy to some linkages: there the rebound is less, so that energy stays as it was. (The residuals are those of
    Newton's law.) Where anchors move, velocities along the rows are those against them, ``J v − ḋ``.

    References: as `contact_dynamics`; RBDA section 11.7; Moreau, Unilateral contact and dry friction (1988); Kane and
    Levinson, Dynamics (1985), for the linkages.

    >>> landed = mech.contact_impulse(robot.neutral(), v)
    >>> bool(robot.kinetic_energy(robot.neutral(), landed.v_next) <= robot.kinetic_energy(robot.neutral(), v))
    True
    """
    rows, factor = model.constraint_rows(q), factorised(model, q)
    e = row_values(model, contacts.restitution) or [model.constraints[i].rebound for i in model.constraint_of_row]
    held = HeldContacts(model, factor, rows, contacts, compliance)
    before = speeds(rows, v, contacts.row_motion)
    b, rebounding = list(before), [i for i, row in enumerate(rows) if row.rebounds and not is_zero(e[i])]
    for i in rebounding:
        b[i] = b[i] + e[i] * (select_less(b[i], 0.0, b[i], 0.0) if i in held.contacts else b[i])
    f, y, (iterations, *residuals) = held.solve(b, f_start)
    dv = factor.solve_L(y, factor.D)
    if rebounding:
        f_met, y, (more, *_) = held.solve(before, f)
        dv_met = factor.solve_L(y, factor.D)
        changes = ([dot(row.J, each) for row in rows] for each in (dv_met, dv))
        s = without_gain(before, f_met, next(changes), f, next(changes))
        f, dv, iterations = mixed(s, f_met, f), mixed(s, dv_met, dv), iterations + more
    return plus(v, dv), f, iterations, *residuals


class HeldContacts:
    """Contacts of a mechanism whose other constraints, loops, welds and so on, hold exactly.

    Rows that are switched off are zero: nothing moves along them, and no force acts.
    """

    def __init__(
        self,
        model: ConstrainedModel,
        factor: Factor,
        rows: Sequence[Row],
        given: ContactInputs,
        compliance: Vector | None,
    ) -> None:
        self.model, self.factor, self.given, self.compliance = model, factor, given, compliance
        sized = [constraint.force_set() is not None for constraint in model.constraints]
        self.contacts = [i for i, k in enumerate(model.constraint_of_row) if sized[k]]
        self.held = [i for i, k in enumerate(model.constraint_of_row) if not sized[k]]
        on = row_mask(model, given.active)
        self.on = [1.0] * len(rows) if on is None else on
        self.J = [masked(self.on[i], rows[i].J) for i in self.contacts]
        held = [rows[i] for i in self.held]
        sizes = [constraint.size for constraint, each in zip(model.constraints, sized, strict=True) if each]
        self.bilateral = Delassus(model, factor, held, None if on is None else [on[i] for i in self.held])
        self.eliminated = Eliminated(factor, self.J, self.bilateral, sizes)

    def solve(
        self, b: Vector, start: Vector | None, y: Vector | None = None, velocity: Vector | None = None
    ) -> tuple[list[Scalar], list[Scalar], tuple[Scalar, ...]]:
        """Return forces by which the motions ``J a + b`` obey the laws of all rows, from the forces `start` on.

        With them come all joint forces, multiplied by L⁻ᵀ, among which are y, and the iterations with the residuals.
        The velocity along the rows is given where motions are accelerations: what slides has friction against it.
        """
        y = [0.0] * self.model.nv if y is None else y
        alone, y = self.bilateral.held([b[i] for i in self.held], y)
        a = self.factor.solve_L(y, self.factor.D)
        found = solve(
            Problem(
                self.eliminated.G,
                [x + dot(row, a) for x, row in zip(self._of_contacts(b), self.J, strict=True)],
                list(self._sets(velocity)),
                None if self.compliance is None else self._of_contacts(self.compliance),
            ),
            start=None if start is None else self._of_contacts(start),
            **({} if self.given.solver is None else self.given.solver.arguments),
        )
        force = self._acting(found.force)
        held = plus(alone, self.eliminated.answers(force)) if force else alone
        f: list[Scalar] = [0.0] * len(b)
        for i, x in zip((*self.held, *self.contacts), (*held, *force), strict=True):
            f[i] = x
        if force:
            y = plus(y, self.eliminated.joint_forces(force))
        return f, y, found[2:]

    def _sets(self, velocity: Vector | None) -> Iterator[ForceSet]:
        """Yield the force sets of the contacts, in the order of their rows."""
        mu: Any = self.given.friction
        for k, (constraint, rows) in enumerate(self.model.blocks):
            each = constraint.force_set(None if mu is None else masked(self.on[rows.start], [mu[k]])[0])
            if isinstance(each, FrictionCone) and velocity is not None:
                each = _sliding(each, velocity[rows][:2])
            if each is not None:
                yield each

    def _of_contacts(self, values: Vector) -> list[Scalar]:
        """Return the entries of the contacts' rows out of those of all rows."""
        return self._acting([values[i] for i in self.contacts])

    def _acting(self, values: Vector) -> list[Scalar]:
        """Return the contacts' entries along their rows, 0 where they are switched off."""
        return each_masked([self.on[i] for i in self.contacts], values)


def _sliding(cone: FrictionCone, v: Vector) -> SlidingCone:
    """Return the cone of a contact with this velocity along the plane."""
    square = dot(v, v)
    slides = select_less(REST * REST, square, 1.0, 0.0)
    per_speed = 1.0 / sqrt(select_less(0.5, slides, square, 1.0))
    return SlidingCone(cone.mu, (v[0] * per_speed, v[1] * per_speed), slides)


def touching(model: ConstrainedModel, velocity: Vector, active: Vector | None) -> list[Scalar]:
    """Return for each constraint whether it acts: a contact that lifts off with this velocity does not."""
    on: list[Scalar] = [1.0] * model.nconstraints if active is None else list(active)
    for k, (constraint, rows) in enumerate(model.blocks):
        if constraint.force_set() is not None:
            on[k] = select_less(REST, velocity[rows][-1], 0.0, on[k])
    return on
