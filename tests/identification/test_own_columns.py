"""Columns of the user's own, friction that depends on load, and payloads that are followed while the robot moves."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from helpers.small_arm import bare_arm
from helpers.trees import random_tree
from kinetree.identification import PayloadTracker
from kinetree.identification.newton import pseudo_inertia
from kinetree.joints import FreeFlyer, Revolute

BOX = kt.Inertia(2.0, [0.1, 0, 0.2], np.diag([0.07, 0.11, 0.04]))


@pytest.fixture(scope="module")
def arm():
    return bare_arm().with_friction(smoothing=0.05)


def cylinder(q, v, a):
    """Return the forces of a cylinder between the first two joints, of stiffness one."""
    stretch = q[0] - 2.0 * q[1]
    return [stretch, -2.0 * stretch, 0.0]


def gear(q, v, a):
    return [0.0, np.sin(5.0 * q[1]), 0.0]


def test_columns_of_ones_own(arm):
    q, v, a = arm.random_state(0, 300)
    own = np.array([cylinder(*x) for x in zip(q, v, a, strict=True)], float) * 3.0
    own += np.array([gear(*x) for x in zip(q, v, a, strict=True)], float) * 0.5
    tau = arm.inverse_dynamics(q, v, a) + own
    terms = {"cylinder": cylinder, "damping": ["joint2"], "gear": gear}
    fit = arm.with_inertial_parameters(1.5 * arm.inertial_parameters).identify((q, v, a, tau), terms)
    assert fit.base.names[-3:] == ("damping of joint2", "cylinder", "gear")
    expected = fit.base.of(arm, {"cylinder": 3.0, "gear": 0.5})
    np.testing.assert_allclose(fit.values, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(fit.predict(q, v, a), tau, atol=1e-6)
    np.testing.assert_allclose(fit.base.regressor(q, v, a) @ expected, tau, atol=1e-9)
    assert pickle.loads(pickle.dumps(fit.base)).names == fit.base.names
    for wrong, message in [
        ({"short": lambda q, v, a: [q[0]]}, "'short' has to return a force for each of the 3"),
        ({"number": lambda q, v, a: q[0]}, "'number' has to return"),
        ({"friction": gear}, "'friction' is a term that there is"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            arm.identify((q, v, a, tau), wrong, check=False)
    with pytest.raises(kt.ArgumentError, match="'geer'"):
        fit.base.of(arm, {"geer": 1.0})


@pytest.mark.parametrize("size", [1e14, 1e-14])
def test_a_column_may_have_any_size(arm, size):
    q, v, a = arm.random_state(0, 300)
    tau = arm.inverse_dynamics(q, v, a) + 0.01 * np.random.default_rng(0).normal(size=v.shape)
    one, other = (arm.identify((q, v, a, tau), {"own": lambda q, v, a, c=c: [c * v[0], 0, 0]}) for c in (1.0, size))
    scale = np.where(np.array(one.base.names) == "own", size, 1.0)
    np.testing.assert_allclose(other.values * scale, one.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.std * scale, one.std, rtol=1e-9)


def test_a_column_may_change_or_say_nothing_new(arm):
    q, v, a = arm.random_state(0, 100)
    tau = arm.inverse_dynamics(q, v, a)
    size, terms = [1.0], {"own": lambda q, v, a: [size[0] * v[0], 0.0, 0.0]}
    for size[0] in (1.0, 2.0):
        fit = arm.identify((q, v, a, tau + 3.0 * v * [1.0, 0.0, 0.0]), terms, bodies=None)
        assert fit.values[-1] == pytest.approx(3.0 / size[0])
    terms = {"damping": None, "again": lambda q, v, a: [v[0], 0.0, 0.0], "nothing": lambda q, v, a: [0.0, 0.0, 0.0]}
    fit = arm.identify((q, v, a, tau), terms)
    assert fit.unidentifiable == ("damping of joint0", "again", "nothing")
    np.testing.assert_allclose(fit.predict(q, v, a), tau, atol=1e-6)


def test_friction_that_depends_on_load(arm):
    """The load is that of the robot as it is before, and so without what its bodies' errors add."""
    q, v, a = arm.random_state(0, 300)
    frictionless = arm.inverse_dynamics(q, v, a)
    sign = v / np.sqrt(v * v + 0.05**2)
    tau = frictionless + sign * (0.1 * np.abs(frictionless) + 0.3)
    fit = arm.identify((q, v, a, tau), ["friction", "load_friction"])
    found = dict(zip(fit.base.names, fit.values, strict=True))
    for k in range(3):
        assert found[f"load_friction of joint{k}"] == pytest.approx(0.1, rel=1e-9)
        assert found[f"friction of joint{k}"] == pytest.approx(0.3, rel=1e-8)


def test_a_payload_is_followed(arm):
    """Its estimates are those of weighted least squares with the same prior; a change is found after a while."""
    hand, noise = arm.body_names[-1], np.array([0.5, 0.2, 1.0])
    q, v, a = arm.random_state(0, 500)
    held, light = (arm.attach(BOX, hand).inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a))
    tau = held + noise * np.random.default_rng(0).normal(size=held.shape)
    tracker = PayloadTracker(arm, hand, noise=noise, forgetting=1.0)
    for sample in zip(q, v, a, tau, strict=True):
        tracker.update(*sample)
    Y = arm.joint_torque_regressor(q, v, a)[:, :, 10 * arm.body_names.index(hand) :][:, :, :10]
    deviations = 10.0 * np.array([1.0, *[0.3] * 3, *[0.09] * 6])
    A = np.einsum("nki,k,nkj->ij", Y, noise**-2, Y) + np.diag(deviations**-2)
    b = np.einsum("nki,k,nk->i", Y, noise**-2, tau - light)
    np.testing.assert_allclose(tracker.values, np.linalg.solve(A, b), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tracker.std, np.sqrt(np.diag(np.linalg.inv(A))), rtol=1e-6)
    told = tracker.std < 0.1
    assert (np.abs(tracker.values - np.array(BOX))[told] < 4.0 * tracker.std[told]).all()
    forgetful = PayloadTracker(arm, hand, noise=noise, forgetting=0.98)
    for k, sample in enumerate(zip(q, v, a, np.where(np.arange(500)[:, None] < 250, held, light), strict=True)):
        forgetful.update(*sample)
        if k in (249, 275, 499):
            assert np.linalg.eigvalsh(pseudo_inertia(np.array(forgetful.inertia))).min() > 0.0
        if k == 249:
            assert forgetful.values[0] == pytest.approx(2.0, abs=0.02)
    assert forgetful.values[0] == pytest.approx(0.0, abs=0.03)
    still = arm.inverse_dynamics(q[0], 0.0 * v[0], 0.0 * a[0])
    for _ in range(3000):
        forgetful.update(q[0], 0.0 * v[0], 0.0 * a[0], still)
    np.testing.assert_allclose(forgetful.std[4:], deviations[4:], rtol=1e-6)
    assert np.isfinite(forgetful.values).all(), "standing still, nothing runs away"


def test_what_a_tracker_refuses(arm):
    hand = arm.body_names[-1]
    tracker = PayloadTracker(arm, hand)
    q, v, a = arm.random_state(0)
    bad = np.array([1.0, np.nan, 0.0])
    for sample in ((q, v, a, bad), (q[:2], v, a, v), ([q, q], v, a, v)):
        with pytest.raises(kt.ArgumentError):
            tracker.update(*sample)
    assert tracker.count == 0
    np.testing.assert_array_equal(tracker.values, 0.0)
    with pytest.raises(kt.ArgumentError, match="does not move"):
        PayloadTracker(arm, "base")
    floating = kt.Robot(random_tree(2, 2, [FreeFlyer(), Revolute()], shuffled=False))
    assert PayloadTracker(floating, floating.body_names[-1]).noise.shape == (floating.nv,)
