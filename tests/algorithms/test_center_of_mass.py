"""The centre of mass, its motion and its Jacobian."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.energy import poses
from helpers.frames import TREES, mimicking_tree, times
from helpers.trees import STEP, Array, gradient, moved, page, random_states, rate
from kinetree.algorithms.quantities import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
)
from kinetree.errors import ModelError
from kinetree.joints import Revolute
from kinetree.model import Model, ModelBuilder

trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)


def weighted_mean(model: Model, q: Array) -> Array:
    P, masses = poses(model, q), [body.inertia.m for body in model.bodies]
    moments = [
        times(P[..., i, :3, :3], np.array(list(body.inertia.h), dtype=float)) + body.inertia.m * P[..., i, :3, 3]
        for i, body in enumerate(model.bodies)
    ]
    return sum(moments) / sum(masses)


@trees
def test_it_is_the_weighted_mean_of_the_moving_bodies(model: Model) -> None:
    q, _, _ = random_states(model, 1)
    assert_close(page(center_of_mass, model, q), weighted_mean(model, q), ulps=50)


@trees
def test_velocity_and_acceleration_are_its_rates(model: Model) -> None:
    q, v, a = random_states(model, 2)
    velocity = page(center_of_mass_velocity, model, q, v)
    assert_close(velocity, rate(lambda x: weighted_mean(model, x), model, q, v), ulps=100)
    ahead = page(center_of_mass_velocity, model, moved(model, q, 1j * STEP * v), v + 1j * STEP * a)
    assert_close(page(center_of_mass_acceleration, model, q, v, a), ahead.imag / STEP, ulps=100)


@trees
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
