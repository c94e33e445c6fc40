"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.declaration import algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Scalar


@algorithm("mass_matrix", inputs={"q": ("nq",)}, outputs={"M": ("nv", "nv")}, joint_space=True)
def crba(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Joint-space inertia matrix M(q).

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., nv, nv) array
        M: symmetric, and positive definite unless a massless body can move freely (kg·m², kg·m, kg).

    References
    ----------
    RBDA Table 6.2; armature is added on the diagonal.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    Ic = [body.inertia for body in model.bodies]
    M: list[list[Scalar]] = [[0.0] * model.nv for _ in range(model.nv)]
    for i in reversed(range(model.nb)):
        body, (Xup, _, S, _, _) = model.bodies[i], states[i]
        if body.parent != WORLD:
            Ic[body.parent] = Ic[body.parent] + Xup.T @ Ic[i]
        for k, S_k, rotor in zip(body.v_index, S, body.armature, strict=True):
            F = Ic[i] @ S_k
            M[k][k] = M[k][k] + rotor
            for l, S_l in zip(body.v_index, S, strict=True):
                M[k][l] = M[k][l] + S_l.dot(F)
            j = i
            while model.bodies[j].parent != WORLD:
                F = states[j].Xup.T @ F
                j = model.bodies[j].parent
                for l, S_l in zip(model.bodies[j].v_index, states[j].S, strict=True):
                    M[k][l] = M[k][l] + S_l.dot(F)
                    M[l][k] = M[l][k] + S_l.dot(F)
    return M
