"""Momentum about the centre of mass, its matrix and their rates; the centre of mass; regressors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.energy import poses
from helpers.frames import TREES, mimicking_tree, times
from helpers.joints import MOVING
from helpers.trees import STEP, Array, gradient, moved, page, random_inertia, random_states, random_tree, rate, toy
from kinetree.algorithms import rnea
from kinetree.algorithms.quantities import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_matrix_rate,
    centroidal_momentum_rate,
    kinetic_energy,
    potential_energy,
)
from kinetree.algorithms.regressors import (
    joint_torque_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
)
from kinetree.errors import ModelError
from kinetree.joints import Revolute
from kinetree.model import Model

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)


@trees
def test_matrix_momentum_and_their_rates(model: Model) -> None:
    q, v, a = random_states(model, 2)
    A, A_dot = page(centroidal_momentum_matrix, model, q), page(centroidal_momentum_matrix_rate, model, q, v)
    h, h_dot = page(centroidal_momentum, model, q, v), page(centroidal_momentum_rate, model, q, v, a)
    assert_close(times(A, v), h, ulps=100)
    assert_close(times(A, a) + times(A_dot, v), h_dot, ulps=100)
    assert_close(A_dot, rate(lambda x: page(centroidal_momentum_matrix, model, x), model, q, v), ulps=100)
    along_q = rate(lambda x: page(centroidal_momentum, model, x, v), model, q, v)
    along_v = page(centroidal_momentum, model, q, v + 1j * STEP * a).imag / STEP
    assert_close(h_dot, along_q + along_v, ulps=200)


def test_far_from_the_worlds_origin_no_digit_is_lost() -> None:
    model = kt.load("g1").model
    q, v, a = random_states(model, 5, size=4)
    far = q.copy()
    far[:, :3] += [2.0**20, -(2.0**21), 2.0**19]
    q[:, :3] = far[:, :3] - [2.0**20, -(2.0**21), 2.0**19]
    for function, arrays in (
        (centroidal_momentum, (v,)),
        (centroidal_momentum_rate, (v, a)),
        (centroidal_momentum_matrix, ()),
        (centroidal_momentum_matrix_rate, (v,)),
    ):
        np.testing.assert_array_equal(page(function, model, far, *arrays), page(function, model, q, *arrays))


@pytest.mark.parametrize("function", [center_of_mass, centroidal_momentum, centroidal_momentum_matrix_rate])
def test_without_mass_there_is_no_centre_of_mass(function) -> None:  # type: ignore[no-untyped-def]
    model = toy(("joint base link", Revolute(), {"armature": 0.1}), links={"link": None}, name="feather")
    with pytest.raises(ModelError, match="'feather' has no moving mass, so no centre of mass"):
        function(model, [0.1], *[[0.2]] * (function is not center_of_mass))


# -- The centre of mass, its motion and its Jacobian -----------------------------------------------------------------


framed_trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)


def weighted_mean(model: Model, q: Array) -> Array:
    P, masses = poses(model, q), [body.inertia.m for body in model.bodies]
    moments = [
        times(P[..., i, :3, :3], np.array(list(body.inertia.h), dtype=float)) + body.inertia.m * P[..., i, :3, 3]
        for i, body in enumerate(model.bodies)
    ]
    return sum(moments) / sum(masses)


@framed_trees
def test_centre_of_mass_its_motion_and_jacobian(model: Model) -> None:
    q, v, a = random_states(model, 2)
    assert_close(page(center_of_mass, model, q), weighted_mean(model, q), ulps=50)
    velocity = page(center_of_mass_velocity, model, q, v)
    assert_close(velocity, rate(lambda x: weighted_mean(model, x), model, q, v), ulps=100)
    ahead = page(center_of_mass_velocity, model, moved(model, q, 1j * STEP * v), v + 1j * STEP * a)
    assert_close(page(center_of_mass_acceleration, model, q, v, a), ahead.imag / STEP, ulps=100)
    expected = gradient(lambda x: weighted_mean(model, x), model, q)
    assert_close(page(center_of_mass_jacobian, model, q), expected, ulps=100)
    momentum = page(centroidal_momentum, model, q, v)[..., 3:]
    assert_close(momentum, sum(body.inertia.m for body in model.bodies) * velocity, ulps=100)


# -- Regressors: times the inertial parameters they are the dynamics, for these parameters and any others ------------


trees_without_rotors = pytest.mark.parametrize(
    "model", [random_tree(s, n=len(MOVING), armature=False) for s in range(4)], ids=lambda m: m.name
)


def inertial_parameters(model: Model) -> Array:
    """Return φ, ten numbers a body."""
    return np.array([x for body in model.bodies for x in body.inertia])


def with_other_inertias(model: Model) -> Model:
    rng = np.random.default_rng(7)
    return replace(model, bodies=tuple(replace(body, inertia=random_inertia(rng)) for body in model.bodies))


@trees_without_rotors
def test_regressors_times_parameters(model: Model) -> None:
    q, v, a = random_states(model, 1)
    Y, Y_momentum = page(joint_torque_regressor, model, q, v, a), page(momentum_regressor, model, q, v)
    T, V = page(kinetic_energy_regressor, model, q, v), page(potential_energy_regressor, model, q)
    for robot in (model, with_other_inertias(model)):
        phi = inertial_parameters(robot)
        assert_close(Y @ phi, page(rnea, robot, q, v, a), ulps=100)
        assert_close(T @ phi, page(kinetic_energy, robot, q, v), ulps=50)
        assert_close(V @ phi, page(potential_energy, robot, q), ulps=50)
        h = Y_momentum @ phi
        h[:, :3] -= np.cross(page(center_of_mass, robot, q), h[:, 3:])
        assert_close(h, page(centroidal_momentum, robot, q, v), ulps=200)
