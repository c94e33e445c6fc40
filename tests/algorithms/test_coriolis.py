"""The Coriolis matrix: C v is what inverse dynamics says, Ṁ − 2C is skew, and Pinocchio's is the same."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from test_mimic import FOLLOWING, FREE, G, state

from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_quantities import NAMES, evaluate, on_rows, oracle
from helpers.trees import Array, gradient, page, random_states, random_tree, rate
from kinetree.algorithms import bias_forces, crba, gravity_forces
from kinetree.algorithms.dynamics.coriolis import coriolis_matrix
from kinetree.algorithms.recursions.tree import subspace_rates
from kinetree.joints import Joint
from kinetree.model import Model

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)


def times(A: Array, x: Array) -> Array:
    return np.einsum("...ij,...j->...i", A, x)


@trees
def test_product_with_the_velocity(model: Model) -> None:
    q, v, _ = random_states(model, 1)
    h, g = page(bias_forces, model, q, v), page(gravity_forces, model, q)
    assert_close(times(page(coriolis_matrix, model, q, v), v), h - g, ulps=200)


@trees
def test_mass_matrix_rate_minus_twice_it_is_skew(model: Model) -> None:
    q, v, _ = random_states(model, 2)
    C, M_dot = page(coriolis_matrix, model, q, v), rate(lambda x: page(crba, model, x), model, q, v)
    assert_close(C + np.swapaxes(C, -1, -2), M_dot, ulps=100)


@trees
def test_it_is_linear_in_the_velocity(model: Model) -> None:
    q, v, w = random_states(model, 3)
    expected = page(coriolis_matrix, model, q, v) - 2.0 * page(coriolis_matrix, model, q, w)
    assert_close(page(coriolis_matrix, model, q, v - 2.0 * w), expected, ulps=100)


def test_it_has_the_christoffel_symbols() -> None:
    """``C_ij = ½ Σ_k (∂_k M_ij + ∂_j M_ik − ∂_i M_jk) v_k`` where velocities are rates of coordinates."""

    def plain(joint: Joint) -> bool:
        return joint.nq == joint.nv and type(joint).__name__ != "Planar"

    model = random_tree(21, n=10, joints=[joint for joint in MOVING if plain(joint)])
    q, v, _ = random_states(model, 4, size=4)
    dM = gradient(lambda x: page(crba, model, x), model, q)
    expected = 0.5 * (
        np.einsum("nijk,nk->nij", dM, v) + np.einsum("nikj,nk->nij", dM, v) - np.einsum("njki,nk->nij", dM, v)
    )
    assert_close(page(coriolis_matrix, model, q, v), expected, ulps=100)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_pinocchios(name: str) -> None:
    their = oracle(name)
    q, v, _ = random_states(their.ours, 5, size=6)
    expected = on_rows(their, their.from_pin_v(evaluate(their, pin.computeCoriolisMatrix, q, v)))
    assert_close(page(coriolis_matrix, their.ours, q, v), expected, ulps=100)


def test_mimic_joints_project_it() -> None:
    q, q_free, v, _, _ = (np.array(x) for x in zip(*(state(s) for s in range(4)), strict=True))
    expected = G.T @ page(coriolis_matrix, FREE, q_free, v @ G.T) @ G
    assert_close(page(coriolis_matrix, FOLLOWING, q, v), expected, ulps=100)


@pytest.mark.parametrize("joint", MOVING, ids=repr)
def test_rates_of_the_subspace_are_those_of_its_columns(joint: Joint) -> None:
    model = random_tree(0, n=1, joints=[joint])
    q, v, _ = random_states(model, 6)

    def S(x: Array) -> Array:
        state = model.jcalc(0, [x[..., k] for k in range(model.nq)])
        return np.stack([np.stack([c + 0.0 * x[..., 0] for c in column], -1) for column in state.S], -1)

    columns = subspace_rates(model, 0, list(q.T), list(v.T))
    got = np.stack([np.stack([c + 0.0 * q[:, 0] for c in column], -1) for column in columns], -1)
    assert_close(got, rate(S, model, q, v), ulps=20, scale=1.0)
