"""The mass matrix by the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from kinetree.algorithms.recursions.columns import Columns, path_lengths
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.scalars.loops import recording
from kinetree.spatial import Force, Motion, Scalar

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

    def add(k: int, l: int, x: Scalar) -> None:
        M[k][l] = M[k][l] + x
        M[l][k] = M[l][k] + x

    joints = [
        [(l, partial(_component, S_l)) for l, S_l in zip(body.v_index, state.S, strict=True)]
        for body, state in zip(model.bodies, states, strict=True)
    ]
    columns = Columns(model, states, joints, add, recording(*q), loops=path_lengths(model, branches) > UNROLLED)
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
            columns.begin(i, k, F, joints[i][:n])
    return M


def _component(S: Motion, F: Force) -> tuple[Scalar, Force]:
    """Return the component of a force along S, and the force, which goes on as it is."""
    return S.dot(F), F
