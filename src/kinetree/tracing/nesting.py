"""Graphs inside graphs: the body of a loop has a graph of its own, which captures values of those around it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kinetree.graph import Graph

CAPTURED, CARRIED = 0, 1
"""The ports of a loop's body: the captured values, in the order of `NestedGraph.captured`, and its own."""


class NestedGraph(Graph):
    """A graph inside another one. Values of the outer one that are used in it become entries of its first input."""

    __slots__ = ("captured", "outer")

    def __init__(self, outer: Graph, captured: dict[int, int]) -> None:
        super().__init__()
        self.outer = outer
        self.captured = captured  # node of the outer graph: its index among the captured values

    def capture(self, graph: Graph, i: int) -> int:
        """Return the node here of a node of this graph or of one around it; `KeyError` if it is of neither."""
        if graph is self:
            return i
        if self.outer is not graph:
            if not isinstance(self.outer, NestedGraph):
                raise KeyError(i)
            i = self.outer.capture(graph, i)
        node = self.outer.nodes[i]
        if node.op == "const":
            return self.const(node.payload)
        return self.node("input", (), (CAPTURED, self.captured.setdefault(i, len(self.captured))))


@contextlib.contextmanager
def nested(outer: Graph, captured: dict[int, int]) -> Iterator[NestedGraph]:
    """Record in a graph inside this one: what is computed of values of the outer graph belongs to the inner one."""
    outer.inner = NestedGraph(outer, captured)
    try:
        yield outer.inner
    finally:
        outer.inner = None
