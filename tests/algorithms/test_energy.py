"""Energies: against point masses, against Pinocchio, and as what the dynamics conserves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers import energy
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_quantities import NAMES, evaluate, oracle
from helpers.trees import STEP, Array, gradient, page, random_states, random_tree, rate, units
from kinetree.algorithms import aba, crba, gravity_forces
from kinetree.algorithms.quantities import kinetic_energy, mechanical_energy, potential_energy
from kinetree.model import Model
from kinetree.model.edit import regrouped

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)


def rotors(model: Model, v: Array) -> Array:
    return sum(
        0.5 * rotor * v[..., k] ** 2 for b in model.bodies for k, rotor in zip(b.v_index, b.armature, strict=True)
    )


@trees
def test_against_poses_and_their_rates(model: Model) -> None:
    q, v, _ = random_states(model, 1)
    T, V = energy.kinetic(model, q, v), energy.potential(model, q)
    assert_close(page(kinetic_energy, model, q, v), T, ulps=50)
    assert_close(page(potential_energy, model, q), V, ulps=50)
    assert_close(page(mechanical_energy, model, q, v), T + V, ulps=50, scale=np.abs(T).max() + np.abs(V).max())


@trees
def test_the_regrouped_model_has_the_same_kinetic_energy(model: Model) -> None:
    q, v, _ = random_states(model, 2)
    assert_close(page(kinetic_energy, regrouped(model), q, v), page(kinetic_energy, model, q, v), ulps=50)


@trees
def test_momenta_are_the_gradient_of_kinetic_energy(model: Model) -> None:
    q, v, _ = random_states(model, 3)
    steps = page(kinetic_energy, model, q, v + 1j * STEP * units(model, q)).imag / STEP
    momenta = np.einsum("nij,nj->ni", page(crba, model, q), v)
    assert_close(steps.T, momenta, ulps=100)


@trees
def test_gravity_forces_are_the_gradient_of_potential_energy(model: Model) -> None:
    q, _, _ = random_states(model, 4)
    expected = gradient(lambda x: page(potential_energy, model, x), model, q)
    assert_close(page(gravity_forces, model, q), expected, ulps=100)


@trees
def test_power_balance(model: Model) -> None:
    """d/dt (T + V) = τᵀ v, rotors included."""
    q, v, tau = random_states(model, 5)
    a = page(aba, model, q, v, tau)
    along_v = page(mechanical_energy, model, q, v + 1j * STEP * a).imag / STEP
    along_q = rate(lambda x: page(mechanical_energy, model, x, v), model, q, v)
    terms = np.abs(along_v).max() + np.abs(along_q).max()
    assert_close(along_v + along_q, np.einsum("ni,ni->n", tau, v), ulps=400, scale=terms)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_pinocchios(name: str) -> None:
    """Without armature: Pinocchio counts only part of the rotors' energy."""
    their = oracle(name)
    bare = pin.Model(their.theirs)
    bare.armature = np.zeros(bare.nv)
    q, v, _ = random_states(their.ours, 6, size=8)
    T = evaluate(their, lambda _, data, *row: pin.computeKineticEnergy(bare, data, *row), q, v)
    V = evaluate(their, pin.computePotentialEnergy, q)
    assert_close(page(kinetic_energy, their.ours, q, v), T + rotors(their.ours, v), ulps=100)
    assert_close(page(potential_energy, their.ours, q), V, ulps=100)


def test_compiled_they_are_scalars_or_one_number_a_state() -> None:
    robot = kt.load("panda")
    q, v, _ = robot.random_state(seed=0, size=(3, 2))
    T = robot.kinetic_energy(q, v)
    assert T.shape == (3, 2)
    assert robot.kinetic_energy(q[1, 1], v[1, 1]).shape == ()
    assert robot.kinetic_energy(q[1, 1], v[1, 1]) == T[1, 1]
    assert_close(T, page(kinetic_energy, robot.model, q, v), ulps=50)
