"""Each rule as an identity of numbers, and the engine that applies them."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.graph import Port, Program
from kinetree.graph.ops import OPS, interpret
from kinetree.passes.rewrite import RULES, Pattern, Rule, rewrite
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer

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
