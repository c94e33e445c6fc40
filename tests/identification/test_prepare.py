"""From recorded motions to samples."""

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_tree
from kinetree.identification import prepare, sliding_direction
from kinetree.joints import Revolute, Spherical


@pytest.fixture(scope="module")
def robot():
    return kt.Robot(random_tree(0, 2, [Revolute((0, 0, 1)), Revolute((0, 1, 0))]))


def wave(t):
    w = np.array([3.0, 4.0])
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    return s, w * c, -w * w * s


T = np.linspace(0.0, 6.0, 3001)


@pytest.mark.parametrize(("noise", "off"), [(0.0, 2e-3), (1e-4, 0.03)])
def test_a_recorded_motion_is_smoothed_and_differentiated(robot, noise, off):
    q, v, a = wave(T)
    noisy = q + noise * np.random.default_rng(0).normal(size=q.shape)
    samples = prepare(robot, T, noisy, 10.0 * a, filter=kt.Filter(cutoff=8.0))
    q, v, a = wave(np.asarray(samples.t))
    assert len(q) == 90
    for found, expected in ((samples.q, q), (samples.v, v), (samples.a, a), (samples.tau, 10.0 * a)):
        assert np.abs(found - expected).max() < off * np.abs(expected).max()


def test_the_filter_is_3_db_down_at_the_cutoff(robot):
    for frequency in (2.0, 10.0):
        force = np.sin(2.0 * np.pi * frequency * T)[:, None] * [1.0, 1.0]
        samples = prepare(robot, T, wave(T)[0], force, filter=kt.Filter(cutoff=frequency, decimate=1))
        gain = np.sqrt(2.0 * np.square(samples.tau).mean())
        assert abs(gain - np.sqrt(0.5)) < 0.12


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4, 3e-3])
def test_the_cutoff_is_chosen_from_the_motion(robot, noise):
    """However large the noise of the encoders is."""
    q = wave(T)[0] + noise * np.random.default_rng(0).normal(size=(len(T), 2))
    samples = prepare(robot, T, q, q)
    rate = 1.0 / np.diff(samples.t)[0]
    assert 3.0 < rate < 30.0, "two samples a period of the cut-off: the fastest motion has 0.64 Hz"


def test_no_chosen_cutoff_is_above_nyquist(robot):
    q = wave(10.0 * T[:40])[0]
    with pytest.warns(kt.identification.LogWarning, match="more than half of Nyquist's 250 Hz"):
        assert prepare(robot, T[:40], q, q).cutoff.frequency == pytest.approx(250.0)


def test_the_cutoff_is_chosen_where_positions_change_at_every_fourth_sample(robot):
    q = np.repeat(wave(T[::4])[0], 4, axis=0)[: len(T)]
    samples = prepare(robot, T, q, q)
    assert 3.0 < samples.cutoff.frequency < 30.0


@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_without_motion_there_is_no_cutoff(robot, noise):
    q = 0.3 + noise * np.random.default_rng(0).normal(size=(len(T), 2))
    with pytest.raises(kt.ArgumentError, match="no joint moves by more than the noise"):
        prepare(robot, T, q, q)
    assert len(prepare(robot, T, q, q, filter=kt.Filter(cutoff=8.0)).q) > 50


def test_nothing_is_fitted_across_a_gap(robot):
    there = (T < 2.0) | (T > 4.0)
    t = T[there]
    q, _, a = wave(t)
    samples = prepare(robot, t, q, a, filter=kt.Filter(cutoff=8.0, decimate=5))
    assert not ((np.asarray(samples.t) > 1.95) & (np.asarray(samples.t) < 4.05)).any()
    np.testing.assert_allclose(samples.a, wave(np.asarray(samples.t))[2], atol=0.1)


def test_rotations_are_smoothed_on_their_manifold():
    ball = kt.Robot(random_tree(0, 1, [Spherical()]))
    t = np.linspace(0.0, 2.0, 401)
    v = np.array([0.3, -0.5, 0.2])
    q = ball.integrate(ball.neutral(), t[:, None] * v)
    samples = prepare(
        ball, t, q * np.where(t < 1.0, 1.0, -1.0)[:, None], np.zeros((401, 3)), filter=kt.Filter(cutoff=10.0)
    )
    np.testing.assert_allclose(samples.v, np.tile(v, (len(samples.q), 1)), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(samples.q, axis=-1), 1.0)


def test_friction_turns_round_over_a_distance(robot):
    q = np.sin(np.linspace(0.0, 20.0, 2000))[:, None] * [1.0, 0.01]
    z = sliding_direction(robot, q, [1e-3, 1e-2])
    assert (np.abs(z) <= 1.0).all()
    moving = np.gradient(q[:, 0])
    fast = np.abs(moving) > 0.5 * np.abs(moving).max()
    np.testing.assert_allclose(z[fast, 0][5:], np.sign(moving[fast])[5:], atol=1e-2)
    assert np.abs(z[1000:, 1]).max() < 0.95, "the second joint hardly slides"


@pytest.mark.parametrize("cutoff", [4.0, 8.0])
def test_friction_goes_through_the_same_filter(robot, cutoff):
    """Around the instants at which joints turn round, its direction is filtered as the forces are."""
    q, v, a = wave(T)
    tau = robot.inverse_dynamics(q, v, a) + [2.0, 3.0] * np.sign(v) + [0.5, 0.25] * v
    samples = prepare(
        robot, T, q + 1e-5 * np.random.default_rng(0).normal(size=q.shape), tau, filter=kt.Filter(cutoff=cutoff)
    )
    fit = robot.identify(samples, ["damping", "friction"])
    np.testing.assert_allclose(fit.values[-4:], [0.5, 0.25, 2.0, 3.0], rtol=0.05)
    held = robot.with_joint_physics(damping=[0.5, 0.25], friction=[2.0, 3.0]).with_friction()
    payload = held.identify_payload(samples, robot.body_names[-1])
    assert abs(payload.values[0]) < 0.05 * robot.mass, "nothing is held, and friction is known"
    still = prepare(robot, T, np.zeros_like(q), tau, filter=kt.Filter(cutoff=cutoff))
    np.testing.assert_array_equal(still.direction, 0.0)


def test_friction_turns_round_at_the_speed_that_is_given(robot):
    v = wave(T)[1]
    for speed in (0.5, 2.0):
        samples = prepare(robot, T, wave(T)[0], v, filter=kt.Filter(cutoff=20.0, smoothing=speed))
        np.testing.assert_allclose(samples.direction, samples.v / np.hypot(samples.v, speed), atol=0.02)


def test_outliers_are_left_out(robot):
    """Of positions and forces, where these are noisy, exact, or come in steps."""
    q, _, a = wave(T)
    rng = np.random.default_rng(0)
    hit = rng.choice(len(T), 40, replace=False)
    for recorded in (q + 1e-5 * rng.normal(size=q.shape), q, np.round(q, 4)):
        dirty, force = recorded.copy(), 10.0 * a + 0.1 * rng.normal(size=a.shape)
        dirty[hit[:20], 0] += 0.5
        force[hit[20:], 1] -= 300.0
        samples = prepare(robot, T, dirty, force, filter=kt.Filter(cutoff=8.0, outliers=10.0))
        _, vs, accelerations = wave(np.asarray(samples.t))
        assert np.abs(samples.v - vs).max() < 0.05
        assert np.abs(samples.tau - 10.0 * accelerations).max() < 1.5
        bent = prepare(robot, T, dirty, force, filter=kt.Filter(cutoff=8.0))
        assert np.abs(bent.v - wave(np.asarray(bent.t))[1]).max() > 0.3
    clean = prepare(robot, T, q, 10.0 * a, filter=kt.Filter(cutoff=8.0, outliers=50.0))
    np.testing.assert_array_equal(clean.tau, prepare(robot, T, q, 10.0 * a, filter=kt.Filter(cutoff=8.0)).tau)


@pytest.mark.parametrize("step", [1e-3, 4e-3, 0.01])
def test_how_many_samples_there_are_does_not_depend_on_rounding(robot, step):
    """Half a period of the cut-off is five steps, whatever their differences have lost."""
    for start in (0.0, 0.1, 77.7):
        t = start + step * np.arange(200)
        q = np.sin(np.outer(t, np.arange(1, robot.nv + 1)))
        assert np.diff(prepare(robot, t, q, q, filter=kt.Filter(cutoff=0.1 / step)).t) == pytest.approx(5.0 * step)


def test_joints_that_stand_still_do_not_tell_friction(robot):
    q = wave(T)[0]
    q[1000:2000, 0] = q[1000, 0]
    q[2000:, 0] += q[1000, 0] - q[2000, 0]
    samples = prepare(robot, T, q, q, filter=kt.Filter(cutoff=8.0, standing=[0.1, 0.2], presliding=1e-4))
    standing, t = np.asarray(samples.standing), np.asarray(samples.t)
    np.testing.assert_array_equal(standing, np.abs(samples.v) <= [0.1, 0.2])
    assert np.shape(samples.direction) == np.shape(samples.v)
    assert standing[(t > 2.1) & (t < 3.9), 0].all()
    assert not standing[:, 1].all()


def test_what_is_refused(robot):
    q, bad = wave(T)[0], wave(T)[0]
    bad[17, 1] = np.nan
    for arguments, choices, message in [
        ((T[:1], q[:1], q[:1]), {}, "at least two samples"),
        ((T[:9], q[:9], q[:9]), {}, "give more samples"),
        ((T, 0.0 * q, q), {"standing": 0.1}, "every joint is slower"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            prepare(robot, *arguments, filter=kt.Filter(cutoff=5.0, **choices))


@pytest.mark.parametrize("after", [0.1, 0.15, 0.2])
def test_a_joint_that_turns_round_near_the_end_of_a_log_spoils_no_sample(after):
    """Its noise was four times what it is: directions of friction near an end were those at the last whole window."""
    ur5, w = kt.load("ur5"), 0.2 * np.pi * np.arange(1, 6)
    real = ur5.with_joint_physics(armature=0.3, damping=2.0, friction=3.0).with_friction(smoothing=1e-3)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 6, 5)) / np.arange(1, 6)
    t = np.arange(0.0, 25.0, 1e-3)
    q, v, a = (
        (w**k * np.sin(np.outer(t, w) + k * np.pi / 2.0)) @ A.T
        + (w**k * np.cos(np.outer(t, w) + k * np.pi / 2.0)) @ B.T
        for k in range(3)
    )
    tau = real.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape)
    end = np.flatnonzero(np.diff(np.sign(v[:, 5])))[-2] + round(after * 1e3)
    noisy = q[:end] + 2e-5 * rng.normal(size=(end, 6))
    assert ur5.identify(prepare(ur5, t[:end], noisy, tau[:end]), check=False).noise[5] < 0.012
