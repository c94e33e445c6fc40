"""The graph of scalar operations: an append-only, hash-consed arena of nodes with integer ids.

Equal nodes are one node, so equality is identity and common subexpressions are shared. A node is created after
its arguments, so the ids are in topological order and nothing here recurses.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

EXACT = "exact"
"""The payload of arithmetic that must stay as it is written: nothing folds it, rearranges it or fuses it."""


class Node(NamedTuple):
    """One operation: its name in `ops.OPS`, the ids of its arguments, a payload (constant, input entry, `EXACT`)."""

    op: str
    args: tuple[int, ...]
    payload: Any = None


_OPAQUE = Node("", ())


class Graph:
    """An arena of interned nodes: `graph.node(...)` returns the id of an equal node if there is one.

    `relaxed` are the nodes as patterns of folding and passes see them: an exact node is an operation of no name.
    """

    __slots__ = ("_ids", "inner", "nodes", "relaxed")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.relaxed: list[Node] = []
        self.inner: Any = None  # the graph of a loop's body while that is traced (see `kinetree.tracing.loops`)
        self._ids: dict[Node, int] = {}

    def node(self, op: str, args: tuple[int, ...] = (), payload: Any = None) -> int:
        """Return the id of this node, created if it is new."""
        node = tuple.__new__(Node, (op, args, payload))  # three times as quick as the class
        known = self._ids.setdefault(node, len(self.nodes))
        if known == len(self.nodes):
            self.nodes.append(node)
            self.relaxed.append(_OPAQUE if payload == EXACT else node)
        return known

    def capture(self, graph: Graph, i: int) -> int:
        """Return the node here of a node of another graph, which must be this one; graphs inside others know more."""
        if graph is not self:
            raise KeyError(i)
        return i

    def find(self, op: str, args: tuple[int, ...], payload: Any = None) -> int | None:
        """Return the id of this node, or None if it does not exist."""
        return self._ids.get(Node(op, args, payload))

    def const(self, value: float) -> int:
        """Return the id of a constant; the signs of zero and NaN are dropped."""
        return self.node("const", (), float(value) + 0.0 if value == value else math.nan)

    def __getitem__(self, node_id: int) -> Node:
        return self.nodes[node_id]

    def __len__(self) -> int:
        return len(self.nodes)

    def live(self, roots: Iterable[int]) -> list[int]:
        """Return the roots and all nodes that they depend on, in topological order."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            i = stack.pop()
            if i not in seen:
                seen.add(i)
                stack.extend(self.nodes[i].args)
        return sorted(seen)


class Port(NamedTuple):
    """An input or output array of a program: its name and its shape for one state."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of scalars for one state."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Program:
    """A traced function: its input and output ports and the graph that connects them.

    Attributes
    ----------
    graph : Graph
        The arena. An input node has the payload ``(index of the port, index in the array, row-major)``.
    inputs, outputs : tuple of Port
        The arrays, in the order of the arguments and of the results.
    results : tuple of tuple of int
        For each output, the node of each of its entries, row-major.
    order : tuple of int, optional
        A schedule: every live node once, after its arguments. By default the order of the ids.
    """

    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    results: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] | None = field(default=None)

    def roots(self) -> Iterator[int]:
        """Yield the node of every output entry, one output after another."""
        for entries in self.results:
            yield from entries

    def schedule(self) -> tuple[int, ...]:
        """Return the live nodes in evaluation order."""
        return self.order if self.order is not None else tuple(self.graph.live(self.roots()))

    def evaluated(
        self,
        constant: Callable[[float], T],
        entry: Callable[[int, int], T],
        operation: Callable[[Node, list[T]], T],
        called: Callable[[Any, list[T]], Sequence[T]] | None = None,
    ) -> list[T]:
        """Return the output entries, given the meaning of constants, input entries, operations and array operations."""
        values: dict[int, Any] = {}
        for i in self.schedule():
            node = self.graph.nodes[i]
            given = [values[a] for a in node.args]
            if node.op == "const":
                values[i] = constant(node.payload)
            elif node.op == "input":
                values[i] = entry(*node.payload)
            elif node.op == "get":
                values[i] = given[0][node.payload]
            else:
                values[i] = called(node.payload, given) if called and node.op == "call" else operation(node, given)
        return [values[i] for i in self.roots()]

    def of(self, graph: Graph, new: Mapping[int, int], order: tuple[int, ...] | None = None) -> Program:
        """Return this program with other nodes, in a graph of theirs."""
        results = tuple(tuple(new[i] for i in entries) for entries in self.results)
        return Program(graph, self.inputs, self.outputs, results, order)

    def op_count(self) -> dict[str, int]:
        """Return the number of live nodes of each operation; array operations count by name, and once."""
        counts = Counter(
            self.graph[i].payload.name if self.graph[i].op == "call" else self.graph[i].op for i in self.schedule()
        )
        return {op: n for op, n in counts.items() if op not in ("const", "input", "get")}

    def uses(self) -> Counter[int]:
        """Return how many times each live node is an argument or an output entry."""
        arguments = (self.graph.nodes[i].args for i in self.schedule())
        return Counter(itertools.chain(self.roots(), itertools.chain.from_iterable(arguments)))


def digest(program: Program) -> bytes:
    """Return a SHA-256 of the live nodes in their order, the ports and the results, with all bits of constants."""
    number: dict[int, int] = {}
    h = hashlib.sha256(repr((program.inputs, program.outputs)).encode())
    for i in program.schedule():
        op, args, payload = program.graph[i]
        shown = payload.hex() if isinstance(payload, float) else repr(payload)
        number[i] = len(number)
        h.update(f"{op} {[number[a] for a in args]} {shown}\n".encode())
    h.update(repr([[number[i] for i in entries] for entries in program.results]).encode())
    return h.digest()
