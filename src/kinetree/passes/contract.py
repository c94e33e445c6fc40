"""Contraction: sums of products become chains of fused multiply-adds.

Additions, subtractions and negations with a single use are flattened into one sum ``±t₁ ± t₂ ± …``, whose terms are
values or products with a single use. The sum becomes one chain with a fused operation per product:
``a·b + (c·d + e·f)`` is ``fma(e, f, fma(c, d, a·b))``.

Terms are added in the order in which the program computes them, and each partial sum is scheduled at that time, which
shortens the live ranges of the factors. Measured on the dynamics of a humanoid: compared with fusing the additions as
written this saves 7 % of the operations; scheduling a whole chain at its last term doubles the spills and costs a fifth
of the speed.

An exact node is a value like any other: it is neither flattened nor fused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kinetree.graph import Graph, Program

_SUM = ("add", "sub", "neg")


class _Term(NamedTuple):
    """A term of a sum in the new graph, ±a or ±a·b; its time is the id of the old node."""

    time: int
    negative: bool
    a: int
    b: int | None


def contract(program: Program) -> Program:
    """Return the program with its sums flattened and products fused into the additions."""
    nodes, relaxed = program.graph.nodes, program.graph.relaxed
    order = program.schedule()
    uses = program.uses()
    inner = {
        a
        for i in order
        if relaxed[i].op in _SUM
        for a in nodes[i].args
        if uses[a] == 1 and (relaxed[a].op in _SUM or relaxed[a].op == "mul")
    }
    builder = _Chains()
    new: dict[int, int] = {}
    for i in order:
        if i in inner:
            continue
        op, args, payload = nodes[i]
        if relaxed[i].op in _SUM:
            new[i] = builder.sum(_terms(program, i, inner, new))
        else:
            new[i] = builder.node(i, op, tuple([new[a] for a in args]), payload)
    return program.of(builder.graph, new, builder.order(new[i] for i in program.roots()))


def _terms(program: Program, root: int, inner: set[int], new: dict[int, int]) -> list[_Term]:
    """Return the terms of the sum at this node."""
    nodes = program.graph.nodes
    terms = []
    stack = [(root, False)]
    while stack:
        i, negative = stack.pop()
        op, args, _ = nodes[i]
        if i != root and i not in inner:
            terms.append(_Term(i, negative, new[i], None))
        elif op == "mul":
            terms.append(_Term(i, negative, new[args[0]], new[args[1]]))
        elif op == "neg":
            stack.append((args[0], not negative))
        else:
            stack.append((args[0], negative))
            stack.append((args[1], negative != (op == "sub")))
    return terms


class _Chains:
    """A new graph with a time for each node: the latest of the old nodes that it needs."""

    def __init__(self) -> None:
        self.graph = Graph()
        self._time: list[int] = []

    def node(self, time: int, op: str, args: tuple[int, ...], payload: Any = None) -> int:
        """Return the node with these arguments, which are available at this time."""
        i = self.graph.node(op, args, payload)
        if i == len(self._time):
            self._time.append(time)
        elif time < self._time[i]:
            self._time[i] = time
        return i

    def order(self, results: Iterable[int]) -> tuple[int, ...]:
        """Return the live nodes in order of time."""
        return tuple(sorted(self.graph.live(results), key=self._time.__getitem__))

    def sum(self, terms: list[_Term]) -> int:
        """Return the sum, accumulated as ±value: a negation is needed only if all terms are negative."""
        first, *rest = sorted(terms)
        time, negative, value, factor = first
        if factor is not None:
            value = self.node(time, "mul", _ordered(value, factor))
        for t in rest:
            time = t.time
            if t.b is not None:
                op = "fma" if t.negative == negative else "fms" if negative else "fnma"
                value = self.node(time, op, (*_ordered(t.a, t.b), value))
            elif t.negative == negative:
                value = self.node(time, "add", _ordered(value, t.a))
            else:
                value = self.node(time, "sub", (t.a, value) if negative else (value, t.a))
            negative = negative and t.negative
        return self.node(time, "neg", (value,)) if negative else value


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
