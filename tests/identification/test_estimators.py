"""Every estimator by one table: exact, as uncertain as it says, with priors, zero forces, joints that stand still.

Then what single ones promise: noise that joints share, and noise in the motion itself.
"""

import numpy as np
import pytest

import kinetree as kt
from helpers.small_arm import NOISE, bare_arm, noisy
from helpers.trees import random_tree
from kinetree.identification import Generalised, Instrumental, LeastSquares, OutputError, Robust, Samples
from kinetree.identification.estimators import ESTIMATORS
from kinetree.identification.estimators.contract import Solution, solve
from kinetree.identification.newton import pseudo_inertia
from kinetree.joints import FreeFlyer, Revolute

TABLE = {
    "by joints": lambda motion: LeastSquares(),
    "all alike": lambda motion: LeastSquares(None),
    "Huber": lambda motion: Robust("huber"),
    "Cauchy": lambda motion: Robust("cauchy"),
    "covariance": lambda motion: Generalised(),
    "instruments": Instrumental,
}
"""By the motion without noise. `OutputError` needs a simulation: it is in test_noise.py."""
TERMS = ["armature", "damping", "friction"]
every = pytest.mark.parametrize("name", TABLE)


def test_the_table_has_all():
    assert {type(make(())).__name__ for make in TABLE.values()} | {"OutputError"} == {*ESTIMATORS.values()}


@every
def test_exact_data(arm, motion, name):
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
def test_error_bars(arm, motion, name):
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
def test_what_is_known_before(arm, motion, name):
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
def test_joints_that_stand_have_no_equations(arm, motion, name):
    """Each joint moves while others stand, held by friction that nobody knows."""
    q, v, a, _ = (x.copy() for x in motion)
    standing = np.random.default_rng(10).random(v.shape) < 0.5
    v[standing] = a[standing] = 0.0
    held = np.where(standing, np.random.default_rng(11).normal(size=v.shape) * 20.0, 0.0)
    log = Samples(q, v, a, arm.inverse_dynamics(q, v, a) + held, standing=standing)
    fit = arm.identify(log, TERMS, by=TABLE[name](log), check=False)
    np.testing.assert_allclose(fit.values, fit.base.of(arm), atol=1e-8 * np.abs(fit.values).max())


@pytest.fixture(scope="module")
def flying():
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
def test_zero_forces_and_joints_that_are_not_measured(flying, name):
    robot, log = flying
    fit = robot.with_inertial_parameters(1.2 * robot.inertial_parameters).identify(log, [], by=TABLE[name](log))
    told = np.isfinite(fit.std)
    assert told.sum() >= 17, "all but those of a joint that the base does not carry"
    np.testing.assert_allclose(fit.values[told], fit.base.of(robot)[told], atol=1e-6 * np.abs(fit.values).max())
    np.testing.assert_array_equal(np.isnan(fit.noise), np.isnan(np.asarray(log.tau)[0]))
    noise = np.where(np.isnan(fit.noise), np.nan, 0.1)
    noisy = log._replace(tau=log.tau + noise * np.random.default_rng(0).normal(size=log.tau.shape))
    fit = robot.identify(noisy, ["damping"], by=TABLE[name](log))
    np.testing.assert_allclose(fit.noise, noise, rtol=0.3)
    assert [x for x in fit.unidentifiable if "damping" in x] == [x for x in fit.base.names if "damping" in x] != []


@every
@pytest.mark.parametrize("known", [True, False])
def test_what_a_lost_joint_alone_would_tell_stays(known, name):
    """Some columns are rounding in the equations of the other joints: these do not count as data."""
    rng, ur5 = np.random.default_rng(0), kt.load("ur5")
    robot = ur5.with_joint_physics(armature=0.5, damping=2.0, friction=1.0) if known else ur5
    real = robot.with_inertial_parameters(robot.inertial_parameters * np.repeat(rng.uniform(0.8, 1.2, 6), 10))
    real = real.with_joint_physics(armature=0.7, damping=3.0, friction=1.5).with_friction()
    q, v, a = robot.random_state(0, 400)
    tau = real.inverse_dynamics(q, v, a) + 0.3 * rng.normal(size=v.shape)
    base, before = robot.base_parameters(TERMS), robot.base_parameters(TERMS).all_parameters()
    for k in range(robot.nv):
        log = Samples(q, v, a, np.where(np.arange(robot.nv) == k, np.nan, tau))
        fit = robot.identify(log, base, by=TABLE[name](log), check=False)
        told = np.isfinite(fit.std)
        assert np.abs((fit.values - base.of(real))[told] / fit.std[told]).max() < 4.0
        own = [i for i, what in enumerate(base.names) if what.endswith(f" of {robot.v_names[k]}")]
        assert not told[own].any()
        np.testing.assert_array_equal(fit.values[own], base.of()[own])
        places = [base.places[term, k] for term in TERMS]
        np.testing.assert_array_equal(fit.parameters[places], before[places])


@every
def test_an_iterator_is_enough_where_nothing_reads_again(arm, motion, name):
    by, base = TABLE[name](motion), arm.base_parameters(TERMS)
    if by.reads_again:
        with pytest.raises(kt.ArgumentError, match=f"{type(by).__name__} or .* give a list"):
            arm.identify(iter([motion]), base, by=by)
    else:
        assert arm.identify(iter([motion]), base, by=by, bodies=None).count == 400


class Plain:
    """Least squares with noise of one, and no more."""

    reads_again, exact_motion = False, True

    def fit(self, equations, prior):
        one = np.ones(len(equations.factors.R))
        A, b = equations.factors.stacked(one)
        values, covariance, null = solve(A, b, prior)
        return Solution(values, covariance, one, null, A, one)


def test_an_estimator_from_outside(arm, motion):
    log, base = noisy(motion, 0), arm.base_parameters(TERMS)
    fit = arm.identify(log, base, by=Plain())
    Y = base.regressor(*log[:3]).reshape(-1, base.dimension)
    np.testing.assert_allclose(fit.values, np.linalg.lstsq(Y, log[3].ravel(), rcond=None)[0], rtol=1e-6, atol=1e-8)
    motors = arm.identify(motion, base, by=Plain(), motor_constants=["joint0"], known={"damping of joint0": 0.0})
    np.testing.assert_allclose(motors.motor_constants.values, 1.0, rtol=1e-9)


# -- Noise that joints share, and a simulation in closed loop ----------------------------------------------------------


@pytest.fixture(scope="module")
def loose():
    """Return the arm without rotors."""
    physics = {"damping": [0.5, 1.0, 0.2], "friction": [2.0, 1.0, 0.5]}
    return bare_arm().with_joint_physics(**physics).with_friction(smoothing=0.05)


def test_noise_that_joints_share(loose):
    """The Cramér–Rao bound of correlated noise is reached; weights by joints are less certain."""
    q, v, a = loose.random_state(0, 200)
    tau, base = loose.inverse_dynamics(q, v, a), loose.base_parameters(TERMS[1:])
    root = np.array([[1.0, 0.0, 0.0], [0.9, 0.2, 0.0], [2.0, 0.3, 0.1]])
    W, Y = np.linalg.inv(root @ root.T), base.regressor(q, v, a)
    bound = np.linalg.inv(np.einsum("nki,kl,nlj->ij", Y, W, Y))
    errors = {Generalised(): [], LeastSquares(): []}
    spread = []
    for seed in range(40):
        log = q, v, a, tau + np.random.default_rng(seed).normal(size=tau.shape) @ root.T
        for by, own in errors.items():
            fit = loose.identify(log, base, by=by, bodies=None, check=False)
            own.append(fit.values - base.of(loose))
            if by == Generalised():
                spread.append(fit.std**2 / np.diag(bound))
                np.testing.assert_allclose(fit.noise, np.linalg.norm(root, axis=1), rtol=0.2)
    np.testing.assert_allclose(np.mean(spread, axis=0), 1.0, rtol=0.1)
    shared, single = (float((np.square(e) / np.diag(bound)).mean()) for e in errors.values())
    assert abs(shared - 1.0) < 0.15
    assert single > 2.0
    body = loose.identify(log, base, by=Generalised()).parameters[:30]
    assert np.linalg.eigvalsh(pseudo_inertia(body.reshape(-1, 10))).min() > 0.0


@pytest.fixture(scope="module")
def simulate(loose):
    """Return the simulation of the arm's kinematics with a robot's numbers, under one controller."""

    @loose.compile(shapes={"gains": (3,)})
    def controller(q, v, t: float, gains):
        error = [np.sin(1.0 + w * t) - x for w, x in zip((4.0, 6.0, 5.0), q, strict=True)]
        return np.array([k * (e - 0.05 * x) for k, e, x in zip(gains, error, v, strict=True)])

    def motion(robot: kt.Robot) -> kt.Trajectory:
        bodies = zip(robot.body_names, robot.inertial_parameters.reshape(-1, 10), strict=True)
        numbers = {kt.body_inertia(name): ten for name, ten in bodies}
        numbers |= {kt.joint_damping: robot.damping, kt.joint_friction: robot.friction}
        start = {"q": np.full(3, 0.8), "v": np.zeros(3), "duration": 2.0, "dt": 2e-3}
        inputs = numbers | {"gains": np.array([3000.0, 3000.0, 3000.0])}
        return loose.simulate(controller=controller, inputs=inputs, record=kt.Record("q v a tau", every=5), **start)

    return motion


def test_motions_with_noise_in_closed_loop(loose, simulate):
    """Output error and instruments are right where least squares are not."""
    base, real = loose.base_parameters(TERMS[1:]), simulate(loose)
    heavier = loose.with_inertial_parameters(1.2 * loose.inertial_parameters).with_joint_physics(
        damping=0.1, friction=0.1
    )
    start = heavier.base_parameters(TERMS[1:])
    exact = heavier.identify(real, start, by=OutputError(simulate, steps=10))
    np.testing.assert_allclose(exact.predict(real.q, real.v, real.a), real.tau, atol=1e-3 * np.abs(real.tau).max())
    rng = np.random.default_rng(0)
    errors = {"squares": [], "output error": [], "instruments": []}
    for _ in range(4):
        a = real.a + 0.3 * real.a.std() * rng.normal(size=real.a.shape)
        log = real.q, real.v + 0.01 * rng.normal(size=a.shape), a, real.tau + rng.normal(size=a.shape)
        for name, own in errors.items():
            if name == "squares":
                fit = loose.identify(log, base)
            else:
                fit = heavier.identify(log, start, by=OutputError(simulate, name == "instruments"), check=False)
            own.append((fit.values - base.of(loose)) / fit.std)
    bias = {name: np.abs(np.mean(e, axis=0)).max() for name, e in errors.items()}
    assert bias["squares"] > 5.0
    assert max(bias["output error"], bias["instruments"]) < 4.0 / np.sqrt(4)


def test_forces_that_were_not_measured_in_closed_loop(loose, simulate):
    real, heavier = simulate(loose), loose.with_inertial_parameters(1.1 * loose.inertial_parameters)
    tau = np.where([True, True, False], real.tau, np.nan)
    fit = heavier.identify((real.q, real.v, real.a, tau), TERMS[1:], by=OutputError(simulate))
    assert np.isnan(fit.noise).tolist() == [False, False, True]
    error = np.abs(fit.predict(real.q, real.v, real.a) - real.tau).max(axis=0)
    assert (error < 1e-3 * np.abs(real.tau).max(axis=0))[:2].all()


def test_what_a_closed_loop_refuses(loose, simulate):
    real = simulate(loose)
    poor = loose.with_joint_physics(damping=0.1)
    nan = real.q, real.v, np.nan * real.a, real.tau
    for log, choice, terms, message in [
        (iter([real]), {}, TERMS[1:], "OutputError .*give a list"),
        ([real[:100], real[100:]], {}, TERMS[1:], "1 motions for the 2"),
        (real[:50], {}, TERMS[1:], "simulate returned q of shape"),
        (real, {"simulate": lambda robot: nan}, TERMS[1:], "not finite"),
        (real, {}, ["offset"], "'offset' cannot be simulated"),
        (real, {}, ["stribeck"], "simulated without loops, motor constants"),
        (real, {"steps": 1}, TERMS[1:], "still move after 1"),
    ]:
        with pytest.raises(kt.KinetreeError, match=message):
            poor.identify(log, terms, by=OutputError(**{"simulate": simulate, **choice}))
