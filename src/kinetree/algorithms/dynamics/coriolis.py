"""The Coriolis matrix."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.recursions.motions import (
    body_velocities,
    composites,
    inertia_rate,
    subspace_rates,
    transforms_from_first_body,
)
from kinetree.algorithms.recursions.path import back
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Force, Motion, Scalar

Column = tuple[int, Motion, Motion]
"""A velocity index k, S_k and its rate Ṡ_k."""


@algorithm("coriolis_matrix", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"C": ("nv", "nv")}, joint_space=True)
def coriolis_matrix(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """Coriolis matrix C(q, v), for which ``C v = h − g`` and ``Ṁ − 2C`` is skew-symmetric.

    Of the matrices that do this it is ``Σ m Jᵀ J̇`` over all particles. Where velocities are the rates of coordinates
    it consists of the Christoffel symbols.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., nv, nv) array
        C, such that ``tau = M a + C v + g`` (without friction).

    References
    ----------
    Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
    systems", 2021: composite inertias as in RBDA Table 6.2, and composites of ``B = ½ (v×* I − I v× + (I v)×̄*)``,
    where ``f×̄* v = v×* f``. The two halves of B are kept apart: the first is the rate of the inertia and again has
    the form of one, the second is made of the momentum. The products of two joints are taken in the frame of the
    first body.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    v_ = body_velocities(model, states)
    X = transforms_from_first_body(model, states)
    own: list[list[Column]] = []
    above: list[list[Column]] = []  # of the joints that carry a body, seen from the first body
    for i, body in enumerate(model.bodies):
        S, rings = states[i].S, subspace_rates(model, i, q, v)
        own.append([(k, S_k, v_[i].cross(S_k) + r) for k, S_k, r in zip(body.v_index, S, rings, strict=True)])
        j = body.parent
        above.append([] if j == WORLD else above[j] + [(k, back(X[j], S_k), back(X[j], d)) for k, S_k, d in own[j]])
    C: list[list[Scalar]] = [[0.0] * model.nv for _ in range(model.nv)]
    p = [Force.zero()] * model.nb  # the momentum of what each body carries, so far
    inertia = composites(model, states, lambda i: model.bodies[i].inertia)
    rate = composites(model, states, lambda i: inertia_rate(model.bodies[i].inertia, v_[i]))
    for (i, Ic), (_, dIc) in zip(inertia, rate, strict=True):
        body = model.bodies[i]
        p[i] = p[i] + body.inertia @ v_[i]
        for k, S_k, S_k_dot in own[i]:
            dI_half, p_half = (dIc @ S_k) * 0.5, S_k.cross_force(p[i]) * 0.5
            F = Ic @ S_k
            G = Ic @ S_k_dot + dI_half + p_half  # Ic Ṡ_k + B S_k
            H = dI_half - p_half  # Bᵀ S_k
            for l, S_l, _ in own[i]:
                C[l][k] = C[l][k] + S_l.dot(G)
            F, G, H = X[i].T @ F, X[i].T @ G, X[i].T @ H
            for l, S_l, S_l_dot in above[i]:
                C[l][k] = C[l][k] + S_l.dot(G)
                C[k][l] = C[k][l] + S_l_dot.dot(F) + S_l.dot(H)
        if body.parent != WORLD:
            p[body.parent] = p[body.parent] + states[i].Xup.T @ p[i]
    return C
