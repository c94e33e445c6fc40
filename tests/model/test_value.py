"""A model as a value: frozen, equal, hashed, pickled, its structure apart from its numbers, digest, regrouping."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy

import kinetree as kt
from helpers.dense import assert_close
from helpers.trees import page, random_inertia, random_states, random_tree, toy
from kinetree import ModelError
from kinetree.algorithms import aba, crba, gravity_forces, rnea
from kinetree.joints import Planar, Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.model.differences import differences
from kinetree.model.edit import regrouped
from kinetree.model.leaves import flatten, map_leaves
from kinetree.spatial import Composite, Vec3

DIGEST = """
import sys
from helpers.trees import random_tree
import kinetree as kt
print(random_tree(3).digest, hash("x"))
"""


def test_a_model_is_a_value() -> None:
    model, same, other = random_tree(0), random_tree(0), random_tree(1)
    assert model == same
    assert hash(model) == hash(same)
    assert model != other
    assert len({model, same, other}) == 2
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again == model
        assert again.digest == model.digest
        assert again.joint_names == model.joint_names


def test_a_model_does_not_change() -> None:
    model = random_tree(0)
    for field in dataclasses.fields(model):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(model, field.name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.bodies[0].name = "other"


def two_link(lengths: tuple[float, float], joint: object = None, name: str = "arm") -> Model:
    rng, kind = np.random.default_rng(0), joint or Revolute()
    places = [{"placement": [[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]} for x in lengths]
    links = {link: random_inertia(rng) for link in (name, "hand")}
    return toy((f"j0 base {name}", kind, places[0]), (f"j1 {name} hand", kind, places[1]), links=links)


def test_robots_of_one_structure_differ_in_numbers_only() -> None:
    a, b = two_link((0.1, 0.2)), two_link((0.1, 0.3))
    assert a.structure == b.structure
    assert hash(a.structure) == hash(b.structure)
    assert a.numbers != b.numbers
    assert sum(x != y for x, y in zip(a.numbers, b.numbers, strict=True)) == 1
    assert a.with_numbers(b.numbers) == b
    assert a.with_numbers(a.numbers) == a
    assert a.with_numbers(b.numbers).digest == b.digest != a.digest


@pytest.mark.parametrize("other", [two_link((0.1, 0.2), Prismatic()), two_link((0.1, 0.2), name="leg"), random_tree(0)])
def test_other_joints_names_or_trees_are_another_structure(other: Model) -> None:
    assert two_link((0.1, 0.2)).structure != other.structure


def test_wrong_count_of_numbers() -> None:
    model = two_link((0.1, 0.2))
    with pytest.raises(ModelError, match=f"3 numbers given, this model has {len(model.numbers)}"):
        model.with_numbers([1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(3))
def test_map_leaves_goes_through_all_of_them_in_order(seed: int) -> None:
    model = random_tree(seed)
    seen: list[float] = []
    assert map_leaves(model, lambda x: seen.append(x) or x) == model
    assert tuple(seen) == model.numbers
    doubled = map_leaves(model, lambda x: 2.0 * x)
    assert doubled.numbers == tuple(2.0 * x for x in model.numbers)
    assert doubled.structure == model.structure


def test_a_model_over_symbols() -> None:
    """Numbers may be symbols: the page gives a formula in them, with the right value."""
    model = two_link((0.1, 0.2))
    symbols = sympy.symbols(f"n:{len(model.numbers)}", real=True)
    symbolic = model.with_numbers(symbols)
    assert symbolic.numbers == symbols
    assert symbolic.structure == model.structure
    formula = gravity_forces(symbolic, (0.3, 0.4))
    assert all(f.free_symbols for f in formula)
    value = sympy.lambdify([symbols], formula)(model.numbers)
    assert_close(value, gravity_forces(model, (0.3, 0.4)))


def test_the_digest_depends_on_every_bit() -> None:
    model = two_link((0.1, 0.2))
    digests = {model.digest}
    for k, x in enumerate(model.numbers):
        if np.isfinite(x):
            numbers = [*model.numbers]
            numbers[k] = float(np.nextafter(x, 10.0))
            digests.add(model.with_numbers(numbers).digest)
    assert len(digests) == 1 + sum(np.isfinite(x) for x in model.numbers)
    assert two_link((0.1, 0.2), name="leg").digest != model.digest
    assert two_link((0.1, 0.2), Prismatic((0, 0, 1))).digest != model.digest


def test_the_digest_is_the_same_in_every_process() -> None:
    runs = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run([sys.executable, "-c", DIGEST], env=env, capture_output=True, text=True, check=True)
        runs.add(tuple(done.stdout.split()))
    (a, hash_a), (b, hash_b) = runs  # two runs, for string hashes differ
    assert hash_a != hash_b
    assert a == b == random_tree(3).digest


@pytest.mark.parametrize("seed", range(6))
def test_regrouping_inertia_changes_no_joint_force(seed: int) -> None:
    model = random_tree(seed, n=10)
    light = regrouped(model)
    q, v, a = random_states(model, seed)
    assert_close(page(rnea, light, q, v, a), page(rnea, model, q, v, a), ulps=200)
    assert_close(page(crba, light, q), page(crba, model, q), ulps=200)
    # forward dynamics amplifies rounding by the condition number of M: seen through M, the two are the same forces
    difference = page(aba, light, q, v, a) - page(aba, model, q, v, a)
    force = np.einsum("nij,nj->ni", page(crba, model, q), difference)
    assert_close(force, np.zeros_like(force), ulps=200, scale=float(np.abs(page(rnea, model, q, v, a)).max()))


def test_regrouping_zeroes_three_of_ten_for_a_coordinate_axis() -> None:
    light = regrouped(random_tree(0, joints=(Revolute((0, 0, 1)),)))
    for body in light.bodies:
        assert (body.inertia.m, body.inertia.h.z) == (0.0, 0.0)
        assert 0.0 in (body.inertia.I.xx, body.inertia.I.yy)


def test_entries_of_q_and_v_have_names() -> None:
    model = toy(("ball base a", Spherical()), ("hinge a b", Revolute()), ("plane b c", Planar()))
    ball, plane = ["ball.qx", "ball.qy", "ball.qz", "ball.qw"], ["plane.x", "plane.y", "plane.theta"]
    assert model.q_names == (*ball, "hinge", *plane)
    assert model.v_names == ("ball.wx", "ball.wy", "ball.wz", "hinge", "plane.w", "plane.vx", "plane.vy")


class Pair(Composite):
    """A composite value from outside the package."""

    __slots__ = ("a", "b")


def test_a_type_declares_its_parts_wherever_it_is_defined() -> None:
    pair = Pair()
    pair.a, pair.b = 1.0, Vec3(2.0, 3.0, 4.0)
    assert flatten(pair)[1] == (1.0, 2.0, 3.0, 4.0)
    doubled = map_leaves(pair, lambda x: 2.0 * x)
    assert (doubled.a, doubled.b) == (2.0, Vec3(4.0, 6.0, 8.0))
    assert doubled != pair
    assert map_leaves(doubled, lambda x: 0.5 * x) == pair


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 1e12])
def test_models_differ_by_more_than_rounding_whatever_the_size(size: float) -> None:
    robot = kt.load("ur5")
    model, rounded, other = (robot.with_joint_physics(damping=size * x).model for x in (1.0, 1.0 + 1e-12, 2.0))
    assert differences(model, rounded).joints == {}
    assert differences(model, other).joints == {"damping": robot.joint_names}
