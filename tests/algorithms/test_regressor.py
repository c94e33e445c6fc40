"""Regressors: times the inertial parameters they are the dynamics, for these parameters and any others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from test_mimic import FOLLOWING, FREE, G, state

from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_quantities import NAMES, evaluate, inertial_parameters, on_rows, oracle, parameters_of_bodies
from helpers.trees import Array, page, random_inertia, random_states, random_tree
from kinetree.algorithms import rnea
from kinetree.algorithms.dynamics.passive_forces import joint_physics_regressor
from kinetree.algorithms.quantities import centroidal_momentum, kinetic_energy, potential_energy
from kinetree.algorithms.regressors import (
    joint_torque_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
)
from kinetree.model import WORLD, Model

trees = pytest.mark.parametrize(
    "model", [random_tree(s, n=len(MOVING), armature=False) for s in range(4)], ids=lambda m: m.name
)
names = pytest.mark.parametrize("name", NAMES)


def with_other_inertias(model: Model) -> Model:
    rng = np.random.default_rng(7)
    return replace(model, bodies=tuple(replace(body, inertia=random_inertia(rng)) for body in model.bodies))


@trees
def test_joint_forces(model: Model) -> None:
    q, v, a = random_states(model, 1)
    Y = page(joint_torque_regressor, model, q, v, a)
    for robot in (model, with_other_inertias(model)):
        assert_close(Y @ inertial_parameters(robot), page(rnea, robot, q, v, a), ulps=100)


def test_joint_forces_with_rotors() -> None:
    model = random_tree(9, n=6)
    q, v, a = random_states(model, 2)
    armature = np.zeros(model.nv)
    for body in model.bodies:
        armature[list(body.v_index)] += body.armature
    links = page(joint_torque_regressor, model, q, v, a) @ inertial_parameters(model)
    joints = page(joint_physics_regressor, model, v, a) @ np.r_[armature, np.zeros(2 * model.nv)]
    assert_close(links + joints, page(rnea, model, q, v, a), ulps=100)


@trees
def test_a_joint_feels_only_what_it_carries(model: Model) -> None:
    q, v, a = random_states(model, 3, size=2)
    Y = page(joint_torque_regressor, model, q, v, a)
    for i, body in enumerate(model.bodies):
        support = set(body.v_index)
        while body.parent != WORLD:
            body = model.bodies[body.parent]
            support |= set(body.v_index)
        others = [k for k in range(model.nv) if k not in support]
        assert not Y[:, others, 10 * i : 10 * i + 10].any()


@trees
def test_energies(model: Model) -> None:
    q, v, _ = random_states(model, 4)
    T, V = page(kinetic_energy_regressor, model, q, v), page(potential_energy_regressor, model, q)
    for robot in (model, with_other_inertias(model)):
        phi = inertial_parameters(robot)
        assert_close(T @ phi, page(kinetic_energy, robot, q, v), ulps=50)
        assert_close(V @ phi, page(potential_energy, robot, q), ulps=50)


def center_of_mass(model: Model, q: Array) -> Array:
    """Return the centre of mass as the slope of the potential energy, ``c = −∂V/∂g / m``."""
    V = [page(potential_energy, model.with_gravity(tuple(g)), q) for g in np.eye(3)]
    return -np.stack(V, axis=-1) / sum(body.inertia.m for body in model.bodies)


@trees
def test_momentum(model: Model) -> None:
    q, v, _ = random_states(model, 5)
    Y = page(momentum_regressor, model, q, v)
    for robot in (model, with_other_inertias(model)):
        h = Y @ inertial_parameters(robot)
        about_com = h.copy()
        about_com[:, :3] -= np.cross(center_of_mass(robot, q), h[:, 3:])
        assert_close(about_com, page(centroidal_momentum, robot, q, v), ulps=200)


@names
def test_they_are_pinocchios(name: str) -> None:
    their = oracle(name)
    model = their.ours
    q, v, a = random_states(model, 6, size=4)

    def expected(function: object, *arrays: Array) -> Array:
        X = evaluate(their, function, q, *arrays)
        return parameters_of_bodies(their, X)

    Y = on_rows(their, expected(pin.computeJointTorqueRegressor, v, a))
    assert_close(page(joint_torque_regressor, model, q, v, a), Y, ulps=100)
    T, V = expected(pin.computeKineticEnergyRegressor, v), expected(pin.computePotentialEnergyRegressor)
    assert_close(page(kinetic_energy_regressor, model, q, v), T.reshape(4, -1), ulps=100)
    assert_close(page(potential_energy_regressor, model, q), V.reshape(4, -1), ulps=100)


def test_mimic_joints_project_the_rows() -> None:
    q, q_free, v, a, _ = (np.array(x) for x in zip(*(state(s) for s in range(4)), strict=True))
    expected = G.T @ page(joint_torque_regressor, FREE, q_free, v @ G.T, a @ G.T)
    assert_close(page(joint_torque_regressor, FOLLOWING, q, v, a), expected, ulps=100)
