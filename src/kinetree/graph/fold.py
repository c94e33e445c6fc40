"""Constructors of nodes that simplify in O(1): constants, ×0, ×1, +0, signs, operand order.

Signs are pulled outwards, so that a negation is rarely computed: ``(-a)·b`` is ``-(a·b)`` and ``a + (-b)`` is
``a - b``. Rounding changes only where two constants combine (``(x + 1) + 2`` is ``x + 3``) and where a value cancels:
``0·x = 0``, ``x - x = 0``, ``(x + y) - y = x``, ``x·(1/x) = 1``, ``x/x = 1``, ``sin² x + cos² x = 1``. A NaN in a value
that cancels does not propagate to the result. Two factors combine only where their product is exact, ``2·(3·x) = 6·x``:
with ``r·x`` and ``r·(r·x)``, a lever arm and its square, the rounding of the one is in the other, and cancels with it.
No pattern sees into an exact node (see `kinetree.graph.exact`).
"""

from __future__ import annotations

import math

from kinetree.graph import ieee
from kinetree.graph.graph import Graph, Node


def value(graph: Graph, i: int) -> float | None:
    """Return the value of a constant node, None for any other."""
    node = graph.relaxed[i]
    return node.payload if node.op == "const" else None


def neg(graph: Graph, a: int) -> int:
    """Return -a."""
    op, args, payload = graph.relaxed[a]
    if op == "const":
        return graph.const(-payload)
    if op == "neg":
        return args[0]
    if op == "sub" and graph.find("neg", (a,)) is None:  # made by `sub` below
        return graph.node("sub", (args[1], args[0]))
    return graph.node("neg", (a,))


def add(graph: Graph, a: int, b: int) -> int:
    """Return a + b."""
    nodes = graph.relaxed
    x, y = nodes[a], nodes[b]
    if x.op == "const":
        a, b, x, y = b, a, y, x
    if y.op == "const":
        if x.op == "const":
            return graph.const(x.payload + y.payload)
        if y.payload == 0.0:
            return a
        if x.op == "add" and nodes[x.args[1]].op == "const":  # (z + c1) + c2
            return add(graph, x.args[0], graph.const(nodes[x.args[1]].payload + y.payload))
        return graph.node("add", (a, b))  # the constant is always the second
    if y.op == "neg":
        return sub(graph, a, y.args[0])
    if x.op == "neg":
        return sub(graph, b, x.args[0])
    if x.op == "sub" and x.args[1] == b:  # (z - b) + b
        return x.args[0]
    if y.op == "sub" and y.args[1] == a:  # a + (z - a)
        return y.args[0]
    if x.op == y.op == "mul" and _is_unit_circle(graph, x, y):
        return graph.const(1.0)
    return graph.node("add", (a, b) if a < b else (b, a))


def _is_unit_circle(graph: Graph, x: Node, y: Node) -> bool:
    """Tell whether the two products are sin² and cos² of one angle, in either order."""
    if x.args[0] != x.args[1] or y.args[0] != y.args[1]:
        return False
    s, c = graph.relaxed[x.args[0]], graph.relaxed[y.args[0]]
    return {s.op, c.op} == {"sin", "cos"} and s.args == c.args


def sub(graph: Graph, a: int, b: int) -> int:
    """Return a - b."""
    if a == b:
        return graph.const(0.0)
    x, y = graph.relaxed[a], graph.relaxed[b]
    if y.op == "const":
        return add(graph, a, graph.const(-y.payload))
    if x.op == "const" and x.payload == 0.0:
        return neg(graph, b)
    if y.op == "neg":
        return add(graph, a, y.args[0])
    if x.op == "neg":
        return neg(graph, add(graph, x.args[0], b))
    if x.op == "add" and b in x.args:  # (b + z) - b
        return x.args[1] if x.args[0] == b else x.args[0]
    if y.op == "add" and a in y.args:  # a - (a + z)
        return neg(graph, y.args[1] if y.args[0] == a else y.args[0])
    if x.op == "sub" and x.args[0] == b:  # (b - z) - b
        return neg(graph, x.args[1])
    if y.op == "sub" and y.args[0] == a:  # a - (a - z)
        return y.args[1]
    if graph.find("sub", (b, a)) is not None and graph.find("sub", (a, b)) is None:
        return graph.node("neg", (graph.node("sub", (b, a)),))
    return graph.node("sub", (a, b))


def mul(graph: Graph, a: int, b: int) -> int:
    """Return a · b."""
    nodes = graph.relaxed
    x, y = nodes[a], nodes[b]
    if x.op == "const":
        a, b, x, y = b, a, y, x
    if y.op == "const":
        if x.op == "const":
            return graph.const(x.payload * y.payload)
        return _scale(graph, y.payload, a, x)
    if x.op == "neg":
        return neg(graph, mul(graph, x.args[0], b))
    if y.op == "neg":
        return neg(graph, mul(graph, a, y.args[0]))
    if (x.op == "div" and x.args[1] == b and value(graph, x.args[0]) == 1.0) or (
        y.op == "div" and y.args[1] == a and value(graph, y.args[0]) == 1.0
    ):
        return graph.const(1.0)
    return graph.node("mul", (a, b) if a < b else (b, a))


def _scale(graph: Graph, c: float, a: int, x: Node) -> int:
    """Return c · a, where x is the node of a and not a constant."""
    if c == 0.0:
        return graph.const(0.0)
    if c < 0.0:
        return neg(graph, _scale(graph, -c, a, x))
    if c == 1.0:
        return a
    if x.op == "neg":
        return neg(graph, _scale(graph, c, x.args[0], graph.relaxed[x.args[0]]))
    if x.op == "mul" and (inner := value(graph, x.args[1])) is not None and _exact_product(inner, c):
        return mul(graph, x.args[0], graph.const(inner * c))  # (z · c1) · c2
    return graph.node("mul", (a, graph.const(c)))  # the constant is always the second


def _exact_product(a: float, b: float) -> bool:
    """Return whether a·b is the product of the two, far from overflow and underflow."""
    return 1e-100 < abs(a * b) < 1e100 and ieee.fma(a, b, -(a * b)) == 0.0


def div(graph: Graph, a: int, b: int) -> int:
    """Return a / b."""
    if a == b:
        return graph.const(1.0)
    x, y = graph.relaxed[a], graph.relaxed[b]
    if y.op == "const":
        c = y.payload
        if x.op == "const":
            return graph.const(ieee.div(x.payload, c))
        mantissa, _ = math.frexp(c)
        if abs(mantissa) == 0.5 and math.isfinite(1.0 / c):
            return mul(graph, a, graph.const(1.0 / c))  # exact: a power of two
    if x.op == "const" and x.payload == 0.0:
        return a
    if x.op == "neg":
        return neg(graph, div(graph, x.args[0], b))
    if y.op == "neg":
        return neg(graph, div(graph, a, y.args[0]))
    return graph.node("div", (a, b))


def sqrt(graph: Graph, a: int) -> int:
    """Return the square root of a."""
    c = value(graph, a)
    return graph.node("sqrt", (a,)) if c is None else graph.const(ieee.sqrt(c))


def sin(graph: Graph, a: int) -> int:
    """Return sin a."""
    node = graph.relaxed[a]
    if node.op == "const":
        return graph.const(ieee.sin(node.payload))
    if node.op == "neg":
        return neg(graph, sin(graph, node.args[0]))
    return graph.node("sin", (a,))


def cos(graph: Graph, a: int) -> int:
    """Return cos a."""
    node = graph.relaxed[a]
    if node.op == "const":
        return graph.const(ieee.cos(node.payload))
    if node.op == "neg":
        return cos(graph, node.args[0])
    return graph.node("cos", (a,))


def absolute(graph: Graph, a: int) -> int:
    """Return |a|."""
    op, args, payload = graph.relaxed[a]
    if op == "const":
        return graph.const(abs(payload))
    if op == "neg":
        return absolute(graph, args[0])
    return a if op in ("abs", "sqrt") else graph.node("abs", (a,))


def select_lt(graph: Graph, a: int, b: int, x: int, y: int) -> int:
    """Return x where a < b, y elsewhere."""
    return y if a == b else _select(graph, "select_lt", a, b, x, y)


def select_le(graph: Graph, a: int, b: int, x: int, y: int) -> int:
    """Return x where a <= b, y elsewhere (so y where a or b is NaN)."""
    return _select(graph, "select_le", a, b, x, y)


def _select(graph: Graph, op: str, a: int, b: int, x: int, y: int) -> int:
    if x == y:
        return x
    left, right = value(graph, a), value(graph, b)
    if left is not None and right is not None:
        return x if (left < right if op == "select_lt" else left <= right) else y
    return graph.node(op, (a, b, x, y))
