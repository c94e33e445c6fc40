"""All that programs hold, in C: the bits of the LLVM backend's kernels and of the interpreter, on all numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from test_array_operations import OPERATIONS as ARRAY_OPERATIONS
from test_array_operations import X
from test_array_operations import program as using
from test_llvm_operations import arguments, near_multiples

import kinetree as kt
from helpers.c_backend import COMPILERS, CBackend, run_c
from helpers.compiler import LEGAL, names_of_operations
from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import COMPUTED, ELEMENTARY, SHAPES, random_program, traced
from helpers.sampling import cover
from helpers.trees import chain, random_inertia, random_placement
from kinetree.algorithms.dynamics import crba, inverse
from kinetree.backends.c.routines import OPERATIONS, legal_operations
from kinetree.graph import Graph, Port, Program
from kinetree.graph.elementary.circular import LIMIT
from kinetree.graph.ops import OPS, interpret
from kinetree.joints import Revolute
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer

BITS = (*ELEMENTARY, "rint", "floor", "ceil", "trunc", "copysign", "pow2", "exponent", "significand")
COUNT = 20_000
SINES = traced(lambda x: [x[0].sin(), x[0].cos()], 1)
ULPS = {"float64": 2.0, "float32": 1.0}
"""Of sines without fused multiply-adds; measured: 2 and 0, since float32 angles are computed in float64."""


def side_by_side() -> Program:
    """Return the program of all operations, each on inputs of its own."""
    graph, ports, results = Graph(), [], []
    for op in COMPUTED:
        first = len(ports)
        ports += [Port(f"{op}_{k}", ()) for k in range(OPS[op].arity)]
        results.append((graph.node(op, tuple(graph.node("input", (), (k, 0)) for k in range(first, len(ports)))),))
    return Program(graph, tuple(ports), tuple(Port(f"y_{op}", ()) for op in COMPUTED), tuple(results))


def their_arguments(dtype: str) -> list[np.ndarray]:
    columns = [x for op in COMPUTED for x in arguments(op, dtype)]
    return [np.resize(x, max(map(len, columns))) for x in columns]


def on_bits() -> Program:
    """Return the program of all functions that look at bits of the same x, or of x and y."""
    graph = Graph()
    operands = [graph.node("input", (), (k, 0)) for k in range(2)]
    results = tuple((graph.node(name, tuple(operands[: OPS[name].arity])),) for name in BITS)
    return Program(graph, (Port("x", ()), Port("y", ())), tuple(Port(f"y_{name}", ()) for name in BITS), results)


def numbers(dtype: str, count: int = COUNT) -> list[np.ndarray]:
    """Return two columns: random bit patterns, which have every exponent and NaNs of both signs, and usual numbers."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 256, (2, count * np.dtype(dtype).itemsize), dtype=np.uint8).view(dtype)
    usual = rng.uniform(-1, 1, (2, COUNT)) * np.repeat([1e-6, 1.0, 30.0, 700.0], COUNT // 4)
    whole = np.round(usual * 2) / 2
    signs = [[np.nan, -np.nan, 2.0, 2.0, 0.0, -0.0], [2.0, 2.0, np.nan, -np.nan, -0.0, 0.0]]
    with np.errstate(invalid="ignore"):
        return list(np.concatenate([bits, *(np.array(x).astype(dtype) for x in (usual, whole, signs))], axis=1))


@cache
def angles(dtype: str) -> list[np.ndarray]:
    """Return random bit patterns, usual angles and hard ones."""
    rng = np.random.default_rng(0)
    usual = np.concatenate([rng.uniform(-scale, scale, 20000) for scale in (1e-3, 1.0, 10.0, 1e4, LIMIT)])
    limits = [LIMIT, np.nextafter(LIMIT, np.inf), np.nextafter(LIMIT, 0.0), LIMIT * 2 * (1 + 1e-7), 1e22]
    worst = [6381956970095103.0 * 2.0**797, 1.7976931348623157e308, 0.0, np.inf, np.nan, 5e-324, 2.2e-308]
    hard = np.concatenate([near_multiples(), limits, worst])
    with np.errstate(over="ignore", invalid="ignore"):
        others = (x.astype(dtype) for x in (usual, hard, -hard))
        return [np.concatenate([numbers(dtype, 1_000_000)[0], *others])[:, None]]


def array_operations() -> Program:
    """Return the programs of all array operations as one: their outputs side by side."""
    t = Tracer()
    x = t.input(Port("x", (3,)))
    outputs = {}
    for k, operation in enumerate(ARRAY_OPERATIONS.values()):
        code = using(operation)
        copies: dict[int, int] = {}
        for i in code.schedule():
            op, args, payload = code.graph[i]
            copies[i] = x[payload[1]].id if op == "input" else t.graph.node(op, tuple(copies[a] for a in args), payload)
        for port, entries in zip(code.outputs, code.results, strict=True):
            outputs[f"{port.name}{k}"] = port.shape, [Expr(t.graph, copies[i]) for i in entries]
    return t.program(outputs)


PROGRAMS: dict[str, tuple[Callable[[], Program], Callable[[str], list[np.ndarray]]]] = {
    "operations": (side_by_side, their_arguments),
    "on bits": (on_bits, numbers),
    "sines": (lambda: SINES, angles),
    "array operations": (array_operations, lambda dtype: [X.astype(dtype)]),
}


@cache
def known(name: str, dtype: str) -> tuple[Program, list[np.ndarray], list[np.ndarray]]:
    """Return a program, inputs, and what the LLVM backend's kernel for many states makes of them."""
    program, inputs = PROGRAMS[name][0](), PROGRAMS[name][1](dtype)
    return program, inputs, run_batch(program, inputs, 8, dtype)


def check(program: Program, got: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    for port, x, right in zip(program.outputs, got, wanted, strict=True):
        assert same_bits(x, right), port.name


DTYPES = ("float64", "float32")
FLAGS = (("-O2", "-march=native"), ("-O1", "-mfma"))  # the second without AVX2


@pytest.mark.parametrize(
    ("name", "dtype", "compiler", "lanes", "flags", "size"),
    cover(itertools.product(PROGRAMS, DTYPES, COMPILERS, (1, 2, 8, 16), FLAGS, (1, 7, 1000))),
)
def test_the_bits_of_the_llvm_backend(
    name: str, dtype: str, compiler: str, lanes: int, flags: tuple[str, ...], size: int
) -> None:
    """Also cut into regions of a few operations. The kernel for one state has the same (test_llvm_operations)."""
    program, inputs, wanted = known(name, dtype)
    check(program, run_c(CBackend(compiler, flags, size), program, inputs, lanes, dtype), wanted)


@pytest.mark.parametrize(("compiler", "dtype", "size"), cover(itertools.product(COMPILERS, DTYPES, (7, 1000))))
def test_random_programs_of_one_state(compiler: str, dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    program = random_program(size, operations=COMPUTED)
    states = [rng.normal(size=(5, *shape)).astype(dtype) for shape in SHAPES]
    wanted = [run_single(program, [x[k] for x in states], dtype) for k in range(5)]
    backend = CBackend(compiler, region_operations=size)
    check(program, run_c(backend, program, [x[0] for x in states], None, dtype), wanted[0])
    together = [np.stack([one[j] for one in wanted]) for j in range(len(program.outputs))]
    check(program, run_c(backend, program, states, 8, dtype), together)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["on bits", "array operations"])
def test_the_bits_of_the_interpreter(name: str, compiler: str) -> None:
    program, inputs, _ = known(name, "float64")
    some = [x[:: 100 if name == "on bits" else 1] for x in inputs]
    wanted = [
        np.array(outputs) for outputs in zip(*(interpret(program, row) for row in zip(*some, strict=True)), strict=True)
    ]
    check(program, run_c(CBackend(compiler), program, some, 4), wanted)


@pytest.mark.parametrize(("compiler", "dtype"), cover(itertools.product(COMPILERS, DTYPES)))
def test_without_fused_multiply_adds(compiler: str, dtype: str) -> None:
    """Elementary functions are as good on a processor that has none: their ``fma`` is libm's there.

    Of sines the last place may differ.
    """
    processor = ["-mcpu=x86_64"] if compiler == "clang" else []  # gcc's own choice
    backend = CBackend(compiler, ("-O1", "-DKT_FMA=0", *processor))
    program, inputs, wanted = known("on bits", dtype)
    check(program, run_c(backend, program, inputs, 1, dtype), wanted)
    _, inputs, (expected,) = known("sines", dtype)
    got = run_c(backend, SINES, inputs, 1, dtype)[0]
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    there = ~np.isnan(expected)
    error = np.abs(got[there].astype(float) - expected[there]) / np.spacing(np.abs(expected[there])).astype(float)
    assert error.max() <= ULPS[dtype]


def test_libm_gives_the_same_bits_where_it_must() -> None:
    """-DKT_FMA=1 for a processor without the instruction: libm's function has one rounding too."""
    x = angles("float64")[0][::50]
    got = run_c(CBackend("clang", ("-O2", "-mcpu=x86_64", "-DKT_FMA=1")), SINES, [x], 1)[0]
    assert same_bits(got, run_batch(SINES, [x], 8)[0])


def test_no_operation_is_left_out() -> None:
    assert legal_operations() == {*OPS, *OPERATIONS} == LEGAL
    assert OPERATIONS.keys() == names_of_operations()


@pytest.mark.parametrize("name", ["mass_matrix", "mass_matrix_inverse"])
@pytest.mark.parametrize("n", [14, 50])
def test_the_mass_matrix_of_a_long_chain_and_its_inverse(n: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are computed in a loop, and are moved in loops over tables; with smaller limits, of fewer joints."""
    if n < 50:
        monkeypatch.setattr(inverse, "UNROLLED", n)
        monkeypatch.setattr(crba, "UNROLLED", n)
    rng = np.random.default_rng(0)
    drawn = [(random_inertia(rng), random_placement(rng)) for _ in range(n)]
    robot = kt.Robot(chain([Revolute()] * n, *zip(*drawn, strict=True)))
    f, q = getattr(robot, name), robot.random_state(0, 5)[0]
    program = f._kernels.program(f._default)
    assert program.op_count()["map"] >= 1
    assert "kt_pairs" in f.to_c().source
    backend = CBackend(list(COMPILERS)[-1])  # gcc if it is there, which is faster here
    assert np.array_equal(run_c(backend, program, [q[0]])[0], f(q[0]))
    assert np.array_equal(run_c(backend, program, [q], 4)[0], f(q))
