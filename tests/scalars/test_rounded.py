"""Rounding that is kept count of: exact arithmetic is as near as is said, and what cancels is known to."""

from __future__ import annotations

import operator
from fractions import Fraction

import mpmath
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetree.scalars.rounded import UNIT, Rounded, as_rounded, parts

NUMBERS = st.floats(-1e3, 1e3).filter(lambda x: abs(x) > 1e-3)
OPERATIONS = st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv])


@settings(deadline=None, max_examples=300)
@given(first=NUMBERS, steps=st.lists(st.tuples(OPERATIONS, NUMBERS, st.booleans()), max_size=8))
def test_exact_arithmetic_is_near(first, steps):
    """Errors that all go one way are √n as large as n independent ones (Cauchy and Schwarz)."""
    rounded, exact = Rounded(first, 0.0), Fraction(first)
    for operation, number, swapped in steps:
        assume(exact != 0 or operation is not operator.truediv)
        args = (rounded, number), (exact, Fraction(number))
        (x, y), (a, b) = ((q, p) for p, q in args) if swapped else args
        rounded, exact = operation(x, y), operation(a, b)
        assume(abs(rounded.value) > 1e6 * rounded.error)
        assert abs(exact - Fraction(rounded.value)) <= Fraction(1.001 * rounded.error * len(steps) ** 0.5)


@given(x=st.floats(0.01, 100.0), error=st.floats(0.0, 1e-9), where=st.floats(-1.0, 1.0))
def test_functions_too(x, error, where):
    mpmath.mp.dps = 40
    true = mpmath.mpf(x) + mpmath.mpf(error) * mpmath.mpf(where)
    for name in ("sin", "cos", "sqrt"):
        found = getattr(Rounded(x, error), name)()
        wanted = getattr(mpmath, name)(true)
        assert abs(wanted - found.value) <= mpmath.mpf(found.error) * (1 + 1e-6) + mpmath.mpf(UNIT) * abs(wanted)


def test_what_cancels_is_noise_and_what_is_small_is_not():
    x = as_rounded(0.1, 0.0)
    value, error = parts(x * 3.0 - 0.3)
    assert 0 < value <= 4 * error < 1e-15
    value, error = parts(x * 1e-300)
    assert error < 1e-15 * value
    assert parts(as_rounded("unknown", 0.7)) == (0.7, 0.7 * UNIT)
    assert [as_rounded(k, 0.5) for k in (-1.0, 0.0, 1.0)] == [-1.0, 0.0, 1.0]
