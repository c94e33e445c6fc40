"""Every operation of the table, alone, on all kinds of numbers: a new row is tested by being there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache

import mpmath
import numpy as np
import pytest

from helpers.compiler import LEGAL
from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import COMPUTED, ELEMENTARY, EXACT, alone, traced
from helpers.sampling import SEED, pairwise
from kinetree.backends.llvm.kernels import LIMIT, TWO_OVER_PI
from kinetree.backends.llvm.module import OPERATIONS
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS

LANES = (1, 2, 4, 8, 16)
ENTRIES = 37  # of a state, which are no whole number of lanes

MOST_ULPS = {"float64": 3.0, "float32": 0.51}
"""Of sine and cosine: below 2 (see below), and 1 of the C library's. In float32 they are computed in float64
and rounded, and so is what they are compared with: half an ulp, and what the two differ by before."""


def numbers(dtype: str) -> list[float]:
    """Return numbers of every kind: zeros, subnormal, tiny, usual, huge, infinite and none; no two of a kind alike."""
    kind = np.finfo(dtype)
    tiny, least, most = float(kind.tiny), float(kind.smallest_subnormal), float(kind.max)
    positive = [0.0, least, tiny * 0.75, tiny, 0.1, 1.0, 1.0 + float(kind.eps), 2.5, 1e10, most / 2, most, math.inf]
    return [x for x in np.array([*positive, *(-x for x in positive), math.nan], dtype).tolist()]


def arguments(op: str, dtype: str) -> list[np.ndarray]:
    """Return one array an argument: all combinations of two numbers, and any two in any two places of more."""
    values = np.array(numbers(dtype), dtype)
    return list(values[combinations(len(values), OPS[op].arity)].T.copy())


@cache
def combinations(count: int, arity: int) -> np.ndarray:
    """Return indices below this count, (n, arity)."""
    if arity <= 2:
        return np.array(list(itertools.product(range(count), repeat=arity)))
    rows = np.random.default_rng(SEED).integers(count, size=(5000, arity))
    return np.array(pairwise([*map(tuple, rows.tolist())], SEED))


def right(op: str, columns: list[np.ndarray], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the operation's values by the table, rounded to the dtype, and the other ones that are right too.

    An operation on float32 in float64, then rounded, is right to the bit for two arguments. Of three (a fused one)
    the first rounding may fall on the middle between two float32 numbers, and then either may be right.
    """
    exact = np.array([OPS[op].evaluate(*row) for row in zip(*(x.tolist() for x in columns), strict=True)])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        rounded = exact.astype(dtype)
        other = np.nextafter(rounded, np.where(exact > rounded, np.inf, -np.inf).astype(dtype))
        middle = np.abs(exact - rounded) == np.abs(other.astype(float) - exact)
    return rounded, np.where(middle & (OPS[op].arity == 3) & (exact != rounded), other, rounded).astype(dtype)


def single(op: str, columns: list[np.ndarray], dtype: str) -> np.ndarray:
    """Return what the kernel for one state gives: the numbers are the entries of its arrays, ENTRIES at a time."""
    count = len(columns[0])
    graph, n = Graph(), min(ENTRIES, count)
    nodes = tuple(graph.node(op, tuple(graph.node("input", (), (k, j)) for k in range(len(columns)))) for j in range(n))
    ports = tuple(Port(f"x{k}", (n,)) for k in range(len(columns)))
    program = Program(graph, ports, (Port("y", (n,)),), (nodes,))
    rows = zip(*(np.resize(x, (-(-count // n), n)) for x in columns), strict=True)
    return np.concatenate([run_single(program, row, dtype)[0] for row in rows])[:count]


def everywhere(op: str, columns: list[np.ndarray], dtype: str) -> Iterator[np.ndarray]:
    """Yield what all kernels give."""
    yield single(op, columns, dtype)
    for lanes in LANES:
        yield run_batch(alone(op), columns, lanes, dtype)[0]


dtypes = pytest.mark.parametrize("dtype", ["float64", "float32"])


@dtypes
@pytest.mark.parametrize("op", EXACT + ELEMENTARY)
def test_an_exact_operation_has_the_bits_of_the_table(op: str, dtype: str) -> None:
    columns = arguments(op, dtype)
    value, other = right(op, columns, dtype)
    for got in everywhere(op, columns, dtype):
        assert same_bits(np.where((value != other) & (got == other), value, got), value)
    differ = (value != other) & ~np.isnan(value)
    assert differ.mean() < 0.05
    assert dtype == "float32" or not differ.any()


@dtypes
@pytest.mark.parametrize("op", sorted(set(COMPUTED) - {*EXACT, *ELEMENTARY}))
def test_any_other_operation_is_within_the_last_places(op: str, dtype: str) -> None:
    columns = arguments(op, dtype)
    first = single(op, columns, dtype)
    exact = np.array([OPS[op].evaluate(*row) for row in zip(*(x.tolist() for x in columns), strict=True)])
    np.testing.assert_array_equal(np.isnan(first), np.isnan(exact))
    known = ~np.isnan(exact)
    unit = np.spacing(np.abs(exact[known]).astype(dtype)).astype(float)
    assert (np.abs(first[known] - exact[known]) <= MOST_ULPS[dtype] * unit).all()
    for got in everywhere(op, columns, dtype):
        assert same_bits(got, first)


def test_no_operation_is_left_out() -> None:
    """All but leaves and array operations (see test_array_operations) have one value of scalars; LLVM knows all."""
    assert set(OPS) - set(COMPUTED) == {"const", "input", "call", "get"}
    assert {*OPS, *OPERATIONS} == LEGAL


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
