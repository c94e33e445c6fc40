"""Rates of compiled functions: alone, as parts of other functions, and by the interpreter."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.functions.rates import rates

ROBOT = kt.load("ur5")
TURNING = rates(ROBOT.inverse_dynamics)


def test_rates_are_part_of_other_functions():
    q, v, a = ROBOT.random_state(seed=0)

    @kt.compile(ROBOT, shapes={"jerk": (6,)})
    def jerk_torque(q: kt.Array, v: kt.Array, a: kt.Array, jerk: kt.Array) -> kt.Array:
        """Return the rate of the joint forces along a motion."""
        return TURNING(np.concatenate([q, v]), np.concatenate([v, a]), np.concatenate([a, jerk])) / 2

    jerk = np.linspace(-1.0, 1.0, 6)
    alone = TURNING([*q, *v], [*v, *a], [*a, *jerk])
    assert np.allclose(jerk_torque(q, v, a, jerk), alone / 2, rtol=1e-14, atol=1e-14)
    h = 1e-6
    ahead, behind = (ROBOT.inverse_dynamics(q + s * v, v + s * a, a + s * jerk) for s in (h, -h))
    assert np.allclose(alone, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6)


def test_constants_in_a_call_have_rates_too():
    v, zero = [0.1] * 6, [0.0] * 6
    still = [[*zero, *zero]] * 2
    constant = kt.compile(ROBOT, lambda q: TURNING([*q, *v], *still), shapes={"q": (6,)}, name="constant")
    q = ROBOT.random_configuration(seed=1)
    assert np.allclose(constant(q), TURNING([*q, *v], *still), rtol=1e-13, atol=1e-13)


def test_plain_numbers_are_interpreted():
    q, v, a = ROBOT.random_state(seed=2)
    arguments = {"q": [*q, *v], "v": [*v, *a], "a": [*a, *a]}
    (found,) = TURNING.spec.evaluate(arguments, {})
    assert np.allclose(found, TURNING(*arguments.values()), rtol=1e-12, atol=1e-12)
