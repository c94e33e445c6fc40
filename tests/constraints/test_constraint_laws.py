"""The laws in `Constraint`'s docstring, for every type in the registry, on trees with all joints and with followers."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from helpers.constraints import MAKERS, made
from helpers.dense import assert_close
from helpers.exact_trees import exact_tree
from helpers.frames import times
from helpers.sampling import cover
from helpers.trees import STEP, Array, columns, moved, page, random_states, random_tree, stacked
from kinetree.algorithms import rnea
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.equations import (
    constraint_bias,
    constraint_error,
    constraint_forces,
    constraint_jacobian,
    constraint_wrenches,
)
from kinetree.constraints.types import Constraint
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical, Universal
from kinetree.model import Model

JOINTS = (Revolute((0, 1, 0)), Prismatic((0.6, -0.3, 0.7)), Spherical(), Universal(), Revolute((0.1, 0.2, -0.5)))
TREES: dict[str, Model] = {
    "fixed base": random_tree(3, n=9, joints=JOINTS),
    "floating": random_tree(1, n=9, joints=(FreeFlyer(), *JOINTS)),
    "followers": exact_tree("followers", 5, [FreeFlyer(), *JOINTS], followers=3, straight=0.5),
}
CASES = cover(itertools.product(MAKERS, TREES, ("world", "ancestor", "descendant", "cousin")))

every = pytest.mark.parametrize(("kind", "tree", "ends"), CASES, ids=["-".join(case) for case in CASES])


def case(kind: str, tree: str, ends: str) -> tuple[ConstrainedModel, Array, Array, Array]:
    """Return a tree with one constraint, and a state whose position fulfils it, (1, n) each."""
    q, v, a = random_states(TREES[tree], 2, 1)
    return made(kind, TREES[tree], q[0], ends), q, v, a


def test_every_registered_type_is_tested() -> None:
    model, _, _ = TREES["floating"], *random_states(TREES["floating"], 2, 1)[:2]
    q = random_states(model, 2, 1)[0]
    tested = {type(made(kind, model, q[0], "world").constraints[0]) for kind in MAKERS}
    assert tested == {cls for cls in Constraint.registry.values() if cls.__module__.startswith("kinetree.")}


@every
def test_the_error_changes_as_the_rows_move(kind: str, tree: str, ends: str) -> None:
    model, q, v, _ = case(kind, tree, ends)
    phi = page(constraint_error, model, q)
    assert_close(phi, np.zeros_like(phi), ulps=200, scale=1.0)
    J = page(constraint_jacobian, model, q)
    assert J.shape == (1, model.nrows, model.nv)
    rate = page(constraint_error, model, moved(model, q, 1j * STEP * v)).imag / STEP
    known = [row.phi is not None for row in model.constraint_rows(q[0].tolist())]
    assert any(known)
    assert_close(rate[:, known], times(J, v)[:, known], ulps=500, scale=1 + float(np.abs(J).max()))


@every
def test_the_errors_in_full_go_down_along_the_rows_wherever_the_constraint_is(kind: str, tree: str, ends: str) -> None:
    model, q, v, a = case(kind, tree, ends)
    (constraint,) = model.constraints

    def errors(q: Array) -> Array:
        return np.array([0.0 if x is None else x for x in constraint.errors(model, q[0].tolist())])

    near = moved(model, q, 1e-6 * v)
    np.testing.assert_allclose(errors(near), page(constraint_error, model, near)[0], atol=1e-14)
    q = moved(model, q, a)  # far away
    e, J = errors(q), page(constraint_jacobian, model, q)[0]
    h = 1e-6
    rate = (np.sum(errors(moved(model, q, h * v)) ** 2) - np.sum(errors(moved(model, q, -h * v)) ** 2)) / (2 * h)
    np.testing.assert_allclose(rate, 2 * e @ J @ v[0], rtol=1e-6, atol=1e-7 * (1 + np.abs(J).max()))


@every
def test_the_bias_is_the_rate_of_what_the_rows_say(kind: str, tree: str, ends: str) -> None:
    model, q, v, a = case(kind, tree, ends)
    q = moved(model, q, 0.1 * a)  # anywhere: it holds also where the constraint does not
    ahead = page(constraint_jacobian, model, moved(model, q, 1j * STEP * v))
    expected = times(ahead, v + 1j * STEP * a).imag / STEP
    J, gamma = page(constraint_jacobian, model, q), page(constraint_bias, model, q, v)
    assert_close(times(J, a) + gamma, expected, ulps=1000, scale=1 + float(np.abs(expected).max()))


@every
def test_the_wrenches_are_the_joint_forces(kind: str, tree: str, ends: str) -> None:
    model, q, v, a = case(kind, tree, ends)
    q = moved(model, q, 0.1 * a)
    f = np.random.default_rng(4).normal(size=(1, model.nrows))
    forces = page(constraint_forces, model, q, f)
    assert_close(forces, times(np.swapaxes(page(constraint_jacobian, model, q), 1, 2), f), ulps=10)
    if kind == "gear":
        return  # it acts between joints
    on = stacked(constraint_wrenches(model, columns(q), columns(f)), (1,))
    with_them = page(rnea, model, q, 0 * v, 0 * a, f_ext=on)
    scale = float(np.abs(with_them).max() + np.abs(forces).max())
    assert_close(page(rnea, model, q, 0 * v, 0 * a) - with_them, forces, ulps=500, scale=scale)


@every
def test_a_constraint_is_a_value(kind: str, tree: str, ends: str) -> None:
    model, *_ = case(kind, tree, ends)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert hash(again) == hash(model)
    assert again.digest == model.digest
    (constraint,) = model.constraints
    assert constraint.size == model.nrows == len(model.constraint_of_row)
