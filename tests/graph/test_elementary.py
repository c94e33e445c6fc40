"""Elementary functions against mpmath over the whole range, in kernels of every width and in the interpreter."""

from __future__ import annotations

import dataclasses
import itertools
import math
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

from helpers.kernels import HOST, run_batch, same_bits
from helpers.programs import ELEMENTARY, alone
from kinetree.backends.llvm.compile import compile_batch
from kinetree.derivatives import PARTIALS
from kinetree.graph import Graph, Port, Program, elementary
from kinetree.graph.ops import OPS
from kinetree.lowering.build import lower

MOST_ULPS = {"power": 1.5, "fmod": 0.0}
"""Of other functions 1, also of subnormal results, which are rounded twice: the worst of two million arguments is 0.98,
of arctan; of powers it is 1.45, of numbers 6 % from 1 to powers near 10,000, where the logarithm has most of it."""

RIGHT = {
    **{name: getattr(mp, name) for name in ("exp", "expm1", "sinh", "cosh", "tanh", "log", "log1p", "hypot", "power")},
    **{"arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan, "arctan2": mp.atan2},
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "fmod": lambda x, y: mp.sign(x) * (abs(x) - abs(y) * mp.floor(abs(x) / abs(y))),
}

EDGES = [0.0, 5e-324, 1e-310, 2.0**-1022, 1e-20, 2.0**-28, 0.5, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 1.5, 2.0, 2.5, 3.0]
EDGES += [22.0, 40.5, 709.78, 710.4, 710.5, 745.1, 746.0, 2.0**52 + 0.5, 2.0**53 - 1, 2.0**53 + 2, 1e200, 1e308]
EDGES = [s * x for x in [*EDGES, float(np.finfo(float).max), math.inf] for s in (1.0, -1.0)] + [math.nan]


def edges(op: str) -> list[np.ndarray]:
    """Return all combinations of special arguments."""
    return list(np.array(list(itertools.product(EDGES, repeat=OPS[op].arity))).T.copy())


def anywhere(op: str, seed: int, n: int = 250) -> list[np.ndarray]:
    """Return finite arguments: random bits, usual sizes, small ones, close to ±1, and where results are extreme."""
    rng = np.random.default_rng(seed)

    def near_one(n: int) -> np.ndarray:
        return rng.choice([-1.0, 1.0], n) * (1.0 + rng.uniform(-1, 1, n) * 10.0 ** rng.integers(-16, 1, n))

    x = rng.integers(0, 2**64, 2 * n, dtype=np.uint64).view(np.float64)
    x = np.where(np.isfinite(x), x, 1.0)
    subnormal = rng.integers(1, 2**52, n, dtype=np.uint64).view(np.float64)
    small = rng.normal(size=n) * 10.0 ** rng.integers(-20, 3, n)
    x = np.concatenate([x, subnormal, rng.uniform(-3, 3, 2 * n), rng.uniform(-750, 750, n), small, near_one(2 * n)])
    if OPS[op].arity == 1:
        return [x]
    y = rng.permutation(x)
    if op == "power":
        with np.errstate(all="ignore"):
            exponent = rng.uniform(-745, 710, x.size) / np.log(np.abs(x))
        exponent[~np.isfinite(exponent)] = 3.0
        return [np.concatenate([x, np.abs(x)]), np.concatenate([np.round(y), exponent])]
    ratio = np.concatenate([rng.uniform(0.3, 3, x.size // 2), np.exp(rng.uniform(-40, 40, x.size - x.size // 2))])
    with np.errstate(over="ignore"):
        beside = np.clip(x * ratio, -1e308, 1e308)
    beside[beside == 0.0] = 1.0
    return [np.concatenate([x, x]), np.concatenate([y, beside])]


def errors(op: str, columns: list[np.ndarray], got: np.ndarray, dtype: str) -> np.ndarray:
    """Return the errors in units of the last place; inf where a result should be NaN, infinite or finite and is not."""
    found = np.empty(got.shape)
    limit = mp.mpf(float(np.finfo(dtype).max)) * (1 + mp.mpf(float(np.finfo(dtype).eps)) / 4)
    with mp.workprec(2400 if op == "fmod" else 150):
        for n, (y, *x) in enumerate(zip(got.tolist(), *(c.tolist() for c in columns), strict=True)):
            try:
                right = RIGHT[op](*map(mp.mpf, x))
            except (ValueError, ZeroDivisionError):
                right = mp.nan
            if isinstance(right, mp.mpc) or mp.isnan(right):
                found[n] = 0.0 if y != y or x[0] == 0.0 else math.inf
            elif abs(right) > limit:
                found[n] = 0.0 if abs(y) == math.inf or abs(y) == float(np.finfo(dtype).max) else math.inf
            else:
                unit = float(np.spacing(np.abs(np.array(float(right)).astype(dtype)))) if math.isfinite(y) else 0.0
                found[n] = float(abs(mp.mpf(y) - right) / mp.mpf(unit)) if unit else math.inf
    return found


@pytest.mark.parametrize("op", ELEMENTARY)
def test_within_a_unit_in_the_last_place_everywhere(op: str) -> None:
    columns = anywhere(op, seed=0)
    got = run_batch(alone(op), columns, 8)[0]
    wrong = errors(op, columns, got, "float64")
    worst = int(np.argmax(wrong))
    assert wrong[worst] <= MOST_ULPS.get(op, 1.0), [float(c[worst]) for c in (*columns, got)]


@pytest.mark.parametrize("op", ELEMENTARY)
def test_float32_is_float64_rounded(op: str) -> None:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        columns = [c.astype(np.float32) for c in anywhere(op, seed=1)]
        wide = run_batch(alone(op), [c.astype(np.float64) for c in columns], 8)[0]
        assert same_bits(run_batch(alone(op), columns, 8, "float32")[0], wide.astype(np.float32))


@pytest.mark.parametrize("op", ELEMENTARY)
def test_special_arguments_are_those_of_numpy(op: str) -> None:
    """Zeros with their signs, infinities, NaN, the limits of overflow: equal, or for ordinary results two units off."""
    columns = edges(op)
    got = run_batch(alone(op), columns, 8)[0]
    with np.errstate(all="ignore"):
        wanted = getattr(np, op)(*columns)
        close = np.abs(got - wanted) <= 2 * np.spacing(np.abs(wanted))
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)
    wrong = ~(same | close & (wanted != 0.0) & np.isfinite(wanted))
    assert not wrong.any(), [(*x, a, b) for *x, a, b in np.stack([*columns, got, wanted], 1)[wrong][:5].tolist()]


@pytest.mark.parametrize("bits", [64, 128, 256])
def test_narrower_vectors_have_the_same_bits(bits: int) -> None:
    """The kernels' own vectors, which are as wide as the processor's."""
    target = dataclasses.replace(HOST, vector_bits=bits)
    for op in ELEMENTARY:
        columns = [x[::7] for x in anywhere(op, 3)]
        code = compile_batch(alone(op), dtype="float64", target=target, lanes=4)
        assert same_bits(run_batch((code, alone(op).outputs), columns, 4)[0], run_batch(alone(op), columns, 8)[0])


EVALUATE = SimpleNamespace(**{name: op.evaluate for name, op in OPS.items()})
ORDINARY = {
    "select_lt": (0.3, 0.4, 2.0, 3.0),
    "select_le": (0.5, 0.4, 2.0, 3.0),
    "fmod": (7.3, 2.0),
    "power": (1.7, 2.3),
}


@pytest.mark.parametrize("op", PARTIALS)
def test_partial_derivatives(op: str) -> None:
    """Against central differences of the operation itself."""
    x = ORDINARY.get(op, (0.62, 0.45, -0.8)[: OPS[op].arity])
    evaluate = OPS[op].evaluate
    partials = OPS[op].partials
    assert partials is not None
    for k, derivative in enumerate(partials(EVALUATE, evaluate(*x), *x)):
        h = 1e-5
        above, below = ([*x[:k], x[k] + s * h, *x[k + 1 :]] for s in (1, -1))
        assert abs((evaluate(*above) - evaluate(*below)) / (2 * h) - derivative) < 1e-8


def test_every_row_has_derivatives_but_that_of_bits() -> None:
    without = {name for name, op in OPS.items() if op.arity > 0 and op.name != "get" and op.partials is None}
    assert without == {"significand"}


@pytest.mark.parametrize("op", ELEMENTARY)
def test_the_cost_of_an_elementary_function_is_that_of_its_operations(op: str) -> None:
    counts = elementary.program(op).op_count()
    assert OPS[op].cost == sum(OPS[name].cost * count for name, count in counts.items())


def test_every_operation_has_a_cost_and_regions_are_cut_by_it() -> None:
    assert all(row.cost > 0 for row in OPS.values())
    graph = Graph()
    x = graph.node("input", (), (0, 0))
    costs = {}
    for op in ("add", "select_lt"):
        y = x
        for _ in range(100):
            y = graph.node(op, (y, x, x, y)[: OPS[op].arity])
        plan = lower(Program(graph, (Port("x", ()),), (Port("y", ()),), ((y,),)), 50)
        costs[op] = len(plan.steps)
    assert costs == {"add": 2, "select_lt": 4}
