"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Collection

from kinetree.algorithms.recursions.columns import Columns, path_lengths
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.scalars.loops import recording
from kinetree.spatial import Force, Scalar

UNROLLED = 1100
"""The `path_lengths` above which loops take over: a humanoid with five-fingered hands has 1066, a chain of 47, 1128."""


@algorithm("mass_matrix", outputs="M", joint_space=True)
def crba(model: Model, q: Vector) -> Matrix:
    """Joint-space inertia matrix M(q).

    References: RBDA Table 6.2; armature is added on the diagonal. The columns of many joints are computed by loops.
    """
    return crba_without(model, q, ())


def crba_without(model: Model, q: Vector, branches: Collection[int]) -> Matrix:
    """Return M(q) with zeros for the joints of branches: of bodies that are given with all that they carry."""
    states = [model.jcalc(i, q) for i in range(model.nb)]
    Ic = [body.inertia for body in model.bodies]
    M: Matrix = [[0.0] * model.nv for _ in range(model.nv)]

    def component(j: int, n: int, F: Force) -> tuple[Scalar, Force]:
        return states[j].S[n].dot(F), F

    def add(k: int, l: int, x: Scalar) -> None:
        M[k][l] = M[k][l] + x
        M[l][k] = M[l][k] + x

    joints, loops = [body.v_index for body in model.bodies], path_lengths(model, branches) > UNROLLED
    columns = Columns(model, states, joints, component, add, recording(*q), loops=loops)  # the inner loop of Table 6.2
    for i in reversed(range(model.nb)):
        body = model.bodies[i]
        if body.parent != WORLD:
            Ic[body.parent] = Ic[body.parent] + states[i].Xup.T @ Ic[i]
        if i in branches:
            continue
        columns.pass_on(i)
        for n, (k, S_k, rotor) in enumerate(zip(body.v_index, states[i].S, body.armature, strict=True)):
            F = Ic[i] @ S_k
            M[k][k] = M[k][k] + S_k.dot(F) + rotor
            columns.begin(i, k, F, range(n))
    return M
