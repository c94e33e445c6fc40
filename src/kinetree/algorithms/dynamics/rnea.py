"""Inverse dynamics by the recursive Newton–Euler algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.passive_forces import passive_forces, without_springs
from kinetree.algorithms.recursions.tree import body_motions, world_transforms
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Force, Scalar

Wrenches = Sequence[Vector] | None
"""A wrench on each body, if there are any."""


@algorithm("inverse_dynamics", outputs="tau", joint_space=True)
def rnea(
    model: Model, q: Vector, v: Vector, a: Vector, f_ext: Wrenches = None, *, f_ext_frame: str = "body"
) -> list[Scalar]:
    """Joint forces for given accelerations, ``τ = M(q) a + h(q, v) − Jᵀ f_ext``.

    Armature adds ``I_rotor a`` at each joint, a spring ``k (q − q_rest)``, and friction what `Robot.with_friction`
    turned on.

    References: RBDA Table 5.1.

    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> bool(abs(robot.forward_dynamics(q, v, tau) - a).max() < 1e-9)
    True
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    f = net_forces(model, states, a, body_wrenches(states, model, f_ext, f_ext_frame))
    tau = passive_forces(model, q, v)
    for i in reversed(range(model.nb)):
        body, (Xup, _, S, _, _) = model.bodies[i], states[i]
        for k, S_k, rotor in zip(body.v_index, S, body.armature, strict=True):
            tau[k] = tau[k] + S_k.dot(f[i]) + rotor * a[k]
        if body.parent != WORLD:
            f[body.parent] = f[body.parent] + Xup.T @ f[i]
    return tau


def net_forces(model: Model, states: Sequence[BodyState], a: Vector, f_ext: Sequence[Force]) -> list[Force]:
    """Return ``f_i = I_i a_i + v_i ×* I_i v_i − f_i^x``, the outward half of the recursion."""
    motions = body_motions(model, states, a)
    return [body.inertia.wrench(*m) - f for body, m, f in zip(model.bodies, motions, f_ext, strict=True)]


def body_wrenches(states: Sequence[BodyState], model: Model, f_ext: Wrenches, frame: str) -> list[Force]:
    """Return the external forces in body coordinates, ``f_i^x``."""
    if f_ext is None:
        return [Force.zero()] * model.nb
    if frame == "body":
        return [Force.of(f) for f in f_ext]
    return [X @ Force.of(f) for X, f in zip(world_transforms(model, states), f_ext, strict=True)]


@algorithm("bias_forces", outputs="h", joint_space=True)
def bias_forces(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Joint forces at zero acceleration, ``h = C(q, v) v + g(q)``, with springs, and with friction if it is on.

    References: RBDA eq. 6.2: ``C = ID(q, v, 0)``.
    """
    return rnea(model, q, v, [0.0] * model.nv)


@algorithm("gravity_forces", outputs="g", joint_space=True)
def gravity_forces(model: Model, q: Vector) -> list[Scalar]:
    """Joint forces that hold the robot at rest against gravity; springs in the joints do not count.

    References: RBDA Table 5.1 at zero velocity and acceleration.
    """
    zero = [0.0] * model.nv
    return rnea(without_springs(model), q, zero, zero)


@algorithm("joint_reactions", outputs={"f": ("nb", 6)})
def joint_reactions(
    model: Model, q: Vector, v: Vector, a: Vector, f_ext: Wrenches = None, *, f_ext_frame: str = "body"
) -> Matrix:
    """Wrench that each joint transmits to its body.

    Returns
    -------
    f
        Wrench (n, f) that the parent exerts on the body through the joint, about the body's origin in its axes (N·m,
        N): constraint forces and the joint's own force. The opposite wrench acts on the parent. ``Sᵀ f`` is the
        joint's force in `inverse_dynamics` without armature, springs and friction. For a robot at rest on its base f
        points upwards, since it bears the weight.

    References: RBDA Table 5.1: ``f_i = f_i^B − f_i^x + Σ_μ iXμ* f_μ`` over the children μ.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    f = net_forces(model, states, a, body_wrenches(states, model, f_ext, f_ext_frame))
    for i in reversed(range(model.nb)):
        parent = model.bodies[i].parent
        if parent != WORLD:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return [list(f_i) for f_i in f]
