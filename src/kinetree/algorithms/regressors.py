"""Regressors: dynamics as linear functions of the inertial parameters, ten per body.

A column is the result for a body with that parameter one and all others zero, by the formulas of the dynamics.
"""

from __future__ import annotations

from kinetree.algorithms.quantities import body_energy
from kinetree.algorithms.recursions.tree import body_motions, body_velocities, world_transforms
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Inertia, Motion, Scalar, Vec3

UNITS = tuple(Inertia.from_parameters(float(j == k) for j in range(10)) for k in range(10))
"""Ten inertias, each with one parameter equal to one and the others zero."""


@algorithm("joint_torque_regressor", outputs="Y")
def joint_torque_regressor(model: Model, q: Vector, v: Vector, a: Vector) -> Matrix:
    """Joint forces as a linear function of the inertial parameters, ``inverse_dynamics(q, v, a) = Y φ``.

    Row k is zero for the bodies that joint k does not carry. Armature and friction, which are no parameters of the
    bodies, add the product with `joint_physics_regressor`; springs add ``k (q − q_rest)``.

    References: Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links", 1986:
    with body i's wrench ``f_i = A_i φ_i``, ``Y_ki = (iXj S_k)ᵀ A_i`` for the joints k that carry i.

    >>> tau = robot.joint_torque_regressor(q, v, a) @ robot.inertial_parameters
    >>> bool(abs(tau - robot.inverse_dynamics(q, v, a)).max() < 1e-9)
    True
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    Y: Matrix = [[0.0] * (10 * model.nb) for _ in range(model.nv)]
    carrying: list[list[tuple[int, Motion]]] = []  # for every body, S_k of the joints that carry it
    for i, (body, motion) in enumerate(zip(model.bodies, body_motions(model, states, a), strict=True)):
        above = [] if body.parent == WORLD else carrying[body.parent]
        own = zip(body.v_index, states[i].S, strict=True)
        carrying.append([*((k, states[i].Xup @ S_k) for k, S_k in above), *own])
        for p, unit in enumerate(UNITS, start=10 * i):
            f = unit.wrench(*motion)
            for k, S_k in carrying[i]:
                Y[k][p] = Y[k][p] + S_k.dot(f)
    return Y


@algorithm("momentum_regressor", outputs={"Y": (6, "10*nb")})
def momentum_regressor(model: Model, q: Vector, v: Vector) -> Matrix:
    """Momentum of the robot about the world's origin as a linear function of the inertial parameters, ``h_0 = Y φ``.

    Rows: angular momentum (N·m·s), then linear momentum (N·s), in the world's axes. About the centre of mass
    (`centroidal_momentum`) it would not be linear.

    References: RBDA sections 2.12 and 2.13: ``h_0 = Σ iX0ᵀ I_i v_i``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    transforms = world_transforms(model, states)
    columns = [
        X.T @ (unit @ v_i) for X, v_i in zip(transforms, body_velocities(model, states), strict=True) for unit in UNITS
    ]
    return [list(row) for row in zip(*columns, strict=True)]


@algorithm("kinetic_energy_regressor", outputs={"Y": ("10*nb",)})
def kinetic_energy_regressor(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Kinetic energy of the bodies as a linear function of the inertial parameters, ``T = Y·φ``.

    References: RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``; armature adds ``½ I_rotor v²`` at each joint.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    return [body_energy(unit, v_i) for v_i in body_velocities(model, states) for unit in UNITS]


@algorithm("potential_energy_regressor", outputs={"Y": ("10*nb",)})
def potential_energy_regressor(model: Model, q: Vector) -> list[Scalar]:
    """Potential energy of the bodies as a linear function of the inertial parameters, ``V = Y·φ``, without springs.

    ``V = −Σ (m_i g·r_i + g·(m c)_i)``, with g and the heights of the origins propagated outwards in body coordinates.
    It is zero for the moments of inertia.
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
