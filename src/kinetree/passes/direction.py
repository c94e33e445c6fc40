"""Which way derivatives take fewer products: forward, with a rate for each column, or back, for each row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from kinetree.graph import Graph
from kinetree.graph.array_operations import Repeat, followed
from kinetree.graph.graph import Node
from kinetree.passes.reversal import why_not_reversible

Row = dict[Hashable, int]
"""The nodes of a row's entries, by column; all others are zero."""

Seeds = Mapping[int, Row]
"""The rates of sources, by node and column."""

RUNS: Final = 3
"""How many times more a loop is to go back over than to carry rates through: it is run twice to be recorded."""


def cost_forward(graph: Graph, active: Sequence[int], seeds: Seeds) -> int:
    """Return about how many products the rates of these nodes take."""
    number: dict[Hashable, int] = {}
    for row in seeds.values():
        for c in row:
            number.setdefault(c, len(number))
    columns, cost = dict[int, int](), 0
    for i in active:
        node = graph.nodes[i]
        columns[i] = sum(1 << number[c] for c in seeds.get(i, ()))
        for a in () if i in seeds else followed(node):
            columns[i] |= columns.get(a, 0)
            cost += columns.get(a, 0).bit_count()
        cost += columns[i].bit_count() * _inside(node)
    return cost


def cost_backward(graph: Graph, active: Sequence[int], seeds: Seeds, outputs: Sequence[int]) -> float:
    """Return about how many products the adjoints of these nodes take, a row for each output."""
    rows, cost, known = dict[int, int](), 0, set(active)
    for place, i in enumerate(outputs):
        rows[i] = rows.get(i, 0) | 1 << place
    for i in reversed(active):
        node = graph.nodes[i]
        if node.op == "call" and why_not_reversible(node.payload):
            return math.inf
        for a in known.intersection(() if i in seeds else followed(node)):
            rows[a] = rows.get(a, 0) | rows.get(i, 0)
        cost += rows.get(i, 0).bit_count() * (len(seeds.get(i, followed(node))) + RUNS * _inside(node))
    return cost


def _inside(node: Node) -> int:
    """Return about how many products the derivative of a loop takes along one direction."""
    loop = node.payload
    return loop.times * sum(len(program.graph) for program in loop.programs) if isinstance(loop, Repeat) else 0
