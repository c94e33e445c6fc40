"""Kinetic and potential energy."""

from __future__ import annotations

from kinetree.algorithms.dynamics.passive_forces import spring_energies
from kinetree.algorithms.recursions.motions import body_velocities
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.regroup import regrouped
from kinetree.spatial import Inertia, Motion, Scalar, Sym3
from kinetree.spatial.vector import ZERO


def body_energy(I: Inertia, v: Motion) -> Scalar:
    """Return ``½ vᵀ I v = ½ (ω·(I ω + 2 h × v) + m v·v)``."""
    return (v.ang.dot(I.I @ v.ang + I.h.cross(v.lin) * 2.0) + v.lin.dot(v.lin) * I.m) * 0.5


@algorithm("kinetic_energy", outputs="T", joint_space=True)
def kinetic_energy(model: Model, q: Vector, v: Vector) -> Scalar:
    """Kinetic energy, ``T = ½ vᵀ M(q) v``.

    References: RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``; armature adds ``½ I_rotor v²``.

    >>> bool(abs(robot.kinetic_energy(q, v) - v @ robot.mass_matrix(q) @ v / 2) < 1e-12)
    True
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    T: Scalar = 0.0
    for body, v_i in zip(model.bodies, body_velocities(model, states), strict=True):
        T = T + body_energy(body.inertia, v_i)
        for k, rotor in zip(body.v_index, body.armature, strict=True):
            T = T + v[k] * v[k] * (rotor * 0.5)
    return T


@algorithm("potential_energy", outputs={"V": ()})
def potential_energy(model: Model, q: Vector) -> Scalar:
    """Potential energy of gravity and of springs in the joints, ``V = −Σ m_i g·c_i + Σ ½ k (q − q_rest)²``.

    Its gradient is `gravity_forces` without springs, and with them `bias_forces` at rest.

    Returns
    -------
    V
        Energy of the moving bodies (J), without springs zero when their centre of mass is at the world's origin.
    """
    moment = ZERO  # Σ m c in the world's axes
    Ic = [Inertia.about_origin(body.inertia.m, body.inertia.h, Sym3.zero()) for body in model.bodies]
    for i in reversed(range(model.nb)):
        parent, moved = model.bodies[i].parent, model.jcalc(i, q).Xup.T @ Ic[i]
        if parent == WORLD:
            moment = moment + moved.h
        else:
            Ic[parent] = Ic[parent] + moved
    return sum(spring_energies(model, q), -model.gravity.dot(moment))


@algorithm("mechanical_energy", outputs="E")
def mechanical_energy(model: Model, q: Vector, v: Vector) -> Scalar:
    """Kinetic and potential energy together, ``Ė = τᵀ v``; constant where only gravity and springs act.

    >>> float(robot.mechanical_energy(q, 0 * v) - robot.potential_energy(q))
    0.0
    """
    return kinetic_energy(regrouped(model), q, v) + potential_energy(model, q)
