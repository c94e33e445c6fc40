"""Laws of mechanics and identities between the algorithms, on random trees with every type of joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.energy import kinetic, poses, potential
from helpers.frames import times
from helpers.joints import MOVING, brackets
from helpers.trees import Array, gradient, moved, page, random_states, random_tree, rate
from kinetree.algorithms import aba, bias_forces, crba, forward_kinematics, gravity_forces, rnea
from kinetree.algorithms.dynamics.aba import hybrid_dynamics
from kinetree.algorithms.quantities import kinetic_energy, mechanical_energy, potential_energy
from kinetree.model import JointSpring, Model
from kinetree.model.edit import regrouped

SEEDS = range(6)
TREES = [random_tree(seed, n=len(MOVING) + 1) for seed in SEEDS]  # every example joint at least once in each
trees = pytest.mark.parametrize("model", TREES, ids=lambda m: m.name)


def sprung(model: Model) -> Model:
    """Return the model with a spring in each joint of one degree of freedom."""
    rng = np.random.default_rng(3)
    springs = (
        JointSpring(*rng.uniform(1.0, 20.0, 2).tolist()) if b.has_one_coordinate else b.spring for b in model.bodies
    )
    bodies = (replace(body, spring=spring) for body, spring in zip(model.bodies, springs, strict=True))
    return replace(model, name=f"{model.name} with springs", bodies=tuple(bodies))


springs_too = pytest.mark.parametrize("model", [*TREES, *map(sprung, TREES[:2])], ids=lambda m: m.name)


def largest(x: Array) -> float:
    return float(np.abs(x).max())


def quadratic(A: Array, x: Array) -> Array:
    return np.einsum("...i,...ij,...j->...", x, A, x)


# -- the algorithms agree -------------------------------------------------------------------------------------------


@springs_too
def test_forward_dynamics_undoes_inverse_dynamics(model: Model) -> None:
    q, v, a = random_states(model, 1)
    tau = page(rnea, model, q, v, a)
    got = page(aba, model, q, v, tau)
    # backward: the accelerations found need the forces given, to rounding, whatever M's condition number
    assert_close(page(rnea, model, q, v, got), tau, ulps=200)
    condition = np.linalg.cond(page(crba, model, q)).max()
    assert_close(got, a, ulps=4 * condition, scale=largest(a))


@springs_too
@pytest.mark.parametrize("method", ["articulated", "system"])
def test_hybrid_dynamics_undoes_it_too(model: Model, method: str) -> None:
    q, v, a = random_states(model, 2)
    tau, name = page(rnea, model, q, v, a), model.joint_names[0]
    known = np.isin(np.arange(model.nv), model.bodies[model.body_of_joint(name)].v_index)
    given = np.where(known, a, 0.0), np.where(known, 0.0, tau)
    for k, expected in enumerate((a, tau)):
        got = page(lambda *x, k=k: hybrid_dynamics(*x, prescribed=[name], method=method)[k], model, q, v, *given)
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-9 * (1.0 + largest(expected)))


@trees
def test_equation_of_motion(model: Model) -> None:
    q, v, a = random_states(model, 5)
    tau, h, M = page(rnea, model, q, v, a), page(bias_forces, model, q, v), page(crba, model, q)
    assert_close(tau - h, times(M, a), ulps=200, scale=largest(np.abs(tau) + np.abs(h)))


# -- energy and Lagrange --------------------------------------------------------------------------------------------


@trees
def test_energies_against_poses_and_their_rates(model: Model) -> None:
    q, v, _ = random_states(model, 7)
    T, V = kinetic(model, q, v), potential(model, q)
    assert_close(0.5 * quadratic(page(crba, model, q), v), T, ulps=100)
    for same in (model, regrouped(model)):
        assert_close(page(kinetic_energy, same, q, v), T, ulps=50)
    assert_close(page(potential_energy, model, q), V, ulps=50)
    assert_close(page(mechanical_energy, model, q, v), T + V, ulps=50, scale=largest(T) + largest(V))


@springs_too
def test_forces_at_rest_are_the_gradient_of_the_potential(model: Model) -> None:
    q, v, _ = random_states(model, 8)
    expected = gradient(lambda x: page(potential_energy, model, x), model, q)
    assert_close(page(bias_forces, model, q, 0 * v), expected, ulps=100)
    without = replace(model, bodies=tuple(replace(body, spring=JointSpring()) for body in model.bodies))
    np.testing.assert_array_equal(page(gravity_forces, model, q), page(bias_forces, without, q, 0 * v))


@springs_too
def test_power_balance(model: Model) -> None:
    """What the joints put in is what the energy gains: d/dt (T + V) = τᵀ v."""
    q, v, tau = random_states(model, 9)
    a = page(aba, model, q, v, tau)
    M = page(crba, model, q)
    T_dot = np.einsum("...i,...ij,...j->...", v, M, a) + 0.5 * quadratic(
        rate(lambda x: page(crba, model, x), model, q, v), v
    )
    V_dot = rate(lambda x: page(potential_energy, model, x), model, q, v)
    power = np.einsum("...i,...i->...", tau, v)
    assert_close(T_dot + V_dot, power, ulps=400, scale=largest(np.abs(T_dot) + np.abs(V_dot)))


@trees
def test_lagranges_equations(model: Model) -> None:
    """Coriolis forces from the mass matrix alone: ``C v = Ṁ v − ∇(½ vᵀ M v) − ad_vᵀ M v``.

    The last term is for velocities that are twists, not rates of coordinates (Euler and Poincaré). Without it this
    is the formula of the Christoffel symbols, whose C makes Ṁ − 2C skew.
    """
    q, v, _ = random_states(model, 10, size=4)
    p = times(page(crba, model, q), v)
    M_dot = rate(lambda x: page(crba, model, x), model, q, v)
    slope = gradient(lambda x: 0.5 * quadratic(page(crba, model, x), v), model, q)
    expected = times(M_dot, v) - slope
    for body in model.bodies:
        k = list(body.v_index)
        momentum = p[..., k] - np.array(body.armature) * v[..., k]  # a rotor's spin has no direction in space
        expected[..., k] -= np.einsum("kij,...i,...k->...j", brackets(body.joint), v[..., k], momentum)
    got = page(bias_forces, model, q, v) - page(gravity_forces, model, q)
    assert_close(got, expected, ulps=200)


def slopes(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the rates of the raw coordinates and of the velocities of a robot that falls freely."""
    return rate(lambda x: x, model, q, v), page(aba, model, q, v, np.zeros_like(v))


def fall(model: Model, q: Array, v: Array, duration: float, steps: int) -> tuple[Array, Array]:
    """Return the state after a free fall, by the classical Runge–Kutta method on the raw coordinates."""
    h = duration / steps
    for _ in range(steps):
        q1, v1 = slopes(model, q, v)
        q2, v2 = slopes(model, q + h / 2 * q1, v + h / 2 * v1)
        q3, v3 = slopes(model, q + h / 2 * q2, v + h / 2 * v2)
        q4, v4 = slopes(model, q + h * q3, v + h * v3)
        q, v = q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4), v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    return q, v


@pytest.mark.parametrize("seed", range(2))
def test_energy_is_kept_without_forces(seed: int) -> None:
    model = random_tree(seed, n=7, joints=(MOVING[0], MOVING[3], *MOVING[-3:]))
    q, v, _ = random_states(model, 12, size=3)

    def drift(steps: int) -> float:
        end = fall(model, q, v, 0.04, steps)
        return largest(kinetic(model, *end) + potential(model, end[0]) - before)

    before = kinetic(model, q, v) + potential(model, q)
    coarse, fine = drift(8), drift(16)
    # a fourth-order method loses energy at the fourth order of the step at least: nothing else is lost
    assert coarse / fine > 12
    assert fine < 1e-7 * largest(before)


# -- kinematics -----------------------------------------------------------------------------------------------------


@trees
def test_poses_are_rigid_and_move_at_the_velocity(model: Model) -> None:
    q, v, _ = random_states(model, 13)
    P = poses(model, q)
    R = P[..., :3, :3]
    assert_close(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), ulps=32)
    np.testing.assert_array_equal(P[..., 3, :], np.broadcast_to([0.0, 0.0, 0.0, 1.0], P[..., 3, :].shape))
    step = 1e-6
    forth, back = (poses(model, moved(model, q, s * step * v)) for s in (1, -1))
    exact = rate(lambda x: page(forward_kinematics, model, x), model, q, v)
    # central differences: the error is h²/6 times a third derivative, beside rounding over h
    assert largest((forth - back) / (2 * step) - exact) < 1e-8 * largest(exact)
