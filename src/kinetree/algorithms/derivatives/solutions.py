"""Solutions with the mass matrix for many right-hand sides, and its inverse: ``M = LᵀDL``, ``W = L⁻¹``.

The factors are those of the articulated-body recursion, as accelerations are, so that both keep the same digits.
Columns that have the same zeros are solved in one loop over them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import UNROLLED, ltdl
from kinetree.algorithms.dynamics.inverse import Row, articulated_inverse, inverse, product
from kinetree.algorithms.dynamics.singular import block, refuse_singular, velocities
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import Model
from kinetree.model.edit import regrouped
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Scalar


class Inverse(NamedTuple):
    """W by rows without zeros, and D⁻¹; the rows of velocities whose accelerations are given are empty.

    Loops over columns share what they have `captured` of both.
    """

    W: Sequence[Row]
    D_inverse: Mapping[int, Scalar]
    like: Scalar
    captured: dict[int, int]

    @classmethod
    def of(cls, model: Model, q: Vector, prescribed: Collection[str] = ()) -> Inverse:
        """Return that of a model, where some joints do not move; of M as a matrix if mimic joints couple branches."""
        refuse_singular(model, prescribed)
        like = next(iter(q), 0.0)
        if not model.has_mimic_joints:
            rigid = {i for i, body in enumerate(model.bodies) if body.joint_name in prescribed}
            return cls(*articulated_inverse(model, q, rigid), like, {})
        known = velocities(model, prescribed)
        factor = ltdl(model, block(crba(regrouped(model), q), known))
        W = [{} if k in known else row for k, row in enumerate(inverse(factor))]
        return cls(W, {k: 1.0 / d for k, d in enumerate(factor.D)}, like, {})

    def times(self, b: Sequence[Scalar], rows: Sequence[int]) -> list[Scalar]:
        """Return ``M⁻¹ b``, of which only these entries of b are given, the others zero."""
        y: Row = {}
        for k, x in zip(rows, b, strict=True):
            for i, W_ki in self.W[k].items():
                y[i] = y[i] + W_ki * x if i in y else W_ki * x
        y = {i: x * self.D_inverse[i] for i, x in y.items()}
        return [_dot(row, y) for row in self.W]

    def responses(self, forces: Sequence[tuple[Matrix, Mapping[int, Row]]], more: Sequence[Row] = ()) -> list[Matrix]:
        """Return ``X = −M⁻¹ B`` of each block B, and below it the products of these rows with X.

        Some columns of B are known: M times these numbers.
        """
        n = len(self.W)
        solved: list[Matrix] = [[[0.0] * n for _ in range(n + len(more))] for _ in forces]
        patterns: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for j in range(n):
            rows = tuple(k for k in range(n) if self.W[k] and any(not is_zero(B[k][j]) for B, _ in forces))
            for b, (B, known) in enumerate(forces):
                if j not in known and any(not is_zero(B[k][j]) for k in rows):
                    patterns.setdefault(rows, []).append((b, j))
        for rows, places in patterns.items():

            def solution(column: list[Scalar], rows: tuple[int, ...] = rows) -> list[Scalar]:
                x = [-x_k for x_k in self.times(column, rows)]
                return [*x, *(_dot(row, x) for row in more)]

            places.sort()  # neighbouring columns are neighbours in the results
            entries = [[forces[b][0][k][j] for k in rows] for b, j in places]
            columns = map_columns(solution, entries, self.like, self.captured)
            for (b, j), column in zip(places, columns, strict=True):
                for k, x in enumerate(column):
                    solved[b][k][j] = x
        for (_, known), X in zip(forces, solved, strict=True):
            for j, needed in known.items():
                own = {k: -x for k, x in needed.items()}
                for k, x in (*own.items(), *((n + m, _dot(row, own)) for m, row in enumerate(more))):
                    X[k][j] = x
        return solved

    def matrix(self) -> Matrix:
        """Return M⁻¹, exactly symmetric; of many velocities by a loop for each segment of the tree."""
        W, n = self.W, len(self.W)
        if sum(map(len, W)) <= UNROLLED:
            return product(W, self.D_inverse)
        M_inverse: Matrix = [[0.0] * n for _ in range(n)]
        left = list(range(n))
        segments: dict[tuple[int, ...], list[int]] = {}
        for k in range(n):
            segments.setdefault(tuple(l for l in range(n) if k in W[l] or l in W[k]), []).append(k)
        for members in segments.values():
            across = sorted({i for k in members for i in W[k]})

            def column(
                y: list[Scalar], across: Sequence[int] = across, rows: Sequence[int] = tuple(left)
            ) -> list[Scalar]:
                by_index = dict(zip(across, y, strict=True))
                return [_dot(W[k], by_index) for k in rows]

            entries = [[W[k][i] * self.D_inverse[i] if i in W[k] else 0.0 for i in across] for k in members]
            for k, found in zip(members, map_columns(column, entries, self.like, self.captured), strict=True):
                for l, x in zip(left, found, strict=True):
                    if l >= k or l not in members:
                        M_inverse[k][l] = M_inverse[l][k] = x
            left = [l for l in left if l not in members]
        return M_inverse


def _dot(row: Row, y: Mapping[int, Scalar] | Sequence[Scalar]) -> Scalar:
    there = y if isinstance(y, Mapping) else range(len(y))
    return sum((x * y[i] for i, x in row.items() if i in there), 0.0)
