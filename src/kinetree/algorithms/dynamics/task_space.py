"""Dynamics of a frame: Modern Robotics' task-space form, and Khatib's operational space."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.kinematics.jacobian import jacobian_bias
from kinetree.algorithms.recursions.operational_space import (
    consistent_inverse,
    inertia,
    null_space,
    operational,
    selected,
)
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Model
from kinetree.scalars.linalg import times, transposed
from kinetree.spatial import Scalar


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
    damping, N is no projector: it leaves a part of the forces along directions that are nearly singular.

    There is no `reference`, as N is the same in all of them; with ``rows="position"`` or damping it is that of "body"
    and "aligned", whose rows are of the frame's origin.

    References: Khatib 1987.

    >>> N = robot.null_space_projector(q, frame="panda_hand")
    >>> bool(abs(robot.jacobian(q, frame="panda_hand") @ N.T).max() < 1e-12)
    True
    """
    return null_space(operational(model, q, frame, "body", rows, damping))
