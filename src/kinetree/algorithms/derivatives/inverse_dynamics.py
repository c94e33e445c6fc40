"""Derivatives of inverse dynamics by rows and columns that climb to the base in body coordinates.

Column k of ∂τ is what the joint's own change of its body's motion does to the forces, R (`Cloud`); it climbs as a
force. Row k is ``Rᵀ S_k``, a covector on the motion of the body, and climbs as such. Where they pass a joint on their
way, they leave their entries there: those of ``∂τ/∂q``, ``∂τ/∂v`` and M = ``∂τ/∂a`` in one sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kinetree.algorithms.derivatives.changes import BodyMotion, Changes
from kinetree.algorithms.derivatives.cloud import Covector, centripetal_slope
from kinetree.algorithms.dynamics.passive_forces import passive_forces, without_springs
from kinetree.algorithms.dynamics.rnea import body_wrenches
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.scalars.dual import Dual, rate_of
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Force, Mat3, Scalar
from kinetree.spatial.vector import ZERO

Blocks = dict[tuple[str, str], Matrix]
"""Derivatives of a result by an input, by their names."""


def inverse_dynamics(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> Blocks:
    """Return the derivatives of the joint forces; wrenches in the world's axes are turned by the bodies' own motion."""
    found = joint_force_slopes(model, Changes.of(model, given), given, options)
    return {("tau", name): found[name] for name in wrt}


def bias_forces(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of inverse dynamics without accelerations."""
    state = {**given, "a": [0.0] * model.nv}
    found = joint_force_slopes(model, Changes.of(model, state), state, {})
    return {("h", name): found[name] for name in wrt}


def gravity_forces(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of inverse dynamics at rest, without springs."""
    state = {**given, "v": [0.0] * model.nv, "a": [0.0] * model.nv}
    return {("g", "q"): joint_force_slopes(without_springs(model), Changes.of(model, state), state, {})["q"]}


def joint_force_slopes(
    model: Model, changes: Changes, given: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Matrix]:
    """Return ``∂τ/∂q`` along the velocities of the joints, ``∂τ/∂v`` and ``∂τ/∂a``, by the input's name."""
    states, motions, freedoms = changes
    wrenches = body_wrenches(states, model, given.get("f_ext"), options.get("f_ext_frame", "body"))
    turning = are_turning(given, options)
    held = list(wrenches) if turning else [Force.zero()] * model.nb  # of the subtrees, fixed in the world
    clouds, parents = changes.clouds(model, wrenches), [motions[max(body.parent, 0)] for body in model.bodies]
    slopes = [
        centripetal_slope(body.X_T.r, parent.own[0].ang, parent.V)
        for body, parent in zip(model.bodies, parents, strict=True)
    ]
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
                row = _climbed(row, model.bodies[j], states[j], motions[j], parents[j], slopes[j])
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
            held[body.parent] = held[body.parent] + states[i].Xup.T @ held[i]
    passive = passive_slopes(model, given["q"], given["v"])
    for name, A in (("q", dq), ("v", dv)):
        for k, slope in enumerate(passive[name]):
            put(A, k, k, slope)
    return {"q": dq, "v": dv, "a": M}


def are_turning(given: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Return whether external forces are fixed in the world, and turn in the axes of their bodies."""
    return "f_ext" in given and options["f_ext_frame"] == "world"


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


def passive_slopes(model: Model, q: Vector, v: Vector) -> dict[str, list[Scalar]]:
    """Return the slopes of springs and friction, which are of each joint's own coordinate, by its q and v."""
    slopes: dict[str, list[Scalar]] = {"q": [0.0] * model.nv, "v": [0.0] * model.nv}
    for body in model.leading:
        for n, k in enumerate(body.v_index):
            faster = [Dual(x, 1.0) if j == k else x for j, x in enumerate(v)]
            slopes["v"][k] = rate_of(passive_forces(model, q, faster)[k])
            if body.has_one_coordinate:
                further = [Dual(x, 1.0) if j == body.q_index[n] else x for j, x in enumerate(q)]
                slopes["q"][k] = rate_of(passive_forces(model, further, v)[k])
    return slopes
