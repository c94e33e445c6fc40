"""Dynamics seen from a frame: Modern Robotics' task-space form, and Khatib's operational space."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.operational_space import consistent_inverse, inertia, operational
from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces
from kinetree.algorithms.kinematics.jacobian import Matrix, jacobian_bias
from kinetree.algorithms.recursions.path import REFERENCES
from kinetree.algorithms.registry import OneFrame, Option, algorithm
from kinetree.model import Model
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.spatial import Scalar

OPTIONS: dict[str, Option] = {"frame": OneFrame(), "reference": REFERENCES}


@algorithm(
    "task_space_dynamics",
    inputs={"q": ("nq",), "V": (6,)},
    options=OPTIONS,
    outputs={"Lambda": (6, 6), "eta": (6,)},
    joint_space=True,
)
def task_space_dynamics(
    model: Model, q: Sequence[Scalar], V: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> tuple[Matrix, list[Scalar]]:
    """Equation of motion of a frame, ``F = Λ(q) V̇ + η(q, V)``, from its velocity.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    V : (..., 6) array
        Spatial velocity of the frame, angular first (rad/s, m/s).
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes and point of V, V̇ and F, as for ``robot.jacobian``; V̇ is the rate of the six numbers V.

    Returns
    -------
    Lambda : (..., 6, 6) array
        Inertia seen at the frame (kg·m², kg·m, kg).
    eta : (..., 6) array
        Wrench at ``V̇ = 0``: velocity products and gravity (N·m, N). ``Jᵀ F`` are the joint forces.

    Raises
    ------
    ModelError
        If there is no frame of that name, or fewer than six joint velocities move it.

    Notes
    -----
    With six joints, ``Λ = J⁻ᵀ M J⁻¹`` and ``η = J⁻ᵀ h(q, J⁻¹ V) − Λ J̇ J⁻¹ V``. With more, the dynamically
    consistent inverse takes the place of ``J⁻¹``: the joints move at V with the least kinetic energy. Where J loses
    rank, the results are not finite or huge.

    References
    ----------
    MR eqs. 8.89 to 8.91.
    """
    space = operational(model, q, frame, reference)
    Lambda, J_bar = inertia(space), consistent_inverse(space)
    v = times(J_bar, V)
    h = times(transposed(J_bar), bias_forces(model, q, v))
    drift = times(Lambda, jacobian_bias(model, q, v, frame=frame, reference=reference))
    return Lambda, [x - y for x, y in zip(h, drift, strict=True)]


@algorithm(
    "operational_space_dynamics",
    inputs={"q": ("nq",), "v": ("nv",)},
    options=OPTIONS,
    outputs={"Lambda": (6, 6), "mu": (6,), "p": (6,)},
    joint_space=True,
)
def operational_space_dynamics(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> tuple[Matrix, list[Scalar], list[Scalar]]:
    """Equation of motion of a frame, ``F = Λ V̇ + μ + p``, of an arm with any number of joints.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes and point of V̇ and F, as for ``robot.jacobian``; V̇ is the rate of the six numbers ``V = J v``.

    Returns
    -------
    Lambda : (..., 6, 6) array
        ``(J M⁻¹ Jᵀ)⁻¹`` (kg·m², kg·m, kg).
    mu : (..., 6) array
        Velocity products, ``J̄ᵀ C v − Λ J̇ v`` (N·m, N), with joint friction where it is on.
    p : (..., 6) array
        Gravity, ``J̄ᵀ g`` (N·m, N).

    Raises
    ------
    ModelError
        If there is no frame of that name, or fewer than six joint velocities move it.

    References
    ----------
    Khatib, A unified approach for motion and force control of robot manipulators: the operational space
    formulation, IEEE Journal of Robotics and Automation 3(1), 1987.
    """
    space = operational(model, q, frame, reference)
    Lambda, J_bar_T = inertia(space), transposed(consistent_inverse(space))
    Cv = bias_forces(model.with_gravity((0.0, 0.0, 0.0)), q, v)
    drift = times(Lambda, jacobian_bias(model, q, v, frame=frame, reference=reference))
    mu = [x - y for x, y in zip(times(J_bar_T, Cv), drift, strict=True)]
    return Lambda, mu, times(J_bar_T, gravity_forces(model, q))


@algorithm(
    "operational_inertia",
    inputs={"q": ("nq",)},
    options=OPTIONS,
    outputs={"Lambda": (6, 6)},
    joint_space=True,
)
def operational_inertia(model: Model, q: Sequence[Scalar], *, frame: str, reference: str = "body") -> Matrix:
    """Inertia of the robot as felt at a frame, ``Λ = (J M⁻¹ Jᵀ)⁻¹``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes and point, as for ``robot.jacobian``.

    Returns
    -------
    (..., 6, 6) array
        Symmetric (kg·m², kg·m, kg).

    Raises
    ------
    ModelError
        If there is no frame of that name, or fewer than six joint velocities move it.

    References
    ----------
    Khatib 1987; with six joints, MR eq. 8.90.
    """
    return inertia(operational(model, q, frame, reference))


@algorithm(
    "dynamically_consistent_inverse",
    inputs={"q": ("nq",)},
    options=OPTIONS,
    outputs={"J_bar": ("nv", 6)},
    joint_space=True,
)
def dynamically_consistent_inverse(model: Model, q: Sequence[Scalar], *, frame: str, reference: str = "body") -> Matrix:
    """Inverse of the Jacobian weighted by the inertia, ``J̄ = M⁻¹ Jᵀ Λ``.

    Of all v with ``J v = V``, ``J̄ V`` has the least kinetic energy. ``J̄ᵀ τ`` is the wrench at the frame that joint
    forces amount to.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes and point, as for ``robot.jacobian``.

    Returns
    -------
    (..., nv, 6) array
        ``J J̄ = 1``.

    Raises
    ------
    ModelError
        If there is no frame of that name, or fewer than six joint velocities move it.

    References
    ----------
    Khatib 1987.
    """
    return consistent_inverse(operational(model, q, frame, reference))


@algorithm(
    "null_space_projector",
    inputs={"q": ("nq",)},
    options={"frame": OneFrame()},
    outputs={"N": ("nv", "nv")},
    joint_space=True,
)
def null_space_projector(model: Model, q: Sequence[Scalar], *, frame: str) -> Matrix:
    """Projector of joint forces, ``N = 1 − Jᵀ J̄ᵀ``: ``N τ`` does not accelerate the frame.

    Its transpose projects velocities and accelerations: ``J Nᵀ = 0``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame : str
        Name of the frame (``robot.frame_names``).

    Returns
    -------
    (..., nv, nv) array
        ``N N = N``; zero for an arm of six joints.

    Raises
    ------
    ModelError
        If there is no frame of that name, or fewer than six joint velocities move it.

    References
    ----------
    Khatib 1987.
    """
    space = operational(model, q, frame, "body")
    J_T, J_bar = transposed(space.J), consistent_inverse(space)
    return [[float(i == j) - dot(J_T[i], J_bar[j]) for j in range(model.nv)] for i in range(model.nv)]
