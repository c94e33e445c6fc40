"""Motions made for identification: within the limits, at rest at their ends, and better than others."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_tree
from kinetree.identification import Excitation
from kinetree.identification.excite import _cost, _limits, _series, _variance, _within
from kinetree.joints import Prismatic, Revolute, Spherical

LIMITS = {"lower": [-2.0, -1.0, -0.4], "upper": [2.0, 1.5, 0.4], "velocity": [2.0, 3.0, 0.5]}
HARMONICS = 4


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    joints = [Revolute((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0))]
    robot = kt.Robot(random_tree(1, 3, joints, shuffled=False))
    effort = 1.3 * np.abs(robot.gravity_forces(robot.random_configuration(0, 500))).max(axis=0) + 5.0
    return robot.with_limits(**LIMITS, effort=effort)


@pytest.fixture(scope="module")
def motion(arm: kt.Robot) -> Excitation:
    return arm.excite(6.0, ["armature", "friction"], harmonics=HARMONICS, acceleration=5.0, restarts=2)


def test_it_keeps_within_the_limits(arm: kt.Robot, motion: Excitation) -> None:
    path = motion.trajectory(500.0)
    for x, limit in ((path.v, arm.velocity_limits), (path.tau, arm.effort_limits), (path.a, 5.0)):
        assert (np.abs(x) <= 0.901 * np.asarray(limit)).all()
    middle, half = 0.5 * (arm.lower_limits + arm.upper_limits), 0.5 * (arm.upper_limits - arm.lower_limits)
    assert (np.abs(path.q - middle) <= 0.901 * half).all()
    assert (np.abs(path.v).max(axis=0) > 0.3 * arm.velocity_limits).any(), "it uses them"
    q, v, a = motion([0.0, 6.0])
    np.testing.assert_allclose(q[0], q[1], atol=1e-12)
    np.testing.assert_allclose([v, a], 0.0, atol=1e-12)


def test_the_derivatives_are_those_of_the_positions(motion: Excitation) -> None:
    t = np.linspace(0.1, 5.9, 50)
    (q0, v0, _), (q1, v1, _) = motion(t - 1e-5), motion(t + 1e-5)
    _, v, a = motion(t)
    np.testing.assert_allclose((q1 - q0) / 2e-5, v, atol=1e-7)
    np.testing.assert_allclose((v1 - v0) / 2e-5, a, atol=1e-6)


def test_the_gradient(arm: kt.Robot, motion: Excitation) -> None:
    basis = _series(np.linspace(0.0, 6.0, 30, endpoint=False), 6.0, HARMONICS)
    limits = _limits(arm, np.full(3, 5.0), 0.9)
    cost = _cost(motion.base, basis, np.array([1.0, 2.0, 3.0]), limits, motion.coefficients.shape)
    rng = np.random.default_rng(0)
    x, d = 0.3 * rng.normal(size=(2, motion.coefficients.size))
    slope = (cost(x + 1e-6 * d)[0] - cost(x - 1e-6 * d)[0]) / 2e-6
    np.testing.assert_allclose(cost(x)[1] @ d, slope, rtol=1e-5)


def test_it_is_better_than_random_motions(arm: kt.Robot, motion: Excitation) -> None:
    limits, rng = _limits(arm, np.full(3, 5.0), 0.9), np.random.default_rng(1)
    basis = _series(np.linspace(0.0, 6.0, 100, endpoint=False), 6.0, HARMONICS)
    others = [
        _within(arm, rng.normal(size=motion.coefficients.shape) * [1.0, 1.0, 0.3], 6.0, HARMONICS, limits)
        for _ in range(20)
    ]
    variances = [_variance(motion.base, [b @ X for b in basis], np.ones(3)) for X in (*others, motion.coefficients)]
    assert variances[-1] < min(variances[:-1]) - 0.3, "the deviations are 15 % less than those of the best of them"


def test_the_deviations_are_known_before(arm: kt.Robot, motion: Excitation) -> None:
    expected = motion.std([0.5, 1.0, 0.2], rate=100.0)
    t = np.arange(0.0, 6.0, 0.01)
    q, v, a = motion(t)
    noise = np.array([0.5, 1.0, 0.2]) * np.random.default_rng(0).normal(size=v.shape)
    tau = arm.with_friction().inverse_dynamics(q, v, a) + noise
    fit = arm.identify((q, v, a, tau), motion.base, consistent=False)
    np.testing.assert_allclose(fit.std, expected, rtol=0.1)
    assert motion.condition < 60.0


def test_what_is_refused(arm: kt.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    for choice, message in [
        ({"harmonics": 2}, "harmonics=2"),
        ({"duration": 0.0}, "duration"),
        ({"fraction": 1.5}, "at most 1"),
        ({"restarts": 0}, "restarts=0"),
        ({"joint_terms": ["stribeck"]}, "leave that out"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            arm.excite(**choice)  # type: ignore[arg-type]
    with pytest.raises(kt.ArgumentError, match="joints of several coordinates"):
        kt.Robot(random_tree(0, 1, [Spherical()])).excite()
    with pytest.raises(kt.ArgumentError, match="joint1 cannot move"):
        arm.with_limits(lower={"joint1": 1.0}, upper={"joint1": 1.0}).excite()
    weak = arm.with_limits(effort=1e-3)
    with pytest.raises(kt.ArgumentError, match="against gravity"):
        weak.excite(6.0, ["armature", "friction"], harmonics=3, restarts=1)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(kt.ArgumentError, match="pip install"):
        arm.excite(6.0, [])
