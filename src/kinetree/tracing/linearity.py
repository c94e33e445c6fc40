"""Whether values are linear in some of the inputs of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.graph import Graph


def is_linear(graph: Graph, values: Sequence[int], varies: Callable[[int, int], bool]) -> bool:
    """Return whether each of these nodes is zero, or linear in the inputs for which ``varies(port, entry)``.

    It goes by degrees: 0 does not depend on them, 1 is linear, 2 is anything else. What loops do is not looked at.
    """
    zero, degree = graph.const(0.0), dict[int, int]()
    for i in graph.live(values):
        op, args, payload = graph.nodes[i]
        given = [degree[a] for a in args]
        if op == "input":
            degree[i] = int(varies(*payload))
        elif op in ("add", "sub", "select_lt", "select_le"):
            terms = {d for d, a in zip(given[-2:], args[-2:], strict=True) if a != zero}
            degree[i] = 2 if len(terms) > 1 or any(given[:-2]) else max(terms, default=0)
        elif op == "mul":
            degree[i] = min(sum(given), 2)
        elif op in ("neg", "div", "get"):
            degree[i] = 2 if any(given[1:]) else given[0]
        else:
            degree[i] = (1 if op == "call" else 2) * any(given)
    return all(degree[i] == 1 or i == zero for i in values)
