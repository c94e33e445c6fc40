"""Rewriting rules as data, patterns and replacements that are equal in real arithmetic, and the pass that applies them.

A pattern is the name of a variable, or an operation with patterns for its arguments; a repeated variable must match the
same node. The arguments of commutative operations are matched in either order. The inner nodes of a match must have no
other use, so that they become dead.

A replacement must not be finite where the pattern is not: ``(a/b) b = a`` and ``sqrt(a) sqrt(a) = a`` are not allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kinetree.graph import Graph, Program
from kinetree.graph.ops import OPS

Pattern = str | tuple["str | Pattern", ...]


class Rule(NamedTuple):
    """A pattern and its replacement, in the same variables."""

    pattern: tuple[Pattern, ...]
    replacement: Pattern


RULES: tuple[Rule, ...] = (
    Rule(("add", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("add", "b", "c"))),  # ab + ac = a(b + c)
    Rule(("sub", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("sub", "b", "c"))),  # ab - ac = a(b - c)
    Rule(("add", ("div", "a", "c"), ("div", "b", "c")), ("div", ("add", "a", "b"), "c")),  # a/c + b/c = (a + b)/c
    Rule(("sub", ("div", "a", "c"), ("div", "b", "c")), ("div", ("sub", "a", "b"), "c")),  # a/c - b/c = (a - b)/c
)


Binding = Mapping[str, int]


def rewrite(program: Program, rules: Sequence[Rule] = RULES) -> Program:
    """Return the program with each node, arguments first, replaced by the first rule that matches it."""
    by_root: dict[str, list[Rule]] = {}
    for rule in rules:
        by_root.setdefault(str(rule.pattern[0]), []).append(rule)
    old, uses = program.graph.nodes, program.uses()
    graph, new = Graph(), dict[int, int]()
    single: set[int] = set()  # nodes of the new graph whose old ones have a single use
    for i in program.schedule():
        op, args, payload = old[i]
        args = tuple([new[a] for a in args])
        made = OPS[op].node(graph, args, payload)
        ops = [graph.relaxed[a].op for a in args] if op in by_root else []
        for rule in by_root.get(op, ()) if graph.relaxed[made].op == op else ():
            if not all(isinstance(part, str) or part[0] in ops for part in rule.pattern[1:]):
                continue  # a cheap test of the arguments' operations, before matching
            binding = next(_instances(graph, single, made, rule.pattern, {}), None)
            if binding is not None:
                made = _build(graph, rule.replacement, binding)
                break
        new[i] = made
        if uses[i] == 1:
            single.add(made)
    return program.of(graph, new)


def _matches(
    graph: Graph, single: set[int], args: Sequence[int], parts: Sequence[Pattern], binding: Binding
) -> Iterator[Binding]:
    """Yield every binding of the variables under which these arguments are instances of the parts of a pattern."""
    if not parts:
        yield binding
        return
    i, part = args[0], parts[0]
    if isinstance(part, str):
        if binding.get(part, i) == i:
            yield from _matches(graph, single, args[1:], parts[1:], {**binding, part: i})
    elif graph.relaxed[i].op == part[0] and i in single:
        for found in _instances(graph, single, i, part, binding):
            yield from _matches(graph, single, args[1:], parts[1:], found)


def _instances(graph: Graph, single: set[int], i: int, pattern: Pattern, binding: Binding) -> Iterator[Binding]:
    """Yield the bindings for the arguments of this node, in either order if it is commutative."""
    op, args, _ = graph.nodes[i]
    for order in (args, args[::-1]) if OPS[op].commutative else (args,):
        yield from _matches(graph, single, order, pattern[1:], binding)


def _build(graph: Graph, pattern: Pattern, binding: Binding) -> int:
    """Return the node of a replacement under this binding."""
    if isinstance(pattern, str):
        return binding[pattern]
    op, *parts = pattern
    return OPS[str(op)].node(graph, tuple([_build(graph, part, binding) for part in parts]))


def with_nested(program: Program, change: Callable[[Program], Program]) -> Program:
    """Return the program with the programs of its array operations changed; itself where it has none."""
    nodes, order = program.graph.nodes, program.schedule()
    if all(nodes[i].op != "call" for i in order):
        return program
    graph, new, changed = Graph(), dict[int, int](), dict[object, object]()
    for i in order:
        op, args, payload = nodes[i]
        if op == "call":
            if payload not in changed:
                changed[payload] = payload.with_programs(change)
            payload = changed[payload]
        new[i] = graph.node(op, tuple([new[a] for a in args]), payload)
    return program.of(graph, new)
