"""`integrate` and `difference` near rest, all around and at half a turn: compiled and as pages, in every precision."""

from __future__ import annotations

import functools
from typing import Any

import mpmath
import numpy as np
import pytest

import kinetree as kt
from helpers.trees import toy
from kinetree.joints import FreeFlyer, Joint, Planar, Spherical

JOINTS = (Spherical(), FreeFlyer(), Planar())
DTYPES = ("float64", "float32")
PLACES = [0.0, 1e-320, 1e-170, 1e-160, 1e-150, 1e-80, 1e-44, 1e-30, 1e-22, 1e-19, 1e-12, 1e-8, 1e-4, 0.1]
ANGLES = [*PLACES, 0.99, 1.0, 1.01, 2.0, 3.1, np.pi - 1e-6, np.pi]
DIRECTION, ALONG = np.array([0.48, -0.6, 0.64]), np.array([0.3, -0.7, 1.1])

every = pytest.mark.parametrize("joint", JOINTS, ids=lambda j: type(j).__name__)
dtypes = pytest.mark.parametrize("dtype", DTYPES)


@functools.cache
def robot(joint: Joint) -> kt.Robot:
    return kt.Robot(toy(("joint base body", joint)))


def steps(joint: Joint, dtype: str) -> np.ndarray:
    """Return velocities (n, nv) that turn by all the angles; free ones translate by as much, and by much more."""
    angles = np.array(ANGLES)
    if isinstance(joint, Planar):
        turn, slide = angles[:, None], ALONG[:2]
    else:
        turn, slide = angles[:, None] * DIRECTION, ALONG if isinstance(joint, FreeFlyer) else ALONG[:0]
    parts = [np.hstack([turn, np.broadcast_to(slide * s, (len(turn), len(slide)))]) for s in (0.0, 1e-30, 1.0)]
    parts.append(np.hstack([turn, angles[:, None] * slide]))
    return np.concatenate(parts).astype(dtype)


def exponential(joint: Joint, step: np.ndarray) -> list[Any]:
    """Return where a step leads from the neutral coordinates: closed forms, with digits to spare."""
    d = [mpmath.mpf(float(x)) for x in step]
    if isinstance(joint, Planar):
        w, x, y = d
        a, b = (mpmath.sin(w) / w, (1 - mpmath.cos(w)) / w) if w else (mpmath.mpf(1), w)
        return [a * x - b * y, b * x + a * y, w]
    w = mpmath.matrix(d[:3])
    t = mpmath.norm(w)
    half = mpmath.sin(t / 2) / t if t else mpmath.mpf(0.5)
    turned = [*(w * half), mpmath.cos(t / 2)]
    if not d[3:]:
        return turned
    b, c = ((1 - mpmath.cos(t)) / t**2, (t - mpmath.sin(t)) / t**3) if t else (mpmath.mpf(0.5), mpmath.mpf(1) / 6)
    v = mpmath.matrix(d[3:])
    wv = cross(w, v)
    return [*(v + b * wv + c * cross(w, wv)), *turned]


def cross(a: Any, b: Any) -> Any:
    return mpmath.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def blocks(joint: Joint, n: int) -> list[slice]:
    """Return which entries are measured by one another: the positions, the vector part of a quaternion, its w."""
    if isinstance(joint, Planar):
        return [slice(0, 2), slice(2, 3)] if n == 0 else [slice(0, 1), slice(1, 3)]
    if n == 0:
        return [slice(0, 3), slice(3, 4)] if joint.nq == 4 else [slice(0, 3), slice(3, 6), slice(6, 7)]
    return [slice(k, k + 3) for k in range(0, joint.nv, 3)]


def assert_few_ulps(joint: Joint, got: np.ndarray, expected: Any, side: int, ulps: float) -> None:
    eps, least = np.finfo(got.dtype).eps, np.finfo(got.dtype).smallest_subnormal
    for part in blocks(joint, side):
        exact = [mpmath.mpf(x) for x in expected[part]]
        scale = max(1 if joint.nq > joint.nv and part.stop == joint.nq else 0, *(abs(x) for x in exact), 0)
        worst = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(got[part], exact, strict=True))
        assert worst <= ulps * max(scale * mpmath.mpf(float(eps)), mpmath.mpf(float(least))), (part, got, expected)


@every
@dtypes
def test_integrate_from_neutral_is_the_exponential_to_a_few_ulp(joint: Joint, dtype: str) -> None:
    r, d = robot(joint), steps(joint, dtype)
    q = r.neutral().astype(dtype)
    batch = r.integrate(np.broadcast_to(q, (len(d), r.nq)), d)
    assert batch.dtype == dtype
    with mpmath.workdps(1200):  # the closed forms cancel
        for step, many in zip(d, batch, strict=True):
            one = r.integrate(q, step)
            np.testing.assert_array_equal(one, many)
            assert_few_ulps(joint, one, exponential(joint, step), 0, 8)


@every
@dtypes
def test_difference_from_neutral_undoes_it_to_a_few_ulp(joint: Joint, dtype: str) -> None:
    r, d = robot(joint), steps(joint, dtype)
    d = d[np.abs(d[:, 0]) < 3.0 * 0.48] if joint.nq > joint.nv else d  # at half a turn the axis may change its sign
    q = r.neutral().astype(dtype)
    reached = r.integrate(q, d)
    batch = r.difference(np.broadcast_to(q, reached.shape), reached)
    assert batch.dtype == dtype
    for step, end, many in zip(d, reached, batch, strict=True):
        one = r.difference(q, end)
        np.testing.assert_array_equal(one, many)
        assert_few_ulps(joint, one, [mpmath.mpf(float(x)) for x in step], 1, 32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_half_a_turn_and_equal_orientations(dtype: str) -> None:
    r = robot(Spherical())
    q = r.neutral().astype(dtype)
    one = np.array([0.0, 0.0, 1.0, 0.0], dtype=dtype)
    np.testing.assert_array_equal(r.difference(q, one), np.array([0.0, 0.0, np.pi], dtype=dtype))
    for sign in (1, -1):
        np.testing.assert_array_equal(r.difference(q, sign * q), np.zeros(3, dtype=dtype))
        np.testing.assert_array_equal(r.difference(one, sign * one), np.zeros(3, dtype=dtype))
    assert np.isnan(r.difference(q, np.zeros(4, dtype=dtype))).all()
    assert np.isnan(r.integrate(np.zeros(4, dtype=dtype), np.zeros(3, dtype=dtype))).all()


@every
def test_float32_arrays_stay_float32(joint: Joint) -> None:
    d = steps(joint, "float32")
    q = [np.full(len(d), x, dtype=np.float32) for x in joint.neutral()]
    reached = joint.integrate(q, list(d.T))
    assert {x.dtype for x in (*reached, *joint.difference(q, reached))} == {np.dtype(np.float32)}


@every
@dtypes
def test_a_nan_reaches_all_that_depends_on_it(joint: Joint, dtype: str) -> None:
    r = robot(joint)
    q, d = r.neutral().astype(dtype), np.zeros(r.nv, dtype=dtype)
    for value in (np.nan, np.inf):
        d[0] = value
        got = r.integrate(q, d)
        turned = got[-4:] if joint.nq > joint.nv else got[:2]
        assert np.isnan(turned).all()


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_float32_robots_at_rest_stay_where_they_are(name: str) -> None:
    r = kt.load(name)
    q, zeros = r.neutral().astype(np.float32), np.zeros(r.nv, dtype=np.float32)
    np.testing.assert_array_equal(r.integrate(q, zeros), q)
    np.testing.assert_array_equal(r.difference(q, q), zeros)


def test_a_smoothing_whose_square_is_nothing_is_refused() -> None:
    for smoothing in (1e-30, 1e-200, 1e30):
        with pytest.raises(kt.errors.ArgumentError, match="smoothing"):
            kt.load("panda").with_friction(smoothing=smoothing)
    r = kt.load("panda").with_friction(smoothing=1e-18)
    zeros = np.zeros(7, dtype=np.float32)
    assert np.isfinite(r.inverse_dynamics(zeros, zeros, zeros)).all()


def test_rates_at_rest_are_exact_for_casadi_and_sympy() -> None:
    """The formulas differentiate at zero, where their closed forms do not."""
    import casadi
    import sympy

    v = casadi.SX.sym("v", 3)
    out = casadi.vertcat(*Spherical().integrate([0.0, 0.0, 0.0, 1.0], casadi.vertsplit(v)))
    rates = np.array(casadi.Function("f", [v], [casadi.jacobian(out, v)])(np.zeros(3)))
    np.testing.assert_array_equal(rates, np.vstack([np.eye(3) / 2, np.zeros(3)]))
    x = sympy.Symbol("x", real=True)
    (_, _, z, _) = Spherical().integrate([0, 0, 0, 1], [0, 0, x])
    assert abs(z.subs(x, sympy.Rational(1, 2)) - sympy.sin(sympy.Rational(1, 4))) < 1e-15
    assert z.subs(x, 0) == 0
