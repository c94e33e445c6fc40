"""Noise that joints share, and noise in the motion itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import Array, random_tree
from kinetree.identification import Generalised, LeastSquares, OutputError
from kinetree.identification.bodies import pseudo_inertia
from kinetree.joints import Prismatic, Revolute

JOINTS = [Revolute((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0))]
TERMS = ["damping", "friction"]
SPEED = 0.05
BY: dict[str, Any] = {"covariance": Generalised(), "joints": LeastSquares()}


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    model = random_tree(1, 3, JOINTS, armature=False, shuffled=False)
    physics = {"damping": [0.5, 1.0, 0.2], "friction": [2.0, 1.0, 0.5]}
    return kt.Robot(model).with_joint_physics(**physics).with_friction(smoothing=SPEED)


def test_noise_that_joints_share(arm: kt.Robot) -> None:
    """The Cramér–Rao bound of correlated noise is reached; weights by joints are less certain."""
    q, v, a = arm.random_state(0, 200)
    tau, base = arm.inverse_dynamics(q, v, a), arm.base_parameters(TERMS)
    root = np.array([[1.0, 0.0, 0.0], [0.9, 0.2, 0.0], [2.0, 0.3, 0.1]])
    exact = arm.identify((q, v, a, tau), base, by=Generalised())
    np.testing.assert_allclose(exact.values, base.of(arm), atol=1e-9 * np.abs(base.of(arm)).max())
    assert exact.gap < 1e-8
    W = np.linalg.inv(root @ root.T)
    Y = base.regressor(q, v, a)
    bound = np.linalg.inv(np.einsum("nki,kl,nlj->ij", Y, W, Y))
    errors: dict[str, list[Array]] = {"covariance": [], "joints": []}
    spread = []
    for seed in range(40):
        noisy = q, v, a, tau + np.random.default_rng(seed).normal(size=tau.shape) @ root.T
        for name, own in errors.items():
            fit = arm.identify(noisy, base, by=BY[name], bodies=None, check=False)
            own.append(fit.values - base.of(arm))
            if name == "covariance":
                spread.append(fit.std**2 / np.diag(bound))
                np.testing.assert_allclose(fit.noise, np.linalg.norm(root, axis=1), rtol=0.2)
    np.testing.assert_allclose(np.mean(spread, axis=0), 1.0, rtol=0.1)
    size = {name: float((np.square(e) / np.diag(bound)).mean()) for name, e in errors.items()}
    assert abs(size["covariance"] - 1.0) < 0.15
    assert size["joints"] > 2.0
    body = arm.identify(noisy, base, by=Generalised()).parameters[:30]
    assert np.linalg.eigvalsh(pseudo_inertia(body.reshape(-1, 10))).min() > 0.0
    with pytest.raises(kt.ArgumentError, match="can be read only once"):
        arm.identify(iter([noisy]), base, by=Generalised())


@pytest.fixture(scope="module")
def simulate(arm: kt.Robot) -> Callable[[kt.Robot], kt.Trajectory]:
    """Return the simulation of the arm's kinematics with a robot's numbers, under one controller."""

    @arm.compile(shapes={"gains": (3,)})
    def controller(q: Array, v: Array, t: float, gains: Array) -> Array:
        error = [np.sin(1.0 + w * t) - x for w, x in zip((4.0, 6.0, 5.0), q, strict=True)]
        return np.array([k * (e - 0.05 * x) for k, e, x in zip(gains, error, v, strict=True)])

    def motion(robot: kt.Robot) -> kt.Trajectory:
        bodies = zip(robot.body_names, robot.inertial_parameters.reshape(-1, 10), strict=True)
        numbers = {kt.body_inertia(name): ten for name, ten in bodies}
        numbers |= {kt.joint_damping: robot.damping, kt.joint_friction: robot.friction}
        start = {"q": np.full(3, 0.8), "v": np.zeros(3), "duration": 2.0, "dt": 2e-3}
        inputs = numbers | {"gains": np.array([3000.0, 3000.0, 3000.0])}
        return arm.simulate(controller=controller, inputs=inputs, record=kt.Record("q v a tau", every=5), **start)

    return motion


def test_motions_with_noise_in_closed_loop(arm: kt.Robot, simulate: Callable[[kt.Robot], kt.Trajectory]) -> None:
    """Output error and instruments are right where least squares are not."""
    base, real = arm.base_parameters(TERMS), simulate(arm)
    heavier = arm.with_inertial_parameters(1.2 * arm.inertial_parameters).with_joint_physics(damping=0.1, friction=0.1)
    start = heavier.base_parameters(TERMS)
    exact = heavier.identify(real, start, by=OutputError(simulate, steps=10))
    np.testing.assert_allclose(exact.predict(real.q, real.v, real.a), real.tau, atol=1e-3 * np.abs(real.tau).max())
    rng = np.random.default_rng(0)
    errors: dict[str, list[Array]] = {"squares": [], "output error": [], "instruments": []}
    for _ in range(4):
        a = real.a + 0.3 * real.a.std() * rng.normal(size=real.a.shape)
        noisy = real.q, real.v + 0.01 * rng.normal(size=a.shape), a, real.tau + rng.normal(size=a.shape)
        for name, own in errors.items():
            if name == "squares":
                fit = arm.identify(noisy, base)
            else:
                fit = heavier.identify(noisy, start, by=OutputError(simulate, name == "instruments"), check=False)
            own.append((fit.values - base.of(arm)) / fit.std)
    bias = {name: np.abs(np.mean(e, axis=0)).max() for name, e in errors.items()}
    assert bias["squares"] > 5.0
    assert max(bias["output error"], bias["instruments"]) < 4.0 / np.sqrt(4)


def test_forces_that_were_not_measured_in_closed_loop(
    arm: kt.Robot, simulate: Callable[[kt.Robot], kt.Trajectory]
) -> None:
    real, heavier = simulate(arm), arm.with_inertial_parameters(1.1 * arm.inertial_parameters)
    tau = np.where([True, True, False], real.tau, np.nan)
    fit = heavier.identify((real.q, real.v, real.a, tau), TERMS, by=OutputError(simulate))
    assert np.isnan(fit.noise).tolist() == [False, False, True]
    error = np.abs(fit.predict(real.q, real.v, real.a) - real.tau).max(axis=0)
    assert (error < 1e-3 * np.abs(real.tau).max(axis=0))[:2].all()


def test_what_a_closed_loop_refuses(arm: kt.Robot, simulate: Callable[[kt.Robot], kt.Trajectory]) -> None:
    real = simulate(arm)
    poor = arm.with_joint_physics(damping=0.1)
    nan = real.q, real.v, np.nan * real.a, real.tau
    for log, choice, terms, message in [
        (real, {"steps": 0}, TERMS, "≥ 1"),
        (iter([real]), {}, TERMS, "OutputError .*give a list"),
        ([real[:100], real[100:]], {}, TERMS, "1 motions for the 2"),
        (real[:50], {}, TERMS, "simulate returned q of shape"),
        (real, {"simulate": lambda robot: nan}, TERMS, "not finite"),
        (real, {}, ["offset"], "'offset' cannot be simulated"),
        (real, {}, ["stribeck"], "simulated without loops, motor constants"),
        (real, {"steps": 1}, TERMS, "still move after 1"),
    ]:
        with pytest.raises(kt.KinetreeError, match=message):
            poor.identify(log, terms, by=OutputError(**{"simulate": simulate, **choice}))  # type: ignore[arg-type]
