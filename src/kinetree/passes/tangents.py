"""Forward differentiation of programs: values with their rates, operation by operation, loops included."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from kinetree.graph import Graph, Port, Program, fold
from kinetree.graph.array_operations import ArrayOperation, call
from kinetree.graph.graph import Node
from kinetree.graph.ops import OPS
from kinetree.tracing.expr import Expr

CHOICES: Final[dict[str, Callable[..., int]]] = {"select_lt": fold.select_lt, "select_le": fold.select_le}
"""They pass rates as a choice, never as a product with 0, which would be NaN where the other branch has no rate."""

Entry = tuple[Expr, Any]
"""A value and its rate, which is the number zero where it is known to be."""


def tangent(program: Program, *, rates: bool = True) -> Program:
    """Return the program on values and rates: every port is twice as long, its values followed by their rates.

    The rate of an output is its derivative along the rates of the inputs. Without `rates` the outputs are as they were.
    What the program decides by comparisons it decides by the values alone.
    """
    graph = Graph()

    def entry(port: int, k: int) -> Entry:
        nodes = (graph.node("input", (), (port, place)) for place in (k, program.inputs[port].size + k))
        value, rate = (Expr(graph, node) for node in nodes)
        return value, rate

    found, zero = pushed(program, graph, entry), Expr(graph, graph.const(0.0))
    results = [[value.id for value, _ in entries] for entries in found]
    if rates:
        for values, entries in zip(results, found, strict=True):
            values += [zero.node(rate) for _, rate in entries]
    outputs = tuple(_doubled(port) if rates else port for port in program.outputs)
    inputs = tuple(_doubled(port) for port in program.inputs)
    return Program(graph, inputs, outputs, tuple(tuple(entries) for entries in results))


def _doubled(port: Port) -> Port:
    return port._replace(shape=(2 * port.size,))


def pushed(program: Program, graph: Graph, entry: Callable[[int, int], Entry]) -> list[list[Entry]]:
    """Return the value and rate of every entry of every result; ``entry(port, k)`` is known of an input's entry."""
    found = iter(
        program.evaluated(
            lambda x: (Expr(graph, graph.const(x)), 0.0),
            entry,
            functools.partial(_applied, graph),
            functools.partial(_called, graph),
        )
    )
    return [list(itertools.islice(found, port.size)) for port in program.outputs]


class Functions:
    """The operations of the table as functions of values in a graph, by name: what formulas of derivatives use."""

    def __init__(self, graph: Graph) -> None:
        self._one = Expr(graph, graph.const(1.0))

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        return lambda *operands: self._one.record(OPS[name], *operands)


def _applied(graph: Graph, node: Node, arguments: Sequence[Entry]) -> Entry:
    """Return the value and the rate of an operation: the sum of its partial derivatives times the arguments' rates."""
    values, rates = zip(*arguments, strict=True)
    y = Expr(graph, OPS[node.op].node(graph, tuple(x.id for x in values), node.payload))
    total: Any = 0.0
    if node.op in CHOICES:
        branches = (y.node(rate) for rate in rates[2:])
        made = CHOICES[node.op](graph, values[0].id, values[1].id, *branches)
        return y, 0.0 if made == graph.const(0.0) else Expr(graph, made)
    if any(isinstance(rate, Expr) for rate in rates):
        formula = OPS[node.op].partials
        if formula is None:
            raise NotImplementedError(f"{node.op} has no derivative")
        for partial, rate in zip(formula(Functions(graph), y, *values), rates, strict=True):
            if isinstance(rate, Expr):
                total = total + partial * rate
    return y, total


def _called(graph: Graph, operation: ArrayOperation, arguments: Sequence[Entry]) -> list[Entry]:
    """Return the results of an array operation with their rates: another operation, on values and rates."""
    zero, nodes, start = Expr(graph, graph.const(0.0)), [], 0
    for size in operation.parts:
        part = arguments[start : start + size]
        nodes += [value.id for value, _ in part] + [zero.node(rate) for _, rate in part]
        start += size
    results = [Expr(graph, i) for i in call(graph, operation.tangent(tangent), nodes)]
    return list(zip(results[: operation.results], results[operation.results :], strict=True))
