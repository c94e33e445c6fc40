"""Sine and cosine against arbitrary precision."""

import mpmath
import numpy as np
import pytest

from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import traced
from kinetree.graph.elementary.circular import LIMIT, TWO_OVER_PI


def sines_and_cosines(x, dtype="float64"):
    program = traced(lambda x: ([e.sin() for e in x], [e.cos() for e in x]), len(x), outputs=2)
    return run_single(program, [x], dtype)


def largest_error(x, dtype="float64"):
    """The largest error over all angles, in units of the last place of the right result."""
    worst = 0.0
    digits = {"float64": 52, "float32": 23}[dtype]
    with mpmath.workprec(1400):
        for function, values in zip((mpmath.sin, mpmath.cos), sines_and_cosines(x, dtype), strict=True):
            for angle, value in zip(x, values, strict=True):
                right = function(mpmath.mpf(float(angle)))
                if right == 0:
                    assert value == 0
                    continue
                ulp = mpmath.ldexp(1, int(mpmath.floor(mpmath.log(abs(right), 2))) - digits)
                worst = max(worst, float(abs(mpmath.mpf(float(value)) - right) / ulp))
    return worst


def near_multiples():
    """The float64 next to, and on either side of, multiples of π/2 up to the limit."""
    with mpmath.workprec(200):
        ks = [*range(1, 40), *np.unique(np.logspace(2, np.log10(LIMIT / 1.6), 80).astype(int)).tolist()]
        exact = [float(k * mpmath.pi / 2) for k in ks]
    return np.array([y for x in exact for y in (np.nextafter(x, 0), x, np.nextafter(x, np.inf))])


@pytest.mark.parametrize("size", [1e-8, 0.8, 4.0, 1e3, LIMIT])
def test_usual_angles(size):
    assert largest_error(np.random.default_rng(0).uniform(-size, size, 400)) < 1.5


def test_angles_near_multiples_of_a_right_angle():
    assert largest_error(near_multiples()) < 1.0
    assert largest_error(-near_multiples()) < 1.0


def test_the_bits_of_two_over_pi():
    with mpmath.workprec(1300):
        assert int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 1216))) == TWO_OVER_PI


def test_huge_angles():
    rng = np.random.default_rng(1)
    known_worst = 6381956970095103.0 * 2.0**797  # the float64 that is nearest to a multiple of π/2
    special = [np.nextafter(LIMIT, np.inf), known_worst, 1e22, 1e300, 1.7976931348623157e308]
    x = np.array([*special, *np.exp(rng.uniform(np.log(LIMIT), 709.7, 200))])
    assert largest_error(x) < 2.0
    assert largest_error(-x) < 2.0


def test_float32_angles_are_reduced_in_float64():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-9, 9, 200), [1e10, 3e38, -4e20]]).astype(np.float32)
    assert largest_error(x, "float32") < 0.501


def test_no_angle_gives_nan_but_infinity_and_nan():
    x = np.array([0.0, np.inf, -np.inf, np.nan, 5e-324, 1.0])
    s, c = sines_and_cosines(x)
    assert np.isnan(s).tolist() == np.isnan(c).tolist() == [False, True, True, True, False, False]
    assert s[0] == 0.0
    assert c[0] == 1.0
    assert s[4] == 5e-324


def test_the_limit_has_no_seam_and_lanes_no_influence():
    x = np.array([[LIMIT], [np.nextafter(LIMIT, np.inf)], [1e22], [0.5], [np.nan]])
    program = traced(lambda x: [x[0].sin(), x[0].cos()], 1)
    expected = np.array([run_single(program, [row])[0] for row in x])
    for lanes in (1, 2, 4, 8, 16):
        assert same_bits(run_batch(program, [x], lanes)[0], expected)
