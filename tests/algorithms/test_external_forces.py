"""External forces: they enter as −Jᵀ f, in body or in world coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from test_mimic import FOLLOWING, FREE, G, state

from helpers.dense import assert_close, skew
from helpers.energy import poses
from helpers.frames import REFERENCES, TREES, mimicking_tree, times, tips
from helpers.joints import EXAMPLES, MOVING
from helpers.pinocchio_quantities import ANGULAR_FIRST, NAMES, evaluate, on_rows, oracle
from helpers.trees import (
    STEP,
    Array,
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
from kinetree.model import WORLD, Model, ModelBuilder
from kinetree.spatial import Inertia

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


@trees
def test_external_forces_in_world_axes(model: Model) -> None:
    q, v, a = random_states(model, 3)
    f_ext = wrenches(model, 0, size=16)
    body = page(joint_reactions, model, q, v, a, f_ext=f_ext)
    world = page(joint_reactions, model, q, v, a, f_ext=in_world(model, q, f_ext), f_ext_frame="world")
    assert_close(world, body, ulps=100)


def test_a_turning_pendulum_is_held_by_its_centripetal_force() -> None:
    b = ModelBuilder("pendulum")
    b.add_link("base")
    b.add_link("bob", Inertia.from_com(2.0, (0.0, 0.0, -0.5), np.zeros((3, 3)).tolist()))
    b.add_joint("pivot", parent="base", child="bob", joint=Revolute((0, 1, 0)))
    (f,) = joint_reactions(b.build(), [0.0], [3.0], [0.0])
    # hanging and passing its lowest point: weight and m ω² l, upwards
    assert_close(f, [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81 + 2.0 * 9.0 * 0.5], ulps=2)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_pinocchios(name: str) -> None:
    their = oracle(name)
    q, v, a = random_states(their.ours, 4, size=6)
    theirs = list(their.theirs.names)

    def reactions(model: pin.Model, data: pin.Data, *state: Array) -> list[Array]:
        pin.rnea(model, data, *state)
        return [data.f[theirs.index(b.joint_name)].np[ANGULAR_FIRST] for b in their.ours.bodies]

    assert_close(page(joint_reactions, their.ours, q, v, a), evaluate(their, reactions, q, v, a), ulps=100)


# -- The Coriolis matrix: C v is what inverse dynamics says, Ṁ − 2C is skew, and Pinocchio's is the same -------------


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


# -- Wrenches on frames ----------------------------------------------------------------------------------------------


framed_trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)
references = pytest.mark.parametrize("reference", REFERENCES)


def wrench(size: int = 16) -> Array:
    return np.random.default_rng(1).normal(size=(size, 6))


@framed_trees
@references
def test_joint_forces_are_the_transposed_jacobian_times_the_wrench(model: Model, reference: str) -> None:
    q, F = random_states(model, 2)[0], wrench()
    for frame in tips(model):
        J = page(jacobian, model, q, frame=frame, reference=reference)
        got = page(wrench_forces, model, q, F, frame=frame, reference=reference)
        assert_close(got, times(np.swapaxes(J, -1, -2), F), ulps=200, scale=float(np.abs(J).max()))


@framed_trees
@references
def test_inverse_dynamics_is_relieved_by_them(model: Model, reference: str) -> None:
    q, v, a = random_states(model, 3)
    F, free = wrench(), page(rnea, model, q, v, a)
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}
        f_ext = stacked(external_wrench(model, columns(q), columns(F), **options), q.shape[:-1])
        tau = page(rnea, model, q, v, a, f_ext=f_ext)
        expected = page(wrench_forces, model, q, F, **options)
        assert_close(free - tau, expected, ulps=200, scale=float(np.abs(free).max()))


def test_only_the_body_that_carries_the_frame_feels_it() -> None:
    model = TREES[0]
    q, F = random_states(model, 4)[0], wrench()
    for frame in tips(model):
        f_ext = stacked(external_wrench(model, columns(q), columns(F), frame=frame, reference="world"), q.shape[:-1])
        felt = {int(i) for i in np.flatnonzero(np.abs(f_ext).max(axis=(0, 2)))}
        assert felt == {model.frame(frame).body} - {WORLD}


# -- The rate of the motion subspace, column by column, for every joint type -----------------------------------------


def model_with(joint: Joint) -> Model:
    rng, builder = np.random.default_rng(1), ModelBuilder()
    builder.add_link("base")
    builder.add_link("link", random_inertia(rng))
    builder.add_joint("joint", parent="base", child="link", joint=Revolute(), placement=random_placement(rng).tolist())
    model = builder.build()
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
