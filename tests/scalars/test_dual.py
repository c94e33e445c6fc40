"""Dual numbers differentiate every operation that a scalar has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.dense import assert_close
from kinetree.graph import Port
from kinetree.scalars import functions
from kinetree.scalars.dual import Dual
from kinetree.scalars.functions import cos, is_zero, sin, sqrt
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
