"""The mass matrix factorised with its sparsity: M = LᵀDL as a matrix, or of branches as a recursion."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kinetree.algorithms.dynamics.crba import crba, crba_without
from kinetree.algorithms.dynamics.singular import SINGULAR, block, refuse_singular
from kinetree.algorithms.recursions.columns import path_lengths
from kinetree.algorithms.recursions.tree import Pivot, articulated_bodies
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.scalars.factorization import ldl
from kinetree.scalars.functions import is_zero
from kinetree.spatial import ArticulatedInertia, Force, Inertia, Motion, Scalar

UNROLLED = 450
"""The `path_lengths` above which loops take over: G1 has 326, a chain of 30 joints 465."""

UNROLLED_SQUARES = 16_000
"""The sum of squared lengths of the rows of L, twice the products of a factorisation, above which loops take over."""


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
    """Return the factors of a symmetric matrix with the sparsity of M (RBDA Table 6.3), by loops if it is large."""
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


ARTICULATED = 80
"""Operations of the recursion for one velocity, in which the choice between it and a matrix is measured."""


class BranchFactor:
    """The factors of M, without mimic joints, as `Factor`: of the trunk as a matrix, of branches as a recursion.

    ``L⁻ᵀ b`` is what the recursion leaves of b on the way to the base, its pivots are D, and ``L⁻¹`` is its way back
    (RBDA Table 7.1): a branch of n joints takes O(n) operations. It is given as the indices of its bodies.
    """

    def __init__(self, model: Model, q: Vector, branches: Collection[int]) -> None:
        self.model, self.states = model, [model.jcalc(i, q) for i in range(model.nb)]
        self.branches = sorted(branches)
        trunk = [i for i in range(model.nb) if i not in branches]
        self.pivots: dict[int, list[Pivot]] = {}
        inertias: list[Any]
        inertias = [Inertia.zero() if i in branches else body.inertia for i, body in enumerate(model.bodies)]
        for i, pivots, inertia in articulated_bodies(model, self.states, trunk):
            parent = model.bodies[i].parent
            if i in branches:
                self.pivots[i] = pivots
                if parent != WORLD and parent not in branches:
                    inertias[parent] = _articulated(inertias[parent]) + self.states[i].Xup.T @ inertia
        for i in reversed(trunk):  # all that carry a branch
            parent = model.bodies[i].parent
            if parent != WORLD and isinstance(inertias[i], ArticulatedInertia):
                inertias[parent] = _articulated(inertias[parent])
        self.carriers = [i for i in trunk if isinstance(inertias[i], ArticulatedInertia)]
        bodies = (replace(body, inertia=x) for body, x in zip(model.bodies, inertias, strict=True))
        held = {k for i in branches for k in model.bodies[i].v_index}
        self.trunk: Factor = ltdl(model, block(crba_without(replace(model, bodies=tuple(bodies)), q, branches), held))

    @property
    def D(self) -> list[Scalar]:
        """The pivots of the trunk, and 1 in the branches, whose pivots `solve_L` knows."""
        return self.trunk.D

    def solve(self, b: Vector) -> list[Scalar]:
        """Return ``M⁻¹ b``."""
        return self.solve_L(self.solve_L_transposed(b), self.D)

    def solve_L_transposed(self, b: Vector) -> list[Scalar]:
        """Return ``L⁻ᵀ b``, from the leaves to the base."""
        x, p = list(b), [Force.zero()] * self.model.nb
        for i in reversed(self.branches):
            for pivot in self.pivots[i]:
                x[pivot.k] = x[pivot.k] - pivot.S.dot(p[i])
                p[i] = p[i] + pivot.UD * x[pivot.k]
            self._pass_on(p, i)
        for i in reversed(self.carriers):
            for k, S_k in zip(self.model.bodies[i].v_index, self.states[i].S, strict=True):
                x[k] = x[k] - S_k.dot(p[i])
            self._pass_on(p, i)
        return self.trunk.solve_L_transposed(x)

    def solve_L(self, b: Vector, D: Vector | None = None) -> list[Scalar]:
        """Return ``L⁻¹ b``, or with D ``L⁻¹ D⁻¹ b``, from the base to the leaves."""
        x, da = self.trunk.solve_L(b, D), [Motion.zero()] * self.model.nb
        for i in sorted((*self.carriers, *self.branches)):
            body, state = self.model.bodies[i], self.states[i]
            if body.parent != WORLD:
                da[i] = state.Xup @ da[body.parent]
            if i in self.pivots:
                for k, S_k, UD, D_inverse in reversed(self.pivots[i]):
                    x[k] = (x[k] if D is None else x[k] * D_inverse) - da[i].dot(UD)
                    da[i] = da[i] + S_k * x[k]
            else:
                for k, S_k in zip(body.v_index, state.S, strict=True):
                    da[i] = da[i] + S_k * x[k]
        return x

    def _pass_on(self, p: list[Force], i: int) -> None:
        """Add the force on body i to that on its parent."""
        parent = self.model.bodies[i].parent
        if parent != WORLD:
            p[parent] = p[parent] + self.states[i].Xup.T @ p[i]


def _articulated(inertia: Inertia | ArticulatedInertia) -> ArticulatedInertia:
    return inertia if isinstance(inertia, ArticulatedInertia) else ArticulatedInertia.rigid(inertia)


def branch_factor(model: Model, q: Vector, moved: Collection[int]) -> Factor | BranchFactor:
    """Return the factors of M for b that are zero but at velocities `moved`; idle branches by the cheaper recursion."""
    refuse_singular(model)
    branches = [] if model.has_mimic_joints else [b for b in _idle_branches(model, moved) if _is_deep(model, b)]
    if not branches:
        return ltdl(model, crba(model, q))
    return BranchFactor(model, q, {i for branch in branches for i in branch})


def _idle_branches(model: Model, moved: Collection[int]) -> list[list[int]]:
    """Return the bodies of each branch, first the one next to the trunk, that carries no velocity that is moved."""
    children: list[list[int]] = [[] for _ in model.bodies]
    below: dict[int, list[int]] = {}
    for i, body in reversed(list(enumerate(model.bodies))):
        if all(j in below for j in children[i]) and not set(moved).intersection(body.v_index):
            below[i] = [i, *(k for j in children[i] for k in below[j])]
        if body.parent != WORLD:
            children[body.parent].append(i)
    return [bodies for i, bodies in below.items() if model.bodies[i].parent not in below]


def _is_deep(model: Model, branch: list[int]) -> bool:
    """Return whether the recursion is cheaper, at `ARTICULATED` a velocity, than s² for one that s others carry."""
    before: list[int] = []  # velocities that carry those of each body
    for body in model.bodies:
        carrying = body.parent
        before.append(0 if carrying == WORLD else before[carrying] + len(model.bodies[carrying].v_index))
    squares = sum((before[i] + n) ** 2 for i in branch for n in range(len(model.bodies[i].v_index)))
    i, length = model.bodies[branch[0]].parent, sum(len(model.bodies[i].v_index) for i in branch)
    while i != WORLD and model.bodies[i].parent != WORLD:
        i, length = model.bodies[i].parent, length + 1
    return squares > ARTICULATED * length


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
        return BranchFactor(model, q, range(model.nb)).solve(b)
    return factorised(model, q).solve(b)
