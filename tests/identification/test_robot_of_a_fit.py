"""The robot that comes out has what was estimated, what is known, and nothing else."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import Array
from kinetree.identification import Generalised, LogWarning, OutputError, Robust, Samples, prepare
from kinetree.identification.samples import repeated
from kinetree.identification.validation import verdict
from kinetree.joints import FreeFlyer, Revolute
from kinetree.model import ModelBuilder

BODY = kt.Inertia(2.0, [0.2, 0.1, 0.3], np.diag([0.4, 0.5, 0.3]))
Log = tuple[Array, Array, Array, Array]


def chain(free: bool = False) -> kt.Robot:
    """Return two links that turn, on a base that stands or flies."""
    b = ModelBuilder("chain")
    b.add_link("base")
    joints = [*([FreeFlyer()] if free else []), Revolute((0, 0, 1)), Revolute((0, 1, 0))]
    parent = "base"
    for i, joint in enumerate(joints):
        placement = np.eye(4)
        placement[:3, 3] = 0.3, 0.1, 0.2
        b.add_link(f"link{i}", BODY)
        b.add_joint(f"joint{i}", parent=parent, child=f"link{i}", joint=joint, placement=placement.tolist())
        parent = f"link{i}"
    return kt.Robot(b.build())


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    return chain()


@pytest.fixture(scope="module")
def log(arm: kt.Robot) -> Log:
    q, v, a = arm.random_state(0, 200)
    return q, v, a, arm.inverse_dynamics(q, v, a) + 0.1 * np.random.default_rng(0).normal(size=v.shape)


def test_what_no_motion_tells_stays_zero(arm: kt.Robot, log: Log) -> None:
    q, v, a, _ = (x.copy() for x in log)
    v[:, 1] = a[:, 1] = 0.0
    q[:, 1] = 0.4
    with pytest.warns(LogWarning, match="joint1 never moves"):
        fit = arm.identify((q, v, a, arm.inverse_dynamics(q, v, a)), ["damping", "friction"])
    assert {"damping of joint1", "friction of joint1"} <= {*fit.unidentifiable}
    assert fit.robot.damping[1] + fit.robot.friction[1] < 1e-6


def test_a_spring_rests_where_it_did(arm: kt.Robot, log: Log) -> None:
    sprung = arm.with_joint_physics(stiffness={"joint1": 30.0}, rest_position={"joint1": 0.5})
    q, v, a, _ = log
    fit = sprung.identify((q, v, a, sprung.inverse_dynamics(q, v, a)), {"stiffness": ["joint1"]})
    np.testing.assert_allclose(fit.values[-1], 30.0)
    np.testing.assert_allclose(fit.robot.rest_positions, [0.0, 0.5])
    softer = sprung.with_joint_physics(stiffness=20.0, rest_position={"joint0": 0.2, "joint1": 0.3})
    tau = softer.inverse_dynamics(q, v, a)
    fit = sprung.identify((q, v, a, tau), ["stiffness", "offset"])
    np.testing.assert_allclose(fit.values, fit.base.of(softer), atol=1e-9)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), tau, atol=1e-5)


def test_friction_that_did_not_count_does_not_come_in(arm: kt.Robot, log: Log) -> None:
    fit = arm.with_joint_physics(damping=5.0).identify(log, {"damping": ["joint0"]})
    q, v, a, _ = log
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), fit.predict(q, v, a), atol=1e-9)
    assert fit.robot.damping[1] == 0.0


def test_what_is_fixed_is_so_in_the_robot(arm: kt.Robot, log: Log) -> None:
    noisy = (*log[:3], log[3] + 5.0 * np.random.default_rng(1).normal(size=log[3].shape))
    poor = arm.with_inertial_parameters(1.5 * arm.inertial_parameters)
    base = poor.base_parameters(["damping"])
    first, tight = base.names[0], base.names[1]
    fit = poor.identify(noisy, base, known={first: 0.0, tight: 1e-6})
    np.testing.assert_allclose(fit.consistent_values[:2], base.of()[:2], atol=1e-5)
    assert np.abs(fit.consistent_values - base.of())[2:].max() > 0.1


def test_a_point_is_no_prior(arm: kt.Robot, log: Log) -> None:
    points = np.zeros((2, 10))
    points[:, 0] = 2.0
    fit = arm.with_inertial_parameters(points.ravel()).identify(log, [])
    bound, free = (fit.validate(log, consistent=c).rms for c in (True, False))
    assert (bound < 1.15 * free).all()


def test_forces_that_no_bodies_have(arm: kt.Robot, log: Log) -> None:
    q, v, a, tau = log
    with pytest.warns(LogWarning, match="less well than the estimates alone"):
        arm.identify((q, v, a, tau - a * [0.0, 2.0]), [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm.with_inertial_parameters(1.5 * arm.inertial_parameters).identify(log, [])


def test_a_tuple_of_motions(arm: kt.Robot, log: Log) -> None:
    """Of as many as a motion has arrays."""
    parts = tuple(tuple(x[k : k + 50] for x in log) for k in range(0, 200, 50))
    whole, several = arm.identify(log, []), arm.identify(parts, [])
    np.testing.assert_allclose(several.values, whole.values, rtol=1e-9)
    with pytest.raises(kt.ArgumentError, match="motion 3 is motion 1 once more"):
        arm.identify([parts[0], parts[1], parts[0]], [])
    for within in (
        [log],
        (log,),
        [(log,)],
        ((log,),),
        [[log]],
        lambda: log,
        [lambda: [log]],
        [kt.identification.Samples(*log)],
    ):
        np.testing.assert_array_equal(arm.identify(within, []).values, whole.values)


def test_motions_without_forces_are_not_the_same(log: Log) -> None:
    q, v, a, tau = log
    none = np.where([True] + [False] * (tau.shape[1] - 1), np.nan, 0.0 * tau)
    assert repeated([(q, v, a, none), (q, v, a, none)]) == []
    assert repeated([log, log]) == [(2, 1)]


def test_an_iterator_tells_how_noise_is_correlated(arm: kt.Robot, log: Log) -> None:
    q, v, a, tau = log
    slow = q, v, a, tau + np.sin(np.linspace(0, 20, 200))[:, None]
    listed, once = arm.identify([slow], []), arm.identify(iter([slow]), [])
    assert listed.correlation_time.min() > 3.0
    np.testing.assert_array_equal(once.std, listed.std)
    with pytest.raises(kt.ArgumentError, match="other sign"):
        arm.identify(iter([(q, v, a, -tau)]), [])
    with pytest.raises(kt.ArgumentError, match="unknown Stribeck speeds read the log again: give a list"):
        arm.identify(iter([log]), ["stribeck"])


def test_a_base_in_the_air_does_not_make_all_masses_zero() -> None:
    """Equations without a force are fulfilled best by a robot without mass, if noise is in the motion."""
    robot = chain(free=True)
    q, v, a = robot.random_state(0, 200)
    a[:, :6] = 0.0
    bias = robot.inverse_dynamics(q, v, a)
    a[:, :6] = -np.linalg.solve(robot.mass_matrix(q)[:, :6, :6], bias[:, :6, None])[..., 0]
    rng = np.random.default_rng(0)
    tau = robot.inverse_dynamics(q, v, a) + 0.05 * rng.normal(size=v.shape)
    tau[:, :6] = 0.0
    noisy, base = (q, v + 0.01 * rng.normal(size=v.shape), a, tau), robot.base_parameters()
    for choice in ({}, {"by": Generalised()}, {"by": Robust("huber")}):
        fit = robot.identify(noisy, base, bodies=None, **choice)  # type: ignore[arg-type]
        np.testing.assert_allclose(fit.values[0], base.of()[0], rtol=0.1)
    found = fit.validate(noisy, consistent=False)
    assert np.isfinite(found.relative[6:]).all()
    assert "–" not in verdict(fit, found, found)[0]


def test_few_samples_and_columns_without_numbers(arm: kt.Robot, log: Log) -> None:
    with pytest.warns(LogWarning, match="5 samples are too few for"):
        arm.identify(tuple(x[:5] for x in log), [])
    with pytest.raises(kt.ArgumentError, match="not finite at some sample"):
        arm.identify(log, {"own": lambda q, v, a: [1.0 / (v[0] - v[0]), 0.0]})
    with pytest.raises(kt.ArgumentError, match=r"stribeck_speed is .* must be positive"):
        arm.identify(log, ["stribeck"], stribeck_speed=[0.0, 1.0])
    with pytest.raises(kt.ArgumentError, match="1 samples are too few for a payload"):
        arm.identify_payload(tuple(x[:1] for x in log), "link1")
    with pytest.warns(LogWarning, match="8 samples are too few"):
        arm.identify_payload(tuple(x[:8] for x in log), "link1")
    nan = (*log[:3], np.where(np.arange(200)[:, None] == 3, np.nan, log[3]))
    with pytest.raises(kt.ArgumentError, match=r"tau\[3, 0\] is not finite"):
        arm.identify(nan, [], by=OutputError(lambda robot: log))
    with pytest.raises(kt.ArgumentError, match="has not the bodies"):
        arm.base_parameters().of(chain(free=True))
    with pytest.raises(kt.ArgumentError, match="tolerance is 1"):
        arm.base_parameters(tolerance=1.0)
    with pytest.raises(kt.ArgumentError, match="has no samples"):
        arm.identify(log, []).validate([])
    rock = kt.load("<robot name='rock'><link name='stone'/></robot>")
    with pytest.raises(kt.ArgumentError, match="no joint"):
        rock.identify((np.zeros((5, 0)),) * 4, [])
    massless = arm.with_inertial_parameters(np.zeros(20))
    zero = massless.identify((*log[:3], 0.0 * log[3]), [], check=False)  # a sensor that is always zero is refused
    np.testing.assert_array_equal(zero.values, 0.0)


def test_friction_that_is_known_slides_as_the_samples_say(arm: kt.Robot, log: Log) -> None:
    q, v, a, _ = log
    rubbing, held = arm.with_joint_physics(friction=2.0).with_friction(), kt.Inertia(1.0, [0, 0, 0.1], 0.1 * np.eye(3))
    direction = np.random.default_rng(0).uniform(-1.0, 1.0, size=v.shape)
    samples = Samples(q, v, a, arm.inverse_dynamics(q, v, a) + 2.0 * direction, direction=direction)
    fit = rubbing.identify(samples, [])
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-9)
    more = samples._replace(tau=arm.attach(held, "link1").inverse_dynamics(q, v, a) + 2.0 * direction)
    assert rubbing.identify_payload(more, "link1").noise.max() < 1e-9


def test_filtered_friction_is_as_sure_as_it_says(arm: kt.Robot) -> None:
    """Noise of encoders does not choose the cut-off, and turning round is filtered as the forces are."""
    real = arm.with_joint_physics(damping=1.0, friction=2.0).with_friction(smoothing=0.05)
    base = arm.base_parameters(["damping", "friction"], smoothing=0.05)
    t = np.arange(0.0, 20.0, 2e-3)
    w = 0.6 * np.outer(np.arange(1, 6), np.ones(2))
    parts = np.random.default_rng(3).normal(size=(2, 5, 2)) / w
    angle = t[:, None, None] * w
    q = (parts[0] * np.sin(angle) + parts[1] * np.cos(angle)).sum(axis=1)
    v = (w * (parts[0] * np.cos(angle) - parts[1] * np.sin(angle))).sum(axis=1)
    a = -(w**2 * (parts[0] * np.sin(angle) + parts[1] * np.cos(angle))).sum(axis=1)
    tau, errors = real.inverse_dynamics(q, v, a), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noisy = q + 1e-4 * rng.normal(size=q.shape), tau + 0.5 * rng.normal(size=q.shape)
        samples = prepare(arm, t, *noisy, filter=kt.Filter(smoothing=0.05))
        fit = arm.identify(samples, base, bodies=None)
        errors.append((fit.values - base.of(real)) / fit.std)
    assert 50 < len(np.asarray(samples.t)) < 500
    assert np.abs(np.mean(errors, axis=0)).max() < 2.0, "standard deviations; without the filter it is more than ten"
    assert np.square(errors).mean() < 1.5
    with pytest.raises(kt.ArgumentError, match=r"prepared with smoothing=0\.05, and 0\.001"):
        arm.identify(samples, ["friction"])
    assert isinstance(samples, Samples)
