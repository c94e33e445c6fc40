"""External forces: they enter as −Jᵀ f, in body or in world coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.energy import poses
from helpers.frames import REFERENCES, TREES, mimicking_tree, times, tips
from helpers.joints import EXAMPLES, MOVING
from helpers.trees import (
    STEP,
    Array,
    chain,
    columns,
    gradient,
    page,
    random_inertia,
    random_placement,
    random_states,
    random_tree,
    rate,
    stacked,
)
from kinetree.algorithms import aba, bias_forces, crba, gravity_forces, rnea
from kinetree.algorithms.dynamics.coriolis import coriolis_matrix
from kinetree.algorithms.dynamics.rnea import joint_reactions
from kinetree.algorithms.dynamics.task_space import external_wrench, wrench_forces
from kinetree.algorithms.kinematics.frames import jacobian
from kinetree.algorithms.recursions.tree import subspace_rates
from kinetree.joints import Joint, Revolute
from kinetree.model import WORLD, Model

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
    for algorithm in (rnea, aba, joint_reactions):
        got = page(algorithm, model, q, v, a, f_ext=world, f_ext_frame="world")
        body = page(algorithm, model, q, v, a, f_ext=f)
        # forward dynamics carries the rounding of the forces through the inverse of M
        condition = 1.0 if algorithm is not aba else np.linalg.cond(page(crba, model, q)).max()
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
    tau = page(rnea, model, q, v, a, f_ext=f)
    got = free - tau
    assert_close(got, expected, ulps=100, scale=float(np.abs(free).max()))
    # the solve's backward error grows with the tree
    back = page(rnea, model, q, v, page(aba, model, q, v, tau, f_ext=f), f_ext=f)
    assert_close(back, tau, ulps=500, scale=float(np.abs(free).max()))


# -- The forces in the joints ----------------------------------------------------------------------------------------


@trees
def test_along_the_joints_they_are_the_joint_forces(model: Model) -> None:
    q, v, a = random_states(model, 1)
    f_ext = wrenches(model, 0, size=16)
    f = page(joint_reactions, model, q, v, a, f_ext=f_ext)
    expected = page(rnea, model, q, v, a, f_ext=f_ext)
    got = np.zeros_like(v)
    for i, body in enumerate(model.bodies):
        S = model.jcalc(i, columns(q)).S
        for k, S_k, rotor in zip(body.v_index, S, body.armature, strict=True):
            got[:, k] = sum(s * f[:, i, j] for j, s in enumerate(S_k)) + rotor * a[:, k]
    assert_close(got, expected, ulps=20, scale=np.abs(f).max())


@trees
def test_at_rest_what_holds_a_body_balances_what_it_carries(model: Model) -> None:
    """Statics, body by body in the world: the joint's wrench, those of the children, the weight and f_ext are zero."""
    q, _, _ = random_states(model, 2)
    f_ext = wrenches(model, 0, size=16)
    zero = np.zeros((len(q), model.nv))
    P = poses(model, q)
    f = in_world(model, q, page(joint_reactions, model, q, zero, zero, f_ext=f_ext))
    total = f + in_world(model, q, f_ext)
    g = np.array(list(model.gravity))
    for i, body in enumerate(model.bodies):
        m, c = body.inertia.m, P[:, i, :3, 3]
        moment = P[:, i, :3, :3] @ np.array(list(body.inertia.h)) + m * c
        total[:, i] += np.concatenate([np.cross(moment, g), np.broadcast_to(m * g, c.shape)], axis=-1)
        if body.parent >= 0:
            total[:, body.parent] -= f[:, i]
    assert_close(total, np.zeros_like(total), ulps=100, scale=np.abs(f).max())


# -- The Coriolis matrix: C v is what inverse dynamics says, Ṁ − 2C is skew, and Pinocchio's is the same -------------


@trees
def test_coriolis_matrix(model: Model) -> None:
    q, v, _ = random_states(model, 1)
    C, M_dot = page(coriolis_matrix, model, q, v), rate(lambda x: page(crba, model, x), model, q, v)
    assert_close(times(C, v), page(bias_forces, model, q, v) - page(gravity_forces, model, q), ulps=200)
    assert_close(C + np.swapaxes(C, -1, -2), M_dot, ulps=100)


# -- Wrenches on frames ----------------------------------------------------------------------------------------------


framed_trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)
references = pytest.mark.parametrize("reference", REFERENCES)


def wrench(size: int = 16) -> Array:
    return np.random.default_rng(1).normal(size=(size, 6))


@framed_trees
@references
def test_wrenches_relieve_inverse_dynamics_by_the_transposed_jacobian(model: Model, reference: str) -> None:
    """Of them only the body that carries the frame feels anything."""
    q, v, a = random_states(model, 3)
    F, free = wrench(), page(rnea, model, q, v, a)
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}
        J = page(jacobian, model, q, **options)
        forces = page(wrench_forces, model, q, F, **options)
        assert_close(forces, times(np.swapaxes(J, -1, -2), F), ulps=200, scale=float(np.abs(J).max()))
        f_ext = stacked(external_wrench(model, columns(q), columns(F), **options), q.shape[:-1])
        tau = page(rnea, model, q, v, a, f_ext=f_ext)
        assert_close(free - tau, forces, ulps=200, scale=float(np.abs(free).max()))
        felt = {int(i) for i in np.flatnonzero(np.abs(f_ext).max(axis=(0, 2)))}
        assert felt == {model.frame(frame).body} - {WORLD}


# -- The rate of the motion subspace, column by column, for every joint type -----------------------------------------


def model_with(joint: Joint) -> Model:
    rng = np.random.default_rng(1)
    model = chain([Revolute()], [random_inertia(rng)], [random_placement(rng)])
    own = {"q_index": tuple(range(joint.nq)), "v_index": tuple(range(joint.nv))}
    return replace(model, bodies=(replace(model.bodies[0], joint=joint, **own),), nq=joint.nq, nv=joint.nv)


@pytest.mark.parametrize("joint", [j for row in EXAMPLES.values() for j in row if j.nv], ids=repr)
def test_columns_against_a_complex_step(joint: Joint) -> None:
    rng = np.random.default_rng(2)
    model, q, v = model_with(joint), joint.random(rng).tolist(), rng.normal(size=joint.nv).tolist()
    ahead = joint.integrate([np.complex128(x) for x in q], [np.complex128(1j * STEP * x) for x in v])
    expected = np.array([list(S_k) for S_k in joint.jcalc(ahead, v).S]).imag / STEP
    got = np.array([list(c) for c in subspace_rates(model, 0, q, v)], dtype=float)
    assert_close(got, expected, ulps=32, scale=float(np.abs(v).max()))
    total = sum(x * column for x, column in zip(v, got, strict=True))
    assert_close(total, np.array(list(joint.jcalc(q, v).cJ), dtype=float), ulps=32, scale=float(np.abs(v).max() ** 2))
