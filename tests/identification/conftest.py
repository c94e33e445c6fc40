"""An arm of three joints, two of them on one branch, and its motion."""

import pytest

from helpers.small_arm import rubbing_arm, undescribed


@pytest.fixture(scope="session")
def arm():
    """Return the arm with friction and rotors."""
    return rubbing_arm()


@pytest.fixture(scope="session")
def poor(arm):
    """Return the arm as its maker describes it."""
    return undescribed(arm)


@pytest.fixture(scope="session")
def motion(arm):
    """Return random states and the forces of the arm."""
    q, v, a = arm.random_state(0, 400)
    return q, v, a, arm.inverse_dynamics(q, v, a)
