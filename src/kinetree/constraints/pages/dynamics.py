"""Forward and hybrid dynamics with constraints, and impulses: velocities that change at once so that they hold."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import ltdl
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR, block, refuse_singular, velocities
from kinetree.algorithms.registry import Vector
from kinetree.constraints.delassus import Delassus, delassus_of
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.types import Row
from kinetree.errors import ArgumentError, listed
from kinetree.scalars.linalg import dot, minus, plus, transposed
from kinetree.spatial import Scalar


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
