"""Attributes as numbers and rotations."""

from __future__ import annotations

import locale
import math
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.errors import FormatError
from kinetree.formats.xml import Element, number, quaternion_rotation, rpy_rotation, triple, vector

ULP = 2.0**-52


def element(**attributes: str) -> Element:
    return Element("mass", attributes, 7, "f.urdf")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(x):
    assert number(element(value=repr(x)), "value") == x


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("+1.", 1.0),
        (".5", 0.5),
        ("-2e-3", -0.002),
        ("1E5", 1e5),
        ("007", 7.0),
        (" 1\n", 1.0),
        ("1e-999", 0.0),
    ],
)
def test_spellings_of_numbers(text, value):
    assert number(element(value=text), "value") == value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1,5", "decimal sign is a point"),
        ("0x10", "write digits"),
        ("1_000", "write digits"),
        ("1.0kg", "write digits"),
        ("1 2", "write digits"),
        ("--1", "write digits"),
        ("1e", "write digits"),
        (".", "write digits"),
        ("１", "write digits"),
        ("٣", "write digits"),
        ("1\xa0", "write digits"),
        ("nan", "finite number"),
        ("-Infinity", "finite number"),
        ("1e400", "too large"),
        ("${mass}", "run xacro"),
        ("", "is empty"),
        ("  ", "is empty"),
    ],
)
def test_what_is_not_a_number(text, hint):
    with pytest.raises(FormatError, match=r"^f\.urdf, line 7, <mass>: ") as caught:
        number(element(value=text), "value")
    assert hint in str(caught.value)
    assert "value" in str(caught.value)


def test_infinity_only_where_it_means_no_limit():
    assert number(element(upper="inf"), "upper", infinite=True) == math.inf
    assert number(element(upper="-Infinity"), "upper", infinite=True) == -math.inf
    with pytest.raises(FormatError, match="not a number"):
        number(element(upper="nan"), "upper", infinite=True)


def test_missing_attributes():
    assert number(element(), "value", 3.0) == 3.0
    assert triple(element(), "xyz", (1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    with pytest.raises(FormatError, match="the attribute 'value' is missing"):
        number(element(), "value")


def test_vectors():
    assert vector(element(xyz=" 1\t2\n3 "), "xyz", 3) == (1.0, 2.0, 3.0)
    with pytest.raises(FormatError, match="has 2 numbers, 3 are needed"):
        vector(element(xyz="1 2"), "xyz", 3)
    with pytest.raises(FormatError, match="decimal sign"):
        vector(element(xyz="1,0 2 3"), "xyz", 3)


def test_a_long_wrong_number_is_refused_at_once():
    start = time.monotonic()
    with pytest.raises(FormatError):
        number(element(value="1" * 5_000_000 + "x"), "value")
    assert time.monotonic() - start < 5.0


def test_the_locale_is_not_asked():
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
                break
            except locale.Error:
                continue
        assert number(element(value="1.5"), "value") == 1.5
        with pytest.raises(FormatError):
            number(element(value="1,5"), "value")
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def exact_rpy(rpy):
    """Return Rz(yaw) Ry(pitch) Rx(roll) to 40 digits."""
    with mpmath.workdps(40):
        r, p, y = map(mpmath.mpf, rpy)
        Rx = mpmath.matrix([[1, 0, 0], [0, mpmath.cos(r), -mpmath.sin(r)], [0, mpmath.sin(r), mpmath.cos(r)]])
        Ry = mpmath.matrix([[mpmath.cos(p), 0, mpmath.sin(p)], [0, 1, 0], [-mpmath.sin(p), 0, mpmath.cos(p)]])
        Rz = mpmath.matrix([[mpmath.cos(y), -mpmath.sin(y), 0], [mpmath.sin(y), mpmath.cos(y), 0], [0, 0, 1]])
        return np.array((Rz * Ry * Rx).tolist(), dtype=float)


angles = st.one_of(st.floats(-10, 10), st.integers(-8, 8).map(lambda k: k * math.pi / 4), st.floats(-1e-15, 1e-15))


@given(st.tuples(angles, angles, angles))
def test_rpy_against_forty_digits(rpy):
    np.testing.assert_allclose(rpy_rotation(rpy), exact_rpy(rpy), rtol=0, atol=5 * ULP)


@pytest.mark.parametrize("rpy", [(i, j, k) for i in (-2, -1, 0, 1, 2) for j in (-1, 0, 1, 2) for k in (-1, 1, 2)])
def test_quarter_turns_have_only_zeros_and_ones(rpy):
    entries = np.ravel(rpy_rotation([k * math.pi / 2 for k in rpy]))
    assert set(entries) <= {-1.0, 0.0, 1.0}
    assert not any(x == 0 and math.copysign(1, x) < 0 for x in entries)


def test_nothing_coarser_is_snapped():
    assert rpy_rotation((1.5708, 0.0, 0.0))[1][1] == math.cos(1.5708)
    assert rpy_rotation((1e-14, 0.0, 0.0))[2][1] == 1e-14


@given(
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: max(map(abs, q)) > 1e-3), st.sampled_from([1.0, 1e-200, 1e200])
)
def test_quaternions_of_any_length(q, scale):
    R = np.array(quaternion_rotation([x * scale for x in q]))
    v, w = np.array(q[:3]), q[3]
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    np.testing.assert_allclose(R, np.eye(3) + 2 * (w * K + K @ K) / np.dot(q, q), rtol=0, atol=8 * ULP)
