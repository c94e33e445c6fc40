"""What joints do by themselves: springs and friction, and the regressor of what resists."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Body, Model
from kinetree.model.body import NO_SPRING
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Scalar, sqrt


def passive_forces(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Return the joint forces that overcome the joints' springs, and the kinds of friction that are turned on."""
    forces = friction_forces(model, v)
    for body in sprung(model):
        (k,) = body.v_index
        forces[k] = forces[k] + body.spring.stiffness * deflection(body, q)
    return forces


def sprung(model: Model) -> list[Body]:
    """Return the bodies whose joints have a spring."""
    return [body for body in model.bodies if not is_zero(body.spring.stiffness)]


def without_springs(model: Model) -> Model:
    """Return the model with no springs in its joints."""
    return replace(model, bodies=tuple(replace(body, spring=NO_SPRING) for body in model.bodies))


def deflection(body: Body, q: Vector) -> Scalar:
    """Return how far the spring of a joint of one degree of freedom is from its rest."""
    (d,) = body.joint.difference([body.spring.rest], [q[k] for k in body.q_index])
    return d


def spring_energies(model: Model, q: Vector) -> list[Scalar]:
    """Return ``½ k (q − q_rest)²`` of the joints' springs."""
    pairs = ((body.spring.stiffness, deflection(body, q)) for body in sprung(model))
    return [d * d * (stiffness * 0.5) for stiffness, d in pairs]


def smooth_sign(model: Model, v: Scalar) -> Scalar:
    """Return ``v / sqrt(v² + s²)``: the sign of v, smooth around zero."""
    s = model.friction.smoothing
    return v / sqrt(v * v + s * s)


def friction_forces(model: Model, v: Vector) -> list[Scalar]:
    """Return the joint forces that overcome the kinds of friction that are turned on."""
    forces: list[Scalar] = [0.0] * model.nv
    for body in model.bodies:
        for k, damping, coulomb in zip(body.v_index, body.damping, body.friction, strict=True):
            if model.friction.damping:
                forces[k] = forces[k] + damping * v[k]
            if model.friction.coulomb:
                forces[k] = forces[k] + coulomb * smooth_sign(model, v[k])
    return forces


def friction_slopes(model: Model, v: Vector) -> list[Scalar]:
    """Return d of friction forces ``d_k v_k``: of Coulomb friction the slope of a chord, never below the tangent's."""
    slopes: list[Scalar] = [0.0] * model.nv
    s = model.friction.smoothing
    for body in model.bodies:
        for k, damping, coulomb in zip(body.v_index, body.damping, body.friction, strict=True):
            if model.friction.damping:
                slopes[k] = slopes[k] + damping
            if model.friction.coulomb:
                slopes[k] = slopes[k] + coulomb / sqrt(v[k] * v[k] + s * s)
    return slopes


@algorithm("joint_physics_regressor", outputs={"Y": ("nv", "3*nv")})
def joint_physics_regressor(model: Model, v: Vector, a: Vector) -> Matrix:
    """Regressor of the joints' own resistance: armature, damping and Coulomb friction.

    ``τ = Y_links φ + Y(v, a) [armature; damping; friction]``, each of length nv (`Robot.armature`, `Robot.damping`,
    `Robot.friction`). All three count, whether or not friction is turned on; `JointFriction` defines the smooth sign.
    Springs, which resist no motion, are not in it.

    Returns
    -------
    Y
        Three diagonal blocks: the accelerations, the velocities, and the smooth signs of the velocities.
    """
    n = model.nv
    Y: Matrix = [[0.0] * (3 * n) for _ in range(n)]
    for k in range(n):
        Y[k][k], Y[k][n + k], Y[k][2 * n + k] = a[k], v[k], smooth_sign(model, v[k])
    return Y
