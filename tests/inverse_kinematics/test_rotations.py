"""Rotation vectors: against SciPy, at small angles and next to half a turn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinetree.inverse_kinematics.rotations import rotation_vector

AXES = np.random.default_rng(0).normal(size=(200, 3))
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-12, 1e-5, 0.3, 1.0, 2.0, 3.0, np.pi - 1e-6])
def test_rotation_vectors(angle: float) -> None:
    wanted = angle * AXES
    found = rotation_vector(Rotation.from_rotvec(wanted).as_matrix())
    assert np.abs(found - wanted).max() <= 1e-15 + 1e-15 * angle


def test_half_a_turn_about_any_axis() -> None:
    R = 2 * AXES[:, :, None] * AXES[:, None, :] - np.eye(3)
    found = rotation_vector(R)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.pi, abs=1e-15)
    assert np.abs(np.cross(found, AXES)).max() <= 1e-14


def test_leading_axes() -> None:
    R = Rotation.from_rotvec(AXES[:6]).as_matrix()
    assert np.array_equal(rotation_vector(R.reshape(2, 3, 3, 3)), rotation_vector(R).reshape(2, 3, 3))
    assert rotation_vector(np.empty((0, 3, 3))).shape == (0, 3)
