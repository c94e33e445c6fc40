"""Momentum about the centre of mass, the matrix that gives it, and their rates."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.quantities.center_of_mass import MASSLESS, moving_mass
from kinetree.algorithms.recursions.motions import (
    body_motions,
    body_velocities,
    composite_inertias,
    from_first_origin,
    subspace_rates,
)
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.linalg import transposed
from kinetree.spatial import Force, Inertia, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


@algorithm("centroidal_momentum", outputs={"h": (6,)}, raises=MASSLESS)
def centroidal_momentum(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Momentum of the robot about its centre of mass.

    Returns
    -------
    h
        h_G: angular momentum about the centre of mass (N·m·s), then linear momentum (N·s), in the world's axes. The
        momentum of the rotors that armature stands for is not included.

    References: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013: ``h_G = A_G v``.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    momenta = [body.inertia @ v_i for body, v_i in zip(model.bodies, body_velocities(model, states), strict=True)]
    return list(_about_com(model, states, momenta))


@algorithm("centroidal_momentum_rate", outputs="h_dot", raises=MASSLESS)
def centroidal_momentum_rate(model: Model, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
    """Rate of the momentum about the centre of mass: the wrench that gravity and contacts must exert there.

    References: Orin, Goswami and Lee 2013; computed as the sum of the bodies' net wrenches (RBDA Table 5.1).
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    motions = body_motions(model.with_gravity((0.0, 0.0, 0.0)), states, a)
    wrenches = [body.inertia.wrench(*motion) for body, motion in zip(model.bodies, motions, strict=True)]
    return list(_about_com(model, states, wrenches))


@algorithm("centroidal_momentum_matrix", outputs="A_G", raises=MASSLESS)
def centroidal_momentum_matrix(model: Model, q: Vector) -> Matrix:
    """Centroidal momentum matrix A_G(q), ``h_G = A_G v``.

    References: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot", 2013: column i is ``Xᵀ Ic_i S_i``.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    X = from_first_origin(model, states)
    A, h = [Force.zero()] * model.nv, ZERO
    for i, Ic in composite_inertias(model, states):
        for k, S_k in zip(model.bodies[i].v_index, states[i].S, strict=True):
            A[k] = A[k] + X[i].T @ (Ic @ S_k)
        h = h + _root_moment(model, X, i, Ic)
    c = h * (1.0 / moving_mass(model))
    return transposed([list(_about(c, A_k)) for A_k in A])


@algorithm("centroidal_momentum_matrix_rate", outputs="A_G_dot", raises=MASSLESS)
def centroidal_momentum_matrix_rate(model: Model, q: Vector, v: Vector) -> Matrix:
    """Rate of the centroidal momentum matrix, Ȧ_G(q, v).

    References: Wensing and Orin, "Improved computation of the humanoid centroidal dynamics", 2016; here column i is the
    rate of ``Xᵀ Ic_i S_i``, with ``v×* I − I v×`` (RBDA section 2.14) summed over the bodies that joint i carries.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    X = from_first_origin(model, states)
    v_ = body_velocities(model, states)
    A, A_dot, h, h_dot = [Force.zero()] * model.nv, [Force.zero()] * model.nv, ZERO, ZERO
    with_rates = zip(composite_inertias(model, states), composite_inertias(model, states, v_), strict=True)
    for (i, Ic), (_, dIc) in with_rates:
        S_ring = subspace_rates(model, i, q, v)
        for k, S_k, r in zip(model.bodies[i].v_index, states[i].S, S_ring, strict=True):
            A[k] = A[k] + X[i].T @ (Ic @ S_k)
            A_dot[k] = A_dot[k] + X[i].T @ (Ic @ (v_[i].cross(S_k) + r) + dIc @ S_k)
        h, h_dot = h + _root_moment(model, X, i, Ic), h_dot + _root_moment(model, X, i, dIc)
    c, c_dot = (x * (1.0 / moving_mass(model)) for x in (h, h_dot))
    return transposed([list(_about(c, B) - Force(c_dot.cross(F.lin), ZERO)) for F, B in zip(A, A_dot, strict=True)])


def _root_moment(model: Model, X: Sequence[Transform], i: int, Ic: Inertia) -> Vec3:
    """Return the first moment of mass of body i's subtree if its parent is the world, else zero."""
    return (X[i].T @ Ic).h if model.bodies[i].parent == WORLD else ZERO


def _about(c: Vec3, F: Force) -> Force:
    """Return a force vector about the point c."""
    return Force(F.ang - c.cross(F.lin), F.lin)


def _about_com(model: Model, states: Sequence[BodyState], forces: Sequence[Force]) -> Force:
    """Return the sum of force vectors, each in its body's coordinates, about the centre of mass in world axes."""
    X = from_first_origin(model, states)
    f, total, h = list(forces), Force.zero(), ZERO
    for i, Ic in composite_inertias(model, states):
        parent = model.bodies[i].parent
        h = h + _root_moment(model, X, i, Ic)
        if parent == WORLD:
            total = total + X[i].T @ f[i]
        else:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return _about(h * (1.0 / moving_mass(model)), total)
