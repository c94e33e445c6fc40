"""Local polynomial differentiation: exact on polynomials, on rotations, and with noise near the theory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.errors import ArgumentError
from kinetree.logs.local_fit import differentiate, fit_weights, stretches

scipy_signal = pytest.importorskip("scipy.signal")
Rotation = pytest.importorskip("scipy.spatial.transform").Rotation


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), window=st.integers(5, 21))
def test_a_polynomial_of_the_degree_is_recovered_at_any_spacing(seed, window):
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.2, 1.0, 40)) - 10
    polynomial = np.polynomial.Polynomial(rng.normal(size=5))
    v, a = differentiate(t, polynomial(t)[:, None], window=window)
    scale = np.abs(polynomial(t)).max()
    np.testing.assert_allclose(v[:, 0], polynomial.deriv(1)(t), rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(a[:, 0], polynomial.deriv(2)(t), rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("order", [1, 2])
def test_even_spacing_is_savitzky_golay(order):
    rng = np.random.default_rng(3)
    x, dt = rng.normal(size=(50, 2)), 0.01
    got = differentiate(dt * np.arange(50), x, window=15)[order - 1]
    want = scipy_signal.savgol_filter(x, 15, 4, deriv=order, delta=dt, axis=0)[7:-7]
    np.testing.assert_allclose(got[7:-7], want, rtol=0, atol=1e-12 * np.abs(want).max())


def test_weights_are_those_of_least_squares():
    s = np.sort(np.random.default_rng(4).uniform(-0.3, 0.7, (6, 11)), axis=1)
    w1, w2 = fit_weights(s, 4)[1:]
    for row, first, second in zip(s, w1, w2, strict=True):
        fit = np.linalg.pinv(np.vander(row, 5, increasing=True))
        np.testing.assert_allclose(first, fit[1], rtol=0, atol=1e-10 * np.abs(fit[1]).max())
        np.testing.assert_allclose(second, 2 * fit[2], rtol=0, atol=1e-10 * np.abs(2 * fit[2]).max())


def test_rotations_give_the_body_velocity_and_its_rate():
    """R(t) = exp(a(t)) exp(b t): ω = Ad(exp(−b t)) ȧ + b in the body, with a about one fixed axis."""
    t = np.linspace(0, 1, 200)
    e, b = np.array([0.0, 0.6, 0.8]), np.array([0.9, -0.5, 0.3])
    turn = Rotation.from_rotvec(np.outer(t, b))
    q = (Rotation.from_rotvec(np.outer(np.sin(2 * t), e)) * turn).as_quat()
    seen = turn.inv().apply(e)
    omega = 2 * np.cos(2 * t)[:, None] * seen + b
    rate = -4 * np.sin(2 * t)[:, None] * seen - 2 * np.cos(2 * t)[:, None] * np.cross(b, seen)

    def difference(q0, q1):
        r0, r1 = (Rotation.from_quat(np.reshape(q, (-1, 4))) for q in (q0, q1))
        return (r0.inv() * r1).as_rotvec().reshape(*np.shape(q1)[:-1], 3)

    v, a = differentiate(t, q, difference, window=7)
    np.testing.assert_allclose(v[3:-3], omega[3:-3], rtol=0, atol=1e-8)
    np.testing.assert_allclose(a[3:-3], rate[3:-3], rtol=0, atol=1e-6)
    np.testing.assert_allclose(v, omega, rtol=0, atol=1e-6)
    np.testing.assert_allclose(a, rate, rtol=0, atol=1e-3)


def test_a_wider_window_leaves_less_noise():
    rng = np.random.default_rng(5)
    t = np.linspace(0, 10, 2000)
    x = np.sin(t)[:, None] + 1e-4 * rng.normal(size=(2000, 1))
    errors = [np.std(differentiate(t, x, window=w)[1][50:-50, 0] + np.sin(t)[50:-50]) for w in (5, 15, 45)]
    assert errors[0] > 20 * errors[1] > 200 * errors[2]


def test_pieces_of_a_long_record_join_without_a_seam():
    t = np.linspace(0, 1, 9000) ** 1.5
    whole = differentiate(t, np.sin(9 * t)[:, None])
    part = differentiate(t[4000:5000], np.sin(9 * t[4000:5000])[:, None])
    for w, p in zip(whole, part, strict=True):
        np.testing.assert_allclose(w[4010:4990], p[10:-10], rtol=0, atol=1e-12 * np.abs(p).max())


@pytest.mark.parametrize("hole", [0.2, 5.0, 1e6])
def test_nothing_reaches_across_a_gap(hole):
    t = 0.01 * np.arange(300)
    t[100:] += hole
    t[290:] += hole
    x = np.sin(3 * t)[:, None] + np.where(t < t[100], 0.0, 7.0)[:, None]
    assert stretches(t) == [(0, 100), (100, 290), (290, 300)]
    pieces = [slice(0, 100), slice(100, 290), slice(290, 300)]
    alone = [differentiate(t[p], x[p], window=min(15, len(t[p]))) for p in pieces]
    for got, want in zip(differentiate(t, x), zip(*alone, strict=True), strict=True):
        np.testing.assert_array_equal(got, np.concatenate(want))
    np.testing.assert_allclose(differentiate(t, x)[0][:290, 0], 3 * np.cos(3 * t[:290]), rtol=0, atol=1e-4)


def test_irregular_samples_have_no_gap():
    rng = np.random.default_rng(6)
    bursts = np.cumsum(np.tile([0.001, 0.001, 0.05], 50))
    for t in (np.cumsum(rng.uniform(0, 0.1, 1000)), bursts, np.linspace(0, 1, 500) ** 1.5, 0.01 * np.arange(15)):
        assert stretches(t) == [(0, len(t))]


@pytest.mark.parametrize(
    ("t", "window", "message"),
    [
        (np.array([*range(20), *range(50, 54), *range(90, 110)]), 9, r"4 samples \(50 s to 53 s\) stand alone"),
        (np.array([*range(20), 50]), 9, r"1 samples \(50 s to 50 s\) stand alone, .* at least 5 in a row"),
        (np.arange(10.0), 15, "10 samples are too few"),
        (np.arange(10.0), 4, "at least 5"),
        (np.array([0.0, 1, 2, 2, 3, 4]), 5, "sample 4 is at 2 s, the one before it at 2 s"),
        (np.array([0.0, 1, 2, np.nan, 3, 4]), 5, "time must increase"),
    ],
)
def test_what_cannot_be_differentiated_is_an_error(t, window, message):
    with pytest.raises(ArgumentError, match=message):
        differentiate(t, t[:, None], window=window)
