"""Contacts that push, lift off and slide: forces within Coulomb's cones, and impacts."""

from __future__ import annotations

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.constraints.anchors import motions, speeds
from kinetree.constraints.contacts import HeldContacts, Settings, touching
from kinetree.constraints.delassus import row_values
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.restitution import mixed, without_gain
from kinetree.constraints.table import MECHANISM_ALGORITHMS
from kinetree.scalars.functions import is_zero, select_less
from kinetree.scalars.linalg import dot
from kinetree.spatial import Scalar

Results = tuple[list[Scalar], list[Scalar], Scalar, Scalar, Scalar, Scalar]
RESIDUALS = "iterations primal dual complementarity"


@algorithm(
    "contact_dynamics",
    outputs=f"a f {RESIDUALS}",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "friction", "row_motion", "solver"),
    table=MECHANISM_ALGORITHMS,
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
    y = factor.solve_L_transposed([t - x for t, x in zip(tau, h, strict=True)])
    settings = Settings(contacts.solver, contacts.friction, compliance, f_start)
    moved = contacts.row_motion
    b, velocity = motions(rows, v, model.stabilization, moved), speeds(rows, v, moved)
    found = HeldContacts(model, factor, rows, touching(model, velocity, contacts.active)).solve(
        b, settings, y, velocity
    )
    return factor.solve_L(found.y, factor.D), found.f, found.iterations, *found.residuals


@algorithm(
    "contact_impulse",
    outputs=f"v_next impulse {RESIDUALS}",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "friction", "row_motion", "solver"),
    table=MECHANISM_ALGORITHMS,
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
    held = HeldContacts(model, factor, rows, contacts.active)
    settings = Settings(contacts.solver, contacts.friction, compliance, f_start)
    before = speeds(rows, v, contacts.row_motion)
    b, rebounding = list(before), [i for i, row in enumerate(rows) if row.rebounds and not is_zero(e[i])]
    for i in rebounding:
        b[i] = b[i] + e[i] * (select_less(b[i], 0.0, b[i], 0.0) if i in held.contacts else b[i])
    found = held.solve(b, settings)
    f, iterations, dv = found.f, found.iterations, factor.solve_L(found.y, factor.D)
    if rebounding:
        met = held.solve(before, settings._replace(f_start=f))
        dv_met = factor.solve_L(met.y, factor.D)
        changes = ([dot(row.J, each) for row in rows] for each in (dv_met, dv))
        s = without_gain(before, met.f, next(changes), f, next(changes))
        f, dv, iterations = mixed(s, met.f, f), mixed(s, dv_met, dv), iterations + met.iterations
    return [x + y for x, y in zip(v, dv, strict=True)], f, iterations, *found.residuals
