"""The constructors fold, and what they fold is right."""

import itertools
import math
import random

import numpy as np
import pytest

from kinetree.graph import Graph, Port, Program
from kinetree.graph.listing import listing
from kinetree.graph.ops import OPS, interpret
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer


def leaves():
    graph = Graph()
    return [Expr(graph, graph.node("input", (), (0, k))) for k in range(4)]


def neg(x):
    return -x


def same(a, b):
    return isinstance(a, Expr) and isinstance(b, Expr) and a.id == b.id


def test_what_vanishes():
    x, y, *_ = leaves()
    for value in (x * 0, 0 * x, x - x, 0 / x):
        assert value.constant == 0.0
    for value in (x / x, x * (1 / x), (1 / x) * x, x.sin() ** 2 + x.cos() ** 2, x.cos() ** 2 + x.sin() ** 2):
        assert value.constant == 1.0
    for value in (x + 0, 1 * x, x / 1, neg(neg(x)), (x + y) - y, (y + x) - y, (x - y) + y, y + (x - y), y - (y - x)):
        assert same(value, x)
    for value in (y - (y + x), y - (x + y), (y - x) - y, 0 - x, x * -1):
        assert same(value, -x)
    assert (x.sin() ** 2 + y.cos() ** 2).constant is None
    assert (x.sin() ** 2 + x.sin() ** 2).constant is None


def test_signs_move_outwards():
    x, y, *_ = leaves()
    assert same((-x) * y, -(x * y))
    assert same((-x) / y, -(x / y))
    assert same(x / (-y), -(x / y))
    assert same((-x) / (-y), x / y)
    assert same(x * (-y), -(x * y))
    assert same(x + (-y), x - y)
    assert same(x - (-y), x + y)
    assert same((-x).sin(), -(x.sin()))
    assert same((-x).cos(), x.cos())
    assert same(-(x - y), y - x)
    z = leaves()
    assert same(z[1] - z[0], -(z[0] - z[1]))
    d = x - y
    assert same(y - x, -d)


def test_operand_order_and_constants():
    x, y, *_ = leaves()
    assert same(x * y, y * x)
    assert same(x + y, y + x)
    assert same(2 * (x * 3), x * 6)
    assert same(0.2 * (x * 0.25), x * 0.05)
    assert not same(0.2 * (x * 0.2), x * (0.2 * 0.2))  # 0.2² is rounded
    assert same(2 + (x + 3), x + 5)
    assert same(x / 4, x * 0.25)
    assert not same(x / 3, x * (1 / 3))


@pytest.mark.parametrize("seed", range(30))
def test_folding_changes_only_the_rounding(seed):
    """The same random expression, folded and not, has the same value."""
    rng = random.Random(seed)
    folded, plain = Graph(), Graph()
    pool = [(g.node("input", (), (0, k)), p) for k in range(3) for g, p in [(folded, plain.node("input", (), (0, k)))]]
    pool += [(folded.const(c), plain.const(c)) for c in (0.0, 1.0, -1.0, 2.0, 0.3)]
    arity = {"neg": 1, "sin": 1, "cos": 1}
    for _ in range(60):
        op = rng.choice(["add", "sub", "mul", "neg", "sin", "cos", "add", "sub", "mul", "div"])
        args = [rng.choice(pool[-12:]) for _ in range(arity.get(op, 2))]
        if op == "div":
            args[1] = pool[rng.randrange(3)]
        pool.append((OPS[op].node(folded, tuple(a for a, _ in args)), plain.node(op, tuple(b for _, b in args))))
    port = Port("y", (len(pool),))
    x = [[0.37, -1.13, 0.71]]
    got, expected = (
        interpret(Program(g, (Port("x", (3,)),), (port,), (tuple(p[k] for p in pool),)), x)[0]
        for k, g in enumerate((folded, plain))
    )
    assert np.isfinite(expected).any()
    right = np.isfinite(expected) & (np.abs(expected) < 1e3)
    np.testing.assert_allclose(got[right], expected[right], rtol=1e-10, atol=1e-11)


ARITY = {"neg": 1, "sqrt": 1, "sin": 1, "cos": 1, "abs": 1, "add": 2, "sub": 2, "mul": 2, "div": 2}


@pytest.mark.parametrize("op", [*ARITY, "select_lt", "select_le"])
def test_constants_fold_to_what_the_operation_gives(op):
    values = (0.3, 1.0, 4.0) if op in ARITY else (-1.0, 0.0, 2.0, math.inf, math.nan)
    for constants in itertools.product(values, repeat=ARITY.get(op, 2)):
        graph = Graph()
        args = tuple(graph.const(c) for c in (*constants, *((5.0, 6.0) if op not in ARITY else ())))
        folded = OPS[op].node(graph, args)
        program = Program(graph, (), (Port("y", (2,)),), ((folded, graph.node(op, args)),))
        assert graph[folded].op == "const"
        np.testing.assert_allclose(*interpret(program, [])[0], rtol=1e-15)


def test_a_traced_value_has_no_truth_value_or_number():
    x, y, *_ = leaves()
    for use in (bool, float, int, lambda x: bool(x < y), lambda x: max(x, 0.0), lambda x: x == y or x, math.sin):
        with pytest.raises(TypeError, match="while the function is being traced"):
            use(x)
    with pytest.raises(ValueError, match="different traces"):
        x + leaves()[0]


def test_interpreter_takes_names_or_order_and_checks_sizes():
    tracer = Tracer()
    (x,), y = tracer.input(Port("x", ())), tracer.input(Port("y", (2, 1)))
    program = tracer.program({"z": ((2, 1), [x * y[0], y[1].sqrt()])})
    for inputs in ([2.0, [[3.0], [4.0]]], {"y": [3.0, 4.0], "x": 2.0}):
        assert interpret(program, inputs)[0].tolist() == [[6.0], [2.0]]
    with pytest.raises(ValueError, match="'y' has 3 entries"):
        interpret(program, [1.0, [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="2 inputs, not 1"):
        interpret(program, [1.0])


def test_fused_operations_round_once():
    """a·b of these has twice the digits, and all of them count when c cancels the rest."""
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    graph = Graph()
    nodes = [graph.node("input", (), (0, k)) for k in range(3)]
    results = tuple(graph.node(op, tuple(nodes)) for op in ("fma", "fms", "fnma"))
    program = Program(graph, (Port("x", (3,)),), (Port("y", (3,)),), (results,))
    assert interpret(program, [[a, b, -1.0]])[0].tolist() == [-(2.0**-60), 2.0, -2.0]
    assert interpret(program, [[a, b, 1.0]])[0].tolist() == [2.0, -(2.0**-60), 2.0**-60]


def test_listing_names_inputs_and_outputs():
    tracer = Tracer()
    q = tracer.input(Port("q", (2,)))
    program = tracer.program({"M": ((2, 2), [q[0] * q[1], -q[0], 1.0, q[1]])})
    assert listing(program).splitlines() == [
        "@1 = (q[0] * q[1])",
        "@2 = (-q[0])",
        "M[0, 0] = @1",
        "M[0, 1] = @2",
        "M[1, 0] = 1.0",
        "M[1, 1] = q[1]",
    ]
