"""`BranchFactor`: the factors of M with some branches as a recursion are those of M as a matrix."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_states, random_tree
from kinetree.algorithms.dynamics.factorization import BranchFactor, branch_factor, factorised
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical, Universal
from kinetree.model import Model

JOINTS = (Revolute((0, 1, 0)), Prismatic((0.6, -0.3, 0.7)), Spherical(), Universal(), Revolute((0.1, 0.2, -0.5)))
TREES = {
    "fixed base": random_tree(3, n=10, joints=JOINTS),
    "floating": random_tree(1, n=10, joints=(FreeFlyer(), *JOINTS)),
}


def subtree(model: Model, root: int) -> set[int]:
    """Return a body and all that it carries."""
    found = {root}
    for i in range(root, model.nb):
        if model.bodies[i].parent in found:
            found.add(i)
    return found


@pytest.mark.parametrize("tree", TREES)
def test_solutions_are_those_of_the_whole_matrix(tree: str) -> None:
    model = TREES[tree]
    q = random_states(model, 4, 1)[0][0].tolist()
    whole = factorised(model, q)
    b = np.random.default_rng(0).normal(size=model.nv).tolist()
    chosen = [subtree(model, i) for i in range(model.nb)] + [
        subtree(model, model.nb - 1) | subtree(model, model.nb // 2)
    ]
    for branches in chosen:
        factor = BranchFactor(model, q, branches)
        left = whole.solve_L_transposed(b)
        for mine, expected in (
            (factor.solve_L_transposed(b), left),
            (factor.solve_L(b), whole.solve_L(b)),
            (factor.solve_L(left, factor.D), whole.solve(b)),
        ):
            np.testing.assert_allclose(mine, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        moved = [k for i in range(model.nb) if i not in branches for k in model.bodies[i].v_index]
        np.testing.assert_allclose(np.array(factor.D)[moved], np.array(whole.D)[moved], rtol=1e-10)


def test_deep_branches_that_carry_nothing_moved_are_chosen() -> None:
    model = kt.load("g1").model
    q = random_states(model, 1, 1)[0][0].tolist()
    legs = {k for b in model.bodies for k in b.v_index if b.name.endswith(("ankle_roll_link", "knee_link"))}
    factor = branch_factor(model, q, legs)
    assert isinstance(factor, BranchFactor)
    names = [model.bodies[i].name for i in factor.branches]
    assert len(names) == 17
    assert all(any(part in name for part in ("waist", "torso", "shoulder", "elbow", "wrist")) for name in names)
    assert not isinstance(branch_factor(model, q, range(model.nv)), BranchFactor)
    shallow = kt.load("go2").model
    q = random_states(shallow, 1, 1)[0][0].tolist()
    assert not isinstance(branch_factor(shallow, q, shallow.bodies[3].v_index), BranchFactor)
