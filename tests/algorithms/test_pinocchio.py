"""Random trees built joint by joint in Pinocchio too: the same forces, accelerations, mass matrix and poses."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.pinocchio_oracle import SHARED, Oracle, build
from helpers.trees import page, random_states, random_tree
from kinetree.algorithms import aba, crba, forward_kinematics, rnea

pytestmark = pytest.mark.parametrize(
    "oracle",
    [build(random_tree(20 + s, n=len(SHARED) + 3, joints=SHARED)) for s in range(5)],
    ids=lambda o: o.ours.name,
)


def test_inverse_dynamics(oracle: Oracle) -> None:
    q, v, a = random_states(oracle.ours, 1, size=50)
    assert_close(page(rnea, oracle.ours, q, v, a), oracle.inverse_dynamics(q, v, a), ulps=100)


def test_mass_matrix(oracle: Oracle) -> None:
    q, _, _ = random_states(oracle.ours, 2, size=50)
    assert_close(page(crba, oracle.ours, q), oracle.mass_matrix(q), ulps=50)


def test_forward_dynamics(oracle: Oracle) -> None:
    q, v, tau = random_states(oracle.ours, 3, size=50)
    got, expected = page(aba, oracle.ours, q, v, tau), oracle.forward_dynamics(q, v, tau)
    # two right answers differ by rounding of the forces through the inverse of M
    condition = np.linalg.cond(page(crba, oracle.ours, q)).max()
    assert_close(got, expected, ulps=2 * condition)


def test_poses(oracle: Oracle) -> None:
    q, _, _ = random_states(oracle.ours, 4, size=50)
    assert_close(page(forward_kinematics, oracle.ours, q), oracle.poses(q), ulps=50)
