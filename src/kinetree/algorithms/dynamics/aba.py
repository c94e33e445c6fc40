"""Forward and hybrid dynamics: the articulated-body algorithm, and M(q) with h where joints are coupled."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import ltdl
from kinetree.algorithms.dynamics.passive_forces import passive_forces
from kinetree.algorithms.dynamics.rnea import Wrenches, body_wrenches, net_forces, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR, block, refuse_singular, velocities
from kinetree.algorithms.recursions.tree import Pivot, articulated_bodies
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.edit import regrouped
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
    """Return a and τ from a at the prescribed joints and τ at the others: the three passes of RBDA Table 7.1.

    pA has the prescribed accelerations, ``c_J``, ``v × S q̇`` and gravity; a′ of pass 3 are the accelerations left.
    """
    refuse_singular(model, prescribed)
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    rigid = {i for i, body in enumerate(model.bodies) if body.joint_name in prescribed}
    given = velocities(model, prescribed)
    qdd: list[Scalar] = [a[k] if k in given else 0.0 for k in range(model.nv)]

    pA = net_forces(model, states, qdd, body_wrenches(states, model, f_ext, frame))  # pass 1
    passive = passive_forces(model, q, v)

    IA: dict[int, ArticulatedInertia] = {}
    pivots: dict[int, list[Pivot]] = {}
    u: list[Scalar] = [0.0] * model.nv
    for i, pivots[i], IA[i] in articulated_bodies(model, states, rigid):  # pass 2
        for k, S, UD, _ in pivots[i]:
            u[k] = tau[k] - passive[k] - S.dot(pA[i])
            pA[i] = pA[i] + UD * u[k]
        parent = model.bodies[i].parent
        if parent != WORLD:
            pA[parent] = pA[parent] + states[i].Xup.T @ pA[i]

    tau_out = list(tau)
    a_prime: list[Motion] = []
    for i, (body, state) in enumerate(zip(model.bodies, states, strict=True)):  # pass 3
        a_i = Motion.zero() if body.parent == WORLD else state.Xup @ a_prime[body.parent]
        for k, S, UD, D_inverse in reversed(pivots[i]):
            qdd[k] = u[k] * D_inverse - a_i.dot(UD)
            a_i = a_i + S * qdd[k]
        a_prime.append(a_i)
        if i in rigid:
            f = pA[i] + IA[i] @ a_i
            for k, S, rotor in zip(body.v_index, state.S, body.armature, strict=True):
                tau_out[k] = S.dot(f) + rotor * qdd[k] + passive[k]
    return qdd, tau_out


@algorithm("hybrid_dynamics", outputs="a tau")
def hybrid_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    *,
    prescribed: Sequence[str] = (),
    method: str = "articulated",
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and joint forces, where one of the two is given at each joint.

    Parameters
    ----------
    a
        True accelerations of the prescribed joints (rad/s², m/s²); the other entries are not read.
    tau
        Forces of the joints that are not prescribed (N·m, N); the other entries are not read.

    References: RBDA section 9.2: the articulated-body recursion treats a prescribed joint as rigid, and its
    acceleration belongs to the bias that the first sweep finds.

    >>> locked = robot.hybrid_dynamics(q, v, 0 * a, 0 * a, prescribed=["panda_joint4"])
    >>> bool(locked.a[3] == 0.0)  # the elbow does not accelerate; locked.tau[3] is the force that this takes
    True
    """
    solver = joint_space if method == "system" or model.has_mimic_joints else articulated
    return solver(model, q, v, a, tau, f_ext, f_ext_frame, frozenset(prescribed))


def joint_space(
    model: Model, q: Vector, v: Vector, a: Vector, tau: Vector, f_ext: Wrenches, frame: str, prescribed: frozenset[str]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return a and τ from a at the prescribed joints and τ at the others (RBDA section 9.2).

    ``h̃ = ID(q, v, [a_ID, 0])``; solve ``M_22 a_FD = τ_FD − h̃_FD``; ``τ = h̃ + M [0, a_FD]``. Mimic joints need
    nothing more: M is accumulated to ``GᵀMG``, one row for a coordinate that moves several bodies, and the
    factorisation uses the sparsity of the matrix itself.
    """
    refuse_singular(model, prescribed)
    known = velocities(model, prescribed)
    model = regrouped(model)
    free = [k for k in range(model.nv) if k not in known]
    M = crba(model, q)
    a_out: list[Scalar] = [a[k] if k in known else 0.0 for k in range(model.nv)]
    h = rnea(model, q, v, a_out, f_ext, f_ext_frame=frame)
    a_free = ltdl(model, block(M, known)).solve([0.0 if k in known else tau[k] - h[k] for k in range(model.nv)])
    tau_out = list(tau)
    for k in free:
        a_out[k] = a_free[k]
    for k in known:
        for l in free:
            h[k] = h[k] + M[k][l] * a_free[l]
        tau_out[k] = h[k]
    return a_out, tau_out
