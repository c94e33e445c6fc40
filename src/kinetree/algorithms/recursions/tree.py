"""Sweeps over the whole tree that pages share: transforms, motions, composite and articulated inertias."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from kinetree.glossary.symbols import Vector
from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.scalars.dual import Dual, rate_of
from kinetree.spatial import ArticulatedInertia, Force, Inertia, Motion, Scalar, Sym3, Transform, at_rest
from kinetree.spatial.vector import ZERO


def body_velocities(model: Model, states: Sequence[BodyState]) -> list[Motion]:
    """Return ``v_i = iXλ v_λ + S_i ν_i``, in body coordinates."""
    v: list[Motion] = []
    for body, state in zip(model.bodies, states, strict=True):
        v.append(state.vJ if body.parent == WORLD else state.Xup @ v[body.parent] + state.vJ)
    return v


def body_motions(model: Model, states: Sequence[BodyState], a: Vector) -> Iterator[tuple[Motion, Motion]]:
    """Yield ``v_i`` and ``a_i`` in body coordinates: the outward half of RBDA Table 5.1.

    ``v_i = iXλ v_λ + S_i ν_i`` and ``a_i = iXλ a_λ + S_i ν̇_i + c_J + v_i × v_J``, with the base accelerated by −g, and
    each body seen from where its origin is at rest (`at_rest`). One at a time, so that compiled code holds them in
    registers.
    """
    motions: list[tuple[Motion, Motion]] = []
    base = Motion.zero(), Motion(Motion.zero().ang, -model.gravity)
    for body, state in zip(model.bodies, states, strict=True):
        motions.append(next_motion(body, state, *(base if body.parent == WORLD else motions[body.parent]), a))
        yield motions[-1]


def next_motion(body: Body, state: BodyState, v: Motion, a: Motion, accelerations: Vector) -> tuple[Motion, Motion]:
    """Return the motion of a body from its parent's, each seen from where its own origin is at rest."""
    _, X_J, S, vJ, cJ = state
    v_joint, a_joint = body.X_T.carry(v, a)
    v_i = X_J @ v_joint + vJ
    a_i = X_J @ a_joint + cJ + v_i.cross(vJ)
    for k, S_k in zip(body.v_index, S, strict=True):
        a_i = a_i + S_k * accelerations[k]
    return at_rest(v_i, a_i)


def subspace_rates(model: Model, i: int, q: Vector, v: Vector) -> tuple[Motion, ...]:
    """Return ``S̊_k``, apparent rates of body i's motion subspace, by dual numbers; ``cJ = Σ S̊_k ν_k``."""
    body = model.bodies[i]
    joint, q_i, zero = body.joint, [q[k] for k in body.q_index], [0.0] * len(body.v_index)
    S = joint.jcalc([Dual(x, 0.0) for x in q_i], zero).S
    if any(isinstance(x, Dual) for S_k in S for x in S_k):
        moving = joint.integrate([Dual(x, 0.0) for x in q_i], [Dual(0.0, v[k]) for k in body.v_index])
        S = joint.jcalc(moving, zero).S
    return tuple(Motion.of(map(rate_of, S_k)) for S_k in S)


def inertia_rate(I: Inertia, v: Motion) -> Inertia:
    """Return ``v×* I − I v×``, the rate of an inertia that moves with v (RBDA section 2.14)."""
    w, columns = v.ang, I.I.rows
    x, y, z = (w.cross(column) for column in columns)
    r, d = v.lin * 2.0, v.lin.dot(I.h) * 2.0
    hx, hy, hz = I.h
    turned = Sym3(x.x + x.x, x.y + y.x, y.y + y.y, x.z + z.x, y.z + z.y, z.z + z.z)
    shifted = Sym3(
        d - r.x * hx,
        -(v.lin.x * hy + v.lin.y * hx),
        d - r.y * hy,
        -(v.lin.x * hz + v.lin.z * hx),
        -(v.lin.y * hz + v.lin.z * hy),
        d - r.z * hz,
    )
    return Inertia.about_origin(0.0, v.lin * I.m + w.cross(I.h), turned + shifted)


def composite_inertias(
    model: Model, states: Sequence[BodyState], v: Sequence[Motion] | None = None
) -> Iterator[tuple[int, Inertia]]:
    """Yield every body i, leaves first, and its subtree's composite inertia, or its rate at v, in body coordinates."""
    carried = [Inertia.zero()] * model.nb
    for i, body in reversed(list(enumerate(model.bodies))):
        Ic = carried[i] + (inertia_rate(body.inertia, v[i]) if v else body.inertia)
        yield i, Ic
        if body.parent != WORLD:
            carried[body.parent] = carried[body.parent] + states[i].Xup.T @ Ic


def world_transforms(model: Model, states: Sequence[BodyState]) -> list[Transform]:
    """Return ``iX0``, from the world to every body."""
    X0: list[Transform] = []
    for body, state in zip(model.bodies, states, strict=True):
        X = state.X_J @ body.X_T
        X0.append(X if body.parent == WORLD else X @ X0[body.parent])
    return X0


def from_first_body(model: Model, states: Sequence[BodyState]) -> list[Transform]:
    """Return the transforms from the first body's frame, where invariant quantities are cheapest, to every body."""
    return _transforms(model, states, lambda X: (Transform.identity(), X.inverse()))


def from_first_origin(model: Model, states: Sequence[BodyState]) -> list[Transform]:
    """Return the transforms to every body from the first one's origin with the world's axes: no digits are lost."""
    return _transforms(model, states, lambda X: (Transform(X.E, ZERO), Transform.translation(-X.r)))


def _transforms(
    model: Model, states: Sequence[BodyState], choose: Callable[[Transform], tuple[Transform, Transform]]
) -> list[Transform]:
    """Return the transforms to every body from a frame that `choose` makes of the first's, with that to the world."""
    X: list[Transform] = []
    world = Transform.identity()
    for body, state in zip(model.bodies, states, strict=True):
        if not X:
            first, world = choose(state.X_J @ body.X_T)
            X.append(first)
        else:
            X.append(state.X_J @ (body.X_T @ (world if body.parent == WORLD else X[body.parent])))
    return X


class Pivot(NamedTuple):
    """One eliminated degree of freedom: its index, ``S``, ``U D⁻¹`` and ``D⁻¹``."""

    k: int
    S: Motion
    UD: Force
    D_inverse: Scalar


def articulated_bodies(
    model: Model, states: Sequence[BodyState], prescribed: Collection[int] = ()
) -> Iterator[tuple[int, list[Pivot], ArticulatedInertia]]:
    """Yield every body i, leaves first, with its pivots and the inertia that its parent feels, in i's coordinates.

    A joint of several degrees of freedom is eliminated column by column, like a chain of joints; those of the
    prescribed bodies are rigid. Along S only the rotor's part remains, ``(IA − U D⁻¹ Uᵀ) S = U D⁻¹ I_rotor``: it is
    set, not computed, as under a heavy load rounding would be large against a light link.
    """
    IA = [ArticulatedInertia.rigid(body.inertia) for body in model.bodies]
    for i, body in reversed(list(enumerate(model.bodies))):
        pivots = []
        for k, S_k, rotor in reversed(list(zip(body.v_index, states[i].S, body.armature, strict=True))):
            if i in prescribed:
                continue
            U = IA[i] @ S_k
            D = S_k.dot(U) + rotor
            UD = U * (1.0 / D)
            pivots.append(Pivot(k, S_k, UD, 1.0 / D))
            IA[i] = IA[i].minus_outer(U, UD).with_product(S_k, UD * rotor)
        yield i, pivots, IA[i]
        if body.parent != WORLD:
            IA[body.parent] = IA[body.parent] + states[i].Xup.T @ IA[i]
