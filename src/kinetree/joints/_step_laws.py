"""The laws of steps: `integrate`, `difference` and `bracket`; each returns what is wrong, or an empty text."""

from __future__ import annotations

import numpy as np

from kinetree.joints._samples import Array, State, matrix, same, show
from kinetree.joints.base import Joint
from kinetree.scalars.dual import Dual, rate_of


def integrate_and_difference(joint: Joint, samples: list[State]) -> str:
    """`difference` undoes `integrate`, and `integrate` reaches the pose to which `difference` leads."""
    for at, other in zip(samples, reversed(samples), strict=True):
        d = 0.1 * at.v
        again = matrix(joint.difference(at.q, joint.integrate(at.q, d.tolist())))
        if not same(again, d):
            return (
                f"difference does not undo integrate: difference(q, integrate(q, d)) = {show(again)} at "
                f"q = {show(at.q)}, d = {show(d)}; mend difference or integrate"
            )
        reached = joint.integrate(at.q, joint.difference(at.q, other.q))
        here, there = (matrix(joint.jcalc(q, at.v.tolist()).X.placement) for q in (reached, other.q))
        if not same(here, there):
            return (
                f"integrate(q0, difference(q0, q1)) has not the pose of q1: from q0 = {show(at.q)} to "
                f"q1 = {show(other.q)} it reaches {show(reached)}; mend difference or integrate"
            )
    return ""


def held_velocities(joint: Joint, samples: list[State]) -> str:
    """`integrate` holds a velocity: half a unit of time and another half lead as far as the whole."""
    for at in samples:
        half = (0.5 * at.v).tolist()
        twice, once = joint.integrate(joint.integrate(at.q, half), half), joint.integrate(at.q, at.v.tolist())
        there, expected = (matrix(joint.jcalc(q, half).X.placement) for q in (twice, once))
        if not same(there, expected):
            return (
                f"integrate does not hold the velocity: from q = {show(at.q)} it reaches {show(once)} by "
                f"d = {show(at.v)}, and {show(twice)} by d/2 twice; mend integrate (it is an exponential)"
            )
    return ""


def bracket_of_steps(joint: Joint, samples: list[State]) -> str:
    """`bracket` is by what small steps in two orders differ."""
    for at, other in zip(samples, (*samples[1:], samples[0]), strict=True):
        a, b = at.v.tolist(), other.v.tolist()
        P = matrix(at.state.X.placement)
        apart = _second_order(joint, at.q, a, b) - _second_order(joint, at.q, b, a)
        W, lin = P[:3, :3].T @ apart[:3, :3], P[:3, :3].T @ apart[:3, 3]
        S = matrix(at.state.S).T if joint.nv else np.zeros((6, 0))
        twist = np.array([W[2, 1], W[0, 2], W[1, 0], *lin])
        bracket = np.array(joint.bracket(a, b), dtype=np.float64)
        if not same(twist, S @ bracket):
            return (
                f"bracket is not that of integrate: [a, b] = {show(bracket)} of a = {show(a)}, b = {show(b)}, and "
                f"small steps in these two orders differ by {show(np.linalg.lstsq(S, twist, rcond=None)[0])} at "
                f"q = {show(at.q)}; give it the method bracket(a, b) that fits integrate, the same at every q"
            )
    return ""


def _second_order(joint: Joint, q: list[float], a: list[float], b: list[float]) -> Array:
    """Return ``∂²X / ∂s ∂t`` of the placement after the steps ``s a`` and ``t b``, by dual numbers of dual numbers."""
    start = [Dual(Dual(x, 0.0), Dual(0.0, 0.0)) for x in q]
    first = joint.integrate(start, [Dual(Dual(0.0, x), Dual(0.0, 0.0)) for x in a])
    second = joint.integrate(first, [Dual(Dual(0.0, 0.0), Dual(x, 0.0)) for x in b])
    X = joint.jcalc(second, [0.0] * joint.nv).X
    return matrix(X.placement, lambda x: rate_of(rate_of(x)))
