"""Dynamics in independent velocities, the choice of these, and the inertia that constraints meet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import MAKERS, made
from helpers.exact_trees import exact_tree
from helpers.frames import times
from helpers.mechanisms import bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart
from helpers.trees import Array, page, random_states, random_tree
from kinetree.algorithms import crba
from kinetree.constraints.model import ConstrainedModel, pivots
from kinetree.constraints.pages.dynamics import forward_dynamics
from kinetree.constraints.pages.reduced import complete_velocity, reduced_bias, reduced_mass_matrix, velocity_map
from kinetree.constraints.pages.rows import constraint_inertia, constraint_jacobian, delassus_matrix
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical

JOINTS = (FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1)))
TREES = {
    "tree": random_tree(5, n=7, joints=JOINTS),
    "followers": exact_tree("followers", 5, list(JOINTS), followers=2, straight=0.5),
}


def doubled(model: ConstrainedModel) -> ConstrainedModel:
    again = [replace(c, name=c.label + "_again") for c in model.constraints]
    return replace(model, constraints=(*model.constraints, *again))


def held(kind: str, tree: str) -> tuple[ConstrainedModel, Array]:
    """Return a tree with one constraint, and a configuration in which it holds."""
    q = random_states(TREES[tree], 2, 1)[0][0]
    return made(kind, TREES[tree], q, "cousin"), q


CASES: dict[str, tuple[ConstrainedModel, Array]] = {
    name: (case.mech.model, case.q)
    for name, case in {
        "four-bar": four_bar(),
        "slider-crank": slider_crank(),
        "two four-bars": n_four_bar(2),
        "Bricard": bricard(),
        "Stewart": stewart(),
        "Delta": delta(),
        "floating leg": five_bar_leg(floating=True),
    }.items()
}
CASES |= {f"{kind} on {tree}": held(kind, tree) for kind, tree in (("weld", "tree"), ("rod", "followers"))}
CASES |= {f"{name}, twice": (doubled(CASES[name][0]), CASES[name][1]) for name in ("four-bar", "Delta", "weld on tree")}

every = pytest.mark.parametrize(("model", "q"), CASES.values(), ids=list(CASES))


@every
def test_the_reduced_equation_gives_the_acceleration(model: ConstrainedModel, q: Array) -> None:
    """GᵀMG ÿ + Gᵀ(M g + h) = Gᵀ τ, with ``J G = 0``."""
    rng, q = np.random.default_rng(0), q[None]
    y, tau = rng.normal(size=(1, model.nindependent)), rng.normal(size=(1, model.nv), scale=10.0)
    G, J, M = page(velocity_map, model, q), page(constraint_jacobian, model, q), page(crba, model, q)
    np.testing.assert_allclose(J @ G, 0.0, atol=1e-11 * np.abs(G).max())
    np.testing.assert_array_equal(G[0, list(model.independent_velocities)], np.eye(model.nindependent))
    v = page(complete_velocity, model, q, y)
    np.testing.assert_allclose(v, times(G, y), atol=1e-12 * np.abs(v).max())
    reduced, bias = page(reduced_mass_matrix, model, q), page(reduced_bias, model, q, v)
    np.testing.assert_array_equal(reduced, np.swapaxes(reduced, 1, 2))
    np.testing.assert_allclose(reduced, np.swapaxes(G, 1, 2) @ M @ G, rtol=0.0, atol=1e-12 * np.abs(reduced).max())
    a = np.array(forward_dynamics(model, *(x[0].tolist() for x in (q, v, tau)))[0])
    acceleration = np.linalg.solve(reduced[0], G[0].T @ tau[0] - bias[0])
    wanted = a[list(model.independent_velocities)]
    np.testing.assert_allclose(acceleration, wanted, rtol=0.0, atol=1e-10 * np.abs(a).max())


@every
def test_the_choice_is_as_large_as_the_mobility_and_not_singular(model: ConstrainedModel, q: Array) -> None:
    J = page(constraint_jacobian, model, q[None])[0]
    s = np.linalg.svd(J, compute_uv=False)
    rank = int((s > 1e-9 * s[0]).sum())
    assert model.nindependent == model.nv - rank
    dependent = np.delete(J, model.independent_velocities, axis=1)
    assert np.linalg.matrix_rank(dependent, tol=1e-6 * s[0]) == rank
    assert model.reference.is_closed
    assert model.reference.mobility == model.nindependent


@pytest.mark.parametrize("kind", ["weld", "gear", "sphere"])
@pytest.mark.parametrize("twice", [False, True])
def test_the_inertia_that_constraints_meet(kind: str, twice: bool) -> None:
    q = random_states(TREES["tree"], 2, 1)[0]
    model = made(kind, TREES["tree"], q[0], "world" if kind != "gear" else "cousin")
    model = doubled(model) if twice else model
    G, inertia = page(delassus_matrix, model, q)[0], page(constraint_inertia, model, q)[0]
    np.testing.assert_array_equal(inertia, inertia.T)
    expected = np.linalg.pinv(G, rcond=1e-9, hermitian=True)
    # measured: 1e-14 and, with rows that are there twice, 3e-12
    np.testing.assert_allclose(inertia, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


def test_actuated_joints_are_independent_where_they_will_do() -> None:
    tree, rods = delta().mech.tree, delta().mech.constraints
    motors = ("motor0", "motor1", "motor2")
    assert kt.Mechanism(tree, rods).actuated == kt.Mechanism(tree, rods).independent == motors
    linkage = four_bar().mech
    assert linkage.independent == ("motor",)
    for joint in linkage.tree.joint_names:
        assert kt.Mechanism(linkage.tree, linkage.constraints, actuated=[joint]).independent == (joint,)
    leg = five_bar_leg(floating=True).mech
    hips = kt.Mechanism(leg.tree, leg.constraints, actuated=["front_hip", "back_hip"])
    assert hips.independent == (*(f"root.{x}" for x in ("wx", "wy", "wz", "vx", "vy", "vz")), "front_hip", "back_hip")


@pytest.mark.parametrize("kind", MAKERS)
def test_independent_velocities_of_every_type_of_constraint(kind: str) -> None:
    model = made(kind, TREES["followers"], random_states(TREES["followers"], 2, 1)[0][0], "cousin")
    assert model.reference.is_closed
    assert model.nindependent == model.nv - np.linalg.matrix_rank(model.reference.near[0], tol=1e-9)


def test_pivots_are_independent_columns_the_first_of_similar_ones() -> None:
    A = np.array([[1.0, 1.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1e-3]])
    assert pivots(A, 2) == [0, 3]
