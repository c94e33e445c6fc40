"""Scalars: dual numbers, numbers with a bound of their rounding, and functions of plain ones."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kinetree as kt
from helpers.dense import assert_close
from kinetree.graph import Port, ieee
from kinetree.scalars import functions
from kinetree.scalars.dual import Dual
from kinetree.scalars.functions import cos, is_zero, sin, sqrt
from kinetree.scalars.rounded import UNIT, Rounded, as_rounded, parts
from kinetree.tracing.tracer import Tracer

RULES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "x + x": (lambda x: x + x, lambda x: 2.0),
    "x + 3": (lambda x: x + 3.0, lambda x: 1.0),
    "3 + x": (lambda x: 3.0 + x, lambda x: 1.0),
    "x - 3": (lambda x: x - 3.0, lambda x: 1.0),
    "3 - x": (lambda x: 3.0 - x, lambda x: -1.0),
    "x x": (lambda x: x * x, lambda x: 2.0 * x),
    "3 x": (lambda x: 3.0 * x, lambda x: 3.0),
    "x / 3": (lambda x: x / 3.0, lambda x: 1.0 / 3.0),
    "3 / x": (lambda x: 3.0 / x, lambda x: -3.0 / (x * x)),
    "sin x / x": (lambda x: sin(x) / x, lambda x: (cos(x) - sin(x) / x) / x),
    "-x": (lambda x: -x, lambda x: -1.0),
    "+x": (lambda x: +x, lambda x: 1.0),
    "sin": (sin, cos),
    "cos": (cos, lambda x: -sin(x)),
    "x ** 3": (lambda x: x**3, lambda x: 3.0 * x * x),
    "x ** -2": (lambda x: x**-2, lambda x: -2.0 / (x * x * x)),
    "x ** 1": (lambda x: x**1, lambda x: 1.0),
    "x ** 0.5": (lambda x: x**0.5, lambda x: 0.5 / sqrt(x)),
    "x ** 0": (lambda x: x**0, lambda x: 0.0 * x),
    "sqrt": (sqrt, lambda x: 0.5 / sqrt(x)),
    "exp": (functions.exp, functions.exp),
    "expm1": (functions.expm1, functions.exp),
    "log": (functions.log, lambda x: 1.0 / x),
    "log1p": (functions.log1p, lambda x: 1.0 / (1.0 + x)),
    "sinh": (functions.sinh, functions.cosh),
    "cosh": (functions.cosh, functions.sinh),
    "tanh": (functions.tanh, lambda x: 1.0 / functions.cosh(x) ** 2),
    "arcsin": (lambda x: functions.arcsin(x / 9.0), lambda x: 1.0 / (81.0 - x * x) ** 0.5),
    "arccos": (lambda x: functions.arccos(x / 9.0), lambda x: -1.0 / (81.0 - x * x) ** 0.5),
    "arctan": (functions.arctan, lambda x: 1.0 / (1.0 + x * x)),
    "atan2(x, 2)": (lambda x: functions.atan2(x, 2.0), lambda x: 2.0 / (x * x + 4.0)),
    "atan2(2, x)": (lambda x: functions.atan2(2.0, x), lambda x: -2.0 / (x * x + 4.0)),
    "cbrt": (functions.cbrt, lambda x: functions.cbrt(x) / (3.0 * x)),
    "hypot": (lambda x: functions.hypot(x, 2.0), lambda x: x / functions.hypot(x, 2.0)),
    "hypot of it twice": (lambda x: functions.hypot(3.0 * x, 4.0 * x), lambda x: 5.0),
    "2 ** x": (lambda x: 2.0**x, lambda x: 2.0**x * math.log(2.0)),
    "x ** x": (lambda x: x**x, lambda x: x**x * (functions.log(x) + 1.0)),
    "x ** 2.5": (lambda x: x**2.5, lambda x: 2.5 * x**1.5),
    "fmod": (lambda x: functions.fmod(7.5 * x, x), lambda x: 0.5),
    "floor": (lambda x: functions.floor(x) * x, lambda x: 1.0 * functions.floor(x)),
    "copysign": (lambda x: functions.copysign(x, -1.0), lambda x: -1.0),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    f, slope = RULES[rule]
    for x in (0.7, np.float64(1.3), np.array([0.2, 2.5])):
        got = f(Dual(x, 0.3))
        assert_close(got.value, f(x), ulps=2)
        assert_close(got.rate + 0.0 * x, 0.3 * slope(x) + 0.0 * x, ulps=8)


def test_over_traced_scalars() -> None:
    tracer = Tracer()
    (x,) = tracer.input(Port("x", (1,)))
    y = x * Dual(x, 1.0) + sin(Dual(x, 1.0))
    assert isinstance(y, Dual)
    # d/dx of x̄ x + sin x with x̄ held: one product disappears, and no sine is needed
    assert tracer.program({"rate": ((), [y.rate])}).op_count() == {"cos": 1, "add": 1}


def test_zero_is_known_where_it_stays_zero() -> None:
    assert is_zero(Dual(0.0, 0.0))
    assert not is_zero(Dual(0.0, 1.0))
    assert not is_zero(Dual(math.pi, 0.0))


def test_comparisons_are_those_of_values() -> None:
    """Whatever the rates, and of equal ones too."""
    for x, y in ((1.0, 2.0), (2.0, 1.0), (1.0, 1.0)):
        for b in (Dual(y, 3.0), y):
            a = Dual(x, -1.0)
            assert [a < b, a <= b, a > b, a >= b] == [x < y, x <= y, x > y, x >= y]


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


SPECIAL = (math.inf, -math.inf, math.nan, -math.nan, 0.0, -0.0, 1.5, -1.5)


@pytest.mark.parametrize(("x", "y"), list(itertools.product(SPECIAL, SPECIAL)), ids=str)
def test_the_sign_of_nan_is_no_sign(x: float, y: float) -> None:
    """Computed NaNs have another sign on each processor: an interpreted page and a compiled one must agree."""
    wanted = ieee.copysign(x, y)
    got = functions.copysign(x, y)
    assert np.array_equal([got, math.copysign(1.0, got)], [wanted, math.copysign(1.0, wanted)], equal_nan=True)


def test_the_sign_of_nan_is_none_in_compiled_functions() -> None:
    compiled = kt.compile(kt.load("ur5"), lambda x, y: functions.copysign(x, y), shapes={"x": (), "y": ()})
    x, y = np.array(list(itertools.product(SPECIAL, SPECIAL))).T
    wanted = np.array([functions.copysign(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    for got in (compiled(x, y), np.array([compiled(a, b) for a, b in zip(x, y, strict=True)])):
        assert np.array_equal(got, wanted, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(wanted) & ~np.isnan(got) | np.signbit(got) & np.isnan(got))
