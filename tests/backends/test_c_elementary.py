"""Elementary functions and operations on the bits of numbers in C, on every kind of number: the LLVM backend's bits."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from helpers.c_backend import COMPILERS, CBackend, run_c
from helpers.kernels import run_batch, same_bits
from helpers.programs import ELEMENTARY
from helpers.sampling import cover
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS, interpret

NAMES = (*ELEMENTARY, "rint", "floor", "ceil", "trunc", "copysign", "pow2", "exponent", "significand")
COUNT = 20_000

DTYPES = ("float64", "float32")


@cache
def program() -> Program:
    """The program of all functions of the same x, and of x and y."""
    graph = Graph()
    operands = [graph.node("input", (), (k, 0)) for k in range(2)]
    results = tuple((graph.node(name, tuple(operands[: OPS[name].arity])),) for name in NAMES)
    return Program(graph, (Port("x", ()), Port("y", ())), tuple(Port(f"y_{name}", ()) for name in NAMES), results)


@cache
def numbers(dtype: str) -> list[np.ndarray]:
    """Return two columns: random bit patterns, which have every exponent and NaNs of both signs, and usual numbers."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 256, (2, COUNT * np.dtype(dtype).itemsize), dtype=np.uint8).view(dtype)
    scales = np.repeat([1e-6, 1.0, 30.0, 700.0], COUNT // 4)
    usual = rng.uniform(-1, 1, (2, COUNT)) * scales
    whole = np.round(usual * 2) / 2
    signs = [[np.nan, -np.nan, 2.0, 2.0, 0.0, -0.0], [2.0, 2.0, np.nan, -np.nan, -0.0, 0.0]]
    with np.errstate(invalid="ignore"):
        return list(np.concatenate([bits, *(np.array(x).astype(dtype) for x in (usual, whole, signs))], axis=1))


@cache
def expected(dtype: str) -> list[np.ndarray]:
    return run_batch(program(), numbers(dtype), 8, dtype)


def check(got: list[np.ndarray], dtype: str) -> None:
    for name, x, wanted in zip(NAMES, got, expected(dtype), strict=True):
        assert same_bits(x, wanted), name


@pytest.mark.parametrize(("lanes", "compiler", "dtype"), cover(itertools.product((1, 8), COMPILERS, DTYPES)))
def test_the_bits_of_the_llvm_backend(lanes: int, compiler: str, dtype: str) -> None:
    check(run_c(CBackend(compiler, ("-O2", "-march=native")), program(), numbers(dtype), lanes, dtype), dtype)


@pytest.mark.parametrize(("compiler", "dtype"), cover(itertools.product(COMPILERS, DTYPES)))
def test_the_same_without_fused_multiply_adds(compiler: str, dtype: str) -> None:
    """Elementary functions are as good on a processor that has none: their ``fma`` is libm's there."""
    processor = ["-mcpu=x86_64"] if compiler == "clang" else []  # gcc's own choice
    backend = CBackend(compiler, ("-O1", "-DKT_FMA=0", *processor))
    check(run_c(backend, program(), numbers(dtype), 1, dtype), dtype)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_bits_of_the_interpreter(compiler: str) -> None:
    columns = [x[::100] for x in numbers("float64")]
    got = run_c(CBackend(compiler), program(), columns, 4)
    for state, row in enumerate(zip(*columns, strict=True)):
        for name, x, wanted in zip(NAMES, got, interpret(program(), row), strict=True):
            assert same_bits(x[state : state + 1], wanted.reshape(1)), name
