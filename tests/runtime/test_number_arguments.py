"""Arguments that are numbers: in the glue, whatever kind of number they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from synthetic import Counting, line

from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")
X = np.array([1.0, 2.0, 4.0])


@pytest.fixture(scope="module")
def f():
    function = Counting(line())
    function(2.0, X, 1.0)
    return function


class MyFloat(float):
    pass


TAKEN = [2.5, -1.0, float("inf"), np.float64(2.5), np.array(2.5), 3, 0, -7, -1, 2**52]
TAKEN += [
    np.float32(2.5),
    np.array(3),
    np.array(2.5, np.float32),
    np.array(2.5, ">f8"),
    np.array([1, 7])[1:].reshape(()),
]
LEFT = [np.int64(3), MyFloat(2.5), np.float16(2.5), 2**63, 2**64 - 1]


@pytest.mark.parametrize("k", TAKEN, ids=repr)
def test_the_glue_takes(f, k):
    before = f.general_calls
    assert np.array_equal(f(k, X, 0.5), X * float(k) + 0.5)
    assert np.array_equal(f(2.0, X, k), X * 2.0 + float(k))
    assert np.array_equal(f(k, X, k, out=np.empty(3)), X * float(k) + float(k))
    assert f.general_calls == before


@pytest.mark.parametrize("k", LEFT, ids=repr)
def test_the_glue_leaves(f, k):
    before = f.general_calls
    assert np.array_equal(f(k, X, 0.5), X * float(k) + 0.5)
    assert f.general_calls == before + 1


@pytest.mark.parametrize("k", [True, None, "2", 1j, 2**64, -(2**63) - 1, 10**400, [1.0, "x"]], ids=lambda k: str(k)[:9])
def test_what_is_no_number_is_refused(f, k):
    f.warmup()
    for _ in range(2):
        with pytest.raises(ArgumentError, match="line: k"):
            f(k, X, 1.0)


def test_a_list_is_a_batch(f):
    assert np.array_equal(f([1.0, 2.0], X, 0.0), [X, 2 * X])


def test_float32(f):
    single, half = X.astype("f4"), np.float32(0.5)
    f(half, single, half)
    before = f.general_calls
    got = f(half, single, np.array(half))
    assert got.dtype == np.float32
    assert np.array_equal(got, single * half + half)
    assert f.general_calls == before
    assert f(0.5, single, half).dtype == np.float64
    assert f(half, single, 1).dtype == np.float64


def test_no_reference_is_lost_or_kept(f):
    k, d = 123456.789, 10**18
    before = sys.getrefcount(k), sys.getrefcount(d)
    for _ in range(100):
        f(k, X, d)
    assert (sys.getrefcount(k), sys.getrefcount(d)) == before
