"""Friction and rotor inertia in the joints."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.registry import algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar, sqrt


def smooth_sign(model: Model, v: Scalar) -> Scalar:
    """Return ``v / sqrt(v² + s²)``: the sign of v, smooth around zero."""
    s = model.friction.smoothing
    return v / sqrt(v * v + s * s)


def friction_forces(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """Return the joint forces that overcome friction, of the kinds that the model has turned on."""
    forces: list[Scalar] = [0.0] * model.nv
    for body in model.bodies:
        for k, damping, coulomb in zip(body.v_index, body.damping, body.friction, strict=True):
            if model.friction.damping:
                forces[k] = forces[k] + damping * v[k]
            if model.friction.coulomb:
                forces[k] = forces[k] + coulomb * smooth_sign(model, v[k])
    return forces


@algorithm("joint_physics_regressor", inputs={"v": ("nv",), "a": ("nv",)}, outputs={"Y": ("nv", "3*nv")})
def joint_physics_regressor(model: Model, v: Sequence[Scalar], a: Sequence[Scalar]) -> list[list[Scalar]]:
    """Regressor of what the joints themselves resist with: armature, damping and Coulomb friction.

    ``τ = Y_links φ + Y(v, a) [armature; damping; friction]``, each nv long (`Robot.armature`, `Robot.damping`,
    `Robot.friction`), with all three counted whether or not friction is turned on.

    Parameters
    ----------
    v, a : (..., nv) array
        Velocity and acceleration: rad/s and m/s, rad/s² and m/s².

    Returns
    -------
    (..., nv, 3 nv) array
        Three diagonal blocks: the accelerations, the velocities, and the smooth signs of the velocities.

    References
    ----------
    Coulomb friction is smoothed as `JointFriction` says.
    """
    n = model.nv
    Y: list[list[Scalar]] = [[0.0] * (3 * n) for _ in range(n)]
    for k in range(n):
        Y[k][k], Y[k][n + k], Y[k][2 * n + k] = a[k], v[k], smooth_sign(model, v[k])
    return Y
