"""The excitation keeps within its limits, starts and ends at rest, and fills its range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.cli.wave import random_wave
from kinetree.errors import ArgumentError


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    lower=st.floats(-10, 10),
    width=st.floats(0.01, 10),
    velocity=st.one_of(st.floats(0.01, 50), st.just(float("inf"))),
    period=st.floats(0.1, 100),
    harmonics=st.integers(3, 12),
)
def test_within_limits_and_fills_one_of_them(seed, lower, width, velocity, period, harmonics):
    rng = np.random.default_rng(seed)
    upper = lower + width
    wave = random_wave(rng, lower=lower, upper=upper, velocity=velocity, period=period, harmonics=harmonics)
    q, v, _ = wave(np.linspace(0, period, 20001))
    assert lower < q.min()
    assert q.max() < upper
    assert np.abs(v).max() <= 0.92 * velocity
    reach = max((q.max() - q.min()) / width, np.abs(v).max() / velocity)
    assert reach == pytest.approx(0.9, rel=0.02)


def test_starts_and_ends_at_rest():
    wave = random_wave(np.random.default_rng(2), lower=-1, upper=1, velocity=2, period=7)
    q, v, a = wave(np.array([0.0, 7.0]))
    assert q[0] == pytest.approx(q[1], abs=1e-14)
    np.testing.assert_allclose([v, a], 0, atol=1e-12)


def test_velocity_and_acceleration_are_the_derivatives():
    wave = random_wave(np.random.default_rng(2), lower=-1, upper=1, velocity=2, period=7)
    t, h = np.linspace(0.5, 6, 50), 1e-4
    (before, slow, _), (_, v, a), (after, fast, _) = wave(t - h), wave(t), wave(t + h)
    np.testing.assert_allclose((after - before) / (2 * h), v, rtol=0, atol=1e-6)
    np.testing.assert_allclose((fast - slow) / (2 * h), a, rtol=0, atol=1e-6)


def test_same_seed_same_motion():
    one, two, other = (
        random_wave(np.random.default_rng(seed), lower=-1, upper=1, velocity=2, period=7) for seed in (1, 1, 2)
    )
    t = np.linspace(0, 7, 20)
    np.testing.assert_array_equal(one(t), two(t))
    assert not np.allclose(one(t), other(t))


def test_too_few_harmonics_is_an_error():
    with pytest.raises(ArgumentError, match="at least 3"):
        random_wave(np.random.default_rng(0), lower=-1, upper=1, velocity=1, period=1, harmonics=2)
