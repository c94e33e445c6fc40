"""The mass matrix factorised with its sparsity: M = LᵀDL, solutions and the inverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.inverse_columns import (
    UNROLLED,
    accelerations,
    articulated_model,
    inverse_by_segments,
)
from kinetree.algorithms.dynamics.singular import SINGULAR, refuse_singular
from kinetree.algorithms.recursions.articulated import articulated_bodies
from kinetree.algorithms.recursions.columns import path_lengths
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.regroup import regrouped
from kinetree.scalars.factorization import ldl
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Scalar

Row = dict[int, Scalar]

UNROLLED_SQUARES = 16_000
"""The sum of squared lengths of the rows of L, twice the products of a factorisation, above which loops take over."""

UNROLLED_FACTOR = 600
"""The `path_lengths` above which solutions with given factors are a loop over right-hand sides."""


class Factor(NamedTuple):
    """``M = LᵀDL``: L has a unit diagonal, and zeros for two velocities neither of which carries the other."""

    order: tuple[int, ...]  # the velocities, parents before children
    support: list[tuple[int, ...]]  # for velocity k the others i with L[k][i] ≠ 0, which carry k, in this order
    L: Matrix
    D: list[Scalar]

    def solve(self, b: Vector) -> list[Scalar]:
        """Return ``M⁻¹ b = L⁻¹ D⁻¹ L⁻ᵀ b`` (RBDA section 6.5)."""
        return self.solve_L(self.solve_L_transposed(b), self.D)

    def solve_L(self, b: Vector, D: Vector | None = None) -> list[Scalar]:
        """Return ``L⁻¹ b``, or ``L⁻¹ D⁻¹ b``, from the base to the leaves."""
        x = list(b)
        for k in self.order:
            if D is not None:
                x[k] = x[k] * (1.0 / D[k])
            for i in self.support[k]:
                x[k] = x[k] - self.L[k][i] * x[i]
        return x

    def solve_L_transposed(self, b: Vector) -> list[Scalar]:
        """Return ``L⁻ᵀ b``, from the leaves to the base; branches where b is zero stay zero."""
        x = list(b)
        for k in reversed(self.order):
            for i in self.support[k]:
                x[i] = x[i] - self.L[k][i] * x[k]
        return x

    def times_L_transposed(self, b: Vector) -> list[Scalar]:
        """Return ``Lᵀ b``."""
        x = list(b)
        for k in self.order:
            for i in self.support[k]:
                x[i] = x[i] + self.L[k][i] * b[k]
        return x


def factorised(model: Model, q: Vector) -> Factor:
    """Return the factors of M(q); `ModelError` if it is singular at every q."""
    refuse_singular(model)
    return ltdl(model, crba(model, q))


def ltdl(model: Model, M: Sequence[Vector]) -> Factor:
    """Return the factors of a symmetric matrix with the sparsity of the model's M (RBDA Table 6.3).

    That is read off the entries, with the couplings of mimic joints. From the leaves to the root there is no fill-in.
    Many joints that carry each other are factorised by loops, as a dense matrix.
    """
    order = tuple(dict.fromkeys(k for body in model.bodies for k in body.v_index))
    if sum(sum(not is_zero(M[k][i]) for i in order[:n]) ** 2 for n, k in enumerate(order)) > UNROLLED_SQUARES:
        return _dense(order, M)
    L, D = [list(row) for row in M], [0.0] * len(order)
    support: list[tuple[int, ...]] = [()] * len(order)
    for done, k in reversed(list(enumerate(order))):
        D[k] = L[k][k]
        support[k] = tuple(i for i in order[:done] if not is_zero(L[k][i]))
        row = [L[k][i] * (1.0 / D[k]) for i in support[k]]
        for a, (i, L_ki) in enumerate(zip(support[k], row, strict=True)):
            for j in support[k][: a + 1]:
                L[i][j] = L[i][j] - L_ki * L[k][j]
        L[k] = [0.0] * len(order)
        L[k][k] = 1.0
        for i, L_ki in zip(support[k], row, strict=True):
            L[k][i] = L_ki
    return Factor(order, support, L, D)


def _dense(order: tuple[int, ...], M: Sequence[Vector]) -> Factor:
    """Return the factors of a matrix without zeros: those of ``A = L D Lᵀ`` from the leaves to the root."""
    n = len(order)
    lower, pivots = ldl([[M[k][l] for l in reversed(order)] for k in reversed(order)])
    L, D = [[0.0] * n for _ in order], [0.0] * n
    for a, k in enumerate(reversed(order)):
        D[k] = pivots[a]
        for b, l in enumerate(reversed(order[: n - a]), a):
            L[k][l] = lower[b][a]
    return Factor(order, [order[: order.index(k)] for k in range(n)], L, D)


def inverse(factor: Factor) -> list[Row]:
    """Return the rows of L⁻¹, which has the sparsity of L, without their zeros."""
    order, support, L, _ = factor
    W: list[Row] = [{} for _ in order]
    for k in order:
        row = {i: 0.0 for j in support[k] for i in W[j]}
        for j in support[k]:
            for i, W_ji in W[j].items():
                row[i] = row[i] - L[k][j] * W_ji
        W[k] = row | {k: 1.0}
    return W


def articulated_inverse(model: Model, q: Vector) -> tuple[list[Row], dict[int, Scalar]]:
    """Return the rows of L⁻¹ without their zeros, and D⁻¹, by the articulated-body recursion.

    Row k is the recursion's response to a unit force at k alone: M is never formed, so that nothing cancels.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    pivots = {i: met for i, met, _ in articulated_bodies(model, states)}
    W: list[Row] = [{} for _ in range(model.nv)]
    for i, (n, (k, _, p, _)) in ((i, entry) for i, met in pivots.items() for entry in enumerate(met)):
        row, beyond = {k: 1.0}, pivots[i][n + 1 :]
        while True:
            for pivot in beyond:
                u = -pivot.S.dot(p)
                if not is_zero(u):
                    row[pivot.k] = u
                    p = p + pivot.UD * u
            parent = model.bodies[i].parent
            if parent == WORLD:
                break
            p, i, beyond = states[i].Xup.T @ p, parent, pivots[parent]
        W[k] = row
    return W, {pivot.k: pivot.D_inverse for met in pivots.values() for pivot in met}


def product(W: Sequence[Row], D_inverse: Mapping[int, Scalar]) -> Matrix:
    """Return ``M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ``, exactly symmetric; an entry sums over the velocities that carry both of its own."""
    n = len(W)
    M_inverse: Matrix = [[0.0] * n for _ in range(n)]
    for k in range(n):
        scaled = {i: W_ki * D_inverse[i] for i, W_ki in W[k].items()}
        for l in range(k + 1):
            x = 0.0
            for i in sorted(W[l].keys() & scaled.keys()):
                x = x + scaled[i] * W[l][i]
            M_inverse[k][l] = M_inverse[l][k] = x
    return M_inverse


@algorithm("mass_matrix_factor", outputs={"L": ("nv", "nv"), "D": ("nv",)}, raises=SINGULAR, joint_space=True)
def mass_matrix_factor(model: Model, q: Vector) -> tuple[Matrix, list[Scalar]]:
    """Factors of the mass matrix, ``M = Lᵀ diag(D) L``.

    Returns
    -------
    L
        Unit diagonal; row k has other entries only at the joints that carry joint k (and, with mimic joints, at those
        coupled to it). Lower triangular where joints are listed after those that carry them.
    D
        Positive: the inertia at each velocity while the joints that it carries move freely.

    References: RBDA section 6.5 and Table 6.3.

    >>> L, D = robot.mass_matrix_factor(q)
    >>> bool(abs(L.T * D @ L - robot.mass_matrix(q)).max() < 1e-12)
    True
    """
    _, _, L, D = factorised(model, q)
    return L, D


@algorithm("mass_matrix_inverse", outputs="Minv", raises=SINGULAR)
def mass_matrix_inverse(model: Model, q: Vector) -> Matrix:
    """Inverse of the joint-space inertia matrix, M(q)⁻¹; for one product M⁻¹ b, `solve_mass_matrix` is cheaper.

    References: RBDA section 6.5 with the factors of Table 7.1: a row of ``L⁻¹`` in ``M = LᵀDL`` is the response of the
    recursion to a unit force at one joint. With mimic joints, which couple branches, M is factorised instead.
    The columns of many joints are computed by a loop.
    """
    refuse_singular(model)
    if model.has_mimic_joints:
        factor = ltdl(model, crba(regrouped(model), q))
        if path_lengths(model) > UNROLLED_FACTOR:
            n = range(model.nv)
            columns = map_columns(factor.solve, [[float(k == l) for l in n] for k in n], q[0])
            return [[columns[min(k, l)][max(k, l)] for l in n] for k in n]
        return product(inverse(factor), {k: 1.0 / d for k, d in enumerate(factor.D)})
    if path_lengths(model) > UNROLLED:
        return inverse_by_segments(model, q)
    return product(*articulated_inverse(model, q))


@algorithm("solve_mass_matrix", outputs="x", raises=SINGULAR, joint_space=True)
def solve_mass_matrix(model: Model, q: Vector, b: Vector) -> list[Scalar]:
    """Solution of ``M(q) x = b``.

    References: RBDA section 6.5 and Table 6.3; for many joints, Table 7.1 at rest.

    >>> x = robot.solve_mass_matrix(q, robot.mass_matrix(q) @ a)
    >>> bool(abs(x - a).max() < 1e-9)
    True
    """
    if path_lengths(model) > UNROLLED and not model.has_mimic_joints:
        refuse_singular(model)
        x = accelerations(model, *articulated_model(model, q), dict(enumerate(b)))
        return [x[k] for k in range(model.nv)]
    return factorised(model, q).solve(b)
