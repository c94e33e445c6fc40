"""Steps on the manifold of configurations, and the length by which its angles and shifts are compared."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar, is_zero, larger
from kinetree.scalars.linalg import norm


@algorithm("integrate", outputs="q_next")
def integrate(model: Model, q: Vector, dv: Vector, dt: Scalar | None = None) -> list[Scalar]:
    """Return the configuration reached from q by the velocity dv held for a unit of time, or for dt.

    The exponential of each joint's group: SO(3) for a spherical joint, SE(3) for a free-flyer, SE(2) for a planar one.

    Parameters
    ----------
    dv
        Velocity times duration (rad, m), in body axes for joints of several degrees of freedom; with dt the velocity.
    dt
        Duration (s).

    >>> robot.integrate(robot.neutral(), [0.1, 0, 0, 0, 0, 0, 0])
    array([0.1, 0. , 0. , 0. , 0. , 0. , 0. ])
    >>> robot.integrate(robot.neutral(), [0.1, 0, 0, 0, 0, 0, 0], 0.5)
    array([0.05, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ])
    """
    step = dv if dt is None else [x * dt for x in dv]
    q_next: list[Scalar] = [0.0] * model.nq
    for i in model.joint_order:
        body = model.bodies[i]
        moved = body.joint.integrate([q[k] for k in body.q_index], [step[k] for k in body.v_index])
        for k, x in zip(body.q_index, moved, strict=True):
            q_next[k] = x
    return q_next


@algorithm("difference", outputs="dv")
def difference(model: Model, q0: Vector, q1: Vector) -> list[Scalar]:
    """Return the velocity that leads from q0 to q1 in a unit of time: the inverse of `integrate`, a logarithm.

    Returns
    -------
    dv
        The shortest, if there are several: rotations are of at most half a turn. NaN where a quaternion has norm zero.

    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> q, v, _ = robot.random_state(seed=0)
    >>> bool(abs(robot.difference(q, robot.integrate(q, 0.1 * v)) - 0.1 * v).max() < 1e-14)
    True
    """
    dv: list[Scalar] = [0.0] * model.nv
    for i in model.joint_order:
        body = model.bodies[i]
        step = body.joint.difference([q0[k] for k in body.q_index], [q1[k] for k in body.q_index])
        for k, x in zip(body.v_index, step, strict=True):
            dv[k] = x
    return dv


@algorithm("interpolate", outputs="q_next")
def interpolate(model: Model, q0: Vector, q1: Vector, s: Scalar) -> list[Scalar]:
    """Return the configuration at the part s of the way from q0 to q1: ``q0 ⊕ s (q1 ⊖ q0)``.

    The way is the geodesic of each joint's group: constant velocities lead from q0 at ``s = 0`` to q1 at ``s = 1``,
    orientations turn about a fixed axis the short way round, a free-flyer follows a screw. Beyond 0 and 1 it goes on.

    >>> robot.interpolate(robot.neutral(), [1, 0, 0, 0, 0, 0, 0], [0.0, 0.25, 1.0])[:, 0]
    array([0.  , 0.25, 1.  ])
    """
    return integrate(model, q0, difference(model, q0, q1), s)


BERNOULLI = {1: 1 / 2, 2: 1 / 12, 4: -1 / 720, 6: 1 / 30240, 8: -1 / 1209600, 10: 1 / 47900160}
"""``(−1)ᵏ B_k / k!`` with the Bernoulli numbers B_k; those of the other odd k are zero."""


def step_rate(model: Model, u: Vector, v: Vector, order: int = 8) -> list[Scalar]:
    """Return the rate u̇ of a step, where ``q(t) = q0 ⊕ u(t)`` moves at the velocity v, in the child's axes.

    The inverse of the exponential's derivative, ``u̇ = v + ½ [u, v] + 1/12 [u, [u, v]] − 1/720 ad_u⁴ v + …``, up to
    ``ad_u`` to the power of `order` (10 at most); it converges for turns of less than 2π.

    References: Hairer, Lubich and Wanner, Geometric Numerical Integration, Lemma III.4.2.
    """
    rate: list[Scalar] = list(v)
    for body in model.leading:
        at = body.v_index
        step, power = [u[k] for k in at], [v[k] for k in at]
        for n in range(1, order + 1):
            power = body.joint.bracket(step, power)
            if n in BERNOULLI:
                for k, x in zip(at, power, strict=True):
                    rate[k] = rate[k] + BERNOULLI[n] * x
    return rate


def turning(model: Model) -> tuple[bool, ...]:
    """Return for each velocity whether it turns (rad/s); the others only shift (m/s)."""
    found = [True] * model.nv
    for body in model.leading:
        S = body.joint.jcalc(body.joint.neutral(), [0.0] * body.joint.nv).S
        for k, column in zip(body.v_index, S, strict=True):
            found[k] = not all(map(is_zero, column.ang))
    return tuple(found)


def reach(model: Model, ends: Iterable[tuple[int, Scalar]]) -> Scalar:
    """Return the longest way along the tree, between joints and to ends (body, distance from it); 1 if it is 0."""
    ways: list[Scalar] = []
    for body in model.bodies:
        before = 0.0 if body.parent == WORLD else ways[body.parent]
        ways.append(before + norm([*body.X_T.r]))
    longest: Scalar = 0.0
    for way in [*ways, *(ways[i] + further for i, further in ends if i != WORLD)]:
        longest = larger(longest, way)
    return 1.0 if is_zero(longest) else longest
