"""A motion that is made keeps within its limits, starts and ends at rest, and fills its range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.cli.motion import random_series


def series(seed, t, lower=-1.0, upper=1.0, velocity=2.0):
    found = random_series(np.random.default_rng(seed), t, np.array([[lower, upper]]), np.array([velocity]))
    return [x[:, 0] for x in found]


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    lower=st.floats(-10, 10),
    width=st.floats(0.01, 10),
    velocity=st.one_of(st.floats(0.01, 50), st.just(float("inf"))),
    period=st.floats(0.1, 100),
)
def test_within_limits_and_fills_one_of_them(seed, lower, width, velocity, period):
    upper = lower + width
    q, v, _ = series(seed, np.linspace(0, period, 20001), lower, upper, velocity)
    assert lower < q.min()
    assert q.max() < upper
    assert np.abs(v).max() <= 0.92 * velocity
    reach = max((q.max() - q.min()) / width, np.abs(v).max() / velocity)
    assert reach == pytest.approx(0.9, rel=0.02)


def test_at_rest_at_both_ends_with_derivatives_and_seeds():
    t = np.linspace(0.0, 7.0, 70001)
    q, v, a = series(2, t)
    assert q[0] == pytest.approx(q[-1], abs=1e-14)
    np.testing.assert_allclose([v[[0, -1]], a[[0, -1]]], 0, atol=1e-12)
    for x, rate in ((q, v), (v, a)):
        np.testing.assert_allclose(np.gradient(x, t)[1:-1], rate[1:-1], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(series(2, t)[0], q)
    assert not np.allclose(series(1, t)[0], q)
