"""The inverse of the mass matrix in loops over its columns, where straight-line code would be too long."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinetree.algorithms.recursions.articulated import Pivot, articulated_bodies
from kinetree.algorithms.recursions.columns import Column, Columns
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Force, Mobility, Motion, Scalar

UNROLLED = 450
"""The `path_lengths` above which loops take over: G1 has 326, a chain of 30 joints 465."""


def articulated_model(model: Model, q: Vector) -> tuple[list[BodyState], dict[int, list[Pivot]]]:
    """Return the states of all bodies, and the pivots of the articulated-body recursion by body."""
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return states, {i: met for i, met, _ in articulated_bodies(model, states)}


def inverse_by_segments(model: Model, q: Vector) -> Matrix:
    """Return ``M⁻¹``, whose column k is the response to a unit force at k alone.

    The forces go to the base in loops (`Columns`). At a joint they leave ``a = D⁻¹ u + g·p`` with ``g = Ω U D⁻¹``,
    where Ω is the mobility of the body that carries it. Where branches meet, forces ``p`` of joints of two of them
    leave ``p·Ω p``.
    """
    states, pivots = articulated_model(model, q)
    mobility, g = _mobilities(model, states, pivots)
    M_inverse: Matrix = [[0.0] * model.nv for _ in range(model.nv)]

    def response(j: int, n: int, p: Force) -> tuple[Scalar, Force]:
        k, S, UD, D_inverse = pivots[j][n]
        u = -S.dot(p)
        p = p + UD * u
        return u * D_inverse + g[k].dot(p), p

    def put(k: int, l: int, x: Scalar) -> None:
        M_inverse[k][l] = M_inverse[l][k] = x

    joints = [[pivot.k for pivot in pivots[i]] for i in range(model.nb)]
    columns = Columns(model, states, joints, response, put, q[0], loops=True)
    for i in reversed(range(model.nb)):
        met: list[Column] = []
        for branch in columns.branches(i):
            _meet(mobility[i], met, branch, put, q[0])
            met += branch
        columns.pass_on(i)
        for n, (k, _, UD, D_inverse) in enumerate(pivots[i], 1):
            put(k, k, D_inverse + g[k].dot(UD))
            columns.begin(i, k, UD, range(n, len(joints[i])))
    return M_inverse


def _mobilities(
    model: Model, states: Sequence[BodyState], pivots: Mapping[int, Sequence[Pivot]]
) -> tuple[list[Mobility], dict[int, Motion]]:
    """Return the mobility of every body, and ``g`` of every velocity."""
    mobilities: list[Mobility] = []
    g: dict[int, Motion] = {}
    for i, body in enumerate(model.bodies):
        mobility = Mobility.zero() if body.parent == WORLD else mobilities[body.parent].at(states[i].Xup)
        for pivot, rotor in zip(reversed(pivots[i]), body.armature, strict=True):
            g[pivot.k] = mobility @ pivot.UD
            mobility = mobility.freed(pivot.S, pivot.UD, pivot.D_inverse, rotor)
        mobilities.append(mobility)
    return mobilities, g


def _meet(
    mobility: Mobility,
    some: Sequence[Column],
    others: Sequence[Column],
    put: Callable[[int, int, Scalar], None],
    like: Scalar,
) -> None:
    """Put the entries of joints of two sides of a body, where the forces have arrived."""

    def products(p: list[Scalar]) -> list[Scalar]:
        a = mobility @ Force.of(p)
        return [a.dot(F) for _, F in others]

    forces = [list(F) for _, F in some]
    for (l, _), column in zip(some, map_columns(products, forces, like) if forces else [], strict=True):
        for (k, _), x in zip(others, column, strict=True):
            put(k, l, x)


def accelerations(
    model: Model, states: Sequence[BodyState], pivots: Mapping[int, Sequence[Pivot]], force: Mapping[int, Scalar]
) -> dict[int, Scalar]:
    """Return what forces at these velocities cause, up to the last body that has one: RBDA Table 7.1 at rest."""
    last = max(i for i, met in pivots.items() if any(pivot.k in force for pivot in met))
    p: dict[int, Force] = {}
    u: dict[int, Scalar] = {}
    for i in range(last, -1, -1):
        for k, S_k, UD, _ in pivots[i]:
            u[k] = force.get(k, 0.0) - (S_k.dot(p[i]) if i in p else 0.0)
            if not is_zero(u[k]):
                p[i] = p.get(i, Force.zero()) + UD * u[k]
        parent = model.bodies[i].parent
        if parent != WORLD and i in p:
            p[parent] = p.get(parent, Force.zero()) + states[i].Xup.T @ p[i]
    a: dict[int, Scalar] = {}
    da: list[Motion] = []
    for i, body in enumerate(model.bodies[: last + 1]):
        da_i = Motion.zero() if body.parent == WORLD else states[i].Xup @ da[body.parent]
        for k, S_k, UD, D_inverse in reversed(pivots[i]):
            a[k] = u[k] * D_inverse - da_i.dot(UD)
            da_i = da_i + S_k * a[k]
        da.append(da_i)
    return a
