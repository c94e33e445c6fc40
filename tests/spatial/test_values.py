"""The small types as values: linear spaces that do not mix, equality, hash, elementary functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import casadi
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from helpers import dense
from kinetree.scalars.functions import atan2, is_zero, select_less
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.spatial import Force, GeneralRotation, Inertia, Mat3, Motion, Sym3, Transform, Vec3, cos, sin, sqrt
from kinetree.spatial.rotation import IDENTITY

# Small integers: their arithmetic in floats is exact, so that the laws hold to the bit.
whole = st.integers(-1000, 1000).map(float)
vectors = st.builds(Vec3, whole, whole, whole)
six = st.lists(whole, min_size=6, max_size=6)


@given(vectors, vectors, vectors)
def test_cross_and_dot_laws(a: Vec3, b: Vec3, c: Vec3) -> None:
    assert a.cross(b) == -b.cross(a)
    assert a.dot(b.cross(c)) == b.dot(c.cross(a))
    assert a.cross(b.cross(c)) == b * a.dot(c) - c * a.dot(b)
    assert Mat3.skew(a) @ b == a.cross(b)


@given(vectors, vectors, vectors, vectors)
def test_matrix_laws(a: Vec3, b: Vec3, c: Vec3, u: Vec3) -> None:
    m = Mat3((a, b, c))
    assert m == m.T.T
    assert m.transposed_times(u) == m.T @ u
    assert m.times(m) @ u == m @ (m @ u)
    assert (m + m) - m == m
    np.testing.assert_array_equal(dense.matrix(m.times(m.T).rows), dense.matrix(m.rows) @ dense.matrix(m.rows).T)


@given(six, six, st.integers(-9, 9))
def test_spatial_vectors_are_a_linear_space(x: list[float], y: list[float], s: int) -> None:
    for kind in (Motion, Force):
        a, b = kind.of(x), kind.of(y)
        assert list(a + b) == [p + q for p, q in zip(x, y, strict=True)]
        assert list(a - b) == [p - q for p, q in zip(x, y, strict=True)]
        assert a * s == s * a == kind.of([p * s for p in x])
        assert a + kind.zero() == a


def test_motions_and_forces_are_different_values() -> None:
    six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert Motion.of(six) != Force.of(six)
    assert len({Motion.of(six), Force.of(six), Motion.of(six)}) == 2


@pytest.mark.parametrize("operation", [operator.add, operator.sub])
@pytest.mark.parametrize(("left", "right"), [(Motion, Force), (Force, Motion)])
def test_motions_and_forces_do_not_mix(operation: Callable[..., object], left: type, right: type) -> None:
    with pytest.raises(TypeError):
        operation(left.zero(), right.zero())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Vec3(1.0, 2.0, 3.0),
        lambda: Sym3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
        lambda: Mat3.of([[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        lambda: Motion.of(range(6)),
        lambda: Force.of(range(6)),
        lambda: Inertia.from_parameters(range(10)),
        lambda: Transform.translation([1.0, 2.0, 3.0]),
    ],
)
def test_equal_values_are_equal_and_hash_alike(make: object) -> None:
    a, b = make(), make()
    assert a == b
    assert hash(a) == hash(b)
    assert a != "something else"
    assert type(a).__name__ in repr(a)


@pytest.mark.parametrize(("kind", "n"), [(Vec3, 3), (Motion, 6), (Force, 6)])
@pytest.mark.parametrize("extra", [-1, 1])
def test_wrong_lengths_are_errors(kind: type, n: int, extra: int) -> None:
    with pytest.raises(ValueError, match="unpack"):
        kind.of([0.0] * (n + extra))


def test_inertias_add_and_subtract() -> None:
    a, b = Inertia.from_parameters(range(10)), Inertia.from_parameters(range(5, 15))
    assert list(a + b) == [x + y for x, y in zip(range(10), range(5, 15), strict=True)]
    assert (a + b) - b == a
    assert a + Inertia.zero() == a
    for dtype in (np.float32, np.float64):
        ten = a.__array__(dtype)
        assert (ten.dtype, ten.tolist()) == (dtype, [*range(10)])


def test_identity_transform() -> None:
    np.testing.assert_array_equal(dense.of_transform(Transform.identity()), np.eye(6))
    assert Transform.identity() == Transform(GeneralRotation(IDENTITY.matrix), Vec3(0.0, 0.0, 0.0))


# -- elementary functions of any scalar -----------------------------------------------------------------------------


@pytest.mark.parametrize("function", [sin, cos, sqrt])
def test_elementary_functions_of_numbers_and_arrays(function: object) -> None:
    exact = getattr(math, function.__name__)
    assert function(0.5) == exact(0.5)
    assert function(Fraction(1, 2)) == exact(0.5)
    assert function(np.float64(0.5)) == exact(0.5)
    x = np.linspace(0.1, 3.0, 7)
    np.testing.assert_array_equal(function(x), getattr(np, function.__name__)(x))
    extended = np.array([0.5], np.longdouble)
    assert function(extended).dtype == np.longdouble
    assert np.iscomplexobj(function(np.array([0.5 + 0.1j])))


@pytest.mark.parametrize("function", [sin, cos, sqrt])
def test_elementary_functions_of_symbols(function: object) -> None:
    x, y = sympy.Symbol("x"), casadi.SX.sym("y")
    assert function(x) == getattr(sympy, function.__name__)(x)
    assert float(casadi.Function("f", [y], [function(y)])(0.5)) == getattr(math, function.__name__)(0.5)


def test_no_elementary_function_of_a_string() -> None:
    with pytest.raises(TypeError, match=r"cannot take sin of a builtins\.str"):
        sin("one")


def test_atan2_of_any_scalar() -> None:
    assert atan2(1.0, -2.0) == math.atan2(1.0, -2.0)
    np.testing.assert_array_equal(atan2(np.array([1.0]), np.array([-2.0])), np.arctan2([1.0], [-2.0]))
    x, y = sympy.symbols("x y", real=True)
    assert atan2(y, x) == sympy.atan2(y, x)
    u = casadi.SX.sym("u")
    assert float(casadi.Function("f", [u], [atan2(u, casadi.SX(-2.0))])(1.0)) == math.atan2(1.0, -2.0)


def test_select_less_of_any_scalar() -> None:
    assert select_less(1.0, 2.0, 10.0, 20.0) == 10.0
    assert select_less(2.0, 2.0, 10.0, 20.0) == 20.0
    np.testing.assert_array_equal(select_less(np.array([1.0, 2.0]), 2.0, 10.0, 20.0), [10.0, 20.0])
    x, u = sympy.Symbol("x"), casadi.SX.sym("u")
    assert select_less(x, 2.0, 10, 20).subs(x, 1) == 10
    assert select_less(x, 2.0, 10, 20).subs(x, 3) == 20
    f = casadi.Function("f", [u], [select_less(u, 2.0, 10.0, 20.0)])
    assert (float(f(1.0)), float(f(3.0))) == (10.0, 20.0)


def test_is_zero_asks_no_unknown() -> None:
    assert is_zero(0.0)
    assert is_zero(-0.0)
    assert is_zero(0)
    assert not is_zero(1e-300)
    assert not is_zero(math.nan)
    assert not is_zero(sympy.Symbol("x"))
    assert not is_zero(casadi.SX.sym("x"))
    assert not is_zero(np.zeros(2))


def test_products_of_lists() -> None:
    A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert times(A, [1.0, 0.0, -1.0]) == [-2.0, -2.0]
    assert transposed(A) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert dot([], []) == 0.0
