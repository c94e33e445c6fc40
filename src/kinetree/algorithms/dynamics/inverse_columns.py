"""The inverse of the mass matrix by columns, in loops: for so many joints that straight-line code would be too long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.recursions.articulated import Pivot, articulated_bodies
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Force, Motion, Scalar

UNROLLED = 600
"""The `path_lengths` above which a loop takes over: G1 has 350, a chain of 34 joints 595."""

BLOCK = 16
"""Columns in one loop: in fewer, less is computed that symmetry gives; in more, less code is compiled."""


def path_lengths(model: Model) -> int:
    """Return how many velocities carry each velocity, itself included, in all: the entries of ``L⁻¹``."""
    lengths: list[int] = []
    for body in model.bodies:
        lengths.append(len(body.v_index) + (0 if body.parent == WORLD else lengths[body.parent]))
    return sum(lengths)


def articulated_model(model: Model, q: Vector) -> tuple[list[BodyState], dict[int, list[Pivot]]]:
    """Return the states of all bodies, and the pivots of the articulated-body recursion by body."""
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return states, {i: met for i, met, _ in articulated_bodies(model, states)}


def inverse_by_columns(model: Model, q: Vector) -> Matrix:
    """Return ``M⁻¹``, whose column k is the response to a unit force at k alone: a loop over each block of columns.

    By symmetry only the rows up to k are needed, and the block's loop ends at its last body.
    """
    states, pivots = articulated_model(model, q)
    order = [k for body in model.bodies for k in body.v_index]
    M_inverse: Matrix = [[0.0] * model.nv for _ in order]
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        rows = order[: start + len(block)]

        def response(force: Vector, block: list[int] = block, rows: list[int] = rows) -> list[Scalar]:
            a = accelerations(model, states, pivots, dict(zip(block, force, strict=True)))
            return [a[k] for k in rows]

        units = [[float(k == l) for k in block] for l in block]
        for n, (l, column) in enumerate(zip(block, map_columns(response, units, q[0]), strict=True), start + 1):
            for k, x in zip(rows[:n], column, strict=False):
                M_inverse[k][l] = M_inverse[l][k] = x
    return M_inverse


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
