"""Array operations in C: the bits of the interpreter, nested ones, masks of lanes and small regions included."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from test_array_operations import OPERATIONS, X
from test_array_operations import program as using

import kinetree as kt
from helpers.c_backend import COMPILERS, CBackend, run_c
from helpers.compiler import names_of_operations
from helpers.kernels import run_batch, same_bits
from helpers.sampling import cover
from helpers.trees import random_inertia, random_placement
from kinetree.algorithms.dynamics import crba, inverse
from kinetree.backends.c.routines import OPERATIONS as EMITTERS
from kinetree.graph import Port, Program
from kinetree.graph.ops import interpret
from kinetree.joints import Revolute
from kinetree.model import ModelBuilder
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer


@cache
def together() -> Program:
    """The programs of all operations as one: their outputs side by side."""
    t = Tracer()
    x = t.input(Port("x", (3,)))
    outputs = {}
    for k, operation in enumerate(OPERATIONS.values()):
        code = using(operation)
        copies: dict[int, int] = {}
        for i in code.schedule():
            op, args, payload = code.graph[i]
            copies[i] = x[payload[1]].id if op == "input" else t.graph.node(op, tuple(copies[a] for a in args), payload)
        for port, entries in zip(code.outputs, code.results, strict=True):
            outputs[f"{port.name}{k}"] = port.shape, [Expr(t.graph, copies[i]) for i in entries]
    return t.program(outputs)


@cache
def expected(dtype: str) -> list[np.ndarray]:
    if dtype == "float32":
        return run_batch(together(), [X], 4, dtype)
    return [np.array(outputs) for outputs in zip(*(interpret(together(), [x]) for x in X), strict=True)]


def test_no_operation_is_left_out() -> None:
    assert EMITTERS.keys() == names_of_operations()


LANES_AND_SIZES = [(1, 1000), (1, 1), (2, 1), (8, 1000)]


@pytest.mark.parametrize(
    ("lanes_and_size", "dtype", "compiler"),
    cover(itertools.product(LANES_AND_SIZES, ("float64", "float32"), COMPILERS)),
)
def test_same_bits(lanes_and_size: tuple[int, int], dtype: str, compiler: str) -> None:
    lanes, size = lanes_and_size
    got = run_c(CBackend(compiler, region_operations=size), together(), [X], lanes, dtype)
    assert all(same_bits(a, b) for a, b in zip(got, expected(dtype), strict=True))


@pytest.mark.parametrize("name", ["mass_matrix", "mass_matrix_inverse"])
@pytest.mark.parametrize("n", [14, 50])
def test_the_mass_matrix_of_a_long_chain_and_its_inverse(n: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are computed in a loop, and are moved in loops over tables; with smaller limits, of fewer joints."""
    if n < 50:
        monkeypatch.setattr(inverse, "UNROLLED", n)
        monkeypatch.setattr(crba, "UNROLLED", n)
    rng, b = np.random.default_rng(0), ModelBuilder("chain")
    b.add_link("link0")
    for k in range(n):
        b.add_link(f"link{k + 1}", random_inertia(rng))
        ends = {"parent": f"link{k}", "child": f"link{k + 1}", "placement": random_placement(rng)}
        b.add_joint(f"j{k}", joint=Revolute(), **ends)
    robot = kt.Robot(b.build())
    f, q = getattr(robot, name), robot.random_state(0, 5)[0]
    program = f._kernels.program(f._default)
    assert program.op_count()["map"] >= 1
    assert "kt_pairs" in f.to_c().source
    backend = CBackend(list(COMPILERS)[-1])  # gcc if it is there, which is faster here
    assert np.array_equal(run_c(backend, program, [q[0]])[0], f(q[0]))
    assert np.array_equal(run_c(backend, program, [q], 4)[0], f(q))
