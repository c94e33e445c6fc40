"""A user's arithmetic is what is written: the bits of NumPy, in every kernel and in the interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import assert_same_bits, run_batch, same_bits
from helpers.programs import traced
from helpers.verify import verify
from kinetree.graph import Graph
from kinetree.graph.graph import EXACT
from kinetree.graph.ops import interpret
from kinetree.passes import PASSES, optimize
from kinetree.tracing.expr import ExactExpr, recast

robot = kt.load("panda")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -2e-308, 1e-160, 3e200, -1e308, np.inf, -np.inf, np.nan]
CONSTANTS = list(np.array([0.0, -0.0, 1.0, -1.0, 2.0, 0.25, 1e16, -3e-7, 1e300, 4.0, np.inf]))

UNARY = (
    lambda a: -a,
    lambda a: abs(a),
    np.sqrt,
    np.sign,
    np.square,
    lambda a: a**2,
    lambda a: 1.0 / a,
    lambda a: +a,
)
BINARY = (
    *(np.add, np.subtract, np.multiply, np.true_divide) * 4,
    lambda a, b: (a + b) - b,
    lambda a, b: a * a - b * b,
    lambda a, b: np.where(a < b, a, b * a),
    lambda a, b: np.where((a <= b) & ~(a == 0), b, a),
    lambda a, b: np.where((a > b) | (b != b), a - b, b),
    lambda a, b: np.maximum(a, b) + 0.0,  # of zeros with two signs NumPy returns either
    lambda a, b: np.minimum(a, b) + 0.0,
)


def random_function(seed: int, inputs: int = 4, size: int = 30):
    """Return a function of a list of numbers that does the same on arrays and on traced values."""
    rng = random.Random(seed)
    steps = []
    for n in range(size):
        places = [rng.randrange(-min(inputs + n, 8), 0) if rng.random() < 0.7 else rng.randrange(inputs) for _ in "ab"]
        steps.append((rng.random(), rng.choice(UNARY), rng.choice(BINARY), *places, rng.choice(CONSTANTS)))

    def function(x):
        values = list(x)
        for kind, unary, binary, i, j, c in steps:
            a, b = values[i], values[j]
            if kind < 0.2:
                values.append(unary(a))
            elif kind < 0.5:
                values.append(binary(a, c) if kind < 0.35 else binary(c, a))
            else:
                values.append(binary(a, b))
        return values[inputs:]

    return function


def states(seed: int, inputs: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(64, inputs)) * 10.0 ** rng.integers(-3, 4, (64, inputs))
    x[8:16, 1] = x[8:16, 0]  # what cancels
    x[16:24, 2] = -x[16:24, 3]
    x[24:] = rng.choice(SPECIAL, (40, inputs))
    return x


def exactly(function):
    return lambda x: function([recast(entry, ExactExpr) for entry in x])


@pytest.mark.parametrize("seed", range(40))
def test_random_lines_have_the_bits_of_numpy(seed: int) -> None:
    function, x = random_function(seed), states(seed)
    with np.errstate(all="ignore"):
        columns = [np.broadcast_to(y, len(x)) for y in function(list(x.T))]
    expected = np.stack(columns, axis=1).astype(np.float64)
    program = verify(traced(exactly(function), 4))
    code = optimize(program)
    assert same_bits(np.array([interpret(program, [row])[0] for row in x]), expected)
    assert same_bits(assert_same_bits(code, x)[0], expected)

    @kt.compile(robot, shapes={"x": (4,)})
    def compiled(x):
        return np.stack(function(x))

    assert same_bits(compiled(x), expected)
    assert same_bits(np.array([compiled(row) for row in x]), expected)


def test_what_cancels_cancels() -> None:
    @kt.compile(robot, shapes={"x": (4,)})
    def f(x):
        return {
            "root": np.sqrt(x[0] * x[0] - x[1] * x[1]),
            "cross": np.cross(x[:3], x[:3]),
            "lost": (x + 1e16) - 1e16,
            "sum": (x[2] * 1e308) / 2.0 + (x[3] * 1e308) / 2.0,
            "quotients": (x[2] * 1e308) / x[3] + (x[2] * 1e308) / x[3],
            "zero": 0.0 * x,
            "constants": np.array([0.0, -0.0]),
        }

    x = np.random.default_rng(0).normal(size=(1000, 4))
    x[:, 1] = x[:, 0]
    x[:, 2:] = 1.0
    got = f(x)
    assert not got.root.any()
    assert not got.cross.any()
    assert same_bits(got.lost, (x + 1e16) - 1e16)
    assert (got.sum == 1e308).all()
    assert (got.quotients == np.inf).all()
    assert same_bits(got.zero, 0.0 * x)
    assert np.signbit(got.constants[0]).tolist() == [False, True]


def test_sums_and_products_of_arrays_are_taken_from_the_left() -> None:
    def f(x, A):
        return {"sum": x.sum(), "dot": x @ x, "product": A @ x, "column": A.sum(0), "norm": np.linalg.norm(x)}

    def left(terms):
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    rng = np.random.default_rng(0)
    x, A = rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-8, 8, (200, 5)), rng.normal(size=(200, 3, 5))
    x[0] = [-0.0] * 5
    got = kt.compile(robot, f, shapes={"x": (5,), "A": (3, 5)})(x, A)
    assert same_bits(got.sum, left(list(x.T)))
    assert same_bits(got.dot, left(list((x * x).T)))
    assert same_bits(got.product, left([A[:, :, k] * x[:, k, None] for k in range(5)]))
    assert same_bits(got.column, left([A[:, k] for k in range(3)]))
    assert same_bits(got.norm, np.sqrt(left(list((x * x).T))))


def test_float32_rounds_every_operation() -> None:
    function, x = (lambda x: [(x[0] * x[1] - x[2]) / x[3], x[0] * x[0] - x[1] * x[1]]), states(0).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = np.stack(function(list(x.T)), axis=1)
    assert same_bits(run_batch(optimize(traced(exactly(function), 4)), [x], 8, "float32")[0], expected)


def test_fuse_gives_it_up() -> None:
    def lines(q, v):
        return q * v - v * v + q, (q + 1e16) - 1e16

    exact, fused = kt.compile(robot, lines), kt.compile(robot, lines, fuse=True)
    assert "fma" not in exact.op_count
    assert exact.op_count["sub"] == 14
    assert fused.op_count["fma"] == 7
    q, v, _ = robot.random_state(seed=0)
    assert np.array_equal(fused(q, v).r1, q)
    assert not np.array_equal(exact(q, v).r1, q)
    assert np.allclose(exact(q, v).r0, fused(q, v).r0, rtol=1e-12)


def test_the_robots_functions_inside_are_as_outside() -> None:
    @kt.compile(robot)
    def inner(q, v, a):
        return robot.gravity_forces(q) + q * v - v

    @kt.compile(robot, shapes={"kp": ()})
    def f(q, v, a, kp):
        return robot.inverse_dynamics(q, v, a), kp * (a - q) + v * v, inner(q, v, a)

    q, v, a = robot.random_state(seed=1)
    got = f(q, v, a, 30.0)
    assert same_bits(got.r0, robot.inverse_dynamics(q, v, a))
    assert same_bits(got.r1, 30.0 * (a - q) + v * v)
    assert same_bits(got.r2, robot.gravity_forces(q) + q * v - v)
    assert f.op_count["fma"] > 50


def test_passes_leave_exact_nodes_as_they_are() -> None:
    def function(x):
        a, b, c = (recast(entry, ExactExpr) for entry in x)
        relaxed = x[0] * x[1] + x[2]
        return [a * b + c, a / c + b / c, a * b + a * c, recast(relaxed, ExactExpr) + a * b, -(a - b), relaxed]

    program = traced(function, 3)
    for one_pass in PASSES:
        after = verify(one_pass(program))
        assert sum(after.graph[i].payload == EXACT for i in after.schedule()) == sum(
            program.graph[i].payload == EXACT for i in program.schedule()
        )
        program = after
    assert program.op_count()["fma"] == 1


def test_exact_constants_fold_where_no_bit_changes() -> None:
    graph = Graph()
    x = ExactExpr(graph, graph.node("input", (), (0, 0)))
    for same in (x * 1.0, 1.0 * x, x / 1.0, x - 0.0, -np.negative(x)):
        assert same.id == x.id
    for kept in (x + 0.0, x * 0.0, 0.0 / x, x - x, x / x, x * (1.0 / x), x - (-0.0), 0.0 - x, abs(-x)):
        assert kept.constant is None
        assert kept.id != x.id
    assert (x / 8.0).id == (x * 0.125).id
    assert graph[(x / 3.0).id].op == "div"
    two = ExactExpr(graph, graph.const(2.0))
    assert (two * 3.0 - 1.0).constant == 5.0
    assert (two / 0.0).constant == np.inf
    assert graph[(two - two).id].payload == 0.0
    assert graph[x._id(-0.0)].op == "neg"
