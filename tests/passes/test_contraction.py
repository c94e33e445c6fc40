"""Sums of products become chains of fused operations; rules of rewriting, each as an identity of numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers.programs import random_program, traced
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS, interpret
from kinetree.passes import PASSES, optimize
from kinetree.passes.contract import contract
from kinetree.passes.rewrite import RULES, Pattern, Rule, rewrite
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer


def twice(x):
    p = x[0] * x[1]
    return [p + x[2], p - x[3]]


CHAINS = {
    "a sum": (lambda x: [x[0] * x[1] + x[2]], {"fma": 1}),
    "a difference": (lambda x: [x[0] * x[1] - x[2]], {"fms": 1}),
    "from a number": (lambda x: [x[2] - x[0] * x[1]], {"fnma": 1}),
    "two products": (lambda x: [x[0] * x[1] + x[2] * x[3]], {"mul": 1, "fma": 1}),
    "their difference": (lambda x: [x[0] * x[1] - x[2] * x[3]], {"mul": 1, "fnma": 1}),
    "nested": (
        lambda x: [(x[0] * x[1] + x[2] * x[3]) + (x[4] * x[5] - x[0] * x[5])],
        {"mul": 1, "fma": 2, "fnma": 1},
    ),
    "nested differences": (lambda x: [(x[0] - x[1] * x[2]) - (x[3] - x[4] * x[5])], {"fnma": 1, "sub": 1, "fma": 1}),
    "negated once": (lambda x: [-(x[0] * x[1] + x[2] * x[3])], {"mul": 1, "fma": 1, "neg": 1}),
    "negative terms": (lambda x: [-x[0] - x[1] + x[2]], {"add": 1, "sub": 1}),
    "a product used twice": (twice, {"mul": 1, "add": 1, "sub": 1}),
}


@pytest.mark.parametrize("case", CHAINS)
def test_sums_of_products_are_chains(case):
    function, counts = CHAINS[case]
    assert contract(traced(function, 6)).op_count() == counts


def test_a_partial_sum_that_is_an_output_is_kept():
    def function(x):
        s = x[0] * x[1] + x[2]
        return [s, s + x[3] * x[4]]

    program = contract(traced(function, 6))
    assert program.op_count() == {"fma": 2}
    np.testing.assert_array_equal(interpret(program, [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])[0], [5.0, 25.0])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("one_pass", [*PASSES, optimize])
def test_a_pass_changes_only_the_rounding(seed, one_pass):
    operations = ("add", "sub", "mul", "neg", "add", "sub", "mul", "sin")
    program = random_program(seed, size=80, operations=operations)
    better = one_pass(program)
    rng = np.random.default_rng(seed)
    inputs = [rng.uniform(-1, 1, port.shape) for port in program.inputs]
    size = interpret(absolute(program), [np.abs(x) for x in inputs])
    for got, expected, bound in zip(interpret(better, inputs), interpret(program, inputs), size, strict=True):
        assert np.all(np.abs(got - expected) <= 1e-14 * (1 + bound))
    assert cost(better) <= cost(program)


def cost(program):
    """Return the number of operations; a change of sign is part of the one that uses it."""
    return sum(count for op, count in program.op_count().items() if op != "neg")


def absolute(program):
    """The program with + for every −, and |constants|: it bounds the terms that cancel."""
    graph = Graph()
    new = {}
    for i in program.schedule():
        op, args, payload = program.graph[i]
        args = tuple(new[a] for a in args)
        if op == "neg":
            new[i] = args[0]
        elif op == "const":
            new[i] = graph.const(abs(payload))
        elif op in ("sin", "cos"):
            new[i] = graph.node("add", (*args[:1], graph.const(1.0)))
        else:
            new[i] = graph.node("add" if op == "sub" else op, args, payload)
    results = tuple(tuple(new[i] for i in entries) for entries in program.results)
    return Program(graph, program.inputs, program.outputs, results)


def test_passes_are_deterministic():
    first, second = (optimize(random_program(7, size=200)) for _ in range(2))
    assert repr(first.graph.nodes) == repr(second.graph.nodes)  # a NaN is equal to none
    assert (first.order, first.results) == (second.order, second.results)


def test_depth_is_no_obstacle():
    """A sum of thirty thousand terms, nested to the left and to the right."""
    rng = random.Random(0)
    graph = Graph()
    x = graph.node("input", (), (0, 0))
    total = x
    for _ in range(30_000):
        args = (total, x) if rng.random() < 0.5 else (x, total)
        total = graph.node("sub", args)
    program = Program(graph, (Port("x", ()),), (Port("y", ()),), ((total,),))
    assert interpret(contract(program), [1.0]) == interpret(program, [1.0])


every = pytest.mark.parametrize("rule", RULES, ids=lambda rule: repr(rule.pattern))
NAMES = "abc"


def built(pattern: Pattern, variables: dict[str, Expr]) -> Expr:
    if isinstance(pattern, str):
        return variables[pattern]
    op, *parts = pattern
    arguments = [built(part, variables) for part in parts]
    graph = arguments[0].graph
    return Expr(graph, OPS[str(op)].node(graph, tuple(x.id for x in arguments)))


def program(*patterns: Pattern) -> Program:
    t = Tracer()
    variables = dict(zip(NAMES, t.input(Port("x", (3,))), strict=True))
    return t.program({"r": ((len(patterns),), [built(p, variables) for p in patterns])})


@every
def test_both_sides_are_the_same_number(rule: Rule) -> None:
    rng = np.random.default_rng(0)
    before, after = program(rule.pattern), program(rule.replacement)
    for _ in range(200):
        x = rng.normal(size=3) * 10.0 ** rng.integers(-3, 4, 3)
        a, b, c = x
        scale = max(abs(a * b), abs(a * c), abs(a / c), abs(b / c))
        (left,), (right,) = interpret(before, {"x": x}), interpret(after, {"x": x})
        assert abs(left[0] - right[0]) <= 4 * np.finfo(float).eps * scale


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_not_finite_stays_so(rule: Rule, bad: float) -> None:
    before, after = program(rule.pattern), program(rule.replacement)
    for k in range(3):
        x = np.array([1.5, -2.0, 0.7])
        x[k] = bad
        if not np.isfinite(interpret(before, {"x": x})[0][0]):
            assert not np.isfinite(interpret(after, {"x": x})[0][0])


@every
def test_it_is_applied_in_any_order_of_arguments_and_saves(rule: Rule) -> None:
    done = rewrite(program(rule.pattern))
    assert done.op_count() == program(rule.replacement).op_count()
    assert sum(done.op_count().values()) < sum(program(rule.pattern).op_count().values())


@every
def test_not_where_an_inner_value_is_needed_elsewhere(rule: Rule) -> None:
    shared = program(rule.pattern, rule.pattern[1])
    assert rewrite(shared).op_count() == shared.op_count()


def test_it_ends_and_leaves_nothing_to_do() -> None:
    t = Tracer()
    x = t.input(Port("x", (4,)))
    total = x[0] * x[1]
    for k in range(2, 4):
        total = total + x[0] * x[k]
    once = rewrite(t.program({"r": ((), [total])}))
    assert once.op_count() == {"add": 2, "mul": 1}
    assert rewrite(once).op_count() == once.op_count()
