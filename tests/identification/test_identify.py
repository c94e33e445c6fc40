"""Estimates: right without noise, as uncertain as they say with it, and consistent."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers import semidefinite
from helpers.trees import Array, random_tree
from kinetree.identification import Instrumental, LeastSquares, LogWarning, Robust, Samples, bodies, diagnose
from kinetree.identification.bodies import pseudo_inertia
from kinetree.joints import FreeFlyer, Prismatic, Revolute
from kinetree.model import ModelBuilder

TERMS = ["armature", "damping", "friction", "offset"]
JOINTS = [Revolute((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0))]
MORE = np.array([0.3, 0.0, 0.0])
NOISE = np.array([0.5, 0.05, 2.0])


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    """Return an arm of three joints with friction and rotors."""
    model = random_tree(1, 3, JOINTS, armature=False, shuffled=False)
    physics = {"armature": [0.3, 0.2, 0.1], "damping": [0.5, 1.0, 0.2], "friction": [2.0, 1.0, 0.5]}
    return kt.Robot(model).with_joint_physics(**physics).with_friction(smoothing=0.05)


@pytest.fixture(scope="module")
def motion(arm: kt.Robot) -> tuple[Array, Array, Array, Array]:
    """Return random states and the forces of the arm with 0.3 N·m more in joint 0."""
    q, v, a = arm.random_state(0, 400)
    return q, v, a, arm.inverse_dynamics(q, v, a) + MORE


def truth(arm: kt.Robot, fit: kt.identification.Fit) -> Array:
    return fit.base.of(arm, {"offset": [0.3, 0.0, 0.0]})


def poor(arm: kt.Robot) -> kt.Robot:
    """Return the arm as its maker describes it: bodies half as heavy again, no friction known."""
    physics = {"armature": 0.0, "damping": 0.0, "friction": 0.0}
    return arm.with_inertial_parameters(1.5 * arm.inertial_parameters).with_joint_physics(**physics)


@pytest.mark.parametrize("loss", ["huber", "cauchy"])
def test_outliers(arm: kt.Robot, motion: tuple[Array, ...], loss: str) -> None:
    q, v, a, tau = motion
    rng = np.random.default_rng(1)
    clean, dirty, base = [], [], arm.base_parameters(TERMS)
    choices: dict[str, Any] = {"by": Robust(loss), "bodies": None, "check": False}
    for _ in range(20):
        noisy = tau + NOISE * rng.normal(size=tau.shape)
        fit = arm.identify((q, v, a, noisy), base, **choices)
        clean.append((fit.values - truth(arm, fit)) / fit.std)
        hit = rng.random(tau.shape) < 0.05
        fit = arm.identify((q, v, a, np.where(hit, noisy + 100.0, noisy)), base, **choices)
        dirty.append((fit.values - truth(arm, fit)) / fit.std)
        np.testing.assert_allclose(fit.noise, NOISE, rtol=0.3)
    assert abs(np.square(clean).mean() - 1.0) < 0.25
    assert np.square(dirty).mean() < 2.5
    plain = arm.identify((q, v, a, np.where(hit, noisy + 100.0, noisy)), TERMS, bodies=None)
    assert np.abs(plain.values - truth(arm, plain)).max() > 3 * np.abs(fit.values - truth(arm, fit)).max()


def test_estimates_are_bodies_and_no_worse(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = (x[:60] for x in motion)
    rng = np.random.default_rng(2)
    other = arm.random_state(5, 300)
    test = (*other, arm.inverse_dynamics(*other) + MORE)
    prior, worse = poor(arm), []
    for _ in range(10):
        fit = prior.identify((q, v, a, tau + 10.0 * NOISE * rng.normal(size=tau.shape)), TERMS)
        J = pseudo_inertia(fit.parameters[:30].reshape(-1, 10))
        assert (np.linalg.eigvalsh(J) > 0.0).all()
        assert (fit.parameters[30:39] > 0.0).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert fit.robot.inertial_parameters is not None
        rms = [fit.validate(test, consistent=c).rms for c in (False, True)]
        free, bound = (np.linalg.norm(x / NOISE) for x in rms)
        worse.append(bound / free)
    assert max(worse) < 1.06, "60 samples with ten times the noise: of single ones chance decides"
    assert np.mean(worse) < 0.95


def test_a_solver_of_cone_programmes_finds_the_same(
    arm: kt.Robot, motion: tuple[Array, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    q, v, a, tau = (x[:40] for x in motion)
    noisy = tau + 5.0 * NOISE * np.random.default_rng(9).normal(size=tau.shape)
    ours = poor(arm).identify((q, v, a, noisy), TERMS)
    monkeypatch.setattr(bodies, "newton", semidefinite.solve)
    theirs = poor(arm).identify((q, v, a, noisy), TERMS)
    assert ours.gap < 1e-8
    assert theirs.gap < 1e-5
    apart = np.abs(ours.consistent_values - theirs.consistent_values)
    assert (apart < np.sqrt(2.0 * theirs.gap) * ours.std).all(), "what such a gap allows"
    np.testing.assert_allclose(ours.parameters, theirs.parameters, rtol=1e-3, atol=1e-4)
    assert np.abs(ours.consistent_values - ours.values).max() > 1e-3, "the estimate alone is not a set of bodies"


def test_noise_in_the_motion_bends_least_squares_alone(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    rng, base = np.random.default_rng(0), arm.base_parameters(TERMS)
    errors: dict[str, list[Array]] = {"squares": [], "instruments": []}
    for _ in range(60):
        noisy = q, v, a + 0.7 * rng.normal(size=a.shape), tau + NOISE * rng.normal(size=tau.shape)
        for name, choice in (("squares", {}), ("instruments", {"by": Instrumental(motion)})):
            fit = arm.identify(noisy, base, bodies=None, check=False, **choice)
            errors[name].append((fit.values - truth(arm, fit)) / fit.std)
    bias = {name: np.abs(np.mean(e, axis=0)).max() for name, e in errors.items()}
    assert bias["squares"] > 2.0
    assert bias["instruments"] < 4.0 / np.sqrt(60)
    assert abs(np.square(errors["instruments"]).mean() - 1.0) < 0.2
    exact = arm.identify(motion, base, by=Instrumental(motion))
    np.testing.assert_allclose(exact.values, truth(arm, exact), atol=1e-9 * np.abs(exact.values).max())
    assert exact.gap < 1e-8
    known = {name: 0.3 * s for name, s in zip(base.names, fit.std, strict=True)}
    log = *motion[:3], noisy[3]
    every = LeastSquares(), Instrumental(motion)
    plain, same = (arm.identify(log, base, known=known, by=by, check=False) for by in every)
    np.testing.assert_allclose((same.values - plain.values) / plain.std, 0.0, atol=0.05)
    np.testing.assert_allclose(same.std, plain.std, rtol=0.03)
    for other in (tuple(x[:-1] for x in motion), tuple(np.vstack([x, x]) for x in motion)):
        with pytest.raises(kt.ArgumentError, match="samples"):
            arm.identify(motion, base, by=Instrumental(other))


def test_samples_may_come_in_parts(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    whole = arm.identify(motion, TERMS)
    parts = (Samples(*(x[i : i + 100] for x in motion)) for i in range(0, 400, 100))
    fit = arm.identify(parts, TERMS)
    assert fit.count == 400
    np.testing.assert_allclose(fit.values, whole.values, rtol=1e-9, atol=1e-11)
    path = kt.Trajectory(arm, np.arange(400.0), *motion)
    np.testing.assert_array_equal(arm.identify(path, TERMS).values, whole.values)


BOX = kt.Inertia(2.0, [0.1, 0, 0.2], np.diag([0.02, 0.03, 0.04]))
HELD = [[0, 1, 0, 0], [0, 0, 1, 0.3], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_a_payload() -> None:
    b = ModelBuilder("chain")
    b.add_link("base")
    for i, axis in enumerate(((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0.6, 0.8))):
        b.add_link(f"link{i}", BOX)
        placement = np.eye(4)
        placement[:3, 3] = 0.1 * i, 0.2, 0.3
        parent = f"link{i - 1}" if i else "base"
        b.add_joint(f"joint{i}", parent=parent, child=f"link{i}", joint=Revolute(axis), placement=placement.tolist())
    b.add_frame("hand", link="link3", placement=HELD)
    arm = kt.Robot(b.build())
    q, v, a = arm.random_state(0, 200)
    tau = arm.attach(BOX, "hand").inverse_dynamics(q, v, a)
    found = arm.identify_payload((q, v, a, tau), "hand")
    np.testing.assert_allclose(found.values, np.array(BOX), atol=1e-10)
    np.testing.assert_allclose(np.array(found.inertia), np.array(BOX), atol=1e-6)
    errors = []
    for seed in range(40):
        noisy = tau + np.array([1.0, 2.0, 3.0, 1.0]) * np.random.default_rng(seed).normal(size=tau.shape)
        found = arm.identify_payload((q, v, a, noisy), "hand")
        assert np.linalg.eigvalsh(pseudo_inertia(np.array(found.inertia))).min() > 0.0
        errors.append((found.values - np.array(BOX)) / found.std)
    assert abs(np.square(errors).mean() - 1.0) < 0.25


def test_a_payload_that_few_joints_tell_in_part(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, _ = motion
    hand = arm.body_names[-1]
    tau = arm.attach(BOX, hand).inverse_dynamics(q, v, a)
    found = arm.identify_payload((q, v, a, tau), hand)
    assert np.isinf(found.std).any()
    assert len(str(found).splitlines()) == 11, "a row for each of the ten"
    np.testing.assert_allclose(arm.attach(found.inertia, hand).inverse_dynamics(q, v, a), tau, atol=1e-5)
    with pytest.raises(kt.ArgumentError, match="'base' does not move"):
        arm.identify_payload(motion, "base")
    with pytest.raises(kt.ArgumentError, match="1 samples are too few"):
        arm.identify_payload(tuple(x[:1] for x in motion), hand)


def test_what_the_data_do_not_tell(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, _ = (x.copy() for x in motion)
    v[:, 2] = a[:, 2] = 0.0
    q[:, 2] = 0.4
    heavier = arm.with_inertial_parameters(1.5 * arm.inertial_parameters)
    with pytest.warns(LogWarning, match="joint2 never moves"):
        fit = heavier.identify((q, v, a, arm.inverse_dynamics(q, v, a)), ["damping", "friction"])
    assert {"damping of joint2", "friction of joint2"} <= {*fit.unidentifiable}
    assert "not identifiable from these data" in str(fit)
    untold = [name in fit.unidentifiable for name in fit.base.names]
    assert np.isinf(fit.std[untold]).all()
    assert np.isfinite(fit.std[~np.array(untold)]).all()
    np.testing.assert_allclose(fit.predict(q, v, a), arm.inverse_dynamics(q, v, a), atol=1e-6)


def test_what_is_known_before(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    noisy = tau + NOISE * np.random.default_rng(3).normal(size=tau.shape)
    free = arm.identify((q, v, a, noisy), TERMS)
    name = "damping of joint0"
    k = free.base.names.index(name)
    s = free.std[k]
    frictionless = arm.with_joint_physics(damping=0.0).identify((q, v, a, noisy), TERMS, known={name: 0.0})
    assert 0.0 <= frictionless.consistent_values[k] < 0.01 * s, "at its bound, too"


def test_what_is_not_estimated_counts(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    """Armature, friction and springs that the robot has are subtracted; so are measured wrenches."""
    robot = arm.with_joint_physics(stiffness={"joint2": 30.0}, rest_position={"joint2": 0.3})
    q, v, a, _ = motion
    f_ext = np.random.default_rng(4).normal(size=(len(q), 3, 6))
    tau = robot.inverse_dynamics(q, v, a, f_ext)
    heavier = robot.with_inertial_parameters(1.5 * robot.inertial_parameters)
    fit = heavier.identify(Samples(q, v, a, tau, f_ext), ["damping"])
    np.testing.assert_allclose(fit.values, fit.base.of(robot), atol=1e-9 * np.abs(fit.values).max())
    np.testing.assert_allclose(fit.predict(q, v, a), robot.inverse_dynamics(q, v, a), atol=1e-6)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), atol=1e-6)


def test_joints_that_stand_have_no_equations(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    """Each joint moves while others stand, held by friction that nobody knows."""
    q, v, a, _ = (x.copy() for x in motion)
    standing = np.random.default_rng(10).random(v.shape) < 0.5
    v[standing] = a[standing] = 0.0
    exact = arm.inverse_dynamics(q, v, a)
    held = exact + np.where(standing, np.random.default_rng(11).normal(size=v.shape) * 20.0, 0.0)
    log = Samples(q, v, a, held, standing=standing)
    terms = ["armature", "damping", "friction"]
    errors, base = [], arm.base_parameters(terms)
    for seed in range(40):
        noisy = log._replace(tau=held + NOISE * np.random.default_rng(seed).normal(size=v.shape))
        fit = arm.identify(noisy, base, bodies=None)
        errors.append((fit.values - base.of(arm)) / fit.std)
        np.testing.assert_allclose(fit.noise, NOISE, rtol=0.25)
    assert abs(np.square(errors).mean() - 1.0) < 0.15
    np.testing.assert_allclose(fit.validate(noisy).rms, NOISE, rtol=0.25)
    robust = arm.identify(noisy, base, by=Robust("huber"), bodies=None)
    np.testing.assert_allclose(robust.std, fit.std, rtol=0.3)


def test_joints_that_stand_do_not_make_residuals_alike(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    """Whatever the mean of the residuals is: between samples that count there is none."""
    q, v, a, tau = motion
    standing = np.arange(len(q)) // 20 % 2 == 0
    noisy = tau + 3.0 + NOISE * np.random.default_rng(3).normal(size=tau.shape)
    log, moving = Samples(q, v, a, noisy, standing=np.tile(standing[:, None], 3)), ~standing
    fit, own = (arm.identify(x, TERMS[:3], check=False) for x in (log, tuple(x[moving] for x in log[:4])))
    np.testing.assert_array_equal(fit.correlation_time, 1.0)
    np.testing.assert_allclose(fit.std, own.std, rtol=1e-6)
    assert np.abs(fit.validate(log).autocorrelation).max() < 0.4
    by_instruments = arm.identify(log, TERMS[:3], by=Instrumental((q, v, a, tau)), check=False)
    np.testing.assert_allclose(by_instruments.std, fit.std, rtol=0.1)


def test_the_speed_around_which_friction_changes_its_sign(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, _ = motion
    tau = arm.with_friction(smoothing=0.7).inverse_dynamics(q, v, a)
    fit = poor(arm).identify((q, v, a, tau), TERMS, smoothing=0.7)
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-9 * np.abs(fit.values).max())
    with pytest.raises(kt.ArgumentError, match="or smoothing is given with them"):
        arm.identify(motion, fit.base, smoothing=0.7)


def test_springs_are_in_the_robot(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    robot = arm.with_joint_physics(stiffness={"joint1": 30.0}, rest_position={"joint1": 0.3})
    q, v, a, _ = motion
    tau = robot.inverse_dynamics(q, v, a)
    fit = poor(arm).identify((q, v, a, tau), {**dict.fromkeys(TERMS), "stiffness": ["joint1"]})
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), tau, atol=1e-5)
    np.testing.assert_allclose(fit.robot.rest_positions, [0.0, 0.3, 0.0], atol=1e-7)
    with pytest.raises(kt.ArgumentError, match="'stribeck'"):
        fit.base.of(arm, {"stribeck": np.ones(3)})


def test_friction_that_falls_off_with_speed(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    sign = v / np.sqrt(v * v + 0.05**2)
    speed, height = np.array([0.3, 0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    tau = tau + height * sign / (1.0 + (v / speed) ** 2)
    fit = arm.identify((q, v, a, tau), [*TERMS, "stribeck"], stribeck_speed=speed)
    found = [fit.values[fit.base.names.index(f"stribeck of joint{k}")] for k in range(3)]
    np.testing.assert_allclose(found, height, rtol=1e-8)
    noisy = tau + 0.02 * np.random.default_rng(6).normal(size=tau.shape)
    fit = arm.identify((q, v, a, noisy), [*TERMS, "stribeck"])
    assert fit.stribeck_speed is not None
    assert fit.stribeck_std is not None
    np.testing.assert_array_less(np.abs(fit.stribeck_speed - speed), 4.0 * fit.stribeck_std)
    np.testing.assert_array_less(fit.stribeck_std, 0.1 * speed)
    errors = []
    for seed in range(12):
        noisy = tau + 0.2 * np.random.default_rng(seed).normal(size=tau.shape)
        fit = arm.identify((q, v, a, noisy), fit.base, bodies=None)
        assert fit.stribeck_speed is not None
        expected = np.append(fit.base.of(arm, {"stribeck": height, "offset": [0.3, 0.0, 0.0]}), speed)
        found, std = np.append(fit.values, fit.stribeck_speed), np.append(fit.std, fit.stribeck_std)  # type: ignore[arg-type]
        errors.append(((found - expected) / std)[np.isfinite(std)])
    assert np.square(np.concatenate(errors)).mean() < 1.4, "speeds that are estimated make the rest less certain"


def test_a_floating_base_tells_without_torque_sensors() -> None:
    robot = kt.Robot(
        random_tree(2, 3, [FreeFlyer(), Revolute(), Revolute((1, 0, 0))], shuffled=False, gravity=(0, 0, -9.81))
    )
    free = [k for k in range(robot.nv) if k not in robot.model.actuated]
    q, v, a = robot.random_state(0, 300)
    a[:, free] = 0.0
    bias = robot.inverse_dynamics(q, v, a)
    a[:, free] = -np.linalg.solve(robot.mass_matrix(q)[:, free][:, :, free], bias[:, free, None])[..., 0]
    tau = robot.inverse_dynamics(q, v, a)
    assert np.abs(tau[:, free]).max() < 1e-9
    fit = robot.with_inertial_parameters(1.2 * robot.inertial_parameters).identify((q, v, a, tau), [])
    np.testing.assert_allclose(fit.values, fit.base.of(robot), atol=1e-8 * np.abs(fit.values).max())


def test_what_cannot_be_known_by_itself_is_told(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    base = arm.base_parameters([])
    others = [k for k in range(len(base.all_names)) if k not in base.independent]
    lumped = next(base.all_names[k] for k in others if base.projection[:, k].any())
    for name, message in {
        "m of link0": "'m of link0' is not identifiable from any motion: it stays as this robot has it",
        lumped: f"'{lumped}' is identifiable only together with others, in '.* near this robot's, as the spread of",
        "m of arm": "no base parameter 'm of arm'",
    }.items():
        with pytest.raises(kt.ArgumentError, match=message):
            arm.identify(motion, base, known={name: 0.0})


def test_which_forces_are_measured_is_noted_in_each_motion(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    """A sensor that one motion lacks tells as much as the others do."""
    q, v, a, tau = motion
    noise = 0.1 * np.random.default_rng(0).normal(size=tau.shape)
    lacking = tau + noise
    lacking[:, 1] = np.nan
    fit = arm.identify([(q, v, a, lacking), (q, v, a, tau + noise)], TERMS)
    np.testing.assert_allclose(fit.noise, 0.1, rtol=0.2)
    lacking[0, 1] = 0.0
    with pytest.raises(kt.ArgumentError, match=r"tau\[1, 1\] is not finite.* NaN in all"):
        arm.identify((q, v, a, lacking), TERMS)
    with pytest.raises(kt.ArgumentError, match="tau is NaN throughout"):
        arm.identify((q, v, a, np.full_like(tau, np.nan)), TERMS)


def test_robots_without_inertias_are_a_prior_too() -> None:
    b = ModelBuilder("sticks")
    b.add_link("base")
    for i in range(2):
        b.add_link(f"link{i}")
        b.add_joint(f"joint{i}", parent=f"link{i - 1}" if i else "base", child=f"link{i}", joint=Revolute((0, 1, i)))
    sticks = kt.Robot(b.build())
    parameters = [p for i in range(2) for p in kt.Inertia(2.0 + i, [0.1, 0, 0.2], np.diag([0.1, 0.2, 0.2]))]
    real = sticks.with_inertial_parameters(parameters)
    q, v, a = real.random_state(0, 200)
    fit = sticks.identify((q, v, a, real.inverse_dynamics(q, v, a)), [])
    np.testing.assert_allclose(fit.robot.inverse_dynamics(q, v, a), real.inverse_dynamics(q, v, a), atol=1e-5)


def test_the_residual_shows_what_the_model_lacks(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    noise = np.random.default_rng(7).normal(size=tau.shape)
    fit = arm.identify((q, v, a, tau + noise), TERMS)
    residual = fit.validate((q, v, a, tau + noise))
    np.testing.assert_allclose(residual.rms, 1.0, rtol=0.15)
    assert (np.abs(residual.autocorrelation[0]) < 0.15).all()
    np.testing.assert_allclose(residual.relative, residual.rms / (tau + noise).std(axis=0))
    slow = tau + np.sin(np.linspace(0, 20, 400))[:, None]
    assert (arm.identify((q, v, a, slow), TERMS).validate((q, v, a, slow)).autocorrelation[0] > 0.5).all()


def test_a_log_that_is_wrong_is_refused(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    limited = arm.with_limits(lower=-3.2, upper=3.2)
    degrees = np.degrees(q[:, 0])
    wrong = {
        "positions of joint0 .* in degrees": (np.column_stack([degrees, q[:, 1:]]), v, a, tau),
        "forces of joint1 have the other sign": (q, v, a, tau * [1, -1, 1]),
        "forces of joint2 stay at their greatest": (q, v, a, np.minimum(tau, [1e9, 1e9, np.quantile(tau[:, 2], 0.9)])),
    }
    wrong["forces of joint1 never change"] = q, v, a, tau * [1, 0, 1]
    assert diagnose(limited, motion, TERMS) == diagnose(poor(arm), motion, TERMS) == ()
    for message, log in wrong.items():
        with pytest.raises(kt.ArgumentError, match=message):
            limited.identify(log, TERMS)
        assert len(diagnose(limited, log, TERMS).errors) == 1
        assert limited.identify(log, TERMS, check=False, bodies=None).count == 400


def test_forces_in_other_units_and_of_other_joints_are_named(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    base = arm.base_parameters(["armature", "damping", "friction"])
    with pytest.raises(kt.ArgumentError, match=r"times as large as those that this robot, .* are they in N·m"):
        arm.identify((q, v, a, 1000.0 * tau), base, bodies=None)
    with pytest.warns(LogWarning, match=r"do not explain the forces of joint2.* is an offset missing"):
        arm.identify((q, v, a, tau + 10.0 * tau[:, 2].std() * np.eye(3)[2]), base, bodies=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm.identify(motion, TERMS, bodies=None)


def test_signs_are_found_from_friction_and_from_other_joints(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    """Where friction is most of the force, and where nothing is known of the masses."""
    q, v, a, tau = motion
    stiff = tau + 10.0 * np.abs(tau).max() * np.sign(v)
    sticks = arm.with_inertial_parameters(np.zeros(30)).with_joint_physics(armature=0.0, damping=0.0, friction=0.0)
    noisy = tau + 0.1 * NOISE * np.random.default_rng(8).normal(size=tau.shape)
    assert diagnose(poor(arm), (q, v, a, stiff)).errors == diagnose(sticks, motion).errors == ()
    assert sticks.identify((q, v, a, noisy), TERMS, bodies=None).count == 400
    for k in range(3):
        sign = np.where(np.arange(3) == k, -1.0, 1.0)
        (found,) = diagnose(poor(arm), (q, v, a, stiff * sign)).errors
        assert (found.name, found.joints) == ("force_sign", (f"joint{k}",))
        if k != 0:  # joint 0 shares no body with the others
            with pytest.raises(kt.ArgumentError, match=r"joint[12] have the other sign"):
                sticks.identify((q, v, a, noisy * sign), TERMS)
    several = [
        Samples(q[:200], v[:200], a[:200], tau[:200]),
        Samples(q, v, a, tau + MORE, load=np.tile(MORE, (400, 1))),
    ]
    assert diagnose(arm, several, TERMS) == diagnose(arm, several[::-1], TERMS) == ()


def test_rates_in_degrees_and_joints_that_hardly_move(arm: kt.Robot) -> None:
    t = np.linspace(0.0, 4.0, 400)[:, None]
    w = np.array([2.0, 3.0, 4.0])
    q, v, a = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    tau, deg = arm.inverse_dynamics(q, v, a), np.array([1.0, 180.0 / np.pi, 1.0])
    assert diagnose(arm, (q, v, a, tau)) == ()
    for log, what, joints in [
        ((q, v * deg, a * deg, tau), "positions and velocities", "joint1"),
        ((q, v, a * deg, tau), "velocities and accelerations", "joint1"),
        ((q, np.degrees(v), np.degrees(a), tau), "positions and velocities", "joint0, joint1, joint2"),
    ]:
        assert str(diagnose(arm, log)[0]) == f"the {what} of {joints} do not go together: are some in degrees?"
    (turned,) = diagnose(arm, (q * [1.0, -1.0, 1.0], v, a, tau)).errors[:1]
    assert (turned.name, turned.joints) == ("rates", ("joint1",))
    jitter = 1e-3 * np.random.default_rng(0).normal(size=400)
    v[:, 0] = a[:, 0] = jitter
    (found,) = diagnose(arm, (q, v, a, tau))
    assert (found.name, found.severity, found.joints) == ("still", "warning", ("joint0",))


def test_what_is_refused(arm: kt.Robot, motion: tuple[Array, ...]) -> None:
    q, v, a, tau = motion
    for choice, message in [
        ({"known": {"damping": 0.0}}, "damping of joint0"),
        ({"known": {"damping of joint0": -1.0}}, "cannot be negative"),
        ({"known": {"damping of joint0": "0.1"}}, "is a number"),
        ({"known": ["damping of joint0"]}, "standard deviations by names"),
        ({"stribeck_speed": [1, 1, 1]}, 'without "stribeck"'),
        ({"by": "huber"}, r"by is 'huber', it must be an estimator, such as Robust\(\)"),
        ({"by": Robust}, "by is <class .*Robust'>, it must be an estimator"),
        ({"bodies": True}, r"bodies is True, it must be Bodies\(…\), or None"),
        ({"filter": {"cutoff": 5.0}}, r"filter is {'cutoff': 5.0}: write filter=kinetree.Filter\(…\)"),
        ({"terms": None}, r"terms is None: a list of joint terms is needed, \[\] for none"),
        ({"motor_constants": 3}, "motor_constants is 3: 'all', a list of joints"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            arm.identify(motion, **{"terms": TERMS, **choice})  # type: ignore[arg-type]
    for make, message in [
        (lambda: Robust(["huber"]), "loss is .'huber'., it must be 'huber' or 'cauchy'"),
        (lambda: kt.LeastSquares(correlated="no"), "correlated is 'no', it must be True or False"),
        (lambda: kt.OutputError(None), "simulate is None, it must be a function"),
        (lambda: kt.OutputError(len, steps="a"), "steps is 'a', it must be an integer ≥ 1"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            make()
    with pytest.raises(kt.ArgumentError, match="equations for"):
        arm.identify(tuple(x[:3] for x in motion), TERMS)
    with pytest.raises(kt.ArgumentError, match=r"v has shape"):
        arm.identify((q, v[:10], a, tau), TERMS)
    bad = tau.copy()
    bad[7, 1] = np.nan
    with pytest.raises(kt.ArgumentError, match=r"tau\[7, 1\] is not finite"):
        arm.identify((q, v, a, bad), TERMS)
    with pytest.raises(kt.ArgumentError, match="a log is"):
        arm.identify(3.0, TERMS)
    with pytest.raises(kt.ArgumentError, match="ndarray was given"):
        arm.identify([q, v, a, tau], TERMS)
    fit = arm.identify(motion, TERMS)
    with pytest.raises(kt.ArgumentError, match="Fit was given"):
        arm.identify(fit, TERMS)
    for old, new in {"residual": r"validate\(log\)", "untold": "unidentifiable"}.items():
        with pytest.raises(AttributeError, match=f"no attribute '{old}': it is {new}"):
            getattr(fit, old)
    for log in ([], tuple(x[:0] for x in motion), lambda: iter([])):
        with pytest.raises(kt.ArgumentError, match="the log has no samples"):
            arm.identify(log, TERMS)
    with pytest.raises(kt.ArgumentError, match="bounds are None: boxes or ellipsoids by names of links"):
        kt.identification.Bodies(bounds=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Bodies has no argument 'prior_spread'|no argument without a name"):
        kt.identification.Bodies(prior_spread=0.2)  # type: ignore[call-arg]
