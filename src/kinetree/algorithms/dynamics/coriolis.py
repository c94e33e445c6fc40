"""The Coriolis matrix."""

from __future__ import annotations

from kinetree.algorithms.recursions.tree import body_velocities, composite_inertias, from_first_body, subspace_rates
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Force, Motion

Column = tuple[int, Motion, Motion]  # a velocity index k, S_k and its rate Ṡ_k


@algorithm("coriolis_matrix", outputs="C", joint_space=True)
def coriolis_matrix(model: Model, q: Vector, v: Vector) -> Matrix:
    """Coriolis matrix C(q, v), for which ``C v = h − g`` and ``Ṁ − 2C`` is skew-symmetric.

    Of the matrices with this property it is ``Σ m Jᵀ J̇`` over all particles. Where velocities are the rates of
    coordinates, it consists of the Christoffel symbols.

    References: Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for
    rigid-body systems", 2021: composites of I and of ``B = ½ (v×* I − I v× + (I v)×̄*)``, where ``f×̄* v = v×* f``. Here
    the first half of B has the form of an inertia, and the second follows from the momentum.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    v_ = body_velocities(model, states)
    X = from_first_body(model, states)
    own: list[list[Column]] = []
    above: list[list[Column]] = []  # of the joints that carry a body, in the first body's frame
    for i, body in enumerate(model.bodies):
        S, S_ring = states[i].S, subspace_rates(model, i, q, v)
        own.append([(k, S_k, v_[i].cross(S_k) + r) for k, S_k, r in zip(body.v_index, S, S_ring, strict=True)])
        j = body.parent
        above.append(
            [] if j == WORLD else above[j] + [(k, X[j].inv_apply(S_k), X[j].inv_apply(d)) for k, S_k, d in own[j]]
        )
    C: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    p = [Force.zero()] * model.nb  # the momentum of each subtree, so far
    with_rates = zip(composite_inertias(model, states), composite_inertias(model, states, v_), strict=True)
    for (i, Ic), (_, dIc) in with_rates:
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
