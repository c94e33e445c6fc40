"""Momentum about the centre of mass, its matrix and their rates."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from test_mimic import FOLLOWING, FREE, G, state

import kinetree as kt
from helpers.dense import assert_close
from helpers.energy import poses
from helpers.frames import TREES, mimicking_tree, times
from helpers.joints import MOVING
from helpers.pinocchio_quantities import ANGULAR_FIRST, NAMES, evaluate, oracle
from helpers.trees import STEP, Array, gradient, moved, page, random_states, random_tree, rate
from kinetree.algorithms import aba
from kinetree.algorithms.quantities import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    centroidal_momentum,
    centroidal_momentum_matrix,
    centroidal_momentum_matrix_rate,
    centroidal_momentum_rate,
)
from kinetree.errors import ModelError
from kinetree.joints import Revolute
from kinetree.model import Model, ModelBuilder

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)
names = pytest.mark.parametrize("name", NAMES)


@trees
def test_matrix_times_velocity(model: Model) -> None:
    q, v, a = random_states(model, 1)
    A, A_dot = page(centroidal_momentum_matrix, model, q), page(centroidal_momentum_matrix_rate, model, q, v)
    assert_close(times(A, v), page(centroidal_momentum, model, q, v), ulps=100)
    assert_close(times(A, a) + times(A_dot, v), page(centroidal_momentum_rate, model, q, v, a), ulps=100)


@trees
def test_rates_are_rates(model: Model) -> None:
    q, v, a = random_states(model, 2)
    expected = rate(lambda x: page(centroidal_momentum_matrix, model, x), model, q, v)
    assert_close(page(centroidal_momentum_matrix_rate, model, q, v), expected, ulps=100)
    along_q = rate(lambda x: page(centroidal_momentum, model, x, v), model, q, v)
    along_v = page(centroidal_momentum, model, q, v + 1j * STEP * a).imag / STEP
    assert_close(page(centroidal_momentum_rate, model, q, v, a), along_q + along_v, ulps=200)


@trees
def test_linear_momentum_moves_the_centre_of_mass(model: Model) -> None:
    q, v, _ = random_states(model, 3)

    def moment(x: Array) -> Array:
        P = poses(model, x)
        total = 0.0
        for i, body in enumerate(model.bodies):
            total = total + P[..., i, :3, :3] @ np.array(list(body.inertia.h)) + body.inertia.m * P[..., i, :3, 3]
        return total

    assert_close(page(centroidal_momentum, model, q, v)[..., 3:], rate(moment, model, q, v), ulps=50)


def test_a_free_robot_keeps_its_angular_momentum() -> None:
    """Whatever its joints do: no moment acts about its centre of mass, and the only force is its weight."""
    model = kt.load("g1").model
    q, v, tau = random_states(model, 4, size=4)
    tau[:, :6] = 0.0
    got = page(centroidal_momentum_rate, model, q, v, page(aba, model, q, v, tau))
    weight = sum(body.inertia.m for body in model.bodies) * np.array(list(model.gravity))
    size = np.abs(times(page(centroidal_momentum_matrix, model, q), page(aba, model, q, v, tau))).max()
    assert_close(got, np.broadcast_to(np.r_[0.0, 0.0, 0.0, weight], (4, 6)), ulps=2000, scale=float(size))


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


@names
def test_they_are_pinocchios(name: str) -> None:
    their = oracle(name)
    model = their.ours
    q, v, a = random_states(model, 6, size=6)

    def spatial(function: object) -> object:
        return lambda *arguments: function(*arguments).np

    h = evaluate(their, spatial(pin.computeCentroidalMomentum), q, v)[:, ANGULAR_FIRST]
    h_dot = evaluate(their, spatial(pin.computeCentroidalMomentumTimeVariation), q, v, a)[:, ANGULAR_FIRST]
    A = their.from_pin_v(evaluate(their, pin.computeCentroidalMap, q))[:, ANGULAR_FIRST]
    A_dot = their.from_pin_v(evaluate(their, pin.dccrba, q, v))[:, ANGULAR_FIRST]
    assert_close(page(centroidal_momentum, model, q, v), h, ulps=100)
    assert_close(page(centroidal_momentum_rate, model, q, v, a), h_dot, ulps=100)
    assert_close(page(centroidal_momentum_matrix, model, q), A, ulps=100)
    assert_close(page(centroidal_momentum_matrix_rate, model, q, v), A_dot, ulps=100)


def test_mimic_joints_project_the_matrix() -> None:
    q, q_free, v, _, _ = (np.array(x) for x in zip(*(state(s) for s in range(4)), strict=True))
    assert_close(
        page(centroidal_momentum_matrix, FOLLOWING, q), page(centroidal_momentum_matrix, FREE, q_free) @ G, ulps=100
    )
    expected = page(centroidal_momentum_matrix_rate, FREE, q_free, v @ G.T) @ G
    assert_close(page(centroidal_momentum_matrix_rate, FOLLOWING, q, v), expected, ulps=100)


@pytest.mark.parametrize("function", [centroidal_momentum, centroidal_momentum_matrix_rate])
def test_without_mass_there_is_no_centre_of_mass(function) -> None:  # type: ignore[no-untyped-def]
    b = ModelBuilder("feather")
    b.add_link("base")
    b.add_link("link")
    b.add_joint("joint", parent="base", child="link", joint=Revolute(), armature=0.1)
    with pytest.raises(ModelError, match="'feather' has no moving mass, so no centre of mass"):
        function(b.build(), [0.1], [0.2])


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
def test_it_is_the_weighted_mean_of_the_moving_bodies(model: Model) -> None:
    q, _, _ = random_states(model, 1)
    assert_close(page(center_of_mass, model, q), weighted_mean(model, q), ulps=50)


@framed_trees
def test_velocity_and_acceleration_are_its_rates(model: Model) -> None:
    q, v, a = random_states(model, 2)
    velocity = page(center_of_mass_velocity, model, q, v)
    assert_close(velocity, rate(lambda x: weighted_mean(model, x), model, q, v), ulps=100)
    ahead = page(center_of_mass_velocity, model, moved(model, q, 1j * STEP * v), v + 1j * STEP * a)
    assert_close(page(center_of_mass_acceleration, model, q, v, a), ahead.imag / STEP, ulps=100)


@framed_trees
def test_jacobian_is_the_gradient(model: Model) -> None:
    q, _, _ = random_states(model, 3)
    expected = gradient(lambda x: weighted_mean(model, x), model, q)
    assert_close(page(center_of_mass_jacobian, model, q), expected, ulps=100)


def test_without_mass_there_is_none() -> None:
    builder = ModelBuilder("ghost")
    builder.add_link("base")
    builder.add_link("link")
    builder.add_joint("joint", parent="base", child="link", joint=Revolute())
    with pytest.raises(ModelError, match="'ghost' has no moving mass"):
        center_of_mass(builder.build(), [0.0])
