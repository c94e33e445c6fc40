"""Centre of mass, energy and momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.passive_forces import spring_energies
from kinetree.algorithms.recursions.tree import (
    body_motions,
    body_velocities,
    composite_inertias,
    from_first_origin,
    subspace_rates,
)
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.errors import ModelError
from kinetree.model import WORLD, Model
from kinetree.model.edit import regrouped
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.scalars.linalg import transposed
from kinetree.spatial import Force, Inertia, Mat3, Motion, Scalar, Sym3, Transform, Vec3
from kinetree.spatial.vector import ZERO

MASSLESS = "If the moving bodies have no mass."


class MassMoment(NamedTuple):
    """A subtree's fraction m of the robot's mass, its first moment h = m c, and the first two rates of h."""

    m: Scalar
    h: Vec3 = ZERO
    dh: Vec3 = ZERO
    ddh: Vec3 = ZERO

    def moving(self, v: Motion, a: Motion) -> MassMoment:
        """Return the moment with the motion of its frame added: spatial v and a, in its own axes."""
        m, h, dh, ddh = self
        w = v.ang
        spin = dh + w.cross(h)
        acc = a.lin + w.cross(v.lin)
        return MassMoment(m, h, spin + v.lin * m, ddh + w.cross(dh) + a.ang.cross(h) + w.cross(spin) + acc * m)

    def inv_apply(self, X: Transform) -> MassMoment:
        """Return the moment in the frame that X transforms from."""
        E = X.E
        return MassMoment(self.m, E.to_a(self.h) + X.r * self.m, E.to_a(self.dh), E.to_a(self.ddh))


@algorithm("center_of_mass", outputs="c", raises=MASSLESS)
def center_of_mass(model: Model, q: Vector) -> list[Scalar]:
    """Centre of mass of the moving bodies, in the world."""
    return list(_whole(model, q).h)


@algorithm("center_of_mass_velocity", outputs="dc", raises=MASSLESS)
def center_of_mass_velocity(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Velocity of the centre of mass of the moving bodies, in the world's axes."""
    return list(_whole(model, q, v).dh)


@algorithm("center_of_mass_acceleration", outputs="ddc", raises=MASSLESS)
def center_of_mass_acceleration(model: Model, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
    """Acceleration of the centre of mass of the moving bodies, in the world's axes; gravity is not included."""
    return list(_whole(model, q, v, a).ddh)


@algorithm("center_of_mass_jacobian", outputs={"J": (3, "nv")}, raises=MASSLESS)
def center_of_mass_jacobian(model: Model, q: Vector) -> Matrix:
    """Jacobian of the centre of mass: ``J(q) v`` is its velocity in the world's axes.

    A joint moves the subtree that it carries as one body: column k is that subtree's linear momentum at unit velocity,
    divided by the mass of the robot.

    Returns
    -------
    J
        Velocity of the centre of mass at unit velocity of each joint.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    moments = _subtrees(model, states, None)
    J: Matrix = [[0.0] * model.nv for _ in range(3)]
    to_world: list[Mat3] = []
    for i, (body, state) in enumerate(zip(model.bodies, states, strict=True)):
        E = state.X_J.E.matrix.times(body.X_T.E.matrix)
        E = E if body.parent == WORLD else E.times(to_world[body.parent])
        to_world.append(E)
        for k, S_k in zip(body.v_index, state.S, strict=True):
            column = E.transposed_times(S_k.lin * moments[i].m + S_k.ang.cross(moments[i].h))
            for row, x in zip(J, column, strict=True):
                row[k] = row[k] + x
    return J


def _subtrees(model: Model, states: Sequence[BodyState], a: Vector | None) -> list[MassMoment]:
    """Return the moment of every body's subtree, in the body's frame; the last is the whole robot's."""
    share = 1.0 / moving_mass(model)
    moments = [MassMoment(body.inertia.m * share, body.inertia.h * share) for body in model.bodies] + [MassMoment(0.0)]
    for i in reversed(range(model.nb)):
        body, (_, X_J, S, vJ, cJ) = model.bodies[i], states[i]
        aJ = cJ
        if a is not None:
            for k, S_k in zip(body.v_index, S, strict=True):
                aJ = aJ + S_k * a[k]
        carried = moments[i].moving(vJ, aJ).inv_apply(X_J).inv_apply(body.X_T)
        moments[body.parent] = MassMoment(*(x + y for x, y in zip(moments[body.parent], carried, strict=True)))
    return moments


def _whole(model: Model, q: Vector, v: Vector | None = None, a: Vector | None = None) -> MassMoment:
    return _subtrees(model, [model.jcalc(i, q, v) for i in range(model.nb)], a)[WORLD]


def moving_mass(model: Model) -> Scalar:
    """Return the mass of the moving bodies; `ModelError` if they have none."""
    mass: Scalar = 0.0
    for body in model.bodies:  # sum() of floats rounds otherwise from Python 3.12 on
        mass = mass + body.inertia.m
    if is_zero(mass):
        raise ModelError(f"robot {model.name!r} has no moving mass, so no centre of mass: give its links inertias")
    return mass


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
