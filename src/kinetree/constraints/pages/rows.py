"""The equations of the constraints, how they are coupled, and their forces on joints and bodies."""

from __future__ import annotations

from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.constraints.delassus import delassus_of
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.functions import sqrt
from kinetree.scalars.linalg import dot, times, transposed
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
    return delassus_of(model, q, model.constraint_rows(q)).matrix


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
    inertia: Matrix = [[0.0] * delassus.n for _ in range(delassus.n)]
    for i, x in zip(delassus.kept, columns, strict=True):
        for j, y in zip(delassus.kept, columns, strict=True):
            inertia[i][j] = dot(x, y) if i <= j else inertia[j][i]
    return inertia


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
