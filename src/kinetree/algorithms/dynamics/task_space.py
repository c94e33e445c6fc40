"""Dynamics of a frame: wrenches on it, Modern Robotics' task-space form, Khatib's operational space."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.kinematics.frames import jacobian, jacobian_bias
from kinetree.algorithms.recursions.path import Path, path_to
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.glossary.symbols import ROWS
from kinetree.model import Model
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.scalars.orthogonal import orthogonal_rows
from kinetree.spatial import Force, Scalar, Transform, sqrt
from kinetree.spatial.vector import ZERO


@algorithm("external_wrench", outputs="f_ext")
def external_wrench(
    model: Model, q: Vector, wrench: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> Matrix:
    """External forces ``f_ext`` equivalent to a wrench on a frame, for every function that takes ``f_ext``.

    Add the results for several wrenches. With the reference "body" the result does not depend on q.

    Parameters
    ----------
    wrench
        Moment and force (n, f) exerted *on* the robot (N·m, N): the negative of MR's ``F_tip``.

    Returns
    -------
    f_ext
        Wrenches in body axes about each body's origin (``f_ext_frame="body"``), zero except for the body that
        carries the frame; all zero for a frame that is fixed to the world.

    >>> push = robot.external_wrench(q, [0, 0, 0, 10, 0, 0], frame="panda_hand", reference="aligned")
    >>> robot.inverse_dynamics(q, v, a, push).shape
    (7,)
    """
    path, f = path_to(model, frame, q, point=point), Force.of(wrench)
    f_ext: Matrix = [[0.0] * 6 for _ in range(model.nb)]
    if path.links:
        f_ext[path.links[-1].i] = list(on_last_body(path, f, reference))
    return f_ext


@algorithm("wrench_forces", outputs="tau")
def wrench_forces(
    model: Model, q: Vector, wrench: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Joint forces equivalent to a wrench on a frame: ``Jᵀ F`` for the J of the same reference, without forming J.

    Parameters
    ----------
    wrench
        Moment and force (n, f) (N·m, N). If it is exerted on the robot, the result adds to the joint forces; if it is
        wanted at the frame, the result is the joint forces that produce it.

    References: MR eq. 5.26. From the frame to the base: ``τ_i = S_iᵀ f_i``, ``f_λ = λXi* f_i`` (RBDA Table 5.1).
    """
    path = path_to(model, frame, q, point=point)
    f = on_last_body(path, Force.of(wrench), reference)
    tau: list[Scalar] = [0.0] * model.nv
    for _, body, state in reversed(path.links):
        for k, S_k in zip(body.v_index, state.S, strict=True):
            tau[k] = tau[k] + S_k.dot(f)
        f = state.Xup.T @ f
    return tau


def on_last_body(path: Path, f: Force, reference: str) -> Force:
    """Return a wrench on the frame, given in the reference, in coordinates of the path's last body."""
    if reference == "body":
        return path.X.T @ f
    for _, body, state in path.links:
        for X in (body.X_T, state.X_J):
            f = (X if reference == "world" else Transform(X.E, ZERO)) @ f
    return f if reference == "world" else Transform.translation(path.X.r).T @ f


class OperationalSpace(NamedTuple):
    """The rows of a frame's Jacobian weighted by the mass matrix, made orthogonal: of ``B = J L⁻¹ D^-½``, ``K B = Q``.

    E⁺ has the inverses of the squared norms of Q's rows, so that ``(J M⁻¹ Jᵀ)⁺ = Kᵀ E⁺ K``; B Bᵀ, which would lose half
    of the digits, is never formed. With damping d, ``[B d]`` takes the place of B.
    """

    factor: Factor
    root_D: list[Scalar]
    scale: list[Scalar]  # D^-½
    K: Matrix
    Q: Matrix
    E_plus: list[Scalar]


def operational(
    model: Model, q: Vector, frame: str, reference: str, rows: str, damping: Scalar | None
) -> OperationalSpace:
    """Return the factors for these rows of a frame's Jacobian."""
    J, factor = jacobian(model, q, frame=frame, reference=reference), factorised(model, q)
    root_D = [sqrt(d) for d in factor.D]
    scale = [1.0 / d for d in root_D]
    B = [[y * s for y, s in zip(factor.solve_L_transposed(row), scale, strict=True)] for row in selected(J, rows)]
    if damping is not None:
        B = [[*row, *(damping if i == j else 0.0 for j in range(len(B)))] for i, row in enumerate(B)]
    K, Q, E_plus = orthogonal_rows(B)
    return OperationalSpace(factor, root_D, scale, K, [row[: model.nv] for row in Q], E_plus)


def selected(x: list[Scalar], rows: str) -> list[Scalar]:
    """Return these of six rows or numbers, the angular ones being first."""
    return x[ROWS[rows]]


def inertia(space: OperationalSpace) -> Matrix:
    """Return ``Λ = Kᵀ E⁺ K``."""
    columns, m = transposed(space.K), len(space.K)
    weighted = [_weighted(space, column) for column in columns]
    lower = [[dot(columns[i], weighted[j]) for j in range(i + 1)] for i in range(m)]
    return [[lower[max(i, j)][min(i, j)] for j in range(m)] for i in range(m)]


def consistent_inverse(space: OperationalSpace) -> Matrix:
    """Return the columns of ``J̄ = M⁻¹ Jᵀ Λ = L⁻¹ D^-½ Qᵀ E⁺ K``."""
    return [_joint_velocities(space, _weighted(space, column)) for column in transposed(space.K)]


def null_space(space: OperationalSpace) -> Matrix:
    """Return ``1 − Jᵀ J̄ᵀ = 1 − (Lᵀ D^½ Qᵀ) E⁺ (Q D^-½ L⁻ᵀ)``: the rows of Q being orthogonal, it is a projector."""
    left, right = [], []
    for k, row in enumerate(space.Q):
        left.append(space.factor.times_L_transposed([x * d for x, d in zip(row, space.root_D, strict=True)]))
        unit = [float(i == k) for i in range(len(space.Q))]
        right.append(_joint_velocities(space, _weighted(space, unit)))
    n = range(len(space.root_D))
    return [[float(i == j) - dot(transposed(left)[i], transposed(right)[j]) for j in n] for i in n]


def _weighted(space: OperationalSpace, column: Vector) -> list[Scalar]:
    return [x * e for x, e in zip(column, space.E_plus, strict=True)]


def _joint_velocities(space: OperationalSpace, x: Vector) -> list[Scalar]:
    """Return ``L⁻¹ D^-½ Qᵀ x``."""
    return space.factor.solve_L([dot(row, x) * s for row, s in zip(transposed(space.Q), space.scale, strict=True)])


@algorithm("task_space_dynamics", outputs="Lambda eta", raises=SINGULAR, joint_space=True)
def task_space_dynamics(
    model: Model,
    q: Vector,
    V: Vector,
    damping: Scalar | None = None,
    *,
    frame: str,
    reference: str = "body",
    rows: str = "pose",
) -> tuple[Matrix, list[Scalar]]:
    """Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the numbers V.

    With six joints, ``Λ = J⁻ᵀ M J⁻¹`` and ``η = J⁻ᵀ h(q, J⁻¹ V) − Λ J̇ J⁻¹ V``. With others, the dynamically consistent
    inverse replaces ``J⁻¹``: the joints move at V with the least kinetic energy. Where J loses rank, Λ and that inverse
    are pseudo-inverses (see `operational_inertia`): of V the part counts that the frame can have.

    References: MR eqs. 8.89 to 8.91.
    """
    space = operational(model, q, frame, reference, rows, damping)
    Lambda, J_bar_T = inertia(space), consistent_inverse(space)
    v = times(transposed(J_bar_T), V)
    h = times(J_bar_T, bias_forces(model, q, v))
    drift = times(Lambda, selected(jacobian_bias(model, q, v, frame=frame, reference=reference), rows))
    return Lambda, [x - y for x, y in zip(h, drift, strict=True)]


@algorithm("operational_space_dynamics", outputs="Lambda mu p", raises=SINGULAR, joint_space=True)
def operational_space_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    damping: Scalar | None = None,
    *,
    frame: str,
    reference: str = "body",
    rows: str = "pose",
) -> tuple[Matrix, list[Scalar], list[Scalar]]:
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``.

    Where J loses rank, Λ is a pseudo-inverse (see `operational_inertia`), and the equation holds for the directions in
    which the frame can accelerate; in the others F, μ and p have no part.

    References: Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation", IEEE Journal of Robotics and Automation 3(1), 1987.
    """
    space = operational(model, q, frame, reference, rows, damping)
    Lambda, J_bar_T = inertia(space), consistent_inverse(space)
    Cv = bias_forces(model.with_gravity((0.0, 0.0, 0.0)), q, v)
    drift = times(Lambda, selected(jacobian_bias(model, q, v, frame=frame, reference=reference), rows))
    mu = [x - y for x, y in zip(times(J_bar_T, Cv), drift, strict=True)]
    return Lambda, mu, times(J_bar_T, gravity_forces(model, q))


@algorithm("operational_inertia", outputs="Lambda", raises=SINGULAR, joint_space=True)
def operational_inertia(
    model: Model,
    q: Vector,
    damping: Scalar | None = None,
    *,
    frame: str,
    reference: str = "body",
    rows: str = "pose",
) -> Matrix:
    """Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``.

    Where J loses rank, as that of an arm of fewer joints than rows always does, it is the Moore–Penrose pseudo-inverse
    ``(J M⁻¹ Jᵀ)⁺``: no inertia in directions in which the frame cannot move. What is orthogonal to these directions
    depends on the units, where rows of rad and of m are mixed.

    Notes
    -----
    Singular values of ``J M^-½``, with the rows of J as they are, in rad and in m, count relative to the largest: as
    zero below 0.7e-8 of it (in float32 1.7e-4), as they are above 1.1e-8 (2.4e-4), the roots of the rounding. Where
    none lies between 0.7e-8 and 1e-7, Λ has a relative error of less than 1e-9, exactly at singularities too. Near
    them Λ is large: it grows with the square of the inverse of the smallest singular value that counts. `damping`
    bounds it by 1/d².

    References: Khatib 1987; with six joints, MR eq. 8.90. Damping: Nakamura and Hanafusa, "Inverse kinematic solutions
    with singularity robustness for robot manipulator control", Journal of Dynamic Systems, Measurement, and Control
    108(3), 1986.
    """
    return inertia(operational(model, q, frame, reference, rows, damping))


@algorithm("dynamically_consistent_inverse", outputs="J_bar", raises=SINGULAR, joint_space=True)
def dynamically_consistent_inverse(
    model: Model,
    q: Vector,
    damping: Scalar | None = None,
    *,
    frame: str,
    reference: str = "body",
    rows: str = "pose",
) -> Matrix:
    """Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``.

    Of all v with ``J v = V``, ``J̄ V`` has the least kinetic energy; ``J̄ᵀ τ`` is the frame's wrench equivalent to τ.
    Where J loses rank (see `operational_inertia`), ``J̄ = M^-½ (J M^-½)⁺``: of all v that leave the least
    ``‖J v − V‖``, in the units of the rows, ``J̄ V`` has the least kinetic energy, and ``J J̄`` is the orthogonal
    projector onto the velocities that the frame can have.

    References: Khatib 1987.
    """
    return transposed(consistent_inverse(operational(model, q, frame, reference, rows, damping)))


@algorithm("null_space_projector", outputs="N", raises=SINGULAR, joint_space=True)
def null_space_projector(
    model: Model, q: Vector, damping: Scalar | None = None, *, frame: str, rows: str = "pose"
) -> Matrix:
    """Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame.

    Its transpose projects velocities and accelerations: ``J Nᵀ = 0``. Both hold where J loses rank too, and near
    there; a singular value that counts as zero (see `operational_inertia`) is what then remains of ``J Nᵀ``. With
    damping, N is not a projector: it leaves a part of the forces along directions that are nearly singular.

    There is no `reference`, as N is the same in all of them; with ``rows="position"`` or damping it is that of "body"
    and "aligned", whose rows are of the frame's origin.

    References: Khatib 1987.

    >>> N = robot.null_space_projector(q, frame="panda_hand")
    >>> bool(abs(robot.jacobian(q, frame="panda_hand") @ N.T).max() < 1e-12)
    True
    """
    return null_space(operational(model, q, frame, "body", rows, damping))
