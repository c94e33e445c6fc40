"""Contacts that push, lift off and slide: forces within Coulomb's cones, and impacts."""

from __future__ import annotations

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector
from kinetree.constraints.contacts import Contacts, Limited, force_sets, mixed, without_gain
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.contacts import FrictionCone, SlidingCone
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
    rows, factor = model.constraint_rows(q, v, contacts), factorised(model, q)
    h = rnea(model, q, v, [0.0] * model.nv, f_ext, f_ext_frame=f_ext_frame)
    y, limited = factor.solve_L_transposed(minus(tau, h)), list[Limited]()
    b, speeds = [row.bias(v, model.stabilization) for row in rows], [row.speed(v) for row in rows]
    for constraint, at in model.blocks:
        if constraint.force_set() is not None:  # what lifts off does not touch
            rows[at] = [row._replace(on=select_less(REST, speeds[at][-1], 0.0, row.on)) for row in rows[at]]
    for _, at, each in force_sets(model, rows, contacts.friction):
        limited.append(Limited(at, _sliding(each, speeds[at]) if isinstance(each, FrictionCone) else each))
    coupled = Contacts(model, factor, rows, limited)
    f, y, counts = _solved(coupled, b, y, f_start, compliance, contacts)
    return coupled.bilateral.motion(y), f, *counts


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
    rows, e = model.constraint_rows(q, None, contacts), contacts.restitution
    limited = [Limited(at, each) for _, at, each in force_sets(model, rows, contacts.friction)]
    coupled = Contacts(model, factorised(model, q), rows, limited)
    before, nothing = [row.speed(v) for row in rows], [0.0] * model.nv
    b, rebounds = list(before), False
    for k, (constraint, at) in enumerate(model.blocks):
        part, only_pushes = constraint.rebound if e is None else e[k], constraint.force_set() is not None
        for i in range(at.start, at.stop):
            if rows[i].rebounds and not is_zero(part):
                b[i] = b[i] + part * (select_less(b[i], 0.0, b[i], 0.0) if only_pushes else b[i])
                rebounds = True
    f, y, (iterations, *residuals) = _solved(coupled, b, nothing, f_start, compliance, contacts)
    dv = coupled.bilateral.motion(y)
    if rebounds:
        f_met, y, (more, *_) = _solved(coupled, before, nothing, f, compliance, contacts)
        dv_met = coupled.bilateral.motion(y)
        changes = ([dot(row.J, each) for row in rows] for each in (dv_met, dv))
        s = without_gain(before, f_met, next(changes), f, next(changes))
        f, dv, iterations = mixed(s, f_met, f), mixed(s, dv_met, dv), iterations + more
    return plus(v, dv), f, iterations, *residuals


def _solved(
    coupled: Contacts, b: Vector, y: Vector, start: Vector | None, compliance: Vector | None, given: ContactInputs
) -> tuple[list[Scalar], list[Scalar], tuple[Scalar, ...]]:
    """Return forces by which the motions b and those of joint forces y obey all laws, all y, and how it was found."""
    f, y, g = coupled.alone(b, y)
    start, R = (None if x is None else coupled.of(x) for x in (start, compliance))
    found = coupled.solve(g, start, R, **({} if given.solver is None else given.solver.arguments))
    return *coupled.together(found.force, f, y), found[2:]


def _sliding(cone: FrictionCone, v: Vector) -> SlidingCone:
    """Return the cone of a contact with this velocity along the plane."""
    square = dot(v[:2], v[:2])
    slides = select_less(REST * REST, square, 1.0, 0.0)
    per_speed = 1.0 / sqrt(select_less(0.5, slides, square, 1.0))
    return SlidingCone(cone.mu, (v[0] * per_speed, v[1] * per_speed), slides)
