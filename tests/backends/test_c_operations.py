"""Every operation of the table in C, alone and in random programs: the bits of the LLVM backend's kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_llvm_operations import arguments

from helpers.c_backend import COMPILERS, CBackend, run_c
from helpers.compiler import LEGAL
from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import COMPUTED, SHAPES, random_program
from helpers.sampling import cover
from kinetree.backends.c.routines import OPERATIONS, legal_operations
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS

DTYPES = ("float64", "float32")


def test_no_operation_is_left_out() -> None:
    assert legal_operations() == {*OPS, *OPERATIONS} == LEGAL


def side_by_side() -> Program:
    """Return the program of all operations, each on inputs of its own."""
    graph, ports, results = Graph(), [], []
    for op in COMPUTED:
        first = len(ports)
        ports += [Port(f"{op}_{k}", ()) for k in range(OPS[op].arity)]
        results.append((graph.node(op, tuple(graph.node("input", (), (k, 0)) for k in range(first, len(ports)))),))
    return Program(graph, tuple(ports), tuple(Port(f"y_{op}", ()) for op in COMPUTED), tuple(results))


@pytest.mark.parametrize(("compiler", "dtype", "lanes"), cover(itertools.product(COMPILERS, DTYPES, (1, 4, 16))))
def test_every_operation_has_the_bits_of_the_llvm_backend(compiler: str, dtype: str, lanes: int) -> None:
    """Those of its kernel for many states: test_llvm_operations tells that the others have the same."""
    columns = [x for op in COMPUTED for x in arguments(op, dtype)]
    n = max(map(len, columns))
    columns = [np.resize(x, n) for x in columns]
    expected = run_batch(side_by_side(), columns, 8, dtype)
    results = run_c(CBackend(compiler), side_by_side(), columns, lanes, dtype)
    for op, got, wanted in zip(COMPUTED, results, expected, strict=True):
        assert same_bits(got, wanted), op


@pytest.mark.parametrize(("compiler", "dtype", "size"), cover(itertools.product(COMPILERS, DTYPES, (7, 1000))))
def test_random_programs(compiler: str, dtype: str, size: int) -> None:
    """Also cut into regions of a few operations."""
    rng = np.random.default_rng(size)
    program = random_program(size, operations=COMPUTED)
    states = [rng.normal(size=(5, *shape)).astype(dtype) for shape in SHAPES]
    wanted = [run_single(program, [x[k] for x in states], dtype) for k in range(5)]
    backend = CBackend(compiler, region_operations=size)
    for got, right in zip(run_c(backend, program, [x[0] for x in states], None, dtype), wanted[0], strict=True):
        assert same_bits(got, right)
    for j, got in enumerate(run_c(backend, program, states, 8, dtype)):
        assert same_bits(got, np.stack([one[j] for one in wanted]))
