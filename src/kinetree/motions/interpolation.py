"""Between the samples of a motion: Hermite polynomials in the coordinates of each joint's group."""

from __future__ import annotations

import numpy as np

from kinetree.motions.paths import Sample
from kinetree.robot import Robot
from kinetree.validation import Array

Parts = list[tuple[list[int], Array]]
"""The velocity indices of joints, and the structure constants c (n, n, n) of their groups."""


def hermite(
    robot: Robot, ends: tuple[Array, Array], q: tuple[Array, Array], rates: tuple[tuple[Array, Array], ...], t: Array
) -> Sample:
    """Return the motion at times t between two samples each, from their times `ends`, q, and rates: v, and perhaps a.

    In the coordinates ``ξ = q ⊖ q0`` it is the cubic, or quintic, that has these rates at both. The velocity of
    ``q0 ⊕ ξ`` is ``J(ξ) ξ̇`` with ``J(ξ) = Σ (−1)ᵏ/(k+1)! ad_ξᵏ`` (Chirikjian, *Stochastic Models, Information Theory,
    and Lie Groups* 2, section 10.7).
    """
    parts = group_parts(robot)
    h = ends[1] - ends[0]
    apart = h > 0.0
    s = np.divide(t - ends[0], h, out=np.zeros(np.broadcast_shapes(t.shape, h.shape)), where=apart)[..., None]
    h = np.where(apart, h, 1.0)[..., None]
    d = np.where(apart[..., None], robot.difference(*q), 0.0)
    v0, v1 = rates[0]
    first, last = h * v0, h * _coordinate_rate(parts, d, v1)
    if len(rates) == 1:
        powers = [first, 3.0 * d - 2.0 * first - last, first + last - 2.0 * d]
    else:
        a0, a1 = rates[1]
        half = h * h * a0 / 2.0
        _, bias = _motion(parts, d, last / h, np.zeros_like(d))
        other = h * h * _coordinate_rate(parts, d, a1 - bias) / 2.0
        powers = [
            first,
            half,
            10.0 * d - 6.0 * first - 4.0 * last - 3.0 * half + other,
            -15.0 * d + 8.0 * first + 7.0 * last + 3.0 * half - 2.0 * other,
            6.0 * d - 3.0 * (first + last) - half + other,
        ]
    xi, dxi, ddxi = (np.zeros_like(d) for _ in range(3))
    for c in (*powers[::-1], np.zeros_like(d)):  # Horner's rule, with both derivatives
        ddxi, dxi, xi = ddxi * s + 2.0 * dxi, dxi * s + xi, xi * s + c
    v, a = _motion(parts, xi, dxi / h, ddxi / (h * h))
    return Sample(np.asarray(robot.integrate(q[0], xi)), v, a)


def group_parts(robot: Robot) -> Parts:
    """Return the joints whose coordinates do not simply add: ``[e_i, e_j] = Σ_k c_ijk e_k`` of their velocities."""
    parts = []
    for body in robot.model.leading:
        unit = np.eye(body.joint.nv).tolist()
        constants = np.array([[body.joint.bracket(x, y) for y in unit] for x in unit], dtype=np.float64)
        if constants.any():
            parts.append((list(body.v_index), constants))
    return parts


def _bracket(parts: Parts, x: Array, y: Array) -> Array:
    """Return ``[x, y]`` of two velocities (..., nv)."""
    result = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for index, constants in parts:
        result[..., index] = np.einsum("...i,...j,ijk->...k", x[..., index], y[..., index], constants)
    return result


def _motion(parts: Parts, xi: Array, dxi: Array, ddxi: Array) -> tuple[Array, Array]:
    """Return the velocity ``J(ξ) ξ̇`` and its rate, summed until the terms no longer count."""
    v, a = dxi.copy(), ddxi.copy()
    w, u, factor = dxi, ddxi, 1.0
    for k in range(2, 200 if parts else 2):
        w, u = _bracket(parts, xi, w), _bracket(parts, dxi, w) + _bracket(parts, xi, u)
        factor /= -k
        v += factor * w
        a += factor * u
        if abs(factor) * max(_size(w), _size(u)) <= 1e-18 * max(_size(v), _size(a)):
            break
    return v, a


def _coordinate_rate(parts: Parts, xi: Array, v: Array) -> Array:
    """Return ``J(ξ)⁻¹ v``, joint by joint."""
    result = v.copy()
    for index, constants in parts:
        n = len(index)
        joint = [(list(range(n)), constants)]
        own = np.broadcast_to(xi[..., None, index], (*xi.shape[:-1], n, n))
        columns, _ = _motion(joint, own, np.broadcast_to(np.eye(n), own.shape), np.zeros(own.shape))
        result[..., index] = np.linalg.solve(np.swapaxes(columns, -1, -2), v[..., index, None])[..., 0]
    return result


def _size(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
