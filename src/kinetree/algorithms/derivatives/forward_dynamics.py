"""Derivatives of forward dynamics: ``∂a/∂x = −M⁻¹ ∂ID/∂x`` at the acceleration, and ``∂a/∂τ = M⁻¹``.

M⁻¹ is that of the articulated-body recursion, as the acceleration, so that both keep the same digits. Columns of ∂ID
that have the same zeros are solved in one loop over them; those that are columns of M are known outright.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.derivatives.changes import Changes
from kinetree.algorithms.derivatives.inverse_dynamics import are_turning, joint_force_slopes, passive_slopes
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

UNROLLED_PRODUCT = 400
"""The entries of L⁻¹, squared and divided by their rows, above which the columns of M⁻¹ are computed by loops."""


def forward_dynamics(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> dict[str, Matrix]:
    """Return the derivatives of the acceleration."""
    refuse_singular(model)
    W, D_inverse = _inverse_factors(model, given["q"])
    like = next(iter(given["q"]), 0.0)
    found = {"tau": _inverse(W, D_inverse, like)} if "tau" in wrt else {}
    if names := [name for name in ("q", "v") if name in wrt]:
        state = {**given, "a": aba(model, **given, **options)}
        changes = Changes.of(model, state, apart=not model.has_mimic_joints)
        forces = joint_force_slopes(regrouped(model), changes, state, options)
        known = {name: _known(model, changes, state, options, name) for name in names}
        solved = _solved(W, D_inverse, [(forces[name], known[name]) for name in names], like)
        found |= dict(zip(names, solved, strict=True))
    return found


def _inverse_factors(model: Model, q: Sequence[Scalar]) -> tuple[list[Row], Mapping[int, Scalar]]:
    """Return the rows of L⁻¹ and D⁻¹ of ``M = LᵀDL``; with mimic joints, which couple branches, of M as a matrix."""
    if not model.has_mimic_joints:
        return articulated_inverse(model, q)
    factor = ltdl(model, crba(regrouped(model), q))
    return inverse(factor), {k: 1.0 / d for k, d in enumerate(factor.D)}


def _known(
    model: Model, changes: Changes, state: Mapping[str, Any], options: Mapping[str, Any], name: str
) -> dict[int, dict[int, Scalar]]:
    """Return the velocities whose q or v does to all forces what accelerations would do, and these by index."""
    if model.has_mimic_joints or (name == "q" and are_turning(state, options)):
        return {}
    passive = passive_slopes(model, state["q"], state["v"])[name]
    rotors = {k: rotor for body in model.bodies for k, rotor in zip(body.v_index, body.armature, strict=True)}
    return {
        k: needed
        for k, needed in changes.as_accelerations(model, name).items()
        if is_zero(passive[k]) and all(is_zero(rotors[l]) for l in needed)
    }


def _solved(
    W: Sequence[Row],
    D_inverse: Mapping[int, Scalar],
    blocks: Sequence[tuple[Matrix, Mapping[int, Mapping[int, Scalar]]]],
    like: Scalar,
) -> list[Matrix]:
    """Return ``−M⁻¹ B`` of each block B, of which some columns are known: M times these numbers."""
    n = len(W)
    solved: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in blocks]
    captured: dict[int, int] = {}
    patterns: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for j in range(n):
        rows = tuple(k for k in range(n) if any(not is_zero(B[k][j]) for B, _ in blocks))
        for b, (B, known) in enumerate(blocks):
            for k, x in known.get(j, {}).items():
                solved[b][k][j] = -x
            if j not in known and any(not is_zero(B[k][j]) for k in rows):
                patterns.setdefault(rows, []).append((b, j))
    for rows, places in patterns.items():

        def solution(column: list[Scalar], rows: tuple[int, ...] = rows) -> list[Scalar]:
            y: Row = {}
            for k, x in zip(rows, column, strict=True):
                for i, W_ki in W[k].items():
                    y[i] = y[i] + W_ki * x if i in y else W_ki * x
            y = {i: -(x * D_inverse[i]) for i, x in y.items()}
            return [_times(W[k], y) for k in range(n)]

        places.sort()  # neighbours in the results are neighbouring columns
        entries = [[blocks[b][0][k][j] for k in rows] for b, j in places]
        for (b, j), column in zip(places, map_columns(solution, entries, like, captured), strict=True):
            for k, x in enumerate(column):
                solved[b][k][j] = x
    return solved


def _times(row: Row, y: Row) -> Scalar:
    return sum((x * y[i] for i, x in row.items() if i in y), 0.0)


def _inverse(W: Sequence[Row], D_inverse: Mapping[int, Scalar], like: Scalar) -> Matrix:
    """Return M⁻¹, exactly symmetric; of many velocities by a loop for each segment of the tree."""
    n = len(W)
    if sum(map(len, W)) ** 2 < UNROLLED_PRODUCT * n:
        return product(W, D_inverse)
    M_inverse: Matrix = [[0.0] * n for _ in range(n)]
    left = list(range(n))
    segments: dict[tuple[int, ...], list[int]] = {}
    for k in range(n):
        segments.setdefault(tuple(l for l in range(n) if k in W[l] or l in W[k]), []).append(k)
    for members in segments.values():
        across = sorted({i for k in members for i in W[k]})

        def column(y: list[Scalar], across: Sequence[int] = across, rows: Sequence[int] = tuple(left)) -> list[Scalar]:
            by_index = dict(zip(across, y, strict=True))
            return [_times(W[k], by_index) for k in rows]

        entries = [[W[k][i] * D_inverse[i] if i in W[k] else 0.0 for i in across] for k in members]
        for k, found in zip(members, map_columns(column, entries, like), strict=True):
            for l, x in zip(left, found, strict=True):
                if l >= k or l not in members:
                    M_inverse[k][l] = M_inverse[l][k] = x
        left = [l for l in left if l not in members]
    return M_inverse
