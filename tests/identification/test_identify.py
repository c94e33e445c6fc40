"""Estimates beyond the contract of estimators: priors, bodies, terms, payloads, the robot that comes out, refusals."""

import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers import semidefinite
from helpers.sampling import few
from helpers.small_arm import NOISE, bare_arm, noisy, undescribed
from helpers.trees import random_tree, toy
from kinetree.identification import (
    Bodies,
    Generalised,
    Instrumental,
    LogWarning,
    OutputError,
    Robust,
    Samples,
    bodies,
    diagnose,
    prepare,
)
from kinetree.identification.checks.registry import repeated
from kinetree.identification.newton import pseudo_inertia
from kinetree.identification.validation import verdict
from kinetree.joints import FreeFlyer, Revolute

TERMS = ["armature", "damping", "friction", "offset"]
MORE = np.array([0.3, 0.0, 0.0])


@pytest.fixture(scope="module")
def pushed(motion):
    """Return the motion with 0.3 N·m more in joint 0."""
    return *motion[:3], motion[3] + MORE


def truth(arm, fit):
    return fit.base.of(arm, {"offset": MORE})


@pytest.mark.parametrize("loss", ["huber", "cauchy"])
def test_outliers(arm, pushed, loss):
    clean, dirty, base = [], [], arm.base_parameters(TERMS)
    choices = {"by": Robust(loss), "bodies": None, "check": False}
    for seed in range(20):
        *states, tau = noisy(pushed, seed)
        fit = arm.identify((*states, tau), base, **choices)
        clean.append((fit.values - truth(arm, fit)) / fit.std)
        log = *states, np.where(np.random.default_rng(seed + 100).random(tau.shape) < 0.05, tau + 100.0, tau)
        fit = arm.identify(log, base, **choices)
        dirty.append((fit.values - truth(arm, fit)) / fit.std)
        np.testing.assert_allclose(fit.noise, NOISE, rtol=0.3)
    assert abs(np.square(clean).mean() - 1.0) < 0.25
    assert np.square(dirty).mean() < 2.5
    plain = arm.identify(log, TERMS, bodies=None)
    assert np.abs(plain.values - truth(arm, plain)).max() > 3 * np.abs(fit.values - truth(arm, fit)).max()


def test_a_solver_of_cone_programmes_finds_the_same(poor, pushed, monkeypatch):
    log = tuple(x[:40] for x in noisy(pushed, 9, 5.0 * NOISE))
    ours = poor.identify(log, TERMS)
    monkeypatch.setattr(bodies, "newton", semidefinite.solve)
    theirs = poor.identify(log, TERMS)
    assert ours.gap < 1e-8
    assert theirs.gap < 1e-5
    apart = np.abs(ours.consistent_values - theirs.consistent_values)
    assert (apart < np.sqrt(2.0 * theirs.gap) * ours.std).all(), "what such a gap allows"
    np.testing.assert_allclose(ours.parameters, theirs.parameters, rtol=1e-3, atol=1e-4)
    assert np.abs(ours.consistent_values - ours.values).max() > 1e-3, "the estimate alone is not a set of bodies"


def test_noise_in_the_motion_bends_least_squares_alone(arm, pushed):
    rng, base = np.random.default_rng(0), arm.base_parameters(TERMS)
    errors = {"squares": [], "instruments": []}
    for seed in range(60):
        q, v, a, tau = noisy(pushed, seed)
        for name, choice in (("squares", {}), ("instruments", {"by": Instrumental(pushed)})):
            fit = arm.identify(
                (q, v, a + 0.7 * rng.normal(size=a.shape), tau), base, bodies=None, check=False, **choice
            )
            errors[name].append((fit.values - truth(arm, fit)) / fit.std)
    bias = {name: np.abs(np.mean(e, axis=0)).max() for name, e in errors.items()}
    assert bias["squares"] > 2.0
    assert bias["instruments"] < 4.0 / np.sqrt(60)
    assert abs(np.square(errors["instruments"]).mean() - 1.0) < 0.2
    for other in (tuple(x[:-1] for x in pushed), tuple(np.vstack([x, x]) for x in pushed)):
        with pytest.raises(kt.ArgumentError, match="samples"):
            arm.identify(pushed, base, by=Instrumental(other))


BOX = kt.Inertia(2.0, [0.1, 0, 0.2], np.diag([0.02, 0.03, 0.04]))
HELD = [[0, 1, 0, 0], [0, 0, 1, 0.3], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_a_payload():
    axes = (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0.6, 0.8)
    at = [np.eye(4) + np.outer([0.1 * i, 0.2, 0.3, 0.0], np.eye(4)[3]) for i in range(4)]
    joints = ((f"joint{i} link{i} link{i + 1}", Revolute(axes[i]), {"placement": at[i]}) for i in range(4))
    arm = kt.Robot(toy(*joints, links=dict.fromkeys((f"link{i}" for i in range(5)), BOX)))
    arm = arm.with_frame("hand", on="link4", placement=HELD)
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


def test_a_payload_that_few_joints_tell_in_part(arm, motion):
    q, v, a, _ = motion
    hand = arm.body_names[-1]
    tau = arm.attach(BOX, hand).inverse_dynamics(q, v, a)
    found = arm.identify_payload((q, v, a, tau), hand)
    assert np.isinf(found.std).any()
    assert len(str(found).splitlines()) == 11, "a row for each of the ten"
    np.testing.assert_allclose(arm.attach(found.inertia, hand).inverse_dynamics(q, v, a), tau, atol=1e-5)
    with pytest.raises(kt.ArgumentError, match="'base' does not move"):
        arm.identify_payload(motion, "base")


def test_what_the_data_do_not_tell(arm, motion):
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


def test_what_is_known_before_keeps_its_bound(arm, pushed):
    log, name = noisy(pushed, 3), "damping of joint0"
    free = arm.identify(log, TERMS)
    k = free.base.names.index(name)
    frictionless = arm.with_joint_physics(damping=0.0).identify(log, TERMS, known={name: 0.0})
    assert 0.0 <= frictionless.consistent_values[k] < 0.01 * free.std[k]


def test_what_is_not_estimated_counts(arm, motion):
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


def test_joints_that_stand_do_not_make_residuals_alike(arm, motion):
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


def test_the_speed_around_which_friction_changes_its_sign(arm, motion):
    q, v, a, _ = motion
    tau = arm.with_friction(smoothing=0.7).inverse_dynamics(q, v, a)
    fit = undescribed(arm).identify((q, v, a, tau), TERMS, smoothing=0.7)
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-9 * np.abs(fit.values).max())
    with pytest.raises(kt.ArgumentError, match="or smoothing is given with them"):
        arm.identify(motion, fit.base, smoothing=0.7)


def test_friction_that_falls_off_with_speed(arm, pushed):
    q, v, a, tau = pushed
    sign = v / np.sqrt(v * v + 0.05**2)
    speed, height = np.array([0.3, 0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    tau = tau + height * sign / (1.0 + (v / speed) ** 2)
    fit = arm.identify((q, v, a, tau), [*TERMS, "stribeck"], stribeck_speed=speed)
    found = [fit.values[fit.base.names.index(f"stribeck of joint{k}")] for k in range(3)]
    np.testing.assert_allclose(found, height, rtol=1e-8)
    noisy = tau + 0.02 * np.random.default_rng(6).normal(size=tau.shape)
    fit = arm.identify((q, v, a, noisy), [*TERMS, "stribeck"])
    np.testing.assert_array_less(np.abs(fit.stribeck_speed - speed), 4.0 * fit.stribeck_std)
    np.testing.assert_array_less(fit.stribeck_std, 0.1 * speed)
    errors = []
    for seed in range(12):
        noisy = tau + 0.2 * np.random.default_rng(seed).normal(size=tau.shape)
        fit = arm.identify((q, v, a, noisy), fit.base, bodies=None)
        expected = np.append(fit.base.of(arm, {"stribeck": height, "offset": [0.3, 0.0, 0.0]}), speed)
        found, std = np.append(fit.values, fit.stribeck_speed), np.append(fit.std, fit.stribeck_std)
        errors.append(((found - expected) / std)[np.isfinite(std)])
    assert np.square(np.concatenate(errors)).mean() < 1.4, "speeds that are estimated make the rest less certain"


def test_what_cannot_be_known_by_itself_is_told(arm, motion):
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


def test_which_forces_are_measured_is_noted_in_each_motion(arm, motion):
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


@pytest.mark.parametrize("inertias", ["none", "points"])
def test_robots_without_inertias_are_a_prior_too(arm, motion, inertias):
    bodies = np.zeros((3, 10))
    bodies[:, 0] = 2.0 * (inertias == "points")
    log = noisy(motion, 0, 0.1)
    fit = arm.with_inertial_parameters(bodies.ravel()).identify(log, TERMS[:3])
    bound, free = (fit.validate(log, consistent=c).rms for c in (True, False))
    assert (bound < 1.15 * free).all()


# -- The robot that comes out -----------------------------------------------------------------------------------------


def test_a_spring_rests_where_it_did(arm, poor, motion):
    sprung = arm.with_joint_physics(stiffness={"joint1": 30.0}, rest_position={"joint1": 0.3})
    states, terms = motion[:3], {**dict.fromkeys(TERMS), "stiffness": ["joint1"]}
    tau = sprung.inverse_dynamics(*states)
    fit = poor.identify((*states, tau), terms)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(*states), tau, atol=1e-5)
    np.testing.assert_allclose(fit.robot.rest_positions, [0.0, 0.3, 0.0], atol=1e-7)
    with pytest.raises(kt.ArgumentError, match="'stribeck'"):
        fit.base.of(arm, {"stribeck": np.ones(3)})
    alone = sprung.identify((*states, tau), {"stiffness": ["joint1"]})
    np.testing.assert_allclose(alone.values[-1], 30.0)
    np.testing.assert_allclose(alone.robot.rest_positions, [0.0, 0.3, 0.0])
    softer = sprung.with_joint_physics(stiffness=20.0, rest_position={"joint0": 0.2, "joint1": 0.5})
    tau = softer.inverse_dynamics(*states)
    fit = sprung.identify((*states, tau), [*TERMS, "stiffness"])
    np.testing.assert_allclose(fit.values, fit.base.of(softer), atol=1e-9)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(*states), tau, atol=1e-5)


def test_friction_that_did_not_count_does_not_come_in(arm, motion):
    still = arm.with_friction(damping=False, coulomb=False).with_joint_physics(damping=5.0)
    fit = still.identify(noisy(motion, 0), {"damping": ["joint0"]}, check=False)
    np.testing.assert_allclose(fit.robot.inverse_dynamics(*motion[:3]), fit.predict(*motion[:3]), atol=1e-8)
    assert fit.robot.damping[1] == 0.0


def test_what_is_fixed_is_so_in_the_robot(poor, motion):
    base = poor.base_parameters(["damping"])
    first, tight = base.names[:2]
    fit = poor.identify(noisy(motion, 1, 5.0), base, known={first: 0.0, tight: 1e-6}, check=False)
    np.testing.assert_allclose(fit.consistent_values[:2], base.of()[:2], atol=1e-5)
    assert np.abs(fit.consistent_values - base.of())[2:].max() > 0.1


def test_forces_that_no_bodies_have(arm, poor, motion):
    q, v, a, tau = noisy(motion, 0)
    with pytest.warns(LogWarning, match="less well than the estimates alone"):
        arm.identify((q, v, a, tau - a * [0.0, 2.0, 0.0]), TERMS[1:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poor.identify((q, v, a, tau), TERMS)


def test_motions_are_known_again(arm, motion):
    """A tuple of as many as a motion has arrays; those without forces are not the same."""
    parts = tuple(tuple(x[k : k + 100] for x in motion) for k in range(0, 400, 100))
    whole, several = arm.identify(motion, TERMS), arm.identify(parts, TERMS)
    np.testing.assert_allclose(several.values, whole.values, rtol=1e-9, atol=1e-11)
    with pytest.raises(kt.ArgumentError, match="motion 3 is motion 1 once more"):
        arm.identify([parts[0], parts[1], parts[0]], TERMS)
    for log in ([motion], (motion,), [(motion,)], ((motion,),), [[motion]], lambda: motion, [lambda: [motion]]):
        np.testing.assert_array_equal(arm.identify(log, TERMS).values, whole.values)
    none = *motion[:3], np.where([True, False, False], np.nan, 0.0 * motion[3])
    assert repeated([none, none]) == []
    assert repeated([motion, motion]) == [(2, 1)]
    path = kt.Trajectory(arm, np.arange(400.0), *motion)
    np.testing.assert_array_equal(arm.identify(path, TERMS).values, whole.values)


def test_an_iterator_tells_how_noise_is_correlated(arm, motion):
    q, v, a, tau = noisy(motion, 0, 0.1)
    slow = q, v, a, tau + np.sin(np.linspace(0, 20, 400))[:, None]
    listed, once = arm.identify([slow], TERMS), arm.identify(iter([slow]), TERMS)
    assert listed.correlation_time.min() > 3.0
    np.testing.assert_array_equal(once.std, listed.std)
    with pytest.raises(kt.ArgumentError, match="other sign"):
        arm.identify(iter([(q, v, a, -tau)]), TERMS)


def test_a_base_in_the_air_does_not_make_all_masses_zero():
    """Equations without a force are fulfilled best by a robot without mass, if noise is in the motion."""
    joints, free = [FreeFlyer(), Revolute((0, 0, 1)), Revolute((0, 1, 0))], slice(6)
    robot = kt.Robot(random_tree(1, 3, joints, armature=False, shuffled=False, fixed_links=False))
    q, v, a = robot.random_state(0, 200)
    a[:, free] = 0.0
    bias = robot.inverse_dynamics(q, v, a)
    a[:, free] = -np.linalg.solve(robot.mass_matrix(q)[:, free, free], bias[:, free, None])[..., 0]
    rng = np.random.default_rng(0)
    tau = robot.inverse_dynamics(q, v, a) + 0.05 * rng.normal(size=v.shape)
    tau[:, free] = 0.0
    log, base = (q, v + 0.01 * rng.normal(size=v.shape), a, tau), robot.base_parameters()
    for choice in ({}, {"by": Generalised()}, {"by": Robust("huber")}):
        fit = robot.identify(log, base, bodies=None, **choice)
        np.testing.assert_allclose(fit.values[0], base.of()[0], rtol=0.1)
    found = fit.validate(log, consistent=False)
    assert np.isfinite(found.relative[6:]).all()
    assert "–" not in verdict(fit, found, found)[0]


def test_friction_that_is_known_slides_as_the_samples_say(motion):
    arm, (q, v, a, _) = bare_arm(), motion
    rubbing, held = arm.with_joint_physics(friction=2.0).with_friction(), kt.Inertia(1.0, [0, 0, 0.1], 0.1 * np.eye(3))
    direction = np.random.default_rng(0).uniform(-1.0, 1.0, size=v.shape)
    samples = Samples(q, v, a, arm.inverse_dynamics(q, v, a) + 2.0 * direction, direction=direction)
    fit = rubbing.identify(samples, [])
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-8)
    more = samples._replace(tau=arm.attach(held, "link2").inverse_dynamics(q, v, a) + 2.0 * direction)
    assert rubbing.identify_payload(more, "link2").noise.max() < 1e-9


def test_filtered_friction_is_as_sure_as_it_says():
    """Noise of encoders does not choose the cut-off, and turning round is filtered as the forces are."""
    arm = bare_arm()
    real = arm.with_joint_physics(damping=1.0, friction=2.0).with_friction(smoothing=0.05)
    base = arm.base_parameters(["damping", "friction"], smoothing=0.05)
    t = np.arange(0.0, 20.0, 2e-3)
    w = 0.6 * np.outer(np.arange(1, 6), np.ones(3))
    c, s = np.random.default_rng(3).normal(size=(2, 5, 3)) / w
    angle = t[:, None, None] * w
    q, v, a = (
        (w**k * (c * np.sin(angle + k * np.pi / 2) + s * np.cos(angle + k * np.pi / 2))).sum(axis=1) for k in range(3)
    )
    tau, errors = real.inverse_dynamics(q, v, a), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rough = q + 1e-4 * rng.normal(size=q.shape), tau + 0.5 * rng.normal(size=q.shape)
        samples = prepare(arm, t, *rough, filter=kt.Filter(smoothing=0.05))
        fit = arm.identify(samples, base, bodies=None)
        errors.append((fit.values - base.of(real)) / fit.std)
    assert 50 < len(np.asarray(samples.t)) < 500
    assert np.abs(np.mean(errors, axis=0)).max() < 2.0, "standard deviations; without the filter it is more than ten"
    assert np.square(errors).mean() < 1.5
    with pytest.raises(kt.ArgumentError, match=r"prepared with smoothing=0\.05, and 0\.001"):
        arm.identify(samples, ["friction"])


# -- Whole robots -----------------------------------------------------------------------------------------------------


def test_a_dog_whose_base_no_motor_moves():
    """Its base moves as its legs and known forces on its body make it."""
    dog = kt.load("go2")
    q, v, a = dog.random_state(0, 400)
    f_ext = np.zeros((len(q), dog.nb, 6))
    f_ext[:, 0] = dog.inverse_dynamics(q, v, a)[:, :6]  # what its base needs, in the axes of its body
    tau = dog.inverse_dynamics(q, v, a, f_ext)
    assert np.abs(tau[:, :6]).max() < 1e-9
    poorer = dog.with_inertial_parameters(1.2 * dog.inertial_parameters)
    base = poorer.base_parameters([])
    expected = base.of(dog)
    for forces in (tau, np.where(np.arange(dog.nv) < 6, tau, np.nan)):
        fit = poorer.identify(Samples(q, v, a, forces, f_ext), base)
        np.testing.assert_allclose(fit.values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.fixture(scope="module")
def panda():
    physics = {"armature": 0.3, "damping": 1.0, "friction": 0.5}
    return kt.load("panda").with_joint_physics(**physics).with_friction(smoothing=0.05)


@pytest.mark.parametrize("seed", few(range(200), 5))
def test_estimates_of_all_repetitions_are_bodies(panda, seed):
    """And no worse on another motion than the estimates alone."""
    q, v, a = panda.random_state(0, 300)
    tau = panda.inverse_dynamics(q, v, a)
    noise, rng = 0.05 * tau.std(axis=0), np.random.default_rng(seed)
    tau = tau + noise * rng.normal(size=tau.shape)
    train, test = (tuple(x[part] for x in (q, v, a, tau)) for part in (slice(200), slice(200, 300)))
    fit = undescribed(panda).identify(train, TERMS[:3])
    J = pseudo_inertia(fit.parameters[: 10 * panda.nb].reshape(-1, 10))
    assert np.linalg.eigvalsh(J).min() > 0.0
    assert (fit.parameters[10 * panda.nb :] > 0.0).all()
    bound, free = (np.linalg.norm(fit.validate(test, consistent=c).rms / noise) for c in (True, False))
    assert bound < 1.02 * free


# -- Refusals ---------------------------------------------------------------------------------------------------------


def test_a_log_that_is_wrong_is_refused(arm, poor, pushed):
    q, v, a, tau = pushed
    limited = arm.with_limits(lower=-3.2, upper=3.2)
    wrong = {
        "positions of joint0 .* in degrees": (np.column_stack([np.degrees(q[:, 0]), q[:, 1:]]), v, a, tau),
        "forces of joint1 have the other sign": (q, v, a, tau * [1, -1, 1]),
        "forces of joint2 stay at their greatest": (q, v, a, np.minimum(tau, [1e9, 1e9, np.quantile(tau[:, 2], 0.9)])),
        "forces of joint1 never change": (q, v, a, tau * [1, 0, 1]),
    }
    assert diagnose(limited, pushed, TERMS) == diagnose(poor, pushed, TERMS) == ()
    for message, log in wrong.items():
        with pytest.raises(kt.ArgumentError, match=message):
            limited.identify(log, TERMS)
        assert len(diagnose(limited, log, TERMS).errors) == 1
        assert limited.identify(log, TERMS, check=False, bodies=None).count == 400


def test_signs_are_found_from_friction_and_from_other_joints(arm, motion):
    """Where friction is most of the force, and where nothing is known of the masses."""
    q, v, a, tau = motion
    stiff = tau + 10.0 * np.abs(tau).max() * np.sign(v)
    sticks = arm.with_inertial_parameters(np.zeros(30)).with_joint_physics(armature=0.0, damping=0.0, friction=0.0)
    noisy = tau + 0.1 * NOISE * np.random.default_rng(8).normal(size=tau.shape)
    assert diagnose(undescribed(arm), (q, v, a, stiff)).errors == diagnose(sticks, motion).errors == ()
    assert sticks.identify((q, v, a, noisy), TERMS, bodies=None).count == 400
    for k in range(3):
        sign = np.where(np.arange(3) == k, -1.0, 1.0)
        (found,) = diagnose(undescribed(arm), (q, v, a, stiff * sign)).errors
        assert (found.name, found.joints) == ("force_sign", (f"joint{k}",))
        if k != 0:  # joint 0 shares no body with the others
            with pytest.raises(kt.ArgumentError, match=r"joint[12] have the other sign"):
                sticks.identify((q, v, a, noisy * sign), TERMS)
    several = [
        Samples(q[:200], v[:200], a[:200], tau[:200]),
        Samples(q, v, a, tau + MORE, load=np.tile(MORE, (400, 1))),
    ]
    assert diagnose(arm, several, TERMS) == diagnose(arm, several[::-1], TERMS) == ()


def test_rates_in_degrees_and_joints_that_hardly_move(arm):
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


def test_what_is_refused(arm, motion):
    q, v, a, tau = motion
    bad = np.where(np.indices(tau.shape).sum(axis=0) == 0, np.nan, tau)
    fit, none = arm.identify(motion, TERMS), tuple(x[:0] for x in motion)
    massless, silent = undescribed(arm).with_inertial_parameters(np.zeros(30)), (*motion[:3], 0.0 * tau)
    rock = kt.load("<robot name='rock'><link name='stone'/></robot>")
    identify, hand = arm.identify, arm.body_names[-1]
    for call, message in [
        *(
            (lambda choice=choice: identify(motion, **{"terms": TERMS, **choice}), message)
            for choice, message in [
                ({"known": {"damping": 0.0}}, "damping of joint0"),
                ({"stribeck_speed": [1, 1, 1]}, 'without "stribeck"'),
                ({"by": Robust}, "by is <class .*Robust'>, it must be an estimator"),
                ({"terms": {"own": lambda q, v, a: [1.0 / (v[0] - v[0]), 0.0, 0.0]}}, "not finite at some sample"),
            ]
        ),
        *(
            (lambda log=log: identify(log, TERMS), message)
            for log, message in [
                (tuple(x[:3] for x in motion), "equations for"),
                (3.0, "a log is"),
                ([q, v, a, tau], "ndarray was given"),
                ((q, v, tau), "a motion is four arrays, .* 3 were given"),
                ("log.csv", "'log.csv' is a path: read it by .*read_log"),
                (fit, "Fit was given"),
                ([], "the log has no samples"),
                (none, "the log has no samples"),
                (lambda: iter([]), "the log has no samples"),
            ]
        ),
        (lambda: identify((q, v, a, bad), [], by=OutputError(lambda robot: motion)), r"tau\[0, 0\] is not finite"),
        (lambda: rock.identify((np.zeros((5, 0)),) * 4, []), "no joint"),
        (lambda: fit.validate([]), "has no samples"),
        (lambda: arm.base_parameters().of(kt.load("ur5")), "has not the bodies"),
        (lambda: arm.identify_payload(tuple(x[:1] for x in motion), hand), "1 samples are too few for a payload"),
        (lambda: fit.residual, r"no attribute 'residual': it is validate\(log\)"),
        (lambda: fit.untold, "no attribute 'untold': it is unidentifiable"),
        (lambda: Bodies(prior_spread=0.2), r"Bodies has no argument 'prior_spread'|no argument without a name"),
    ]:
        with pytest.raises((kt.ArgumentError, AttributeError, TypeError), match=message):
            call()
    np.testing.assert_array_equal(massless.identify(silent, [], check=False).values, 0.0)
    for few_of, call in ((5, lambda log: identify(log, [])), (8, lambda log: arm.identify_payload(log, hand))):
        with pytest.warns(LogWarning, match=f"{few_of} samples are too few"):
            call(tuple(x[:few_of] for x in motion))
