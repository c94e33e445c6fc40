"""Kinetic and potential energy."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.recursions.motions import body_velocities
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.model.regroup import regrouped
from kinetree.spatial import Inertia, Motion, Scalar, Sym3
from kinetree.spatial.vector import ZERO


def body_energy(I: Inertia, v: Motion) -> Scalar:
    """Return ``½ vᵀ I v = ½ (ω·(I ω + 2 h × v) + m v·v)``."""
    return (v.ang.dot(I.I @ v.ang + I.h.cross(v.lin) * 2.0) + v.lin.dot(v.lin) * I.m) * 0.5


@algorithm("kinetic_energy", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"T": ()}, joint_space=True)
def kinetic_energy(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy, ``T = ½ vᵀ M(q) v``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (...) array
        Energy of the bodies, and of the rotors by their armature (J).

    References
    ----------
    RBDA section 2.13, ``T = Σ ½ v_iᵀ I_i v_i``; armature adds ``½ I_rotor v²``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    T: Scalar = 0.0
    for body, v_i in zip(model.bodies, body_velocities(model, states), strict=True):
        T = T + body_energy(body.inertia, v_i)
        for k, rotor in zip(body.v_index, body.armature, strict=True):
            T = T + v[k] * v[k] * (rotor * 0.5)
    return T


@algorithm("potential_energy", inputs={"q": ("nq",)}, outputs={"V": ()})
def potential_energy(model: Model, q: Sequence[Scalar]) -> Scalar:
    """Potential energy in the field of gravity, ``V = −Σ m_i g·c_i``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (...) array
        Energy of the moving bodies (J); zero where their mass is at the world's origin.

    References
    ----------
    `gravity_forces` is its gradient.
    """
    moment = ZERO  # Σ m c in the world's axes
    Ic = [Inertia(body.inertia.m, body.inertia.h, Sym3.zero()) for body in model.bodies]
    for i in reversed(range(model.nb)):
        parent, moved = model.bodies[i].parent, model.jcalc(i, q).Xup.T @ Ic[i]
        if parent == WORLD:
            moment = moment + moved.h
        else:
            Ic[parent] = Ic[parent] + moved
    return -model.gravity.dot(moment)


@algorithm("mechanical_energy", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"E": ()})
def mechanical_energy(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic and potential energy together; constant where nothing but gravity acts.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (...) array
        `kinetic_energy` and `potential_energy` (J).

    References
    ----------
    Its rate is ``τᵀ v``.
    """
    return kinetic_energy(regrouped(model), q, v) + potential_energy(model, q)
