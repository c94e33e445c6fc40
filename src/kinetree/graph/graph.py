"""The graph of scalar operations: an append-only, hash-consed arena of nodes with integer ids.

Equal nodes are one node, so equality is identity and common subexpressions cost nothing. A node is made
after its arguments, so the order of the ids is a topological order and nothing here recurses.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Node(NamedTuple):
    """One operation: its name in `ops.OPS`, the ids of its arguments, and what else defines it."""

    op: str
    args: tuple[int, ...]
    payload: Hashable = None


class Graph:
    """An arena of nodes, interned: `graph.node(...)` of what is there already gives the same id.

    Examples
    --------
    >>> g = Graph()
    >>> x = g.node("input", (), (0, 0))
    >>> g.node("mul", (x, x)) == g.node("mul", (x, x))
    True
    >>> g[g.node("mul", (x, x))]
    Node(op='mul', args=(0, 0), payload=None)
    """

    __slots__ = ("_ids", "nodes")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._ids: dict[Node, int] = {}

    def node(self, op: str, args: tuple[int, ...] = (), payload: Hashable = None) -> int:
        """Return the id of this node, made if it is new."""
        node = Node(op, args, payload)
        known = self._ids.setdefault(node, len(self.nodes))
        if known == len(self.nodes):
            self.nodes.append(node)
        return known

    def find(self, op: str, args: tuple[int, ...], payload: Hashable = None) -> int | None:
        """Return the id of this node if it exists, and None otherwise."""
        return self._ids.get(Node(op, args, payload))

    def const(self, value: float) -> int:
        """Return the id of a constant (the two zeros are one, and so are all NaN: their signs are not kept)."""
        return self.node("const", (), float(value) + 0.0 if value == value else math.nan)

    def __getitem__(self, node_id: int) -> Node:
        return self.nodes[node_id]

    def __len__(self) -> int:
        return len(self.nodes)

    def live(self, roots: Iterable[int]) -> list[int]:
        """Return the ids that the roots depend on, themselves included, in topological order."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            i = stack.pop()
            if i not in seen:
                seen.add(i)
                stack.extend(self.nodes[i].args)
        return sorted(seen)


class Port(NamedTuple):
    """An array that goes into or comes out of a program: its name and its shape for one state."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of scalars for one state."""
        size = 1
        for n in self.shape:
            size *= n
        return size


@dataclass(frozen=True)
class Program:
    """A traced function: what goes in, what comes out, and the graph between.

    Attributes
    ----------
    graph : Graph
        The arena. An input node has the payload ``(index of the port, index in the array, row-major)``.
    inputs, outputs : tuple of Port
        The arrays, in the order of the arguments and of the results.
    results : tuple of tuple of int
        For each output, the node of each of its entries, row-major.
    order : tuple of int, optional
        A schedule: every live node once, after its arguments. Topological order of the ids if not given.
    """

    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    results: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] | None = field(default=None)

    def roots(self) -> Iterator[int]:
        """Yield the node of every output entry, output by output."""
        for entries in self.results:
            yield from entries

    def schedule(self) -> tuple[int, ...]:
        """Return the live nodes in the order in which they are evaluated."""
        return self.order if self.order is not None else tuple(self.graph.live(self.roots()))

    def op_count(self) -> dict[str, int]:
        """Return how many live nodes there are of each operation, constants and inputs left out."""
        counts: dict[str, int] = {}
        for i in self.schedule():
            op = self.graph[i].op
            if op not in ("const", "input"):
                counts[op] = counts.get(op, 0) + 1
        return counts
