"""How the motion of every body changes with the coordinates and velocities of its own joint.

A change by a joint's q is that along a velocity of it, with the motion of the body's parent as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.derivatives.cloud import Change, Cloud
from kinetree.algorithms.registry import Vector
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.dual import Dual, rate_of
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Force, Motion, Scalar, at_rest
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
    """A degree of freedom: its velocity index, S, the changes by its q and v, and of S and vJ of its joint by its q."""

    k: int
    S: Motion
    by_q: Change
    by_v: Change
    dS: Sequence[Motion]
    dvJ: Motion


class Changes(NamedTuple):
    """The states and motions of all bodies, and what each freedom of their joints does to them."""

    states: Sequence[BodyState]
    motions: Sequence[BodyMotion]
    freedoms: Sequence[Sequence[Freedom]]

    @classmethod
    def of(cls, model: Model, given: Mapping[str, Any], apart: Collection[int] = ()) -> Changes:
        """Return those at this q, v and a.

        What the accelerations of some velocities add to the bodies' is summed apart, as forward dynamics does it: these
        operations are then done once.
        """
        q, v, a = given["q"], given["v"], given["a"]
        states = [model.jcalc(i, q, v) for i in range(model.nb)]
        motions = _motions(model, states, a, apart)
        freedoms = [_freedoms(model, i, q, v, a, *pair) for i, pair in enumerate(zip(states, motions, strict=True))]
        return cls(states, motions, freedoms)

    def clouds(self, model: Model, wrenches: Sequence[Force]) -> list[Cloud]:
        """Return the clouds of all subtrees, on whose bodies these external forces act."""
        found = [
            Cloud.of(body.inertia, motion.seen[0].ang, body.inertia.wrench(*motion.seen) - wrench)
            for body, motion, wrench in zip(model.bodies, self.motions, wrenches, strict=True)
        ]
        for i, body in reversed(list(enumerate(model.bodies))):
            if body.parent != WORLD:
                X_J, X_T = self.states[i].X_J, body.X_T
                slid = X_J.E.to_a(self.motions[i].own[0].lin)  # the child's origin, in the joint's frame
                cloud = found[i].back(X_J.E).shifted(X_J.r, slid * 2.0).back(X_T.E)
                moved = cloud.shifted(X_T.r, self.motions[body.parent].seen[0].ang.cross(X_T.r * 2.0))
                found[body.parent] = found[body.parent].with_other(moved)
        return found

    def as_accelerations(self, model: Model, name: str) -> dict[int, dict[int, Scalar]]:
        """Return the velocities whose q or v does what accelerations of the same joint would do, and these by index.

        They are those of a floating base's position, rotation, which turns gravity, and linear velocity. The q of a
        joint that is carried also turns the forces against the parent.
        """
        found = {}
        for body, freedoms in zip(model.bodies, self.freedoms, strict=True):
            along = {n: f.k for f in freedoms for n in range(6) if _is_unit(f.S, n)}
            for f in freedoms:
                w, a = f.by_q if name == "q" else f.by_v
                needed = {n: x for n, x in enumerate(a) if not is_zero(x)}
                fixed = name == "v" or (body.parent == WORLD and all(is_zero(x) for S in f.dS for x in S))
                if fixed and all(map(is_zero, w)) and needed.keys() <= along.keys():
                    found[f.k] = {along[n]: x for n, x in needed.items()}
        return found


def _is_unit(S: Motion, n: int) -> bool:
    return all(isinstance(x, float) and x == float(k == n) for k, x in enumerate(S))


def _motions(model: Model, states: Sequence[BodyState], a: Vector, apart: Collection[int]) -> list[BodyMotion]:
    """Return the motions of the bodies, as `body_motions`, with the parts that the joints' changes need."""
    found: list[BodyMotion] = []
    seen: list[tuple[Motion, Motion]] = []  # without the accelerations that are apart,
    added: list[Motion] = []  # and what they add
    base = Motion.zero(), Motion(ZERO, -model.gravity)
    for body, (Xup, X_J, S, vJ, cJ) in zip(model.bodies, states, strict=True):
        v_joint, a_joint = body.X_T.carry(*(base if body.parent == WORLD else seen[body.parent]))
        v_carried, a_carried = X_J @ v_joint, X_J @ a_joint
        v_i = v_carried + vJ
        a_i = a_carried + cJ + v_i.cross(vJ)
        own = {k: S_k * a[k] for k, S_k in zip(body.v_index, S, strict=True)}
        a_i = sum((a_k for k, a_k in own.items() if k not in apart), a_i)
        seen.append(at_rest(v_i, a_i))
        more = Xup @ added[body.parent] if apart and body.parent != WORLD else Motion.zero()
        added.append(sum((a_k for k, a_k in own.items() if k in apart), more))
        if apart:
            a_carried, a_i = a_carried + more, a_i + added[-1]
        V = Motion(ZERO, v_i.lin) if body.parent == WORLD and len(S) > 1 else Motion(v_i.ang, ZERO)
        found.append(BodyMotion((v_carried, a_carried), (v_i, a_i), at_rest(v_i, a_i), V))
    return found


def _freedoms(
    model: Model, i: int, q: Vector, v: Vector, a: Vector, state: BodyState, motion: BodyMotion
) -> list[Freedom]:
    """Return what each degree of freedom of a joint does to the motion of its body."""
    v_index, (v_carried, a_carried), (v_i, a_i) = model.bodies[i].v_index, motion.carried, motion.own

    def seen(dv: Motion, da: Motion) -> Change:
        return Change(dv.ang, Motion(da.ang, da.lin + dv.ang.cross(v_i.lin) + v_i.ang.cross(dv.lin)))

    found = []
    for k, S_k, (dS, dvJ, dcJ, dcJ_dv) in zip(v_index, state.S, joint_slopes(model, i, q, v), strict=True):
        if len(v_index) == 1 and all(is_zero(x) for dS_k in dS for x in dS_k):
            by_q = seen(v_i.cross(S_k), a_i.cross(S_k))
        else:
            dv = v_carried.cross(S_k) + dvJ
            da = a_carried.cross(S_k) + dcJ + dv.cross(state.vJ) + v_i.cross(dvJ)
            by_q = seen(dv, sum((column * a[m] for m, column in zip(v_index, dS, strict=True)), da))
        by_v = seen(S_k, dcJ_dv + S_k.cross(state.vJ) + v_i.cross(S_k))
        found.append(Freedom(k, S_k, by_q, by_v, dS, dvJ))
    return found


class JointSlope(NamedTuple):
    """How the columns of S, vJ and cJ of a joint change with a q of its own, and cJ with the v; by the child's axes."""

    dS: tuple[Motion, ...]
    dvJ: Motion
    dcJ: Motion
    dcJ_dv: Motion


def joint_slopes(model: Model, i: int, q: Vector, v: Vector) -> list[JointSlope]:
    """Return the slopes of body i's joint along its velocities; by dual numbers, where S depends on q."""
    body, joint = model.bodies[i], model.bodies[i].joint
    own_q, own_v, zero = [q[k] for k in body.q_index], [v[k] for k in body.v_index], Motion.zero()
    S_of_q = joint.jcalc([Dual(x, 0.0) for x in own_q], [0.0] * joint.nv).S
    if not any(isinstance(x, Dual) for S_k in S_of_q for x in S_k):
        return [JointSlope((zero,) * joint.nv, zero, zero, zero)] * joint.nv
    found = []
    for n in range(joint.nv):
        unit = [float(m == n) for m in range(joint.nv)]
        along = joint.jcalc(joint.integrate([Dual(x, 0.0) for x in own_q], [Dual(0.0, x) for x in unit]), own_v)
        faster = joint.jcalc(own_q, [Dual(x, rate) for x, rate in zip(own_v, unit, strict=True)])
        found.append(JointSlope(tuple(map(_rates, along.S)), _rates(along.vJ), _rates(along.cJ), _rates(faster.cJ)))
    return found


def _rates(m: Motion) -> Motion:
    return Motion.of(map(rate_of, m))
