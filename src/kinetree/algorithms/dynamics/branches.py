"""M = LᵀDL where some branches are eliminated by the articulated-body recursion, without their rows of L."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from kinetree.algorithms.dynamics.crba import crba, crba_without
from kinetree.algorithms.dynamics.factorization import Factor, ltdl
from kinetree.algorithms.dynamics.singular import block, refuse_singular
from kinetree.algorithms.recursions.articulated import Pivot, articulated_bodies
from kinetree.glossary.symbols import Vector
from kinetree.model import WORLD, Model
from kinetree.spatial import ArticulatedInertia, Force, Inertia, Motion, Scalar

ARTICULATED = 80
"""Operations of the recursion for one velocity, in which the choice between it and a matrix is measured."""


class BranchFactor:
    """The factors of M with the interface of `Factor`: of the trunk as a matrix, of the branches as a recursion.

    ``L⁻ᵀ b`` is what the recursion leaves of b on the way to the base, its pivots are D, and ``L⁻¹`` is its way back
    (RBDA Table 7.1): a branch of n joints takes O(n) operations and not O(n³), and vectors that are zero in it cost
    what they cost in the trunk.

    Parameters
    ----------
    model : Model
        Without mimic joints.
    q : sequence of scalars
    branches : collection of int
        Indices of the bodies of the branches, each with all that it carries.
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
    """Return the factors of M for solutions of which most are zero but for the velocities that are `moved`.

    The branches that carry none of these are left to the recursion where that takes fewer operations.
    """
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
    """Return whether the recursion is cheaper: it takes some 80 operations a velocity of the branch or body below.

    A velocity that s others carry takes s² and some, for its column of M and its row of L.
    """
    before: list[int] = []  # velocities that carry those of each body
    for body in model.bodies:
        carrying = body.parent
        before.append(0 if carrying == WORLD else before[carrying] + len(model.bodies[carrying].v_index))
    squares = sum((before[i] + n) ** 2 for i in branch for n in range(len(model.bodies[i].v_index)))
    i, length = model.bodies[branch[0]].parent, sum(len(model.bodies[i].v_index) for i in branch)
    while i != WORLD and model.bodies[i].parent != WORLD:
        i, length = model.bodies[i].parent, length + 1
    return squares > ARTICULATED * length
