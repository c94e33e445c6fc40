"""The pages as they are, on other scalars than floats."""

from __future__ import annotations

import math
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
from helpers.dense import assert_close
from helpers.joints import EXAMPLES
from helpers.trees import columns, random_states, random_tree, toy
from kinetree.algorithms import ALGORITHMS, Algorithm, aba, crba, forward_kinematics, rnea, shape_of
from kinetree.algorithms.registry import OneFrame
from kinetree.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.scalars.dual import Dual
from kinetree.scalars.functions import atan2, is_zero, select_less
from kinetree.spatial import Inertia, cos, sin, sqrt

ONE_OF_EACH = [row[-1] for row in EXAMPLES.values() if row[-1].nv > 0]
MODEL = random_tree(40, n=len(ONE_OF_EACH), joints=ONE_OF_EACH)
FRAMES = (f"link{len(ONE_OF_EACH) - 1}", "link0")
MOST = 20.0
"""Twice the largest amplification that there is (10, of the bias forces): the states are far from singular ones."""
algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, (list, tuple)) else [value]


def options(algorithm: Algorithm) -> dict[str, Any]:
    """Return a value for each option that must be given: a frame that many joints move, then another one."""
    names = [name for name, option in algorithm.options.items() if isinstance(option, OneFrame) and option.required]
    return dict(zip(names, FRAMES, strict=False))


def states(algorithm: Algorithm, seed: int, size: int) -> list[np.ndarray]:
    """Return a random array (size, …) for each input."""
    q, _, _ = random_states(MODEL, seed, size)
    rng = np.random.default_rng([seed, 1])
    shapes = {name: shape_of(shape, MODEL) for name, shape in algorithm.inputs.items()}
    return [q if name == "q" else rng.normal(size=(size, *shape)) for name, shape in shapes.items()]


def run(algorithm: Algorithm, arrays: list[np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
    """Run the page on a batch with these leading axes; all outputs in one last axis."""
    arguments = (columns(x, x.ndim - len(lead)) for x in arrays)
    results = flat(algorithm.function(MODEL, *arguments, **options(algorithm)))
    return np.stack([np.broadcast_to(x, lead) for x in results], axis=-1)


def amplification(algorithm: Algorithm, arrays: list[np.ndarray]) -> float:
    """Return by how much an algorithm amplifies a relative change of its inputs, and so, about, a rounding.

    It is `MOST` at most: an error that is amplified more is one of the algorithm, and must not loosen its own bound.
    """
    rng, change = np.random.default_rng(0), 1e-9
    before = run(algorithm, arrays, arrays[0].shape[:1])
    after = run(algorithm, [x * (1 + change * rng.choice([-1, 1], x.shape)) for x in arrays], arrays[0].shape[:1])
    return min(MOST, 1.0 + float(np.abs(after - before).max() / np.abs(before).max()) / change)


@algorithms
def test_floats_and_batches_agree(algorithm: Algorithm) -> None:
    arrays = states(algorithm, 1, 7)
    many = run(algorithm, arrays, (7,))
    ulps = 16 * amplification(algorithm, arrays)
    assert many.shape == (7, sum(math.prod(shape_of(s, MODEL)) for s in algorithm.outputs.values()))
    for k in range(7):
        one = flat(algorithm.function(MODEL, *(x[k].tolist() for x in arrays), **options(algorithm)))
        assert {type(x) for x in one} == {float}
        # NumPy's sine may differ from the C library's in the last bit
        assert_close(np.array(one), many[k], ulps=ulps)


@algorithms
def test_two_batch_axes(algorithm: Algorithm) -> None:
    arrays = states(algorithm, 2, 6)
    shaped = run(algorithm, [x.reshape(2, 3, *x.shape[1:]) for x in arrays], (2, 3))
    np.testing.assert_array_equal(shaped.reshape(6, -1), run(algorithm, arrays, (6,)))


@algorithms
def test_casadi(algorithm: Algorithm) -> None:
    """Traced with CasADi's SX into a function of its own, the same numbers."""
    arrays = states(algorithm, 3, 3)
    symbols = [casadi.SX.sym(name, x[0].size) for name, x in zip(algorithm.inputs, arrays, strict=True)]
    nested = [
        columns(np.array(casadi.vertsplit(s), dtype=object).reshape(x.shape[1:]), x.ndim - 1)
        for s, x in zip(symbols, arrays, strict=True)
    ]
    f = casadi.Function("f", symbols, [casadi.vertcat(*flat(algorithm.function(MODEL, *nested, **options(algorithm))))])
    expected, ulps = run(algorithm, arrays, (3,)), 64 * amplification(algorithm, arrays)
    for k in range(3):
        got = np.array(f(*(x[k].ravel() for x in arrays))).ravel()
        # CasADi reorders and shares; what rounds differently is amplified by the inverses inside as by the inputs
        assert_close(got, expected[k], ulps=ulps)


@algorithms
def test_extended_precision(algorithm: Algorithm) -> None:
    """On long doubles the results have more digits, and rounded they are those of floats."""
    arrays = states(algorithm, 4, 5)
    long = run(algorithm, [x.astype(np.longdouble) for x in arrays], (5,))
    assert long.dtype == np.longdouble
    assert_close(run(algorithm, arrays, (5,)), long, ulps=50 * amplification(algorithm, arrays))


def sliders() -> Model:
    """Return two slides at right angles, whose mass matrix holds nothing but sums of masses."""
    links = {f"s{k}": Inertia.from_com(0.5 + k, [0, 0, 0], np.eye(3).tolist()) for k in range(2)}
    joints = ("j0 base s0", Prismatic((1, 0, 0))), ("j1 s0 s1", Prismatic((0, 1, 0)))
    return toy(*joints, links=links, gravity=(0.0, -10.0, 0.0))


@pytest.mark.parametrize("number", [int, float, Fraction, np.float64])
def test_any_number_will_do(number: Callable[[int], Any]) -> None:
    q, v, a = ([number(k), number(2)] for k in range(3))
    assert rnea(sliders(), q, v, a) == [4.0, 18.0]
    assert crba(sliders(), q) == [[2.0, 0.0], [0.0, 1.5]]
    assert aba(sliders(), q, v, [number(4), number(18)]) == [2.0, 2.0]


# -- The pages keep the precision of the scalars that they are given: no step of them falls to 53 bits ---------------


PANDA = kt.load("panda").model
Q = [Fraction(k - 3, 7) for k in range(7)]
V, A = [[Fraction(k + j, 11) for k in range(7)] for j in (1, 5)]


class Wide:
    """A scalar as gmpy2's: no real number to Python's `numbers`, its functions are those of its module."""

    def __init__(self, value: mpmath.mpf) -> None:
        self.value = value


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
    links = {"bob": kt.Inertia.from_com(2.0, (0.0, 0.0, -1.0), np.zeros((3, 3)).tolist())}
    pendulum = toy(("pivot base bob", Revolute((0, 1, 0))), links=links, gravity=(0.0, 0.0, -10.0))
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
    """Below 0.2 rad there are series, long enough for 20 digits of those that are not tiny."""
    with mpmath.workdps(50):
        for size in (mpmath.mpf(10) ** -30, mpmath.mpf(7) / 3):
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
