"""Passive joint forces: springs, damping and friction with their regressor, and limits of position and effort.

A stop pushes a joint of one degree of freedom back by ``k e max(0, 1 + 2 y / (ω e + |y|))``, where e > 0 is how far the
joint is beyond the limit and y the speed at which it goes further. So the force is continuous, zero at the limit
whatever the speed, and never pulls; held there by a load the joint is critically damped. The law is the same at every
speed: a free joint that meets its stop at the speed u goes ``0.69 u/ω`` beyond the limit, and leaves it at 0.34 u.

The stiffness is ``k = m ω²``, with m the joint's entry of the diagonal of M(q) at the neutral configuration, where the
other joints are held. ω is 2π·10 rad/s, or higher up to 2π·50 rad/s where the motor's largest effort would lead further
beyond a limit than a twentieth of the joint's range. With steps of 1 ms that is stable for arms and humanoids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Body, JointLimits, Model
from kinetree.model.body import NO_SPRING
from kinetree.scalars.functions import Scalar, is_zero, larger, select_less, smaller, sqrt


def passive_forces(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Return the joint forces that overcome the joints' springs, and the kinds of friction that are turned on."""
    forces = friction_forces(model, v)
    for body in sprung(model):
        (k,) = body.v_index
        forces[k] = forces[k] + body.spring.stiffness * deflection(body, q)
    return forces


def sprung(model: Model) -> list[Body]:
    """Return the bodies whose joints have a spring."""
    return [body for body in model.bodies if not is_zero(body.spring.stiffness)]


def without_springs(model: Model) -> Model:
    """Return the model with no springs in its joints."""
    return replace(model, bodies=tuple(replace(body, spring=NO_SPRING) for body in model.bodies))


def deflection(body: Body, q: Vector) -> Scalar:
    """Return how far the spring of a joint of one degree of freedom is from its rest."""
    (d,) = body.joint.difference([body.spring.rest], [q[k] for k in body.q_index])
    return d


def spring_energies(model: Model, q: Vector) -> list[Scalar]:
    """Return ``½ k (q − q_rest)²`` of the joints' springs."""
    pairs = ((body.spring.stiffness, deflection(body, q)) for body in sprung(model))
    return [d * d * (stiffness * 0.5) for stiffness, d in pairs]


def smooth_sign(model: Model, v: Scalar) -> Scalar:
    """Return ``v / sqrt(v² + s²)``: the sign of v, smooth around zero."""
    s = model.friction.smoothing
    return v / sqrt(v * v + s * s)


def friction_forces(model: Model, v: Vector) -> list[Scalar]:
    """Return the joint forces that overcome the kinds of friction that are turned on."""
    forces: list[Scalar] = [0.0] * model.nv
    for body in model.bodies:
        for k, damping, coulomb in zip(body.v_index, body.damping, body.friction, strict=True):
            if model.friction.damping:
                forces[k] = forces[k] + damping * v[k]
            if model.friction.coulomb:
                forces[k] = forces[k] + coulomb * smooth_sign(model, v[k])
    return forces


def friction_slopes(model: Model, v: Vector) -> list[Scalar]:
    """Return d of friction forces ``d_k v_k``: of Coulomb friction the slope of a chord, never below the tangent's."""
    slopes: list[Scalar] = [0.0] * model.nv
    s = model.friction.smoothing
    for body in model.bodies:
        for k, damping, coulomb in zip(body.v_index, body.damping, body.friction, strict=True):
            if model.friction.damping:
                slopes[k] = slopes[k] + damping
            if model.friction.coulomb:
                slopes[k] = slopes[k] + coulomb / sqrt(v[k] * v[k] + s * s)
    return slopes


@algorithm("joint_physics_regressor", outputs={"Y": ("nv", "3*nv")})
def joint_physics_regressor(model: Model, v: Vector, a: Vector) -> Matrix:
    """Regressor of the joints' own resistance: armature, damping and Coulomb friction.

    ``τ = Y_links φ + Y(v, a) [armature; damping; friction]``, each of length nv (`Robot.armature`, `Robot.damping`,
    `Robot.friction`). All three count, whether or not friction is turned on; `JointFriction` defines the smooth sign.
    Springs, which resist no motion, are not in it.

    Returns
    -------
    Y
        Three diagonal blocks: the accelerations, the velocities, and the smooth signs of the velocities.
    """
    n = model.nv
    Y: Matrix = [[0.0] * (3 * n) for _ in range(n)]
    for k in range(n):
        Y[k][k], Y[k][n + k], Y[k][2 * n + k] = a[k], v[k], smooth_sign(model, v[k])
    return Y


SLOWEST, FASTEST = 2 * math.pi * 10, 2 * math.pi * 50
"""Bounds of the natural frequency ω of a stop (rad/s)."""

SHARE = 0.05
"""Part of a joint's range by which its largest effort may lead beyond a limit."""

_TINY = 1e-30
"""Keeps ``y / (ω e + |y|)`` from being 0/0 where the joint is at rest and free; also in float32."""


class Stop(NamedTuple):
    """The stops of a joint in one state."""

    k: int  # its entry of v
    stiffness: Scalar
    frequency: Scalar  # ω
    beyond: Scalar  # q less the nearest position within the limits, so negative below the lower one
    speed: Scalar  # y, at which it goes further
    size: Scalar  # ω e + |y|

    @property
    def factor(self) -> Scalar:
        """``max(0, 1 + 2 y / (ω e + |y|))``."""
        return larger(0.0, 1.0 + 2.0 * self.speed / self.size)


def limit_forces(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Return the joint forces with which stops push back what is beyond its limits of position."""
    forces: list[Scalar] = [0.0] * model.nv
    for stop in stops(model, q, v):
        forces[stop.k] = -(stop.stiffness * stop.beyond * stop.factor)
    return forces


def limit_derivatives(model: Model, q: Vector, v: Vector) -> tuple[list[Scalar], list[Scalar]]:
    """Return the diagonals ``−∂f/∂q`` and ``−∂f/∂v`` of `limit_forces`: stiffness and damping, none negative."""
    stiffness: list[Scalar] = [0.0] * model.nv
    damping: list[Scalar] = [0.0] * model.nv
    for stop in stops(model, q, v):
        e = _magnitude(stop.beyond)
        depth = stop.frequency * e / stop.size  # ω e / (ω e + |y|), from 0 to 1
        pushes = select_less(0.0, e * stop.factor, stop.stiffness, 0.0)
        stiffness[stop.k] = pushes * (stop.factor - 2.0 * depth * stop.speed / stop.size)
        damping[stop.k] = pushes * 2.0 * depth * depth / stop.frequency
    return stiffness, damping


def stops(model: Model, q: Vector, v: Vector) -> Iterator[Stop]:
    """Yield the stops of the joints that have a limit of position."""
    limited = [b for b in model.leading if b.has_one_coordinate and _has_stops(b.limits)]
    if not limited:
        return
    M = crba(model, [x for body in model.leading for x in body.joint.neutral()])
    for body in limited:
        (k,), (i,) = body.v_index, body.q_index
        if is_zero(M[k][k]):
            continue  # where nothing has inertia there is no dynamics
        stiffness = _stiffness(M[k][k], body.limits)
        beyond = q[i] - _within(q[i], body.limits)
        frequency, speed = sqrt(stiffness / M[k][k]), select_less(beyond, 0.0, -v[k], v[k])
        yield Stop(k, stiffness, frequency, beyond, speed, frequency * _magnitude(beyond) + _magnitude(speed) + _TINY)


def _has_stops(limits: JointLimits) -> bool:
    return not (math.isinf(limits.lower) and math.isinf(limits.upper))


def _stiffness(m: Scalar, limits: JointLimits) -> Scalar:
    """Return the stiffness of the stops of a joint of this inertia."""
    travel = SHARE * (limits.upper - limits.lower)
    enough = limits.effort / travel if travel > 0.0 and math.isfinite(limits.effort) else 0.0
    low, high = m * SLOWEST**2, m * FASTEST**2
    return select_less(low, enough, smaller(enough, high), low)


def _within(q: Scalar, limits: JointLimits) -> Scalar:
    above = q if math.isinf(limits.lower) else larger(q, limits.lower)
    return above if math.isinf(limits.upper) else smaller(limits.upper, above)


def saturated(model: Model, tau: Vector) -> list[Scalar]:
    """Return the joint forces within the limits of effort; 0 is read as no limit, as files mean it."""
    forces = list(tau)
    for body in model.leading:
        most = body.limits.effort
        if body.has_one_coordinate and 0.0 < most < math.inf:
            (k,) = body.v_index
            forces[k] = smaller(most, larger(forces[k], -most))
    return forces


def passive_stiffness(model: Model, q: Vector, v: Vector, *, limits: bool = False) -> list[Scalar]:
    """Return the diagonal stiffness of the joints' springs, and of stops if limits count: how force grows against q."""
    total = limit_derivatives(model, q, v)[0] if limits else [0.0] * model.nv
    for body in sprung(model):
        (k,) = body.v_index
        total[k] = total[k] + body.spring.stiffness
    return total


def passive_damping(model: Model, q: Vector, v: Vector, *, limits: bool = False) -> list[Scalar]:
    """Return the diagonal damping of the friction that is turned on (as `friction_slopes`), and of stops that count."""
    total = friction_slopes(model, v)
    if limits:
        total = [x + y for x, y in zip(total, limit_derivatives(model, q, v)[1], strict=True)]
    return total


def _magnitude(x: Scalar) -> Scalar:
    return select_less(0.0, x, x, -x)
