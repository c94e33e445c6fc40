"""Whole robots: an arm, and a dog without torque sensors at its base, without noise and with it."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.sampling import few
from helpers.trees import Array
from kinetree.identification.bodies import pseudo_inertia

TERMS = ["armature", "damping", "friction"]
Motion = tuple[Array, Array, Array, Array]


@pytest.fixture(scope="module")
def panda() -> kt.Robot:
    physics = {"armature": 0.3, "damping": 1.0, "friction": 0.5}
    return kt.load("panda").with_joint_physics(**physics).with_friction(smoothing=0.05)


@pytest.fixture(scope="module")
def motion(panda: kt.Robot) -> Motion:
    q, v, a = panda.random_state(0, 300)
    return q, v, a, panda.inverse_dynamics(q, v, a)


def poor(robot: kt.Robot) -> kt.Robot:
    return robot.with_inertial_parameters(1.3 * robot.inertial_parameters).with_joint_physics(damping=0.0, friction=0.0)


def test_a_panda(panda: kt.Robot, motion: Motion) -> None:
    fit = poor(panda).identify(motion, TERMS)
    expected = fit.base.of(panda)
    np.testing.assert_allclose(fit.values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(fit.predict(*motion[:3]), motion[3], atol=1e-6)


def test_a_dog_whose_base_no_motor_moves() -> None:
    """Its base moves as its legs and known forces on its body make it."""
    dog = kt.load("go2")
    q, v, a = dog.random_state(0, 400)
    f_ext = np.zeros((len(q), dog.nb, 6))
    f_ext[:, 0] = dog.inverse_dynamics(q, v, a)[:, :6]  # what its base needs, in the axes of its body
    tau = dog.inverse_dynamics(q, v, a, f_ext)
    assert np.abs(tau[:, :6]).max() < 1e-9
    log = kt.identification.Samples(q, v, a, tau, f_ext)
    poorer = dog.with_inertial_parameters(1.2 * dog.inertial_parameters)
    base = poorer.base_parameters([])
    expected = base.of(dog)
    tau_unmeasured = np.where(np.arange(dog.nv) < 6, tau, np.nan)
    for given in (log, log._replace(tau=tau_unmeasured)):
        fit = poorer.identify(given, base)
        np.testing.assert_allclose(fit.values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", few(range(200), 5))
def test_estimates_of_all_repetitions_are_bodies(panda: kt.Robot, motion: Motion, seed: int) -> None:
    """And no worse on another motion than the estimates alone."""
    q, v, a, tau = motion
    noise = 0.05 * tau.std(axis=0)
    noisy = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    fit = poor(panda).identify((q[:200], v[:200], a[:200], noisy[:200]), TERMS)
    J = pseudo_inertia(fit.parameters[: 10 * panda.nb].reshape(-1, 10))
    assert np.linalg.eigvalsh(J).min() > 0.0
    assert (fit.parameters[10 * panda.nb :] > 0.0).all()
    test = q[200:], v[200:], a[200:], tau[200:] + noise * np.random.default_rng(seed + 1000).normal(size=(100, 7))
    bound, free = (np.linalg.norm(fit.validate(test, consistent=c).rms / noise) for c in (True, False))
    assert bound < 1.02 * free
