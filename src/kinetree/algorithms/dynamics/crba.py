"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Force, Motion


@algorithm("mass_matrix", outputs="M", joint_space=True)
def crba(model: Model, q: Vector) -> Matrix:
    """Joint-space inertia matrix M(q).

    References: RBDA Table 6.2; armature is added on the diagonal.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    Ic = [body.inertia for body in model.bodies]
    M: Matrix = [[0.0] * model.nv for _ in range(model.nv)]

    def add(k: int, F: Force, index: Sequence[int], S: Sequence[Motion]) -> None:
        for l, S_l in zip(index, S, strict=True):
            x = S_l.dot(F)
            M[k][l] = M[k][l] + x
            M[l][k] = M[l][k] + x

    for i in reversed(range(model.nb)):
        body, (Xup, _, S, _, _) = model.bodies[i], states[i]
        if body.parent != WORLD:
            Ic[body.parent] = Ic[body.parent] + Xup.T @ Ic[i]
        for column, (k, S_k, rotor) in enumerate(zip(body.v_index, S, body.armature, strict=True)):
            F = Ic[i] @ S_k
            M[k][k] = M[k][k] + S_k.dot(F) + rotor
            add(k, F, body.v_index[:column], S[:column])
            j = i
            while model.bodies[j].parent != WORLD:
                F = states[j].Xup.T @ F
                j = model.bodies[j].parent
                add(k, F, model.bodies[j].v_index, states[j].S)
    return M
