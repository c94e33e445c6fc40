"""Derivatives of steps on the manifold of configurations, and of their inverse, in closed form.

For a joint whose S is constant, q ⊞ u is an exponential in the group of its motions: with the twist ``U = S u``, and in
``ad = U ×``, the Jacobians are

    of q ⊞ u:    by q  e^(−ad)              by u   (1 − e^(−ad)) / ad
    of q1 ⊟ q0:  by q0 −ad / (e^ad − 1)     by q1  ad / (1 − e^(−ad))

Each is ``1 + α ω× + β (ω×)²`` on rotations, with functions α and β of |ω|; and on motions the same of ω + ε v, with
``ε² = 0``: what it is at dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.derivatives.inverse_dynamics import Blocks
from kinetree.algorithms.kinematics import manifold
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.joints import Joint
from kinetree.joints.free_flyer import exponential_coefficients, logarithm_coefficient
from kinetree.model import Model
from kinetree.scalars.dual import Dual, rate_of, value_of
from kinetree.scalars.linalg import transposed
from kinetree.spatial import Mat3, Motion, Scalar, Vec3

Series = Callable[[Vec3], tuple[Scalar, Scalar]]
"""α and β from ω."""


def integrate(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of a step."""
    q, dv, dt = given["q"], given["dv"], given.get("dt")
    step = dv if dt is None else [x * dt for x in dv]

    def carried(w: Vec3) -> tuple[Scalar, Scalar]:
        b, c = exponential_coefficients(w)
        return c * w.dot(w) - 1.0, b

    def added(w: Vec3) -> tuple[Scalar, Scalar]:
        b, c = exponential_coefficients(w)
        return -b, c

    def by_q(joint: Joint, own: Vector, u: Vector, unit: Sequence[float]) -> Vector:
        return joint.integrate(joint.integrate(own, [Dual(0.0, x) for x in unit]), u)

    def by_step(joint: Joint, own: Vector, u: Vector, unit: Sequence[float]) -> Vector:
        return joint.integrate(own, [Dual(x, rate) for x, rate in zip(u, unit, strict=True)])

    found: Blocks = {}
    for name, series, moved in (("q", carried, by_q), ("dv", added, by_step)):
        if name in wrt:
            found["q_next", name] = _blocks(model, q, step, series, _velocities(moved))
    if "dv" in wrt and dt is not None:
        found["q_next", "dv"] = [[x * dt for x in row] for row in found["q_next", "dv"]]
    return found


def difference(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of the way between two configurations."""
    q0, q1 = given["q0"], given["q1"]
    way = manifold.difference(model, q0, q1)

    def series(half: float) -> Series:
        return lambda w: (half, logarithm_coefficient(w))

    def by_first(joint: Joint, own: Vector, u: Vector, unit: Sequence[float]) -> Vector:
        moved = joint.integrate(own, [Dual(0.0, x) for x in unit])
        return [-rate_of(x) for x in joint.difference(moved, joint.integrate(own, u))]

    def by_second(joint: Joint, own: Vector, u: Vector, unit: Sequence[float]) -> Vector:
        moved = joint.integrate(joint.integrate(own, u), [Dual(0.0, x) for x in unit])
        return [rate_of(x) for x in joint.difference(own, moved)]

    found: Blocks = {}
    if "q0" in wrt:
        found["dv", "q0"] = [[-x for x in row] for row in _blocks(model, q0, way, series(-0.5), by_first)]
    if "q1" in wrt:
        found["dv", "q1"] = _blocks(model, q0, way, series(0.5), by_second)
    return found


Change = Callable[[Joint, Vector, Vector, Sequence[float]], Vector]
"""A column, from a joint, its q, its step and the direction; by dual numbers."""


def _velocities(moved: Change) -> Change:
    """Return a change of a configuration as a velocity there."""

    def velocities(joint: Joint, own: Vector, u: Vector, unit: Sequence[float]) -> Vector:
        found = moved(joint, own, u, unit)
        return [rate_of(x) for x in joint.difference([value_of(x) for x in found], found)]

    return velocities


def _blocks(model: Model, q: Vector, step: Vector, series: Series, change: Change) -> Matrix:
    """Return the blocks of all joints as one matrix; of joints that are no group by their own functions."""
    whole: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for body in model.leading:
        joint, u = body.joint, [step[k] for k in body.v_index]
        S = joint.jcalc(joint.neutral(), [0.0] * joint.nv).S
        if _spans_a_group(joint, S):
            U = sum((S_k * x for S_k, x in zip(S, u, strict=True)), Motion.zero())
            columns = [[S_k.ang.dot(m.ang) + S_k.lin.dot(m.lin) for S_k in S] for m in _applied(U, series, S)]
        else:
            own = [q[k] for k in body.q_index]
            columns = [list(change(joint, own, u, [float(l == k) for l in range(joint.nv)])) for k in range(joint.nv)]
        for k, row in zip(body.v_index, transposed(columns), strict=True):
            for l, x in zip(body.v_index, row, strict=True):
                whole[k][l] = x
    return whole


def _spans_a_group(joint: Joint, S: Sequence[Motion]) -> bool:
    """Return whether S is constant, of numbers, and its columns orthogonal and of length one."""
    moving = joint.jcalc([Dual(x, 0.0) for x in joint.neutral()], [0.0] * joint.nv).S
    entries = [x for S_k in moving for x in S_k]
    if not all(isinstance(x, float | int) for x in entries):
        return False
    gram = [[a.ang.dot(b.ang) + a.lin.dot(b.lin) for b in S] for a in S]
    return all(abs(x - float(k == l)) < 1e-12 for k, row in enumerate(gram) for l, x in enumerate(row))


def _applied(U: Motion, series: Series, S: Sequence[Motion]) -> list[Motion]:
    """Return ``1 + α U× + β (U×)²`` times each column."""
    w = Vec3(*(Dual(x, rate) for x, rate in zip(U.ang, U.lin, strict=True)))
    (x, y, z), (alpha, beta), square = w, series(w), w.dot(w)
    turned = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    outer = [[a * b for b in w] for a in w]
    entries = [
        [alpha * turned[i][j] + beta * (outer[i][j] - (square if i == j else 0.0)) + float(i == j) for j in range(3)]
        for i in range(3)
    ]
    A, B = (Mat3.of([[part(x) for x in row] for row in entries]) for part in (value_of, rate_of))
    return [Motion(A @ S_k.ang, B @ S_k.ang + A @ S_k.lin) for S_k in S]
