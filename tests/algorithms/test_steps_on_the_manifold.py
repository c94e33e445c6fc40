"""The rate of a step on the manifold: the inverse of what dual numbers say of `integrate`."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.joints import MOVING
from helpers.trees import Array, random_states, random_tree
from kinetree.algorithms.kinematics.manifold import difference, integrate, step_rate
from kinetree.joints import FreeFlyer, Joint, Planar, Revolute, Spherical
from kinetree.model import Model
from kinetree.scalars.dual import Dual, rate_of, value_of

trees = pytest.mark.parametrize(
    "model",
    [
        random_tree(0, n=len(MOVING)),
        random_tree(1, n=4, joints=[Spherical(), Planar((0, 1, 0)), FreeFlyer(), Revolute((0, 0, 1))]),
    ],
    ids=["all joints", "groups"],
)


def states(model: Model, size: float) -> tuple[list[float], list[float], list[float]]:
    """Return a configuration, a step of this size, and its rate."""
    q, u, rate = random_states(model, 0, size=())
    return q.tolist(), (u * size / np.abs(u).max()).tolist(), rate.tolist()


def velocity(model: Model, q0: list[float], u: list[float], rate: list[float]) -> list[float]:
    """Return the velocity of q0 ⊕ u while u has this rate."""
    q = integrate(model, [Dual(x, 0.0) for x in q0], [Dual(x, r) for x, r in zip(u, rate, strict=True)])
    return [rate_of(x) for x in difference(model, [value_of(x) for x in q], q)]


def error(model: Model, size: float, order: int) -> Array:
    q0, u, rate = states(model, size)
    return np.abs(np.subtract(step_rate(model, u, velocity(model, q0, u, rate), order), rate)).max()


@trees
def test_it_undoes_the_derivative_of_the_exponential(model: Model) -> None:
    assert error(model, 0.2, 10) < 1e-13
    assert error(model, 0.2, 0) > 0.01  # the velocity itself is not it


@trees
@pytest.mark.parametrize(("order", "power"), [(0, 1), (1, 2), (2, 4), (3, 4), (4, 6), (6, 8)])
def test_each_term_counts(model: Model, order: int, power: int) -> None:
    """What is left out begins with the next power of the step that has a coefficient."""
    assert np.log2(error(model, 0.3, order) / error(model, 0.15, order)) == pytest.approx(power, abs=0.2)


def test_coordinates_that_add_have_their_velocity_as_rate() -> None:
    model = random_tree(3, n=6, joints=[joint for joint in MOVING if type(joint).bracket is Joint.bracket])
    _, u, v = states(model, 1.0)
    assert step_rate(model, u, v) == v
