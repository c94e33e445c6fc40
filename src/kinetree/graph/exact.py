"""Constructors of exact nodes: arithmetic whose value has the bits of IEEE arithmetic, as NumPy's has.

What a user writes is computed as it is written. Here only what is the same for all values is folded, NaN, infinities
and the sign of zero included: constants among each other, ``x·1``, ``x/1``, ``x − 0``, ``−(−x)``, a division by a power
of two. (A NaN is a NaN: which one it is, is left open.) A constant of the graph has no −0, so it is the exact negation
of 0.
"""

from __future__ import annotations

import math

from kinetree.graph import ieee
from kinetree.graph.fold import value
from kinetree.graph.graph import EXACT, Graph


def const(graph: Graph, number: float) -> int:
    """Return the node of this number, also of −0."""
    zero_or_not = graph.const(number)
    return neg(graph, zero_or_not) if number == 0.0 and math.copysign(1.0, number) < 0.0 else zero_or_not


def neg(graph: Graph, a: int) -> int:
    """Return -a."""
    op, args, payload = graph.nodes[a]
    if op == "const" and payload != 0.0:
        return graph.const(-payload)
    return args[0] if op == "neg" and payload == EXACT else graph.node("neg", (a,), EXACT)


def add(graph: Graph, a: int, b: int) -> int:
    """Return a + b."""
    x, y = value(graph, a), value(graph, b)
    if x is not None and y is not None:
        return const(graph, x + y)
    return graph.node("add", (a, b) if a < b else (b, a), EXACT)


def sub(graph: Graph, a: int, b: int) -> int:
    """Return a - b."""
    x, y = value(graph, a), value(graph, b)
    if x is not None and y is not None:
        return const(graph, x - y)
    return a if y == 0.0 else graph.node("sub", (a, b), EXACT)


def mul(graph: Graph, a: int, b: int) -> int:
    """Return a · b."""
    x, y = value(graph, a), value(graph, b)
    if x is not None and y is not None:
        return const(graph, x * y)
    if x == 1.0 or y == 1.0:
        return b if x == 1.0 else a
    return graph.node("mul", (a, b) if a < b else (b, a), EXACT)


def div(graph: Graph, a: int, b: int) -> int:
    """Return a / b."""
    x, y = value(graph, a), value(graph, b)
    if y is None:
        return graph.node("div", (a, b), EXACT)
    if x is not None:
        return const(graph, ieee.div(x, y))
    if abs(math.frexp(y)[0]) == 0.5 and 2.0**-100 < abs(y) < 2.0**100:  # a power of two, in float32 too
        return mul(graph, a, graph.const(1.0 / y))
    return graph.node("div", (a, b), EXACT)


def absolute(graph: Graph, a: int) -> int:
    """Return |a|."""
    x = value(graph, a)
    return graph.node("abs", (a,), EXACT) if x is None else graph.const(abs(x))
