"""Forward and hybrid dynamics with constraints, and impulses; contacts stick, or push, lift off and slide."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import factorised, ltdl
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR, block, refuse_singular, velocities
from kinetree.algorithms.registry import Vector
from kinetree.constraints.contacts import Contacts, Limited, force_sets, mixed, without_gain
from kinetree.constraints.delassus import Delassus, delassus_of
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.types import Row
from kinetree.contacts import FrictionCone, SlidingCone
from kinetree.errors import ArgumentError, listed
from kinetree.scalars.functions import is_zero, select_less, sqrt
from kinetree.scalars.linalg import dot, minus, plus, transposed
from kinetree.spatial import Scalar

REST = 1e-6
"""The speed (m/s) up to which a contact is at rest."""

Results = tuple[list[Scalar], list[Scalar], *tuple[Scalar, ...]]
RESIDUALS = "iterations primal dual complementarity"


@mechanism_algorithm(
    "forward_dynamics", outputs="a f", raises=SINGULAR, joint_space=True, group=taking("active", "row_motion")
)
def forward_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations under the joint forces τ, and the constraints' forces f.

    ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``. The acceleration is exact also where constraints are redundant, and f is
    then the smallest force that gives it, moments counting divided by `Mechanism.length` (where some rows meet inertias
    ten thousand times those of others, theirs may be larger). In a mechanism with a `stabilization` ω errors fade away:
    ``J a + γ + 2ω J v + ω² φ = 0``. Where anchors move, by the `row_motion`, d takes the place of zero in all of these.

    References: RBDA sections 8.1 and 8.5, with ``M = LᵀDL``; for redundant rows the proximal-point method, as in
    Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (RSS 2021).

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> J, gamma = mech.constraint_jacobian(q), mech.constraint_bias(q, v)
    >>> bool(abs(J @ a + gamma).max() < 1e-9)
    True
    """
    h = rnea(model, q, v, [0.0] * model.nv, f_ext, f_ext_frame=f_ext_frame)  # first: all that it needs is needed again
    rows = model.constraint_rows(q, v, contacts)
    return _accelerated(model, delassus_of(model, q, rows), rows, v, minus(tau, h))


@mechanism_algorithm(
    "hybrid_dynamics", outputs="a tau f", raises=SINGULAR, joint_space=True, group=taking("active", "row_motion")
)
def hybrid_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    a: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    prescribed: Sequence[str] = (),
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Accelerations, joint forces and the constraints' forces f, where one of the first two is given at each joint.

    ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``. No joint is passive by itself: its force is given, or its acceleration.

    Parameters
    ----------
    a
        True accelerations of the prescribed joints (rad/s², m/s²); the other entries are not read. The constraints must
        leave them their choice.
    tau
        Forces of the joints that are not prescribed (N·m, N); the other entries are not read.

    Raises
    ------
    ArgumentError
        If there is no joint of that name, or the constraints tie the prescribed joints to each other. With `active`
        that depends on the state: accelerations that contradict each other are not attained then.
    ModelError
        If a joint meets no inertia, so that M is singular at every configuration; the joint is named.

    References: RBDA sections 8.5 and 9.2: prescribed joints are rigid, and move what hangs on them.

    >>> legs = [name for name in robot.joint_names if name.startswith(("FL", "FR"))]
    >>> one_foot = kt.ContactInputs(active=[1, 0, 0, 0])
    >>> posed = mech.hybrid_dynamics(q, v, 0 * v, 0 * v, contacts=one_foot, prescribed=legs)
    >>> bool(abs(posed.a[6:12]).max() == 0), bool(abs(posed.tau[12:]).max() == 0)
    (True, True)
    """
    known = velocities(model, prescribed)
    if known and contacts.active is None and model.reference.is_closed and model.reference.depends(known):
        raise ArgumentError(
            f"the accelerations of the joints {listed(prescribed)} depend on each other through the constraints, and "
            f"not all can be prescribed; independent ones are, for example, {listed(model.independent_names)}"
        )
    refuse_singular(model, prescribed)
    free = [k for k in range(model.nv) if k not in known]
    M, rows = crba(model, q), model.constraint_rows(q, v, contacts)
    given: list[Scalar] = [a[k] if k in known else 0.0 for k in range(model.nv)]
    loose = [row._replace(J=[0.0 if k in known else x for k, x in enumerate(row.J)]) for row in rows]
    delassus = Delassus(model, ltdl(model, block(M, known)), loose)
    h = rnea(model, q, v, given, f_ext, f_ext_frame=f_ext_frame)
    pushed = [0.0 if k in known else tau[k] - h[k] for k in range(model.nv)]
    carried = [row._replace(gamma=row.gamma + dot(row.J, given)) for row in rows]
    accelerated, f = _accelerated(model, delassus, carried, v, pushed)
    columns = transposed([row.J for row in rows])
    tau_out = list(tau)
    for k in known:
        moved = dot([M[k][l] for l in free], [accelerated[l] for l in free])
        tau_out[k] = h[k] + moved - dot(columns[k], f)
    return plus(given, accelerated), tau_out, f


def _accelerated(
    model: ConstrainedModel, delassus: Delassus, rows: Sequence[Row], v: Vector, tau: Vector
) -> tuple[list[Scalar], list[Scalar]]:
    """Return a and f with ``M a = τ + Jᵀ f`` and ``J a + γ`` as it is wanted."""
    y = delassus.factor.solve_L_transposed(tau)
    f, y = delassus.held([row.bias(v, model.stabilization) for row in rows], y)
    return delassus.motion(y), f


@mechanism_algorithm(
    "impulse",
    outputs="v_next impulse",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "row_motion"),
)
def impulse(
    model: ConstrainedModel, q: Vector, v: Vector, contacts: ContactInputs = NONE_GIVEN
) -> tuple[list[Scalar], list[Scalar]]:
    """Velocity after an impact in which constraints begin to act, and their impulses.

    ``M (v⁺ − v) = Jᵀ λ`` and ``J v⁺ = −e J v``. Of a contact only the normal row rebounds, the others stick. Where
    anchors move, both velocities along the rows are those against the anchor, ``J v − ḋ``. Energy is not added where
    nothing rebounds, nor with one e for all normals where nothing slid before; else what sticks and rebounds at once
    can add some, which `contact_impulse` does not.

    References: RBDA section 11.7.

    >>> landed, blow = mech.impulse(q, v)
    >>> bool(abs(mech.constraint_jacobian(q) @ landed).max() < 1e-9)
    True
    """
    rows, e = model.constraint_rows(q, None, contacts), contacts.restitution
    delassus, b = delassus_of(model, q, rows), [row.speed(v) for row in rows]
    if e is not None:
        rebounds = zip(model.constraint_of_row, rows, strict=True)
        b = [x + e[k] * x if row.rebounds else x for x, (k, row) in zip(b, rebounds, strict=True)]
    f = delassus.forces(b)
    return plus(v, delassus.motion(delassus.joint_forces(f))), f


@mechanism_algorithm(
    "project_velocity", outputs="v_next", raises=SINGULAR, joint_space=True, group=taking("active", "row_motion")
)
def project_velocity(
    model: ConstrainedModel, q: Vector, v: Vector, contacts: ContactInputs = NONE_GIVEN
) -> list[Scalar]:
    """Velocity nearest to v that the constraints allow: of those with ``J v⁺ = 0``, that of least ``T(v⁺ − v)``.

    It is that after an impact without rebound, `impulse`.

    References: Gauss's principle of least constraint for velocities (RBDA section 11.7).

    >>> allowed = mech.project_velocity(q, v)
    >>> bool(abs(mech.constraint_jacobian(q) @ allowed).max() < 1e-9)
    True
    """
    return impulse(model, q, v, contacts)[0]


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
