"""The pages keep the precision of the scalars that they are given: no step of them falls to 53 bits."""

from __future__ import annotations

import numbers
import sys
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi
import mpmath
import numpy as np
import pytest
import sympy

import kinetree as kt
from kinetree.algorithms import aba, crba, forward_kinematics, rnea
from kinetree.joints import FreeFlyer, Planar, Revolute, Spherical
from kinetree.scalars.dual import Dual
from kinetree.scalars.functions import atan2, is_zero, select_less
from kinetree.spatial import cos, sin, sqrt

PANDA = kt.load("panda").model
Q = [Fraction(k - 3, 7) for k in range(7)]
V, A = [[Fraction(k + j, 11) for k in range(7)] for j in (1, 5)]


class Wide:
    """A scalar as gmpy2's: no real number to Python's `numbers`, its functions are those of its module."""

    def __init__(self, value: mpmath.mpf) -> None:
        self.value = value


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]


def pages(number: Callable[[Fraction], Any]) -> list[Any]:
    q, v, a = ([number(x) for x in given] for given in (Q, V, A))
    results = [rnea(PANDA, q, v, a), crba(PANDA, q), aba(PANDA, q, v, a), forward_kinematics(PANDA, q)]
    return [x for x in flat(results) if not isinstance(x, float)]  # what is constant stays a float


def mpf(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def test_mpmath_at_fifty_digits() -> None:
    with mpmath.workdps(80):
        exact = pages(mpf)
    with mpmath.workdps(50):
        got = pages(mpf)
    assert len(got) == len(exact) > 7 + 49 + 7
    scale = max(map(abs, exact))
    with mpmath.workdps(80):
        assert max(abs(a - b) for a, b in zip(got, exact, strict=True)) < scale * mpmath.mpf(10) ** -45


def test_long_doubles_to_their_rounding() -> None:
    with mpmath.workdps(40):
        exact = pages(mpf)
        long = pages(lambda x: np.longdouble(x.numerator) / np.longdouble(x.denominator))
        assert {type(x) for x in long} == {np.longdouble}
        scale = max(map(abs, exact))
        worst = max(abs(mpmath.mpf(str(a)) - b) for a, b in zip(long, exact, strict=True))
    third = np.longdouble(1) / 3
    assert (sin(third), sqrt(third), atan2(third, 2.0)) == (np.sin(third), np.sqrt(third), np.arctan2(third, 2.0))
    assert worst < 100 * scale * float(np.finfo(np.longdouble).eps)


def test_a_package_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type that Python knows nothing of is served by the functions of its package."""
    package = types.ModuleType("wide")
    for name in ("sin", "cos", "sqrt"):
        setattr(package, name, lambda x, name=name: Wide(getattr(mpmath, name)(x.value)))
    package.atan2 = lambda y, x: Wide(mpmath.atan2(getattr(y, "value", y), getattr(x, "value", x)))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wide", package)
    monkeypatch.setattr(Wide, "__module__", "wide.numbers")
    with mpmath.workdps(50):
        x = mpmath.mpf(1) / 3
        for f in (sin, cos, sqrt):
            assert f(Wide(x)).value == getattr(mpmath, f.__name__)(x)
        assert atan2(Wide(x), 2.0).value == mpmath.atan2(x, 2)
        assert atan2(2.0, Wide(x)).value == mpmath.atan2(2, x)
        numbers.Real.register(Wide)  # as gmpy2's are
        assert sin(Wide(x)).value == mpmath.sin(x)


def test_sympy_numbers_stay_exact() -> None:
    third = sympy.Rational(1, 3)
    assert sin(third) == sympy.sin(third)
    assert sqrt(sympy.Integer(2)) == sympy.sqrt(2)
    assert atan2(third, sympy.Integer(1)) == sympy.atan(third)
    assert select_less(third, 1.0, 3, 4) == 3
    b = kt.ModelBuilder()
    b.add_link("base")
    b.add_link("bob", kt.Inertia.from_com(2.0, (0.0, 0.0, -1.0), np.zeros((3, 3)).tolist()))
    b.add_joint("pivot", parent="base", child="bob", joint=Revolute((0, 1, 0)))
    pendulum = b.build(gravity=(0.0, 0.0, -10.0))
    (tau,) = rnea(pendulum, [sympy.pi / 6], [sympy.Integer(0)], [sympy.Integer(0)])
    assert sympy.nsimplify(tau, rational=True) == 10
    assert tau == sympy.Float(10)  # with math, sin(π/6) is 1/2 but for the last bit
    (tau,) = rnea(pendulum, [third], [third], [sympy.Integer(0)])
    assert sympy.nsimplify(tau, rational=True) == 20 * sympy.sin(third)


def test_an_inertia_of_symbols_is_not_compared() -> None:
    x = casadi.SX.sym("x")
    assert kt.Inertia.from_com(1.0, (0.0, 0.0, 0.0), [[x, 0.0, 0.0], [0.0, x, 0.0], [0.0, 0.0, x]]).m == 1.0


def test_rates_have_the_precision_of_the_values() -> None:
    with mpmath.workdps(50):
        x = Dual(mpmath.mpf(1) / 3, mpmath.mpf(1))
        assert sin(x).rate == mpmath.cos(mpmath.mpf(1) / 3)
        assert abs(sqrt(x).rate - 1 / (2 * mpmath.sqrt(mpmath.mpf(1) / 3))) < mpmath.mpf(10) ** -49


def test_what_is_known_is_known_in_any_precision() -> None:
    with mpmath.workdps(50):
        tiny = mpmath.mpf(10) ** -500
        assert not is_zero(tiny)
        assert is_zero(tiny * 0)
        assert select_less(tiny, mpmath.mpf(10) ** -400, 1, 2) == 1
    assert not is_zero(np.longdouble(1) * np.finfo(np.longdouble).tiny)


@pytest.mark.parametrize("joint", [Spherical(), FreeFlyer(), Planar()], ids=lambda j: type(j).__name__)
def test_joints_undo_their_steps_at_fifty_digits(joint: Any) -> None:
    with mpmath.workdps(50):
        for size in (mpmath.mpf(10) ** -30, mpmath.mpf(1) / 3):
            turn = 3 if joint.nq > joint.nv else 1
            step = [size * (k + 1) / 7 if k < turn else mpmath.mpf(0) for k in range(joint.nv)]
            q = [mpmath.mpf(x) for x in joint.neutral()]
            back = joint.difference(q, joint.integrate(q, step))
            assert max(abs(a - b) for a, b in zip(back, step, strict=True)) < size * mpmath.mpf(10) ** -47


@pytest.mark.parametrize("number", [int, float, Fraction, np.float64, np.float32, np.int64, bool])
def test_other_numbers_are_floats(number: Callable[[int], Any]) -> None:
    assert type(sin(number(1))) is float
    assert sqrt(number(1)) == 1.0
    assert type(atan2(number(0), number(1))) is float
