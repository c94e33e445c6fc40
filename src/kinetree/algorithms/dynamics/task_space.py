"""Dynamics of a frame: Modern Robotics' task-space form, and Khatib's operational space."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces
from kinetree.algorithms.kinematics.jacobian import jacobian_bias
from kinetree.algorithms.recursions.operational_space import TOO_FEW, consistent_inverse, inertia, operational
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Model
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.spatial import Scalar


@algorithm("task_space_dynamics", outputs="Lambda eta", raises=TOO_FEW, joint_space=True)
def task_space_dynamics(
    model: Model, q: Vector, V: Vector, *, frame: str, reference: str = "body"
) -> tuple[Matrix, list[Scalar]]:
    """Equation of motion of a frame from its velocity, ``F = Λ(q) V̇ + η(q, V)``; V̇ is the rate of the six numbers V.

    With six joints, ``Λ = J⁻ᵀ M J⁻¹`` and ``η = J⁻ᵀ h(q, J⁻¹ V) − Λ J̇ J⁻¹ V``. With more, the dynamically consistent
    inverse replaces ``J⁻¹``: the joints move at V with the least kinetic energy. Where J loses rank, the results are
    huge or not finite.

    References: MR eqs. 8.89 to 8.91.
    """
    space = operational(model, q, frame, reference)
    Lambda, J_bar = inertia(space), consistent_inverse(space)
    v = times(J_bar, V)
    h = times(transposed(J_bar), bias_forces(model, q, v))
    drift = times(Lambda, jacobian_bias(model, q, v, frame=frame, reference=reference))
    return Lambda, [x - y for x, y in zip(h, drift, strict=True)]


@algorithm("operational_space_dynamics", outputs="Lambda mu p", raises=TOO_FEW, joint_space=True)
def operational_space_dynamics(
    model: Model, q: Vector, v: Vector, *, frame: str, reference: str = "body"
) -> tuple[Matrix, list[Scalar], list[Scalar]]:
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, for any number of joints; V̇ is the rate of ``V = J v``.

    References: Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation", IEEE Journal of Robotics and Automation 3(1), 1987.
    """
    space = operational(model, q, frame, reference)
    Lambda, J_bar_T = inertia(space), transposed(consistent_inverse(space))
    Cv = bias_forces(model.with_gravity((0.0, 0.0, 0.0)), q, v)
    drift = times(Lambda, jacobian_bias(model, q, v, frame=frame, reference=reference))
    mu = [x - y for x, y in zip(times(J_bar_T, Cv), drift, strict=True)]
    return Lambda, mu, times(J_bar_T, gravity_forces(model, q))


@algorithm("operational_inertia", outputs="Lambda", raises=TOO_FEW, joint_space=True)
def operational_inertia(model: Model, q: Vector, *, frame: str, reference: str = "body") -> Matrix:
    """Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``.

    References: Khatib 1987; with six joints, MR eq. 8.90.
    """
    return inertia(operational(model, q, frame, reference))


@algorithm("dynamically_consistent_inverse", outputs="J_bar", raises=TOO_FEW, joint_space=True)
def dynamically_consistent_inverse(model: Model, q: Vector, *, frame: str, reference: str = "body") -> Matrix:
    """Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``.

    Of all v with ``J v = V``, ``J̄ V`` has the least kinetic energy; ``J̄ᵀ τ`` is the frame's wrench equivalent to τ.

    References: Khatib 1987.
    """
    return consistent_inverse(operational(model, q, frame, reference))


@algorithm("null_space_projector", outputs="N", raises=TOO_FEW, joint_space=True)
def null_space_projector(model: Model, q: Vector, *, frame: str) -> Matrix:
    """Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame.

    Its transpose projects velocities and accelerations: ``J Nᵀ = 0``.

    References: Khatib 1987.

    >>> N = robot.null_space_projector(q, frame="panda_hand")
    >>> bool(abs(robot.jacobian(q, frame="panda_hand") @ N.T).max() < 1e-12)
    True
    """
    space = operational(model, q, frame, "body")
    J_T, J_bar = transposed(space.J), consistent_inverse(space)
    return [[float(i == j) - dot(J_T[i], J_bar[j]) for j in range(model.nv)] for i in range(model.nv)]
