"""Identification on clocks as real logs have them: stamps taken and received, lost, doubled and quantised samples.

What is covered is counted over a few logs of each clock, by a seed, or over many of each with KINETREE_TEST_ALL=1.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.arm_logs import Conditions, recorded, true_robot
from helpers.clocks import AT, CLOCKS, autocorrelation
from helpers.sampling import ALL
from kinetree.identification import LogWarning, Samples, prepare
from kinetree.identification.estimators.contract import integrated_times

TERMS = ["armature", "damping", "friction"]
LOGS = {
    "taken": Conditions(encoder=2e-5),
    "received": Conditions(encoder=2e-5, stamps="received"),
    "missing": Conditions(encoder=2e-5, lost=0.1),
    "doubled": Conditions(encoder=2e-5, stamps="received", lost=0.02, doubled=0.03),
    "quantised": Conditions(encoder=1e-4, quantum=0.05),
    "coloured": Conditions(encoder=2e-5, coloured=0.03, lasting=0.05),
    "points": Conditions(encoder=2e-5, motion="points"),
    "turns": Conditions(encoder=2e-5, motion="turns"),
}


@pytest.fixture(scope="module")
def arm():
    return kt.load("ur5")


@pytest.fixture(scope="module")
def base(arm):
    return arm.base_parameters(TERMS)


def log(arm, clock, kind, seed):
    real = true_robot(arm, seed)
    return real, *recorded(real, replace(LOGS[kind], clock=clock), seed)


def quietly(*arguments, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LogWarning)
        return prepare(*arguments, **choices)


@pytest.mark.parametrize("clock", CLOCKS)
def test_clocks_are_as_they_were_measured(clock):
    measured = CLOCKS[clock]
    steps = 1e3 * np.diff(measured.stamps(5000, 0))
    np.testing.assert_allclose(np.quantile(steps, AT[:-1]), measured.quantiles[:-1], atol=0.02)
    assert steps.mean() == pytest.approx(measured.mean, abs=2e-3)
    np.testing.assert_allclose(autocorrelation(steps), measured.correlation, atol=0.04)


@pytest.mark.parametrize("kind", ["taken", "received", "missing", "doubled", "quantised"])
@pytest.mark.parametrize("clock", CLOCKS)
def test_the_cutoff_is_that_of_the_motion(arm, clock, kind):
    """Of harmonics of 0.25 to 1 Hz, whatever the clock does; and forces of later samples are as on an even clock."""
    for seed in range(3):
        _, t, q, tau = log(arm, clock, kind, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", LogWarning)
            samples = prepare(arm, t, q, tau)
        assert 1.5 < samples.cutoff.frequency < 8.0
        assert samples.cutoff.rate == pytest.approx(1e3 / CLOCKS[clock].mean, rel=0.05)


def test_the_cutoff_is_printed_and_doubted_above_half_of_nyquists(arm, base, tmp_path):
    _, t, q, tau = log(arm, "95 Hz", "taken", 0)
    with pytest.warns(
        LogWarning, match=r"the cut-off is 40 Hz, more than half of Nyquist's 46.\d Hz: accelerations are"
    ):
        high = prepare(arm, t, q, tau, filter=kt.Filter(cutoff=40.0))
    assert "cut-off: 40 Hz, more than half of Nyquist's" in str(arm.identify(high, base))
    fit = arm.identify(
        [prepare(arm, t, q, tau, filter=kt.Filter(cutoff=c)) for c in (4.0, 5.0, 4.5)], base, check=False
    )
    assert "cut-off: 4 Hz to 5 Hz\n" in str(fit) + "\n"
    fit.report(tmp_path / "page.html")
    assert "filtered at 4 Hz to 5 Hz" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not arm.identify(arm_states(arm), base, check=False).cutoffs


def arm_states(arm):
    q, v, a = arm.random_state(0, 200)
    return Samples(q, v, a, arm.inverse_dynamics(q, v, a))


def test_a_single_slow_move_leaves_enough_samples(arm):
    """Of 20 s: with six times the frequency of its one period there were eleven."""
    t = CLOCKS["95 Hz"].stamps(1870, 0)
    q = 0.5 * (1.0 - np.cos(2.0 * np.pi * t / t[-1]))[:, None] * np.ones(arm.nv)
    assert len(np.asarray(prepare(arm, t, q, np.sin(q)).q)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in LOGS if kind != "turns"])
def test_error_bars_cover_as_often_as_they_say(arm, base, kind):
    """Where joints stop, with `standing`: without it 0.70, since filtered speeds of either sign remain."""
    inside, stops = [], kind == "points"
    choices = {"standing": 0.03} if stops else {}
    for seed in range(40 if ALL else 3):
        for clock in CLOCKS:
            real, t, q, tau = log(arm, clock, kind, seed)
            fit = arm.identify(quietly(arm, t, q, tau, filter=kt.Filter(**choices)), base, check=False)
            told = np.isfinite(fit.std)
            inside.append(np.abs(fit.values - base.of(real))[told] < 1.96 * fit.std[told])
    covered = float(np.mean(np.concatenate(inside)))
    low, high = (0.92, 0.975) if ALL else (0.88, 0.99)
    assert low - 0.05 * stops < covered < high


@pytest.mark.parametrize("kind", ["taken", "received", "missing", "points", "turns"])
@pytest.mark.parametrize("clock", CLOCKS)
def test_residuals_are_those_of_independent_least_squares(arm, base, clock, kind):
    """With Pinocchio's regressor, weights by joints and QR, of all samples; on another motion, rest included."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(arm.to_urdf(original="ur5", lenient=True))
    data = model.createData()
    real, t, q, tau = log(arm, clock, kind, 0)
    used = quietly(arm, t, q, tau)
    again = recorded(real, replace(LOGS[kind], clock=clock), 1000)
    unseen = quietly(arm, *again, filter=kt.Filter(cutoff=used.cutoff.frequency))._replace(standing=None)

    def rows(samples: Samples):
        q, v, a = (np.asarray(x) for x in samples[:3])
        inertial = [pin.computeJointTorqueRegressor(model, data, *state).copy() for state in zip(q, v, a, strict=True)]
        own = [x[:, :, None] * np.eye(arm.nv) for x in (a, v, np.asarray(samples.direction))]
        return np.concatenate([np.array(inertial), *own], axis=2)

    Y, right, scale = rows(used), np.asarray(used.tau), np.ones(arm.nv)
    for _ in range(10):
        values = np.linalg.lstsq((Y / scale[:, None]).reshape(-1, Y.shape[2]), (right / scale).ravel(), rcond=1e-10)[0]
        scale = (right - Y @ values).std(axis=0)
    others = np.sqrt(((np.asarray(unseen.tau) - rows(unseen) @ values) ** 2).mean(axis=0))
    own = arm.identify(used, base).validate(unseen, consistent=False).rms
    assert (own < 1.1 * others).all()


def test_joints_at_rest_do_not_tell_their_friction(arm, base):
    """The filter makes small speeds of either sign of them, and friction at rest is any."""
    real, t, q, tau = log(arm, "95 Hz", "points", 0)
    friction = [k for k, name in enumerate(base.names) if name.startswith("friction")]

    def errors(**choices: float):
        fit = arm.identify(quietly(arm, t, q, tau, filter=kt.Filter(**choices)), base)
        return np.abs(fit.values - base.of(real))[friction] / fit.std[friction]

    assert errors(standing=0.03).max() < 4.0 < errors().max()


def test_few_samples_of_each_joint_tell_correlations_together(base):
    """Of six joints with 150 samples, none of which is surely correlated by itself."""
    rng = np.random.default_rng(0)
    white = rng.normal(size=(150, 6))
    lasting = np.array(white)
    for k in range(1, 150):
        lasting[k] = 0.25 * lasting[k - 1] + white[k]
    times = integrated_times([lasting], np.ones(6))
    np.testing.assert_allclose(times, 1.25 / 0.75, rtol=0.3)
    np.testing.assert_array_equal(integrated_times([white], np.ones(6)), 1.0)
