"""Motor constants: right without noise, as uncertain as they say with it, and refused where nothing tells the scale."""

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_tree
from kinetree.identification import (
    Bodies,
    Generalised,
    Instrumental,
    LeastSquares,
    LogWarning,
    Robust,
    Samples,
    with_known_load,
)
from kinetree.identification.report import joints
from kinetree.joints import FreeFlyer, Revolute

TERMS = ["armature", "damping", "friction", "offset"]
BOX = kt.Inertia.from_com(3.0, [0.1, 0.0, 0.2], np.diag([0.02, 0.03, 0.04]))
CONSTANTS = np.array([1.0, 0.05, 300.0])
MOTORS = ["joint1", "joint2"]


@pytest.fixture(scope="module")
def logs(arm, motion):
    """Return a motion without and one with a load on link 2, with currents of joints 1 and 2."""
    q, v, a, tau = (x[:200] for x in motion)
    hand = arm.body_names[2]
    loaded = with_known_load(arm, (q[100:], v[100:], a[100:], np.zeros((100, 3))), hand, BOX)
    np.testing.assert_allclose(
        loaded.load, arm.attach(BOX, hand).inverse_dynamics(q, v, a)[100:] - tau[100:], atol=1e-9
    )
    currents = [tau[:100] / CONSTANTS, (tau[100:] + loaded.load) / CONSTANTS]
    return [Samples(q[:100], v[:100], a[:100], currents[0]), loaded._replace(tau=currents[1])]


@pytest.fixture(scope="module")
def weighed(arm, logs):
    """Return the same motions where nothing but the mass of the load is known."""
    return [logs[0], with_known_load(arm, logs[1]._replace(load=None), arm.body_names[2], BOX.m)]


@pytest.mark.parametrize("by", [LeastSquares(), LeastSquares(None), Robust("huber"), Generalised()], ids=repr)
def test_a_known_load_or_its_mass_tells_the_scale(arm, poor, logs, weighed, by):
    fit = poor.identify(logs, TERMS, motor_constants=MOTORS, by=by)
    found, expected = fit.motor_constants, fit.base.of(arm)
    assert found.joints == ("joint1", "joint2")
    np.testing.assert_allclose(found.values, CONSTANTS[1:], rtol=1e-9)
    np.testing.assert_allclose(found.consistent, CONSTANTS[1:], rtol=1e-6)
    np.testing.assert_allclose(fit.values, expected, atol=1e-9 * np.abs(expected).max())
    q, v, a = arm.random_state(3, 20)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a), atol=1e-5)
    mass = poor.identify(weighed, TERMS, motor_constants=MOTORS, by=by)
    np.testing.assert_allclose(mass.motor_constants.values, CONSTANTS[1:], rtol=1e-8)
    np.testing.assert_allclose(mass.motor_constants.consistent, CONSTANTS[1:], rtol=1e-5)
    (load,) = mass.held_loads
    assert (load.link, load.mass) == (arm.body_names[2], BOX.m)
    assert "load of 3 kg on" in str(mass)
    for consistent in (True, False):
        for one, of_one in ((fit, logs), (mass, weighed)):
            for _ in range(2):
                assert one.validate(of_one, consistent=consistent).relative.max() < 1e-5


def test_a_point_mass_for_a_load_is_wrong(arm, poor, logs, weighed):
    mass = kt.Inertia(BOX.m, [0] * 3, np.zeros((3, 3)))
    point = with_known_load(arm, weighed[1]._replace(held=None), arm.body_names[2], mass)
    wrong = poor.identify([logs[0], point], TERMS, motor_constants=MOTORS, check=False).motor_constants
    assert np.abs(wrong.values / CONSTANTS[1:] - 1.0).max() > 0.01


def test_known_joints_and_known_parameters_tell_the_scale(arm, poor, logs):
    free = [log._replace(load=None) for log in logs[:1]]
    measured = free[0]._replace(tau=np.asarray(free[0].tau) * [1, 1, 300])
    before = {"joint1": (0.05, 0.005), "joint2": None}
    for robot, log, terms, motors, known in (
        (poor, measured, TERMS, MOTORS[:1], {}),
        (arm, free, TERMS, MOTORS, {"damping of joint1": 0.0}),
        (arm, free, [], MOTORS, {}),  # armature and friction are the robot's
        (arm, free, TERMS, before, {}),
    ):
        found = robot.identify(log, terms, motor_constants=motors, known=known).motor_constants
        np.testing.assert_allclose(found.values, CONSTANTS[1 : 1 + len(motors)], rtol=1e-6)


def test_the_covariance_is_the_bound_of_the_likelihood(arm, logs):
    """Noise is in the currents; with them as plain columns, constants are too small by many standard deviations."""
    base = arm.base_parameters(TERMS)
    whole = [np.concatenate([np.asarray(getattr(log, x)) for log in logs]) for x in ("q", "v", "a", "tau")]
    load = np.concatenate([np.zeros((100, 3)), np.asarray(logs[1].load)])
    Y, truth, noise = base.regressor(*whole[:3]), base.of(arm), 0.2 * whole[3].std(axis=0)
    n, count = base.dimension, len(load)
    F = np.zeros((n + 2, n + 2))
    for k in range(3):
        J = np.zeros((count, n + 2))
        J[:, :n] = Y[:, k] / CONSTANTS[k]
        if k:
            J[:, n + k - 1] = -(Y[:, k] @ truth + load[:, k]) / CONSTANTS[k] ** 2
        F += J.T @ J / noise[k] ** 2
    bound, rng = np.sqrt(np.diag(np.linalg.inv(F))), np.random.default_rng(0)
    errors, deviations, plain = [], [], []
    for _ in range(60):
        tau = whole[3] + noise * rng.normal(size=load.shape)
        fit = arm.identify(Samples(*whole[:3], tau, load=load), base, motor_constants=MOTORS, bodies=None, check=False)
        errors.append(np.append(fit.values - truth, fit.motor_constants.values - CONSTANTS[1:]))
        deviations.append(np.append(fit.std, fit.motor_constants.std))
        A = np.zeros((2 * count, n + 2))
        for j in range(2):
            A[j * count : (j + 1) * count, :n] = Y[:, j + 1]
            A[j * count : (j + 1) * count, n + j] = -tau[:, j + 1]
        plain.append(np.linalg.lstsq(A, -load[:, 1:].T.ravel(), rcond=None)[0][n:] - CONSTANTS[1:])
    whitened = np.array(errors) @ np.linalg.cholesky(F)
    assert abs((whitened**2).mean() - 1.0) < 0.1
    assert np.abs(whitened.mean(axis=0)).max() < 4.0 / np.sqrt(60)
    np.testing.assert_allclose(np.median(deviations, axis=0), bound, rtol=0.1)
    assert abs(np.mean(np.abs(errors) < 1.96 * np.array(deviations)) - 0.95) < 0.02
    assert (np.mean(plain, axis=0) / bound[n:] < -3.0).all()


def test_a_motor_may_turn_the_other_way(arm, poor, logs):
    """A log that is refused for the sign of forces is none where constants tell it."""
    turned = [x._replace(tau=np.asarray(x.tau) * [1.0, -1.0, 1.0]) for x in logs]
    fit = poor.identify(turned, TERMS, motor_constants=MOTORS)
    np.testing.assert_allclose(fit.motor_constants.values, CONSTANTS[1:] * [-1.0, 1.0], rtol=1e-6)
    with pytest.raises(kt.ArgumentError, match="joint1 have the other sign"):
        poor.identify(turned, TERMS, motor_constants=MOTORS[1:])


def test_constants_far_from_those_of_bodies_that_can_exist(poor, logs):
    """The robot before has 1.5 times the masses, and is taken as nearly right."""
    rng = np.random.default_rng(0)
    noisy = [x._replace(tau=np.asarray(x.tau) * (1.0 + 0.02 * rng.normal(size=np.shape(x.tau)))) for x in logs]
    with pytest.warns(LogWarning, match="standard deviations from the estimated ones"):
        fit = poor.identify(noisy, TERMS, motor_constants=MOTORS, bodies=Bodies(spread=1e-3))
    (found,) = (x for x in fit.checks if x.name == "far_constants")
    constants = fit.motor_constants
    far = np.abs(constants.consistent - constants.values) / constants.std
    np.testing.assert_array_equal(found.figures["standard_deviations"], far)
    assert found.joints == tuple(np.array(constants.joints)[far > 3.0])
    assert poor.identify(noisy, TERMS, motor_constants=MOTORS).checks == ()


def test_constants_are_in_tables(poor, logs):
    fit = poor.identify(logs, TERMS, motor_constants=MOTORS)
    assert "motor constants: joint1 0.05 ± " in str(fit)
    table = joints(fit, None, None)
    constants = [row[list(table.columns).index("motor constant")] for row in table.rows]
    assert constants == ["", "0.05", "300"]


def test_what_is_refused(arm, logs):
    free, names = logs[:1], ["joint0", *MOTORS]
    for log, motors, choice, message in [
        (free, MOTORS, {}, "nothing determines the motor constants of joint1, joint2: .* known load"),
        (logs, names, {}, "nothing determines the motor constants of joint0: "),
        (logs, {"joint1": (1.0, -1.0)}, {}, "its value and its standard deviation"),
        (logs, {"joint1": 1.0}, {}, "its value and its standard deviation"),
        (logs, {"joint1": (0.0, 0.0)}, {}, "its value and its standard deviation"),
        (logs[0]._replace(tau=np.zeros((100, 3))), MOTORS[:1], {"check": False}, "nothing determines .* joint1"),
        (Samples(*(np.asarray(x)[:3] for x in logs[0][:4])), MOTORS, {}, "9 equations for"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            arm.identify(log, motor_constants=motors, **{"terms": TERMS, **choice})
    floating = kt.Robot(random_tree(2, 2, [FreeFlyer(), Revolute()], shuffled=False))
    base = next(body.joint_name for body in floating.model.leading if body.v_index[0] == 0)
    with pytest.raises(kt.ArgumentError, match="has no motor"):
        floating.identify((*floating.random_state(0, 9), np.zeros((9, floating.nv))), motor_constants=[base])


def test_constants_and_speeds_of_friction_together(arm, poor, logs):
    speed, height, direction = np.array([0.3, 0.2, 0.5]), np.array([1.0, 2.0, 3.0]), []
    for log in logs:
        v = np.asarray(log.v)
        falls = height * v / np.sqrt(v * v + 0.05**2) / (1.0 + (v / speed) ** 2)
        direction.append(log._replace(tau=np.asarray(log.tau) + falls / CONSTANTS))
    fit = poor.identify(direction, [*TERMS, "stribeck"], motor_constants=MOTORS, check=False)
    np.testing.assert_allclose(fit.stribeck_speed, speed, rtol=1e-6)
    np.testing.assert_allclose(fit.motor_constants.values, CONSTANTS[1:], rtol=1e-6)
    assert fit.validate(direction).relative.max() < 1e-4


def test_instruments_make_constants_right_where_the_motion_is_noisy(arm, logs):
    rng, base, errors = np.random.default_rng(0), arm.base_parameters(TERMS), []
    for _ in range(20):
        bad = [x._replace(a=np.asarray(x.a) + 0.7 * rng.normal(size=np.shape(x.a))) for x in logs]
        by = (LeastSquares(), Instrumental(logs))
        fits = [arm.identify(bad, base, by=x, motor_constants=MOTORS, bodies=None, check=False) for x in by]
        constants = [fit.motor_constants for fit in fits if fit.motor_constants is not None]
        errors.append([(found.values - CONSTANTS[1:]) / found.std for found in constants])
    mean = np.abs(np.mean(errors, axis=0)).max(axis=1)
    assert mean[0] > 2.0
    assert mean[1] < 4.0 / np.sqrt(20)


def test_a_load_counts_elsewhere_too(arm, logs):
    """What is known is neither suspicious nor part of what is held."""
    hand, loaded = arm.body_names[2], logs[1]._replace(tau=np.asarray(logs[1].tau) * CONSTANTS)
    fit = arm.identify(loaded, TERMS)
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-9 * np.abs(fit.values).max())
    assert abs(arm.identify_payload(loaded, hand).values[0]) < 1e-9
    twice = with_known_load(arm, loaded, hand, BOX)
    np.testing.assert_allclose(twice.load, 2.0 * np.asarray(loaded.load))
    assert np.array_equal(with_known_load(arm, loaded, hand, [float(x) for x in BOX]).load, twice.load)
    for wrong, what in (None, "dtype object"), ("x", "dtype <U1"), ({}, "dtype object"), ([1.0] * 9, r"shape \(9,\)"):
        with pytest.raises(kt.ArgumentError, match=f"inertia has {what}"):
            with_known_load(arm, loaded, hand, wrong)


def test_the_rest_of_a_load_is_estimated():
    robot, constants = kt.load("ur5"), np.array([12.0, 12.5, 11.0, 7.0, 7.2, 6.8])
    held = robot.attach(BOX, "ee_link")
    motion = [robot.random_state(seed, 300) for seed in (0, 1)]
    free, loaded = (
        Samples(q, v, a, one.inverse_dynamics(q, v, a) / constants)
        for one, (q, v, a) in zip((robot, held), motion, strict=True)
    )
    fit = robot.identify([free, with_known_load(robot, loaded, "ee_link", BOX.m)], [], motor_constants="all")
    np.testing.assert_allclose(fit.motor_constants.values, constants, rtol=1e-8)
    last = robot.body_names.index(fit.held_loads[0].link)
    expected = (held.inertial_parameters - robot.inertial_parameters)[10 * last + 1 : 10 * last + 10]
    np.testing.assert_allclose(fit.held_loads[0].values, expected, atol=1e-7)
    assert np.isfinite(fit.held_loads[0].std).all()


def test_bars_of_constants_cover_with_the_mass_alone(arm, weighed):
    base, rng, z = arm.base_parameters(TERMS), np.random.default_rng(0), []
    for _ in range(60):
        noisy = [log._replace(tau=np.asarray(log.tau) + 0.3 / CONSTANTS * rng.normal(size=(100, 3))) for log in weighed]
        fit = arm.identify(noisy, base, motor_constants=MOTORS, bodies=None, check=False)
        z.append((fit.motor_constants.values - CONSTANTS[1:]) / fit.motor_constants.std)
    assert 0.7 < (np.array(z) ** 2).mean() < 1.4


def test_loads_known_by_their_mass_are_used_without_motor_constants(arm, logs):
    tau = [np.asarray(log.tau) * CONSTANTS for log in logs]
    free, held = (
        logs[0]._replace(tau=tau[0]),
        with_known_load(arm, logs[1]._replace(tau=tau[1], load=None), "link2", BOX.m),
    )
    fit = arm.identify([free, held], TERMS)
    assert fit.validate([free, held]).relative.max() < 1e-5
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-8)
    assert not kt.identification.diagnose(arm, [free, held], TERMS).errors
    for call, message in [
        (lambda: arm.identify(lambda: iter([free, held]), TERMS), "as a list of motions"),
        (lambda: with_known_load(arm, held, "link2", 1.0), "holds a load in this motion already"),
        (lambda: arm.identify([free], TERMS).validate(held), "the rest of it was not estimated"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            call()
