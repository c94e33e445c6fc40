"""Whether residuals are noise, motions that were not used, and the page that says so."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import kinetree as kt
from helpers.small_arm import bare_arm
from kinetree.drawing.fit import parameters, svg
from kinetree.identification import Samples, correlated, cross_validate, validate
from kinetree.identification.validation import _chi_squared_tail, verdict

RNG = np.random.default_rng(0)
N = 600


@pytest.fixture(scope="module")
def robot():
    return bare_arm()


def recorded(robot, seed, noise=0.1, lacking=0.0):
    """Return a motion of which each joint force lacks a slow wave."""
    q, v, a = robot.random_state(seed, N)
    t = 0.01 * np.arange(N)
    extra = lacking * np.sin(3.0 * t)[:, None] + noise * RNG.normal(size=(N, robot.nv))
    return Samples(q, v, a, robot.inverse_dynamics(q, v, a) + extra, t=t)


@pytest.fixture(scope="module")
def fit(robot):
    return robot.identify(recorded(robot, 0), ["damping"])


def test_residuals_of_a_right_model_are_the_noise(robot, fit):
    other = recorded(robot, 1)
    found = fit.validate([other, recorded(robot, 2)])
    np.testing.assert_allclose(found.rms, 0.1, rtol=0.1)
    assert found.white.all()
    assert (np.abs(found.autocorrelation) < 2.5 * found.bound).all()
    assert found.size == 2 * N
    assert [len(motion.measured) for motion in found.motions] == [N, N]
    np.testing.assert_allclose(found.motions[0].measured, other.tau, atol=1e-12)
    np.testing.assert_allclose(found.motions[0].predicted, fit.predict(other.q, other.v, other.a), atol=1e-12)
    q, v, a, tau = (np.asarray(x) for x in other[:4])
    known = robot.with_friction()  # with its damping, as it is estimated
    off = tau - known.with_joint_physics(friction=0.0).inverse_dynamics(q, v, a)
    before = np.sqrt((off * off).mean(axis=0)) / tau.std(axis=0)
    np.testing.assert_allclose(fit.validate(other).before, before)
    np.testing.assert_allclose(fit.validate(other).rms, fit.validate(other).rms)


def test_what_a_model_lacks_is_seen(robot, fit):
    found = validate(fit, recorded(robot, 1, lacking=0.2))
    assert not found.white.any()
    e = found.motions[0].measured - found.motions[0].predicted
    e = e - e.mean(axis=0)
    expected = [(e[k:] * e[:-k]).sum(axis=0) / (e * e).sum(axis=0) for k in (1, 2, 3)]
    np.testing.assert_allclose(found.autocorrelation[:3], expected)
    sentences = "\n".join(verdict(fit, fit.validate(recorded(robot, 1)), found))
    assert f"The residuals of {', '.join(robot.v_names)} are not white" in sentences.replace(" and ", ", ")
    assert "more than 1.5 times as large" in sentences


def test_an_echo_is_not_white(robot, fit):
    q, v, a, tau = (np.asarray(x) for x in recorded(robot, 1, noise=0.0)[:4])
    noise = 0.1 * RNG.normal(size=(N + 5, 3))
    found = fit.validate((q, v, a, tau + noise[5:] + 0.6 * noise[:-5]))
    assert (np.abs(found.autocorrelation[0]) < 3.0 * found.bound).all()
    assert not found.white.any()


def test_white_noise_is_called_white_as_often_as_is_claimed():
    special = pytest.importorskip("scipy.special")
    for freedom in (1, 4, 20):
        for x in (0.1, 1.0, 5.0, 20.0, 60.0):
            assert abs(_chi_squared_tail(x, freedom) - special.gammaincc(freedom / 2, x / 2)) < 0.01


def test_motions_that_are_left_out(robot):
    motions = [recorded(robot, k) for k in range(3)]
    found = cross_validate(robot, motions, ["damping"], check=False)
    assert len(found) == 3
    for one, motion in zip(found, motions, strict=True):
        assert one.fit.count == 2 * N
        np.testing.assert_allclose(one.motions[0].measured, motion.tau, atol=1e-12)
    with pytest.raises(kt.ArgumentError, match="two motions or more"):
        cross_validate(robot, motions[0])


def test_estimates_that_are_told_together(robot):
    q, v, a = robot.random_state(3, N)
    v[:, 0] = 1.0 + 1e-2 * v[:, 0]  # friction and an offset are the same at one speed
    tau = robot.inverse_dynamics(q, v, a) + 0.1 * RNG.normal(size=v.shape)
    fit = robot.identify((q, v, a, tau), ["damping", "offset"], check=False)
    first, second, rho = correlated(fit)[0]
    name = robot.v_names[0]
    assert {first, second} == {f"damping of {name}", f"offset of {name}"}
    assert rho < -0.99
    assert correlated(fit, 1.1) == []
    sizes = [abs(rho) for _, _, rho in correlated(fit, 0.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 9


def test_what_validation_refuses(robot, fit):
    empty = np.zeros((0, 3))
    with pytest.raises(kt.ArgumentError, match="no samples"):
        fit.validate((empty, empty, empty, empty))
    with pytest.raises(kt.ArgumentError, match="one lag is the least"):
        fit.validate(recorded(robot, 1), lags=0)
    q, v, a, tau = recorded(robot, 1)[:4]
    assert np.isinf(fit.validate((q, v, a, 0.0 * np.asarray(tau))).relative).all(), "beside forces that do not change"
    assert fit.validate(tuple(np.asarray(x)[:1] for x in recorded(robot, 1)[:4])).autocorrelation.shape == (1, 3)


def test_the_page_holds_everything_and_needs_nothing(robot, fit, tmp_path):
    pytest.importorskip("matplotlib")
    training, validation = fit.validate(recorded(robot, 0)), fit.validate(recorded(robot, 1, lacking=0.2))
    fit.report(tmp_path / "fit.html", training=training, validation=validation, title="arm <1>")
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    drawing = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert svg(parameters, fit).strip() == drawing[1], "the same for the same data"
    for name in ("<h1>arm &lt;1&gt;</h1>", *robot.v_names, *fit.base.combinations, "not white", f"{fit.count} samples"):
        assert name in page
    assert not re.search(r"(src|href)=\"(?!#)|<script", page), "one page, no other file"
    assert len(page) < 400_000
    assert len(drawing) == 2
    assert all(f"#{name}" in page for name in re.findall(r' id="(\w+)"', page))
    for drawn in drawing:
        ElementTree.fromstring(drawn)
    with pytest.raises(kt.ArgumentError, match=r"end it in .html"):
        fit.report(tmp_path / "fit.pdf")
    own = robot.identify(recorded(robot, 0), {"load_friction": None, "cable": lambda q, v, a: [q[0], 0.0, 0.0]})
    drawn = svg(parameters, own)
    assert "cable" in drawn
    assert "friction in proportion to load (1)" in drawn
