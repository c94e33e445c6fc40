"""Derivatives of forward dynamics: ``∂a/∂x = −M⁻¹ ∂ID/∂x`` at the acceleration, and ``∂a/∂τ = M⁻¹``.

M⁻¹ is that of the articulated-body recursion, as the acceleration, so that both keep the same digits. Columns of ∂ID
that have the same zeros are solved in one loop over them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.derivatives.inverse_dynamics import inverse_dynamics
from kinetree.algorithms.dynamics.aba import aba
from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import ltdl
from kinetree.algorithms.dynamics.inverse import Row, articulated_inverse, inverse, product
from kinetree.algorithms.dynamics.singular import refuse_singular
from kinetree.algorithms.registry import Matrix
from kinetree.model import Model
from kinetree.model.edit import regrouped
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Scalar


def forward_dynamics(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> dict[str, Matrix]:
    """Return the derivatives of the acceleration."""
    refuse_singular(model)
    W, D_inverse = _inverse_factors(model, given["q"])
    found = {"tau": product(W, D_inverse)} if "tau" in wrt else {}
    if names := [name for name in ("q", "v") if name in wrt]:
        state = {**given, "a": aba(model, **given, **options)}
        forces = inverse_dynamics(regrouped(model), state, options, names)
        solved = _solved(W, D_inverse, [forces[name] for name in names], next(iter(given["q"]), 0.0))
        found |= dict(zip(names, solved, strict=True))
    return found


def _inverse_factors(model: Model, q: Sequence[Scalar]) -> tuple[list[Row], Mapping[int, Scalar]]:
    """Return the rows of L⁻¹ and D⁻¹ of ``M = LᵀDL``; with mimic joints, which couple branches, of M as a matrix."""
    if not model.has_mimic_joints:
        return articulated_inverse(model, q)
    factor = ltdl(model, crba(regrouped(model), q))
    return inverse(factor), {k: 1.0 / d for k, d in enumerate(factor.D)}


def _solved(W: Sequence[Row], D_inverse: Mapping[int, Scalar], blocks: Sequence[Matrix], like: Scalar) -> list[Matrix]:
    """Return ``−M⁻¹ B`` of each block B."""
    n = len(W)
    solved: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in blocks]
    captured: dict[int, int] = {}
    patterns: dict[tuple[int, ...], list[int]] = {}
    for j in range(n):
        rows = tuple(k for k in range(n) if any(not is_zero(B[k][j]) for B in blocks))
        patterns.setdefault(rows, []).append(j)
    for rows, columns in patterns.items():

        def solution(column: list[Scalar], rows: tuple[int, ...] = rows) -> list[Scalar]:
            y: Row = {}
            for k, x in zip(rows, column, strict=True):
                for i, W_ki in W[k].items():
                    y[i] = y[i] + W_ki * x if i in y else W_ki * x
            y = {i: -(x * D_inverse[i]) for i, x in y.items()}
            return [sum((W_ki * y[i] for i, W_ki in W[k].items() if i in y), 0.0) for k in range(n)]

        places = [(b, j) for b in range(len(blocks)) for j in columns]
        entries = [[blocks[b][k][j] for k in rows] for b, j in places]
        solutions = map_columns(solution, entries, like, captured) if rows else []
        for (b, j), column in zip(places, solutions, strict=bool(rows)):
            for k, x in enumerate(column):
                solved[b][k][j] = x
    return solved
