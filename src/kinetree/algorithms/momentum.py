"""Momentum about the centre of mass, the matrix that gives it, and their rates."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.center_of_mass import moving_mass
from kinetree.algorithms.declaration import algorithm
from kinetree.algorithms.motions import (
    body_motions,
    body_velocities,
    composites,
    inertia_rate,
    subspace_rates,
    transforms_from_first_origin,
)
from kinetree.algorithms.paths import moved_origin
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
    Ic = composites(model, states, [body.inertia for body in model.bodies])
    c = _com(model, X, Ic, moving_mass(model))
    A = [Force.zero()] * model.nv
    for i, body in enumerate(model.bodies):
        for k, S_k in zip(body.v_index, states[i].S, strict=True):
            A[k] = A[k] + moved_origin(X[i], c).T @ (Ic[i] @ S_k)
    return _rows(A)


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
    inertias = [body.inertia for body in model.bodies]
    Ic = composites(model, states, inertias)
    dIc = composites(model, states, [inertia_rate(I, v_i) for I, v_i in zip(inertias, v_, strict=True)])
    c = _com(model, X, Ic, moving_mass(model))
    c_dot = _com(model, X, dIc, moving_mass(model))
    A_dot = [Force.zero()] * model.nv
    for i, body in enumerate(model.bodies):
        for k, S_k, ring in zip(body.v_index, states[i].S, subspace_rates(model, i, q, v), strict=True):
            F = Ic[i] @ S_k
            F_dot = Ic[i] @ (v_[i].cross(S_k) + ring) + dIc[i] @ S_k
            moving = Force(c_dot.cross(X[i].E.to_a(F.lin)), ZERO)
            A_dot[k] = A_dot[k] + moved_origin(X[i], c).T @ F_dot - moving
    return _rows(A_dot)


def _rows(columns: Sequence[Force]) -> list[list[Scalar]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _com(model: Model, X: Sequence[Transform], Ic: Sequence[Inertia], mass: Scalar) -> Vec3:
    """Return ``Σ h / mass`` in the frame that X leads from, given the composite inertias (or their rates)."""
    h = ZERO
    for X_i, I, body in zip(X, Ic, model.bodies, strict=True):
        if body.parent == WORLD:
            h = h + (X_i.T @ I).h
    c: Vec3 = h * (1.0 / mass)
    return c


def _about_com(model: Model, states: Sequence[BodyState], forces: Sequence[Force]) -> Force:
    """Return the sum of force vectors, each in its body's coordinates, about the centre of mass in world axes."""
    X = transforms_from_first_origin(model, states)
    c = _com(model, X, composites(model, states, [body.inertia for body in model.bodies]), moving_mass(model))
    f, total = list(forces), Force.zero()
    for i in reversed(range(model.nb)):
        parent = model.bodies[i].parent
        if parent == WORLD:
            total = total + moved_origin(X[i], c).T @ f[i]
        else:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return total
