"""The equations of the constraints, their forces, and what they leave free: dynamics in independent velocities."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.constraints.delassus import delassus_of
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.types import Row
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.functions import sqrt
from kinetree.scalars.linalg import dot, plus, times, transposed
from kinetree.spatial import Force, Scalar


@mechanism_algorithm("constraint_jacobian", outputs={"J": ("nrows", "nv")})
def constraint_jacobian(model: ConstrainedModel, q: Vector) -> Matrix:
    """Jacobian of the constraints: ``J(q) v = 0`` is what they allow.

    Returns
    -------
    J
        Row by row (``mech.row_slices``); the joint forces of the constraint forces f are ``Jᵀ f``.

    References: RBDA section 3.2 and eq. 8.2.

    >>> mech.constraint_jacobian(q).shape
    (12, 18)
    """
    return [list(row.J) for row in model.constraint_rows(q)]


@mechanism_algorithm("constraint_bias", outputs="gamma")
def constraint_bias(model: ConstrainedModel, q: Vector, v: Vector) -> list[Scalar]:
    """Acceleration along the constraints' rows due to the velocity alone, ``γ = J̇ v``.

    References: RBDA eq. 8.3, with the opposite sign.

    >>> mech.constraint_bias(q, v).shape
    (12,)
    """
    return [row.gamma for row in model.constraint_rows(q, v)]


@mechanism_algorithm("constraint_error", outputs="phi")
def constraint_error(model: ConstrainedModel, q: Vector) -> list[Scalar]:
    """How far positions are from what the constraints say, row by row; its rate is ``J v`` where it is zero.

    References: RBDA section 8.3.

    >>> mech.constraint_error(q).shape
    (12,)
    """
    return [0.0 if row.phi is None else row.phi for row in model.constraint_rows(q)]


@mechanism_algorithm("delassus_matrix", outputs="G", raises=SINGULAR, joint_space=True)
def delassus_matrix(model: ConstrainedModel, q: Vector) -> Matrix:
    """Inverse inertia that the constraints' forces meet: a force f accelerates along the rows by ``G f``.

    References: RBDA section 8.5, with ``M = LᵀDL``: ``G = (J L⁻¹) D⁻¹ (J L⁻¹)ᵀ``.

    >>> G, J = mech.delassus_matrix(q), mech.constraint_jacobian(q)
    >>> bool(abs(G - J @ robot.mass_matrix_inverse(q) @ J.T).max() < 1e-9)
    True
    """
    delassus = delassus_of(model, q, model.constraint_rows(q))
    return delassus.of_all(delassus.G)


@mechanism_algorithm("constraint_inertia", outputs={"Lambda": ("nrows", "nrows")}, raises=SINGULAR, joint_space=True)
def constraint_inertia(model: ConstrainedModel, q: Vector) -> Matrix:
    """Inertia that acts against accelerations along the constraints' rows: the pseudo-inverse of `delassus_matrix`.

    Returns
    -------
    Lambda
        ``(J M⁻¹ Jᵀ)⁺``, symmetric; the inverse where no row is redundant (kg, kg·m, kg·m²). Where rows are redundant
        and some meet inertias ten thousand times those of others, a pseudo-inverse that is not Moore and Penrose's.

    References: Khatib, A unified approach for motion and force control of robot manipulators (1987), for constraints.

    >>> G, Lambda = mech.delassus_matrix(q), mech.constraint_inertia(q)
    >>> bool(abs(G @ Lambda @ G - G).max() < 1e-9)
    True
    """
    delassus = delassus_of(model, q, model.constraint_rows(q))
    roots, scales = [1.0 / sqrt(d) for d in delassus.factor.D], delassus.scales
    W = [[b * r * s for b, r in zip(row, roots, strict=True)] for row, s in zip(delassus.B, scales, strict=True)]
    n = range(len(W))
    columns = PseudoInverse(W, model.nv, square=delassus.whole).times_columns(
        [[scales[i] if i == j else 0.0 for j in n] for i in n]  # W Wᵀ is G between the scales
    )
    return delassus.of_all([[dot(x, y) for y in columns] for x in columns])


@mechanism_algorithm("constraint_wrenches", outputs="f_ext")
def constraint_wrenches(model: ConstrainedModel, q: Vector, f: Vector) -> Matrix:
    """Wrenches that constraints exert on the bodies, as every function of the tree takes them.

    With these as ``f_ext``, `Robot.joint_reactions` and `Robot.inverse_dynamics` of ``mech.tree`` are those of the
    mechanism. A `Gear` acts between joints and has no wrench here: it is in `constraint_forces` only.

    Returns
    -------
    f_ext
        Moment and force on each body, in its axes about its origin (N·m, N).

    References: RBDA section 8.2: the wrench ``T λ`` on one body, and the opposite one on the other.

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> tau = mech.tree.inverse_dynamics(q, v, a, mech.constraint_wrenches(q, f))
    >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
    True
    """
    on = [Force.zero()] * model.nb
    for constraint, where in model.blocks:
        for i, wrench in constraint.wrenches(model, q, f[where]).items():
            on[i] = on[i] + wrench
    return [list(wrench) for wrench in on]


@mechanism_algorithm("constraint_forces", outputs="tau")
def constraint_forces(model: ConstrainedModel, q: Vector, f: Vector) -> list[Scalar]:
    """Joint forces equivalent to the constraints' forces, ``Jᵀ f``.

    References: RBDA eq. 8.4.

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> tau = mech.tree.inverse_dynamics(q, v, a) - mech.constraint_forces(q, f)
    >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
    True
    """
    return times(transposed([row.J for row in model.constraint_rows(q)]), f)


class Completion:
    """All velocities from the independent ones: ``J_d v_d = b − J v`` for a v in which the dependent ones are zero."""

    def __init__(self, model: ConstrainedModel, rows: Sequence[Row]) -> None:
        self.nv, self.rows, self.independent = model.nv, rows, model.independent_velocities
        self.inverse = PseudoInverse(
            [[0.0 if k in self.independent else x for k, x in enumerate(row.J)] for row in rows],
            model.nv,
            square=1.0,
            equations=model.squared(row.angular for row in rows),
            unknowns=model.squared(model.turning),
        )

    def __call__(self, given: Vector, b: Vector) -> list[Scalar]:
        """Return all velocities, or accelerations, with ``J v = b``."""
        v: list[Scalar] = [0.0] * self.nv
        for k, x in zip(self.independent, given, strict=True):
            v[k] = x
        return plus(v, self.inverse.times([x - dot(row.J, v) for x, row in zip(b, self.rows, strict=True)]))

    def columns(self) -> list[list[Scalar]]:
        """Return all velocities for each independent one alone, equal to 1."""
        columns = self.inverse.times_columns([[-row.J[k] for row in self.rows] for k in self.independent])
        for column, own in zip(columns, self.independent, strict=True):
            for k in self.independent:
                column[k] = float(k == own)
        return columns


@mechanism_algorithm("complete_velocity", outputs="v", group=taking("row_motion"))
def complete_velocity(
    model: ConstrainedModel, q: Vector, v_independent: Vector, contacts: ContactInputs = NONE_GIVEN
) -> list[Scalar]:
    """All velocities from the independent ones, ``J v = 0``.

    All constraints act. Where the independent velocities do not determine the others, in a singular configuration, v is
    the least of those that come next to ``J v = 0``.

    References: RBDA section 8.8: ``q̇ = G ẏ``.

    >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
    >>> bool(abs(mech.constraint_jacobian(q) @ v).max() < 1e-9)
    True
    """
    rows = model.constraint_rows(q, None, contacts)
    return Completion(model, rows)(v_independent, [row.anchor[1] for row in rows])


@mechanism_algorithm("complete_acceleration", outputs="a", group=taking("row_motion"))
def complete_acceleration(
    model: ConstrainedModel, q: Vector, v: Vector, a_independent: Vector, contacts: ContactInputs = NONE_GIVEN
) -> list[Scalar]:
    """All accelerations from the independent ones, ``J a + γ = 0``, at a velocity that the constraints allow.

    All constraints act. With it, `inverse_dynamics` has what it takes: an acceleration of the mechanism.

    References: RBDA section 8.8: ``q̈ = G ÿ + g``.

    >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
    >>> a = mech.complete_acceleration(q, v, [0.0] * len(mech.independent))
    >>> bool(abs(mech.constraint_jacobian(q) @ a + mech.constraint_bias(q, v)).max() < 1e-9)
    True
    """
    rows = model.constraint_rows(q, v, contacts)
    return Completion(model, rows)(a_independent, [row.anchor[2] - row.gamma for row in rows])


@mechanism_algorithm("velocity_map", outputs={"G": ("nv", "nindependent")})
def velocity_map(model: ConstrainedModel, q: Vector) -> Matrix:
    """Map from the independent velocities to all, ``v = G ẏ``.

    Returns
    -------
    G
        Its columns are velocities that the constraints allow, ``J G = 0``; ``Gᵀ τ`` are the forces that the independent
        velocities meet.

    References: RBDA sections 3.2 and 8.8.

    >>> G = mech.velocity_map(q)
    >>> bool(abs(mech.constraint_jacobian(q) @ G).max() < 1e-9)
    True
    """
    columns = Completion(model, model.constraint_rows(q)).columns()
    return transposed(columns) if columns else [[] for _ in range(model.nv)]


@mechanism_algorithm("reduced_mass_matrix", outputs={"M": ("nindependent", "nindependent")}, joint_space=True)
def reduced_mass_matrix(model: ConstrainedModel, q: Vector) -> Matrix:
    """Mass matrix of the independent velocities, ``GᵀMG``.

    References: RBDA section 3.2, the equation of motion with explicit constraints.

    >>> G, M = mech.velocity_map(q), robot.mass_matrix(q)
    >>> bool(abs(mech.reduced_mass_matrix(q) - G.T @ M @ G).max() < 1e-9)
    True
    """
    columns = Completion(model, model.constraint_rows(q)).columns()
    M = crba(model, q)
    moved = [times(M, column) for column in columns]
    n = range(len(columns))
    return [[dot(columns[min(i, j)], moved[max(i, j)]) for j in n] for i in n]


@mechanism_algorithm("reduced_bias", outputs={"h": ("nindependent",)}, joint_space=True, group=taking("row_motion"))
def reduced_bias(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    f_ext_frame: str = "body",
) -> list[Scalar]:
    """Bias forces of the independent velocities, ``Gᵀ(M g + h)`` where ``a = G ÿ + g``.

    With `reduced_mass_matrix`, ``GᵀMG ÿ + Gᵀ(M g + h) = Gᵀ τ`` is the equation of motion without constraint forces.

    Returns
    -------
    h
        Velocity products, gravity and springs, and what f_ext takes off (N·m, N).

    References: RBDA section 3.2, the equation of motion with explicit constraints.

    >>> v = mech.complete_velocity(q, [0.1] * len(mech.independent))
    >>> a = mech.complete_acceleration(q, v, [0.0] * len(mech.independent))
    >>> force = mech.velocity_map(q).T @ robot.inverse_dynamics(q, v, a)
    >>> bool(abs(mech.reduced_bias(q, v) - force).max() < 1e-9)
    True
    """
    rows = model.constraint_rows(q, v, contacts)
    complete = Completion(model, rows)
    a = complete([0.0] * len(complete.independent), [row.anchor[2] - row.gamma for row in rows])
    forces = rnea(model, q, v, a, f_ext, f_ext_frame=f_ext_frame)
    return [dot(column, forces) for column in complete.columns()]
