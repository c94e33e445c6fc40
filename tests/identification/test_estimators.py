"""Every estimator by one table: exact, as uncertain as it says, with priors, zero forces, joints that stand still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import Array, random_tree
from kinetree.identification import Bodies, Generalised, Instrumental, LeastSquares, OutputError, Robust, Samples
from kinetree.identification.estimators import ESTIMATORS, Equations, Estimator, Prior, Solution
from kinetree.identification.estimators.contract import solve
from kinetree.joints import FreeFlyer, Prismatic, Revolute

TABLE: dict[str, Callable[[Any], Estimator]] = {
    "by joints": lambda motion: LeastSquares(),
    "all alike": lambda motion: LeastSquares(None),
    "Huber": lambda motion: Robust("huber"),
    "Cauchy": lambda motion: Robust("cauchy"),
    "covariance": lambda motion: Generalised(),
    "instruments": Instrumental,
}
"""By the motion without noise. `OutputError` needs a simulation: it is in test_noise.py."""

JOINTS = [Revolute((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0))]
TERMS = ["armature", "damping", "friction"]
NOISE = np.array([0.5, 0.05, 2.0])
every = pytest.mark.parametrize("name", TABLE)


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    model = random_tree(1, 3, JOINTS, armature=False, shuffled=False)
    physics = {"armature": [0.3, 0.2, 0.1], "damping": [0.5, 1.0, 0.2], "friction": [2.0, 1.0, 0.5]}
    return kt.Robot(model).with_joint_physics(**physics).with_friction(smoothing=0.05)


@pytest.fixture(scope="module")
def motion(arm: kt.Robot) -> tuple[Array, ...]:
    q, v, a = arm.random_state(0, 400)
    return q, v, a, arm.inverse_dynamics(q, v, a)


def noisy(motion: tuple[Array, ...], seed: int, noise: Any = NOISE) -> tuple[Array, ...]:
    return *motion[:3], motion[3] + noise * np.random.default_rng(seed).normal(size=motion[3].shape)


def test_the_table_has_all() -> None:
    assert {type(make(())) for make in TABLE.values()} | {OutputError} == {*ESTIMATORS}


@every
def test_exact_data(arm: kt.Robot, motion: tuple[Array, ...], name: str) -> None:
    poor = arm.with_inertial_parameters(1.5 * arm.inertial_parameters).with_joint_physics(damping=0.0, friction=0.0)
    fit = poor.identify(motion, TERMS, by=TABLE[name](motion))
    expected = fit.base.of(arm)
    np.testing.assert_allclose(fit.values, expected, atol=1e-9 * np.abs(expected).max())
    assert fit.unidentifiable == ()
    assert 0.0 <= fit.gap < 1e-8
    for consistent, tolerance in ((False, 1e-8), (True, 1e-6)):
        np.testing.assert_allclose(fit.predict(*motion[:3], consistent=consistent), motion[3], atol=tolerance)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(*motion[:3]), motion[3], atol=1e-6)


@every
def test_error_bars(arm: kt.Robot, motion: tuple[Array, ...], name: str) -> None:
    """They cover as often as they say, and are near the Cramér–Rao bound where the weights are right."""
    base = arm.base_parameters(TERMS)
    fits = [
        arm.identify(noisy(motion, seed), base, by=TABLE[name](motion), bodies=None, check=False) for seed in range(40)
    ]
    z = np.array([(fit.values - base.of()) / fit.std for fit in fits])
    assert abs(np.square(z).mean() - 1.0) < 0.2
    if name != "all alike":  # where that of others is in the smallest one
        np.testing.assert_allclose(np.mean([fit.noise for fit in fits], axis=0), NOISE, rtol=0.05)
    Y = base.regressor(*motion[:3])
    bound = np.sqrt(np.diag(np.linalg.inv(sum(Y[:, k].T @ Y[:, k] / NOISE[k] ** 2 for k in range(3)))))
    ratio = np.mean([fit.std for fit in fits], axis=0) / bound
    least, most = {"all alike": (2.0, 50.0), "Huber": (0.95, 1.2), "Cauchy": (0.95, 1.2)}.get(name, (0.9, 1.1))
    assert least < ratio.max() < most


@every
def test_what_is_known_before(arm: kt.Robot, motion: tuple[Array, ...], name: str) -> None:
    log, base, by = noisy(motion, 0, 1.0), arm.base_parameters(TERMS), TABLE[name](motion)
    k = base.names.index("damping of joint0")
    free = arm.identify(log, base, by=by, bodies=None)
    fixed, between = (
        arm.identify(log, base, by=by, bodies=None, known={base.names[k]: s}) for s in (0.0, float(free.std[k]))
    )
    assert (fixed.values[k], fixed.std[k]) == (arm.damping[0], 0.0)
    np.testing.assert_allclose(between.std[k], free.std[k] / np.sqrt(2.0), rtol=0.05)
    moved = between.values[k] - 0.5 * (free.values[k] + arm.damping[0])
    assert abs(moved) < 0.05 * free.std[k] + 0.05 * abs(free.values[k] - arm.damping[0])


@every
def test_joints_that_stand_have_no_equations(arm: kt.Robot, motion: tuple[Array, ...], name: str) -> None:
    """Each joint moves while others stand, held by friction that nobody knows."""
    q, v, a, _ = (x.copy() for x in motion)
    standing = np.random.default_rng(10).random(v.shape) < 0.5
    v[standing] = a[standing] = 0.0
    held = np.where(standing, np.random.default_rng(11).normal(size=v.shape) * 20.0, 0.0)
    log = Samples(q, v, a, arm.inverse_dynamics(q, v, a) + held, standing=standing)
    fit = arm.identify(log, TERMS, by=TABLE[name](log), check=False)
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-8 * np.abs(fit.values).max())


@pytest.fixture(scope="module")
def flying() -> tuple[kt.Robot, Samples]:
    """Return a robot in the air with measured wrenches, and no force sensors; its base's forces are zero."""
    joints = [FreeFlyer(), Revolute(), Revolute((1, 0, 0))]
    robot = kt.Robot(random_tree(2, 3, joints, shuffled=False, gravity=(0, 0, -9.81)))
    free = [k for k in range(robot.nv) if k not in robot.model.actuated]
    q, v, a = robot.random_state(0, 300)
    f_ext = np.zeros((len(q), robot.nb, 6))
    f_ext[:, next(i for i, body in enumerate(robot.model.bodies) if len(body.v_index) == 6)] = 9.0 * np.sin(q[:, :6])
    a[:, free] = 0.0
    bias = robot.inverse_dynamics(q, v, a, f_ext)
    a[:, free] = -np.linalg.solve(robot.mass_matrix(q)[:, free][:, :, free], bias[:, free, None])[..., 0]
    tau = robot.inverse_dynamics(q, v, a, f_ext)
    tau[:, list(robot.model.actuated)] = np.nan
    return robot, Samples(q, v, a, tau, f_ext)


@every
def test_zero_forces_and_joints_that_are_not_measured(flying: tuple[kt.Robot, Samples], name: str) -> None:
    robot, log = flying
    fit = robot.with_inertial_parameters(1.2 * robot.inertial_parameters).identify(log, [], by=TABLE[name](log))
    told = np.isfinite(fit.std)
    assert told.sum() >= 17, "all but those of a joint that the base does not carry"
    np.testing.assert_allclose(fit.values[told], fit.base.of(robot)[told], atol=1e-6 * np.abs(fit.values).max())
    np.testing.assert_array_equal(np.isnan(fit.noise), np.isnan(np.asarray(log.tau)[0]))


@every
def test_an_iterator_is_enough_where_nothing_reads_again(arm: kt.Robot, motion: tuple[Array, ...], name: str) -> None:
    by, base = TABLE[name](motion), arm.base_parameters(TERMS)
    if by.reads_again:
        with pytest.raises(kt.ArgumentError, match=f"{type(by).__name__} or .* give a list"):
            arm.identify(iter([motion]), base, by=by)
    else:
        assert arm.identify(iter([motion]), base, by=by, bodies=None).count == 400


class Plain:
    """Least squares with noise of one, and no more."""

    reads_again, exact_motion = False, True

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        one = np.ones(len(equations.factors.R))
        A, b = equations.factors.stacked(one)
        values, covariance, null = solve(A, b, prior)
        return Solution(values, covariance, one, null, A, one)


def test_an_estimator_from_outside(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    log, base = noisy(motion, 0), arm.base_parameters(TERMS)
    fit = arm.identify(log, base, by=Plain())
    Y = base.regressor(*log[:3]).reshape(-1, base.dimension)
    np.testing.assert_allclose(fit.values, np.linalg.lstsq(Y, log[3].ravel(), rcond=None)[0], rtol=1e-6, atol=1e-8)
    motors = arm.identify(motion, base, by=Plain(), motor_constants=["joint0"], known={"damping of joint0": 0.0})
    assert motors.motor_constants is not None
    np.testing.assert_allclose(motors.motor_constants.values, 1.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LeastSquares("all"), "weights is 'all'"),  # type: ignore[arg-type]
        (lambda: Robust("hubert"), "'huber' or 'cauchy'"),  # type: ignore[arg-type]
        (lambda: OutputError(print, steps=0), "an integer ≥ 1"),
        (lambda: Bodies(spread=0.0), "spread"),
    ],
)
def test_choices_that_are_not_known(make: Callable[[], object], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    "old", ["weights", "loss", "instruments", "consistent", "prior_spread", "bounds", "joint_terms"]
)
def test_an_old_keyword_is_answered_with_the_new_one(arm: kt.Robot, motion: tuple[Array, ...], old: str) -> None:
    new = {"joint_terms": "terms"}.get(old, "bodies" if old in ("consistent", "prior_spread", "bounds") else "by")
    with pytest.raises(kt.errors.CallError, match=f"here it is '{new}|: write {new}="):
        arm.identify(motion, **{old: None})  # type: ignore[arg-type]
