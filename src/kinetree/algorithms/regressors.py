"""Regressors: dynamics as linear functions of the inertial parameters, ten a body.

A column is what a body with that parameter one and all others zero would do; the structure of each follows from
the same formulas as the dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics.forward import world_transforms
from kinetree.algorithms.quantities.energy import body_energy
from kinetree.algorithms.recursions.motions import body_motions, body_velocities
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Inertia, Motion, Scalar, Vec3

UNITS = tuple(Inertia.from_parameters(float(j == k) for j in range(10)) for k in range(10))
"""Ten inertias, each with one parameter one and the others zero."""


@algorithm(
    "joint_torque_regressor",
    inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)},
    outputs={"Y": ("nv", "10*nb")},
)
def joint_torque_regressor(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Joint forces as a linear function of the inertial parameters: ``inverse_dynamics(q, v, a) = Y φ``.

    Armature and friction, which are no parameters of the bodies, add what `joint_physics_regressor` has.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².

    Returns
    -------
    (..., nv, 10 nb) array
        Y, for φ = ``robot.inertial_parameters``: ten a body in the order of ``robot.body_names``, (m, m c_x, m c_y,
        m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes. Row k is zero for the
        bodies that joint k does not carry.

    References
    ----------
    Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links", 1986: body i's
    wrench is linear in its parameters, ``f_i = A_i φ_i``, and ``Y_ki = (iXj S_k)ᵀ A_i`` for the joints that carry i.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    Y: list[list[Scalar]] = [[0.0] * (10 * model.nb) for _ in range(model.nv)]
    carrying: list[list[tuple[int, Motion]]] = []  # for every body, the columns S_k of the joints that carry it
    for i, (body, motion) in enumerate(zip(model.bodies, body_motions(model, states, a), strict=True)):
        above = [] if body.parent == WORLD else carrying[body.parent]
        own = zip(body.v_index, states[i].S, strict=True)
        carrying.append([*((k, states[i].Xup @ S_k) for k, S_k in above), *own])
        for p, unit in enumerate(UNITS, start=10 * i):
            f = unit.wrench(*motion)
            for k, S_k in carrying[i]:
                Y[k][p] = Y[k][p] + S_k.dot(f)
    return Y


@algorithm("momentum_regressor", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"Y": (6, "10*nb")})
def momentum_regressor(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """Momentum of the robot about the world's origin as a linear function of the inertial parameters: ``h_0 = Y φ``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., 6, 10 nb) array
        Y, for φ as in `joint_torque_regressor`; rows: angular momentum about the world's origin (N·m·s), then linear
        momentum (N·s), in the world's axes. About the centre of mass, `centroidal_momentum`, it would not be
        linear.

    References
    ----------
    RBDA sections 2.12 and 2.13: ``h_0 = Σ iX0ᵀ I_i v_i``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    transforms = world_transforms(model, states)
    columns = [
        X.T @ (unit @ v_i) for X, v_i in zip(transforms, body_velocities(model, states), strict=True) for unit in UNITS
    ]
    return [list(row) for row in zip(*columns, strict=True)]


@algorithm("kinetic_energy_regressor", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"Y": ("10*nb",)})
def kinetic_energy_regressor(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Kinetic energy of the bodies as a linear function of the inertial parameters: ``T = Y·φ``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., 10 nb) array
        Y, for φ as in `joint_torque_regressor`. Armature adds ``½ I_rotor v²`` at each joint.

    References
    ----------
    RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    return [body_energy(unit, v_i) for v_i in body_velocities(model, states) for unit in UNITS]


@algorithm("potential_energy_regressor", inputs={"q": ("nq",)}, outputs={"Y": ("10*nb",)})
def potential_energy_regressor(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Potential energy as a linear function of the inertial parameters: ``V = Y·φ``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., 10 nb) array
        Y, for φ as in `joint_torque_regressor`; zero for the moments of inertia.

    References
    ----------
    ``V = −Σ (m_i g·r_i + g·(m c)_i)``, g and the origins' heights carried outwards in body coordinates.
    """
    Y: list[Scalar] = []
    field: list[tuple[Scalar, Vec3]] = []  # for every body −g·r of its origin, and g in its axes
    for i, body in enumerate(model.bodies):
        height, g = (0.0, model.gravity) if body.parent == WORLD else field[body.parent]
        for X in (body.X_T, model.jcalc(i, q).X_J):
            height, g = height - g.dot(X.r), X.E.to_b(g)
        field.append((height, g))
        Y += [height, *(-g), *[0.0] * 6]
    return Y
