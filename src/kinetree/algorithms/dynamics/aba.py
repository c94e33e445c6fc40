"""Forward dynamics by the articulated-body algorithm."""

from __future__ import annotations

from kinetree.algorithms.dynamics.joint_space import joint_space
from kinetree.algorithms.dynamics.passive_forces import passive_forces
from kinetree.algorithms.dynamics.rnea import Wrenches, body_wrenches, net_forces
from kinetree.algorithms.dynamics.singular import SINGULAR, refuse_singular, velocities
from kinetree.algorithms.recursions.articulated import Pivot, articulated_bodies
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import ArticulatedInertia, Motion, Scalar


@algorithm("forward_dynamics", outputs="a", raises=SINGULAR)
def aba(
    model: Model, q: Vector, v: Vector, tau: Vector, f_ext: Wrenches = None, *, f_ext_frame: str = "body"
) -> list[Scalar]:
    """Accelerations under the joint forces τ, ``a = M(q)⁻¹ (τ − h(q, v) + Jᵀ f_ext)``.

    References: RBDA Table 7.1, split as ``a = a_bias + Δa``: a first sweep as in Table 5.1 finds the forces at zero
    joint acceleration. With mimic joints, which couple branches, M is factorised instead (RBDA section 6.5).
    """
    solver = joint_space if model.has_mimic_joints else articulated
    a, _ = solver(model, q, v, [0.0] * model.nv, tau, f_ext, f_ext_frame, frozenset())
    return a


def articulated(
    model: Model, q: Vector, v: Vector, a: Vector, tau: Vector, f_ext: Wrenches, frame: str, prescribed: frozenset[str]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return a and τ from a at the prescribed joints and τ at the others, by the articulated-body recursion."""
    refuse_singular(model, prescribed)
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    known = {i for i, body in enumerate(model.bodies) if body.joint_name in prescribed}
    given = velocities(model, prescribed)
    a_out: list[Scalar] = [a[k] if k in given else 0.0 for k in range(model.nv)]
    p = net_forces(model, states, a_out, body_wrenches(states, model, f_ext, frame))
    passive = passive_forces(model, q, v)
    met: list[list[tuple[Pivot, Scalar]]] = [[] for _ in model.bodies]  # with u, what tau leaves for the acceleration
    beyond: dict[int, ArticulatedInertia] = {}
    for i, pivots, inertia in articulated_bodies(model, states, known):
        for pivot in pivots:
            u = tau[pivot.k] - passive[pivot.k] - pivot.S.dot(p[i])
            met[i].append((pivot, u))
            p[i] = p[i] + pivot.UD * u
        beyond[i] = inertia
        parent = model.bodies[i].parent
        if parent != WORLD:
            p[parent] = p[parent] + states[i].Xup.T @ p[i]
    tau_out = list(tau)
    da: list[Motion] = []
    for i, (body, state) in enumerate(zip(model.bodies, states, strict=True)):
        da_i = Motion.zero() if body.parent == WORLD else state.Xup @ da[body.parent]
        for (k, S_k, UD, D_inverse), u in reversed(met[i]):
            a_out[k] = u * D_inverse - da_i.dot(UD)
            da_i = da_i + S_k * a_out[k]
        da.append(da_i)
        if i in known:
            f = p[i] + beyond[i] @ da_i
            for k, S_k, rotor in zip(body.v_index, state.S, body.armature, strict=True):
                tau_out[k] = S_k.dot(f) + rotor * a_out[k] + passive[k]
    return a_out, tau_out
