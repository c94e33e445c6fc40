"""Rotation vectors: against SciPy, at small angles and next to half a turn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinetree.spatial.rotation import rotation_vector, turn_between
from kinetree.spatial.vector import Mat3, Vec3

AXES = np.random.default_rng(0).normal(size=(200, 3))
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)


def vectors(matrices: np.ndarray) -> np.ndarray:
    return np.array([list(rotation_vector(Mat3.of(R.tolist()))[0]) for R in matrices])


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-12, 1e-5, 0.3, 1.0, 2.0, 3.0, np.pi - 1e-6])
def test_rotation_vectors(angle: float) -> None:
    wanted = angle * AXES
    found = vectors(Rotation.from_rotvec(wanted).as_matrix())
    assert np.abs(found - wanted).max() <= 1e-15 + 1e-15 * angle


def test_half_a_turn_about_any_axis() -> None:
    R = 2 * AXES[:, :, None] * AXES[:, None, :] - np.eye(3)
    found = vectors(R)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.pi, abs=1e-15)
    assert np.abs(np.cross(found, AXES)).max() <= 1e-14


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 3.0])
def test_half_the_angle_times_its_cotangent(angle: float) -> None:
    wanted = 0.5 * angle / np.tan(0.5 * angle) if angle else 1.0
    for R in Rotation.from_rotvec(angle * AXES[:20]).as_matrix():
        assert rotation_vector(Mat3.of(R.tolist()))[1] == pytest.approx(wanted, abs=1e-14)


def test_the_short_way_from_one_direction_to_another() -> None:
    """Also to the opposite one, by half a turn about an axis across."""
    others = np.roll(AXES, 1, axis=0)
    for a, b in [
        *zip(AXES, others, strict=True),
        *zip(AXES, -AXES, strict=True),
        *zip(np.eye(3), -np.eye(3), strict=True),
    ]:
        turn = np.array([*turn_between(Vec3(*a.tolist()), Vec3(*b.tolist()))])
        assert Rotation.from_rotvec(turn).apply(a) == pytest.approx(b, abs=1e-15)
        assert turn @ a == pytest.approx(0.0, abs=1e-14)
        assert np.linalg.norm(turn) <= np.pi + 1e-15
