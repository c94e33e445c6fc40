"""Axes: normalised, and refused where they have no direction."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from helpers.dense import EPS, assert_close
from kinetree import ModelError
from kinetree.joints import Continuous, Joint, Prismatic, Revolute
from kinetree.joints._parts import perpendicular
from kinetree.spatial import AxisRotation, GeneralRotation

with_axis = pytest.mark.parametrize("kind", [Revolute, Continuous, Prismatic])


NO_DIRECTION = [(0, 0, 0), (0.0, -0.0, 0.0), (math.nan, 0, 1), (0, math.inf, 0), (1, -math.inf, 1)]


@with_axis
@pytest.mark.parametrize("axis", [*NO_DIRECTION, (), (1,), (1, 0), (1, 0, 0, 0)])
def test_an_axis_without_direction_or_of_another_length_is_refused(kind: type[Joint], axis: tuple[float, ...]) -> None:
    message = "has no direction: give a finite, non-zero vector" if len(axis) == 3 else "has three coordinates"
    with pytest.raises(ModelError, match=message) as caught:
        kind(axis)
    assert len(axis) != 3 or str(axis) in str(caught.value)


@with_axis
@pytest.mark.parametrize("factor", [1, 2.0, 1e-9, 1e150, 1e-300])
def test_an_axis_is_normalised(kind: type[Joint], factor: float) -> None:
    direction = np.array([0.6, -0.3, 0.7])
    joint = kind(tuple((direction * factor).tolist()))
    assert_close(joint.axis, direction / np.linalg.norm(direction), ulps=4)
    assert all(type(x) is float for x in joint.axis)


def test_an_axis_that_is_normalised_stays_to_the_bit() -> None:
    axis = Revolute((0.6, -0.3, 0.7)).axis
    assert Revolute(axis).axis == axis
    assert Revolute((0, 0, 5)).axis == (0.0, 0.0, 1.0)
    assert Revolute((0, -3, 0)).axis == (0.0, -1.0, 0.0)


@with_axis
def test_symbols_are_taken_as_they_are(kind: type[Joint]) -> None:
    axis = sympy.symbols("x y z")
    assert kind(axis).axis == axis


def test_a_coordinate_axis_has_a_sparse_rotation() -> None:
    for k in range(3):
        for sign in (1.0, -1.0):
            X = Revolute(tuple(sign * np.eye(3)[k])).jcalc([0.3], [0.0]).X
            assert isinstance(X.E, AxisRotation)
            assert (X.E.k, X.E.s) == (k, sign * math.sin(0.3))
    assert isinstance(Revolute((1, 1, 0)).jcalc([0.3], [0.0]).X.E, GeneralRotation)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.0, 0.8), (0.0, 1.0, 1e-9)])
def test_perpendicular_directions(axis: tuple[float, float, float]) -> None:
    frame = np.array([axis, *(tuple(u) for u in perpendicular(axis))])
    assert np.abs(frame @ frame.T - np.eye(3)).max() <= 4 * EPS + 1e-17
