"""Energies: against point masses, against Pinocchio, and as what the dynamics conserves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from helpers import energy
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_quantities import NAMES, evaluate, oracle
from helpers.trees import Array, page, random_states, random_tree
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
