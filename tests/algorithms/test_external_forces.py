"""External forces: they enter as −Jᵀ f, in body or in world coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close, skew
from helpers.energy import poses
from helpers.joints import MOVING
from helpers.trees import Array, gradient, page, random_states, random_tree
from kinetree.algorithms import aba, crba, rnea
from kinetree.model import Model

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)


def wrenches(model: Model, seed: int, size: int = 6) -> Array:
    return np.random.default_rng(seed).normal(scale=3.0, size=(size, model.nb, 6))


def in_world(model: Model, q: Array, f: Array) -> Array:
    """Return wrenches given in body axes about the bodies' origins, in world axes about the world's origin."""
    P = poses(model, q)
    n, lin = (np.einsum("...bij,...bj->...bi", P[..., :3, :3], part) for part in (f[..., :3], f[..., 3:]))
    return np.concatenate([n + np.cross(P[..., :3, 3], lin), lin], axis=-1)


@trees
def test_body_and_world_coordinates_agree(model: Model) -> None:
    q, v, a = random_states(model, 1, size=6)
    f = wrenches(model, 2)
    world = in_world(model, q, f)
    for algorithm in (rnea, aba):
        got = page(algorithm, model, q, v, a, f_ext=world, f_ext_frame="world")
        body = page(algorithm, model, q, v, a, f_ext=f)
        # forward dynamics carries the rounding of the forces through the inverse of M
        condition = 1.0 if algorithm is rnea else np.linalg.cond(page(crba, model, q)).max()
        assert_close(got, body, ulps=100 * condition)
        np.testing.assert_array_equal(body, page(algorithm, model, q, v, a, f_ext=f, f_ext_frame="body"))


@trees
def test_external_forces_enter_as_minus_j_transposed_f(model: Model) -> None:
    """J by differentiating the poses: the force works along the origin's motion, the moment along the rotation."""
    q, v, a = random_states(model, 3, size=6)
    f = wrenches(model, 4)
    P = poses(model, q)
    P_k = gradient(lambda x: poses(model, x), model, q)  # (..., nb, 4, 4, nv)
    W = np.einsum("...bji,...bjlk->...bilk", P[..., :3, :3], P_k[..., :3, :3, :])
    angular = np.stack([W[..., 2, 1, :], W[..., 0, 2, :], W[..., 1, 0, :]], axis=-2)
    linear = np.einsum("...bji,...bjk->...bik", P[..., :3, :3], P_k[..., :3, 3, :])
    J = np.concatenate([angular, linear], axis=-2)
    expected = np.einsum("...bik,...bi->...k", J, f)
    free = page(rnea, model, q, v, a)
    got = free - page(rnea, model, q, v, a, f_ext=f)
    assert_close(got, expected, ulps=100, scale=float(np.abs(free).max()))


@trees
def test_superposition(model: Model) -> None:
    q, v, a = random_states(model, 5, size=6)
    f, g = wrenches(model, 6), wrenches(model, 7)
    tau = [page(rnea, model, q, v, a, f_ext=x) for x in (f + g, f, g, 0.0 * f)]
    assert_close(tau[0], tau[1] + tau[2] - tau[3], ulps=100, scale=float(np.abs(tau[0]).max()))
    np.testing.assert_array_equal(tau[3], page(rnea, model, q, v, a))


@trees
def test_forward_dynamics_feels_them_too(model: Model) -> None:
    q, v, tau = random_states(model, 8, size=6)
    f = wrenches(model, 9)
    a = page(aba, model, q, v, tau, f_ext=f)
    back = page(rnea, model, q, v, a, f_ext=f)
    # the solve's backward error grows with the tree; the worst of these six trees has 203 ulp
    assert_close(back, tau, ulps=500, scale=float(np.abs(page(rnea, model, q, v, a)).max()))


def test_a_weight_held_up_by_a_force_floats() -> None:
    """A wrench that carries each body's weight leaves nothing for the joints at rest."""
    model = random_tree(9, n=8)
    q, v, _ = random_states(model, 10, size=3)
    g = np.array(list(model.gravity))
    P = poses(model, q)
    weight = np.empty((3, model.nb, 6))
    for i, body in enumerate(model.bodies):
        h = np.array(list(body.inertia.h), dtype=float)
        centre = P[:, i, :3, :3] @ h + body.inertia.m * P[:, i, :3, 3]
        weight[:, i, :3] = np.einsum("nij,j->ni", np.array([skew(c) for c in centre]), -g)
        weight[:, i, 3:] = -body.inertia.m * g
    tau = page(rnea, model, q, 0 * v, 0 * v, f_ext=weight, f_ext_frame="world")
    scale = float(np.abs(page(rnea, model, q, 0 * v, 0 * v)).max())
    assert_close(tau, np.zeros_like(tau), ulps=200, scale=scale)
