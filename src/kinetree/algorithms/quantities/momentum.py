"""Momentum about the centre of mass, the matrix that gives it, and their rates."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.quantities.center_of_mass import moving_mass
from kinetree.algorithms.recursions.motions import (
    body_motions,
    body_velocities,
    composites,
    inertia_rate,
    subspace_rates,
    transforms_from_first_origin,
)
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Force, Inertia, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


@algorithm("centroidal_momentum", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"h": (6,)})
def centroidal_momentum(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Momentum of the robot about its centre of mass.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., 6) array
        h_G: angular momentum about the centre of mass (N·m·s) and linear momentum (N·s), in the world's axes.
        Of the moving bodies; rotors that armature stands for are not in it.

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    References
    ----------
    Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013: ``h_G = A_G v``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    momenta = [body.inertia @ v_i for body, v_i in zip(model.bodies, body_velocities(model, states), strict=True)]
    return list(_about_com(model, states, momenta))


@algorithm("centroidal_momentum_rate", inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)}, outputs={"h_dot": (6,)})
def centroidal_momentum_rate(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[Scalar]:
    """Rate of the momentum about the centre of mass: the wrench that gravity and contacts must exert there.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².

    Returns
    -------
    (..., 6) array
        ``ḣ_G = A_G a + Ȧ_G v``: moment about the centre of mass (N·m) and force (N), in the world's axes.

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    References
    ----------
    Orin, Goswami and Lee 2013; computed as the sum of the bodies' net wrenches (RBDA Table 5.1).
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    motions = body_motions(model.with_gravity((0.0, 0.0, 0.0)), states, a)
    wrenches = [body.inertia.wrench(*motion) for body, motion in zip(model.bodies, motions, strict=True)]
    return list(_about_com(model, states, wrenches))


@algorithm("centroidal_momentum_matrix", inputs={"q": ("nq",)}, outputs={"A_G": (6, "nv")})
def centroidal_momentum_matrix(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Centroidal momentum matrix A_G(q): ``h_G = A_G v``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., 6, nv) array
        A_G: angular rows first, about the centre of mass, in the world's axes (see `centroidal_momentum`).

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    References
    ----------
    Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013, from the composite inertias of RBDA
    Table 6.2: the column of joint i is ``Xᵀ Ic_i S_i``.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    X = transforms_from_first_origin(model, states)
    A, h = [Force.zero()] * model.nv, ZERO
    for i, Ic in composites(model, states, lambda i: model.bodies[i].inertia):
        for k, S_k in zip(model.bodies[i].v_index, states[i].S, strict=True):
            A[k] = A[k] + X[i].T @ (Ic @ S_k)
        h = h + _root_moment(model, X, i, Ic)
    c = h * (1.0 / moving_mass(model))
    return _rows([_about(c, A_k) for A_k in A])


@algorithm("centroidal_momentum_matrix_rate", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"A_G_dot": (6, "nv")})
def centroidal_momentum_matrix_rate(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rate of the centroidal momentum matrix, Ȧ_G(q, v).

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., 6, nv) array
        Ȧ_G, in the axes of `centroidal_momentum_matrix`.

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    References
    ----------
    Wensing and Orin, "Improved computation of the humanoid centroidal dynamics", 2016; here the column of joint i is
    the rate of ``Xᵀ Ic_i S_i``, with ``v×* I − I v×`` (RBDA section 2.14) summed over what it carries.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    X = transforms_from_first_origin(model, states)
    v_ = body_velocities(model, states)
    A, A_dot, h, h_dot = [Force.zero()] * model.nv, [Force.zero()] * model.nv, ZERO, ZERO
    inertia = composites(model, states, lambda i: model.bodies[i].inertia)
    rate = composites(model, states, lambda i: inertia_rate(model.bodies[i].inertia, v_[i]))
    for (i, Ic), (_, dIc) in zip(inertia, rate, strict=True):
        rings = subspace_rates(model, i, q, v)
        for k, S_k, ring in zip(model.bodies[i].v_index, states[i].S, rings, strict=True):
            A[k] = A[k] + X[i].T @ (Ic @ S_k)
            A_dot[k] = A_dot[k] + X[i].T @ (Ic @ (v_[i].cross(S_k) + ring) + dIc @ S_k)
        h, h_dot = h + _root_moment(model, X, i, Ic), h_dot + _root_moment(model, X, i, dIc)
    c, c_dot = (x * (1.0 / moving_mass(model)) for x in (h, h_dot))
    return _rows([_about(c, B) - Force(c_dot.cross(F.lin), ZERO) for F, B in zip(A, A_dot, strict=True)])


def _rows(columns: Sequence[Force]) -> list[list[Scalar]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _root_moment(model: Model, X: Sequence[Transform], i: int, Ic: Inertia) -> Vec3:
    """Return the first moment of mass of body i with all that it carries, if nothing carries it; else zero."""
    return (X[i].T @ Ic).h if model.bodies[i].parent == WORLD else ZERO


def _about(c: Vec3, F: Force) -> Force:
    """Return the same force vector about the point c."""
    return Force(F.ang - c.cross(F.lin), F.lin)


def _about_com(model: Model, states: Sequence[BodyState], forces: Sequence[Force]) -> Force:
    """Return the sum of force vectors, each in its body's coordinates, about the centre of mass in world axes."""
    X = transforms_from_first_origin(model, states)
    f, total, h = list(forces), Force.zero(), ZERO
    for i, Ic in composites(model, states, lambda i: model.bodies[i].inertia):
        parent = model.bodies[i].parent
        h = h + _root_moment(model, X, i, Ic)
        if parent == WORLD:
            total = total + X[i].T @ f[i]
        else:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return _about(h * (1.0 / moving_mass(model)), total)
