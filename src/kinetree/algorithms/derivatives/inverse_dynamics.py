"""Derivatives of inverse dynamics by rows and columns that climb to the base in body coordinates.

Column k of ∂τ is what the joint's own change of its body's motion does to the forces, R (`Cloud`); it climbs as a
force. Row k is ``Rᵀ S_k``, a covector on the motion of the body, and climbs as such. Where they pass a joint on their
way, they leave their entries there: those of ``∂τ/∂q``, ``∂τ/∂v`` and M = ``∂τ/∂a`` in one sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.derivatives.cloud import Change, Cloud, Covector, centripetal_slope
from kinetree.algorithms.dynamics.passive_forces import passive_forces, without_springs
from kinetree.algorithms.dynamics.rnea import body_wrenches
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.scalars.dual import Dual, rate_of
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Force, Mat3, Motion, at_rest
from kinetree.spatial.vector import ZERO


class BodyMotion(NamedTuple):
    """The motion of a body's origin: of the parent's point there, and its own; and as seen where it is at rest.

    V is that of covectors on it (`Covector`).
    """

    carried: tuple[Motion, Motion]
    own: tuple[Motion, Motion]
    seen: tuple[Motion, Motion]
    V: Motion


class Freedom(NamedTuple):
    """A degree of freedom: its velocity index, S, the changes by its q and v, and of each S_l of its joint by its q."""

    k: int
    S: Motion
    by_q: Change
    by_v: Change
    dS: Sequence[Motion]


def inverse_dynamics(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> dict[str, Matrix]:
    """Return the derivatives of the joint forces; wrenches in the world's axes are turned by the bodies' own motion."""
    states = [model.jcalc(i, given["q"], given["v"]) for i in range(model.nb)]
    wrenches = body_wrenches(states, model, given.get("f_ext"), options["f_ext_frame"])
    turning = "f_ext" in given and options["f_ext_frame"] == "world"
    return _derivatives(model, states, given["q"], given["v"], given["a"], wrenches, turning)


def bias_forces(
    model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]
) -> dict[str, Matrix]:
    """Return the derivatives of inverse dynamics without accelerations."""
    found = inverse_dynamics(model, {**given, "a": [0.0] * model.nv}, {"f_ext_frame": "body"}, wrt)
    return {name: found[name] for name in wrt}


def gravity_forces(
    model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]
) -> dict[str, Matrix]:
    """Return the derivatives of inverse dynamics at rest, without springs."""
    zero = [0.0] * model.nv
    found = inverse_dynamics(without_springs(model), {**given, "v": zero, "a": zero}, {"f_ext_frame": "body"}, wrt)
    return {"q": found["q"]}


def _derivatives(
    model: Model,
    states: Sequence[BodyState],
    q: Vector,
    v: Vector,
    a: Vector,
    wrenches: Sequence[Force],
    turning: bool,
) -> dict[str, Matrix]:
    """Return ``∂τ/∂q`` along the velocities of the joints, ``∂τ/∂v`` and ``∂τ/∂a``, by the input's name.

    External forces are given in the bodies' axes; where they are `turning` they are fixed in the world, not in these.
    """
    held = list(wrenches) if turning else [Force.zero()] * model.nb  # of the subtrees
    motions = _motions(model, states, a)
    freedoms = [_freedoms(model, i, q, v, a, states[i], motions[i]) for i in range(model.nb)]
    clouds, slopes = [], []
    for i, (body, motion) in enumerate(zip(model.bodies, motions, strict=True)):
        clouds.append(Cloud.of(body.inertia, motion.seen[0].ang, body.inertia.wrench(*motion.seen) - wrenches[i]))
        parent = motion if body.parent == WORLD else motions[body.parent]
        slopes.append(centripetal_slope(body.X_T.r, parent.own[0].ang, parent.V))
    dq, dv, M = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(3))

    def put(A: Matrix, k: int, j: int, x: object) -> None:
        A[k][j] = A[k][j] + x

    for i in reversed(range(model.nb)):
        body, cloud, w, V = model.bodies[i], clouds[i], motions[i].own[0].ang, motions[i].V
        for n, (own, rotor) in enumerate(zip(freedoms[i], body.armature, strict=True)):
            k, row = own.k, cloud.row(w, V, own.S)
            column_q = cloud.response(w, own.by_q) + own.S.cross_force(cloud.f + held[i])
            turned = own.S.cross_force(held[i])
            column_v = cloud.response(w, own.by_v)
            put(M, k, k, rotor)
            for other in freedoms[i]:
                put(M, k, other.k, other.S.dot(row.F))
                put(dq, k, other.k, row.of(other.by_q, V) + other.dS[n].dot(cloud.f) - other.S.dot(turned))
                put(dv, k, other.k, row.of(other.by_v, V))
            j = i
            while model.bodies[j].parent != WORLD:
                row = _climbed(row, model.bodies[j], states[j], motions[j], motions[model.bodies[j].parent], slopes[j])
                column_q, column_v, turned = (states[j].Xup.T @ x for x in (column_q, column_v, turned))
                j = model.bodies[j].parent
                for other in freedoms[j]:
                    x = other.S.dot(row.F)
                    put(M, k, other.k, x)
                    put(M, other.k, k, x)
                    put(dq, k, other.k, row.of(other.by_q, motions[j].V) - other.S.dot(turned))
                    put(dv, k, other.k, row.of(other.by_v, motions[j].V))
                    put(dq, other.k, k, other.S.dot(column_q))
                    put(dv, other.k, k, other.S.dot(column_v))
        if body.parent != WORLD:
            X_J, X_T = states[i].X_J, body.X_T
            slid = X_J.E.to_a(motions[i].own[0].lin)  # the child's origin, in the joint's frame
            cloud = cloud.back(X_J.E).shifted(X_J.r, slid * 2.0).back(X_T.E)
            moved = cloud.shifted(X_T.r, motions[body.parent].seen[0].ang.cross(X_T.r * 2.0))
            clouds[body.parent] = clouds[body.parent].with_other(moved)
            held[body.parent] = held[body.parent] + states[i].Xup.T @ held[i]
    _add_passive(model, q, v, dq, dv)
    return {"q": dq, "v": dv, "a": M}


def _motions(model: Model, states: Sequence[BodyState], a: Vector) -> list[BodyMotion]:
    """Return the motions of the bodies, as `body_motions`, with the parts that the joints' changes need."""
    found: list[BodyMotion] = []
    base = Motion.zero(), Motion(ZERO, -model.gravity)
    for body, (_, X_J, S, vJ, cJ) in zip(model.bodies, states, strict=True):
        v_joint, a_joint = body.X_T.carry(*(base if body.parent == WORLD else found[body.parent].seen))
        v_carried, a_carried = X_J @ v_joint, X_J @ a_joint
        v_i = v_carried + vJ
        a_i = a_carried + cJ + v_i.cross(vJ)
        for k, S_k in zip(body.v_index, S, strict=True):
            a_i = a_i + S_k * a[k]
        V = Motion(ZERO, v_i.lin) if body.parent == WORLD and len(S) > 1 else Motion(v_i.ang, ZERO)
        found.append(BodyMotion((v_carried, a_carried), (v_i, a_i), at_rest(v_i, a_i), V))
    return found


def _freedoms(
    model: Model, i: int, q: Vector, v: Vector, a: Vector, state: BodyState, motion: BodyMotion
) -> list[Freedom]:
    """Return what each degree of freedom of a joint does to the motion of its body."""
    body, joint = model.bodies[i], model.bodies[i].joint
    own_q, own_v = [q[k] for k in body.q_index], [v[k] for k in body.v_index]
    (v_carried, a_carried), (v_i, a_i), *_ = motion

    def seen(dv: Motion, da: Motion) -> Change:
        return Change(dv.ang, Motion(da.ang, da.lin + dv.ang.cross(v_i.lin) + v_i.ang.cross(dv.lin)))

    S_of_q = joint.jcalc([Dual(x, 0.0) for x in own_q], [0.0] * joint.nv).S
    S_moves = any(isinstance(x, Dual) for S_k in S_of_q for x in S_k)
    found = []
    for n, (k, S_k) in enumerate(zip(body.v_index, state.S, strict=True)):
        unit = [float(m == n) for m in range(len(own_v))]
        dS, dvJ, dcJ, dcJ_dv = [Motion.zero()] * len(own_v), Motion.zero(), Motion.zero(), Motion.zero()
        if S_moves:
            along = joint.jcalc(joint.integrate([Dual(x, 0.0) for x in own_q], [Dual(0.0, x) for x in unit]), own_v)
            dS, dvJ, dcJ = [_rates(column) for column in along.S], _rates(along.vJ), _rates(along.cJ)
            dcJ_dv = _rates(joint.jcalc(own_q, [Dual(x, rate) for x, rate in zip(own_v, unit, strict=True)]).cJ)
        if len(own_v) == 1 and not S_moves:
            by_q = seen(v_i.cross(S_k), a_i.cross(S_k))
        else:
            dv = v_carried.cross(S_k) + dvJ
            da = a_carried.cross(S_k) + dcJ + dv.cross(state.vJ) + v_i.cross(dvJ)
            for m, column in zip(body.v_index, dS, strict=True):
                da = da + column * a[m]
            by_q = seen(dv, da)
        found.append(Freedom(k, S_k, by_q, seen(S_k, dcJ_dv + S_k.cross(state.vJ) + v_i.cross(S_k)), dS))
    return found


def _rates(m: Motion) -> Motion:
    return Motion.of(map(rate_of, m))


def _climbed(
    row: Covector, body: Body, state: BodyState, motion: BodyMotion, parent: BodyMotion, slope: Mat3
) -> Covector:
    """Return a covector on the motion of a body as one on that of its parent."""
    X_J, X_T, vJ, v_i, w = state.X_J, body.X_T, state.vJ, motion.own[0], motion.carried[0].ang
    b, (n, f) = row.b, (row.F.ang, row.F.lin)
    turning = not all(map(is_zero, parent.V.ang))
    turn = vJ.ang * 2.0 if turning else v_i.ang + vJ.ang
    b = X_J.E.to_a(b + turn.cross(n) + vJ.lin.cross(f) + v_i.lin.cross(f))
    n, f, w = X_J.E.to_a(n), X_J.E.to_a(f), X_J.E.to_a(w)
    if not all(map(is_zero, X_J.r)):
        moment = X_J.r.cross(f)
        b = b + X_J.r.cross(f.cross(w)) + (moment.cross(w) if turning else ZERO)
        n = n + moment
    n, f, b = (X_T.E.to_a(x) for x in (n, f, b))
    return Covector(b + slope @ f, Force(n + X_T.r.cross(f), f))


def _add_passive(model: Model, q: Vector, v: Vector, dq: Matrix, dv: Matrix) -> None:
    """Add the slopes of springs and friction, which are of each joint's own coordinate."""
    for body in model.leading:
        for n, k in enumerate(body.v_index):
            faster = [Dual(x, 1.0) if j == k else x for j, x in enumerate(v)]
            dv[k][k] = dv[k][k] + rate_of(passive_forces(model, q, faster)[k])
            if body.has_one_coordinate:
                further = [Dual(x, 1.0) if j == body.q_index[n] else x for j, x in enumerate(q)]
                dq[k][k] = dq[k][k] + rate_of(passive_forces(model, further, v)[k])
