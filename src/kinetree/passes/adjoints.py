"""Derivatives from graph to graph: rates that go forward and adjoints that go back, both sparse, array calls included.

The seeds of some nodes, the sources, are given: their rates by column. A source is what the derivatives are taken by,
so nothing that it is computed from is looked at. All that is made is recorded in the graph of the values, and shares
what these have computed. Sums are made in the order of the nodes, so that equal programs have equal derivatives.

A choice passes rates and adjoints as a choice, and what a branch that is not taken leaves of an adjoint, zero, is not
multiplied with a derivative that may be infinite: ``where(x > 0, sqrt(x), 0)`` has the derivative 0 at 0. That of
``abs`` at 0 is 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from kinetree.graph import Graph, Port, Program, fold
from kinetree.graph.array_operations import Declared, call, followed
from kinetree.graph.ops import OPS
from kinetree.passes.direction import Row, Seeds, cost_backward, cost_forward
from kinetree.passes.reversal import ADJOINTS, recorded, why_not_reversible
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.condition import choice
from kinetree.tracing.expr import Expr
from kinetree.tracing.linalg import solve

CHOICES: Final[dict[str, Callable[..., int]]] = {"select_lt": fold.select_lt, "select_le": fold.select_le}
"""They pass rates as a choice, never as a product with 0, which would be NaN where the other branch has no rate."""

UNBOUNDED: Final = frozenset(
    ("div", "sqrt", "log", "log1p", "cbrt", "arcsin", "arccos", "arctan2", "hypot", "power", "fmod")
)
"""Operations whose partial derivatives may not be finite."""


class Functions:
    """The operations of the table as functions of values in a graph, by name: what formulas of derivatives use."""

    def __init__(self, graph: Graph) -> None:
        self._one = Expr(graph, graph.const(1.0))

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        return lambda *operands: self._one.record(OPS[name], *operands)


class Derivatives:
    """The derivatives of nodes of a graph by its sources."""

    def __init__(self, graph: Graph, outputs: Sequence[int], seeds: Seeds) -> None:
        self.graph, self.outputs, self.seeds = graph, outputs, seeds
        self._zero = graph.const(0.0)
        self._functions = Functions(graph)
        self._partials: dict[int, list[tuple[int, int]]] = {}
        self._unchosen = set[int]()
        self._active = self._find_active()

    def _find_active(self) -> list[int]:
        """Return the nodes that the outputs depend on and that depend on a source, in order."""
        live, stack, nodes = set[int](), list(self.outputs), self.graph.nodes
        while stack:
            i = stack.pop()
            if i not in live:
                live.add(i)
                stack.extend(() if i in self.seeds else followed(nodes[i]))
        active = set[int]()
        for i in sorted(live):
            if i in self.seeds or not active.isdisjoint(followed(nodes[i])):
                active.add(i)
        return sorted(active)

    def partials(self, i: int) -> list[tuple[int, int]]:
        """Return the arguments of a node with the nodes of its partial derivatives, those that are zero left out."""
        if i not in self._partials:
            op, args, _ = self.graph.nodes[i]
            if (formula := OPS[op].partials) is None:
                raise NotImplementedError(f"the operation {op!r} has no derivative")
            values = [Expr(self.graph, x) for x in (i, *args)]
            found = [self._node(x) for x in formula(self._functions, *values)]
            self._partials[i] = [pair for pair in zip(args, found, strict=True) if pair[1] != self._zero]
        return self._partials[i]

    def _node(self, x: Any) -> int:
        return x.id if isinstance(x, Expr) else self.graph.const(x)

    # -- forward ---------------------------------------------------------------------------------------------------

    def forward(self) -> list[Row]:
        """Return the rates of the outputs, by column."""
        graph, zero, rates = self.graph, self._zero, dict[int, Row]()
        called: dict[int, dict[Hashable, list[int]]] = {}
        for i in self._active:
            op, args, payload = graph.nodes[i]
            if i in self.seeds:
                rates[i] = self.seeds[i]
            elif op == "call":
                given = [rates.get(a, {}) for a in followed(graph.nodes[i])]
                columns = dict.fromkeys(column for row in given for column in row)
                called[i] = {c: self._pushed(i, [row.get(c, zero) for row in given]) for c in columns}
                rates[i] = dict.fromkeys(columns, zero)
            elif op == "get":
                rates[i] = {c: node for c, nodes in called[args[0]].items() if (node := nodes[payload]) != zero}
            elif op in CHOICES:
                first, second = (rates.get(a, {}) for a in args[2:])
                rates[i] = {
                    c: CHOICES[op](graph, *args[:2], first.get(c, zero), second.get(c, zero)) for c in first | second
                }
            else:
                rates[i] = self._summed(i, rates)
        return [rates.get(o, {}) for o in self.outputs]

    def _summed(self, i: int, rates: Mapping[int, Row]) -> Row:
        row: Row = {}
        for a, partial in self.partials(i):
            for c, rate in rates.get(a, {}).items():
                _add_to(self.graph, row, c, fold.mul(self.graph, rate, partial))
        return {c: node for c, node in row.items() if node != self._zero}

    def _pushed(self, i: int, rates: Sequence[int]) -> list[int]:
        """Return the rates of the results of an array operation."""
        _, args, operation = self.graph.nodes[i]
        if isinstance(operation, Declared):
            return self._by_rule("jvp", i, rates)
        nodes, start = list[int](), 0
        for size in operation.parts:
            nodes += [*args[start : start + size], *rates[start : start + size]]
            start += size
        return call(self.graph, operation.tangent(tangent), nodes)[operation.results :]

    def _by_rule(self, kind: str, i: int, further: Sequence[int]) -> list[int]:
        """Return the rates of declared values, or the adjoints of what they follow."""
        node = self.graph.nodes[i]
        values = [self.graph.node("get", (i,), k) for k in range(node.payload.results)]
        return inlined(_rule(node.payload, kind), self.graph, [*followed(node), *values, *further])

    # -- back ------------------------------------------------------------------------------------------------------

    def backward(self, weights: Mapping[int, int]) -> Row:
        """Return the derivative of the sum of outputs (their places) times these nodes, by column."""
        graph, zero, active = self.graph, self._zero, set(self._active)
        adjoints: dict[Hashable, int] = {}
        results: dict[int, dict[int, int]] = {}
        row: Row = {}
        for place, weight in weights.items():
            if self.outputs[place] in active:
                _add_to(graph, adjoints, self.outputs[place], weight)
        for i in reversed(self._active):
            op, args, payload = graph.nodes[i]
            pairs: Iterable[tuple[int, int]] = ()
            if op == "call" and i in results and i not in self.seeds:
                of_results = [results[i].get(k, zero) for k in range(payload.results)]
                pairs = zip(followed(graph.nodes[i]), self._pulled(i, of_results), strict=True)
            adjoint_i = adjoints.get(i, zero)
            if adjoint_i == zero and op != "call":
                continue
            if i in self.seeds:
                for c, seed in self.seeds[i].items():
                    _add_to(graph, row, c, fold.mul(graph, adjoint_i, seed))
            elif op == "get":
                results.setdefault(args[0], {})[payload] = adjoint_i
            elif op in CHOICES:
                a, b, first, second = args
                pairs = (
                    (first, CHOICES[op](graph, a, b, adjoint_i, zero)),
                    (second, CHOICES[op](graph, a, b, zero, adjoint_i)),
                )
            elif op != "call":
                guarded = op in UNBOUNDED and self._may_be_chosen(adjoint_i)
                pairs = (
                    (a, self._where_any(adjoint_i, fold.mul(graph, adjoint_i, partial), guarded))
                    for a, partial in self.partials(i)
                    if a in active
                )
            for a, node in pairs:
                if a in active and node != zero:
                    _add_to(graph, adjoints, a, node)
        return row

    def _pulled(self, i: int, weights: Sequence[int]) -> Sequence[int]:
        """Return the adjoints of the arguments of an array operation that derivatives follow."""
        _, args, operation = self.graph.nodes[i]
        if isinstance(operation, Declared):
            return self._by_rule("vjp", i, weights)
        if reason := why_not_reversible(operation):
            raise NotImplementedError(reason)
        return ADJOINTS[operation.name](self.graph, operation, args, weights, adjoint)

    def _may_be_chosen(self, i: int) -> bool:
        """Return whether an adjoint has a choice in it, and so may be zero because a branch is not taken."""
        stack, seen = [i], set[int]()
        while stack:
            op, args, _ = self.graph.nodes[node := stack.pop()]
            if op in CHOICES:
                return True
            if node not in seen and node not in self._unchosen:
                seen.add(node)
                stack.extend(args if op in ("add", "sub", "neg", "mul") else ())
        self._unchosen |= seen
        return False

    def _where_any(self, adjoint_i: int, product: int, guarded: bool) -> int:
        """Return a product of an adjoint with a partial derivative, 0 where the adjoint is, if that may be infinite."""
        if not guarded:
            return product
        zero, at_most = self._zero, CHOICES["select_le"]
        at_least = at_most(self.graph, zero, adjoint_i, zero, product)
        return at_most(self.graph, adjoint_i, zero, at_least, product)

    # -- all rows --------------------------------------------------------------------------------------------------

    def jacobian(self) -> list[Row]:
        """Return the rates of the outputs by column, carried in the direction that takes fewer products."""
        given = self.graph, self._active, self.seeds
        if cost_forward(*given) <= cost_backward(*given, self.outputs):
            return self.forward()
        one = self.graph.const(1.0)
        return [self.backward({place: one}) for place in range(len(self.outputs))]


def tangent(program: Program, *, rates: bool = True) -> Program:
    """Return the program on values and rates: every port is twice as long, its values followed by their rates.

    The rate of an output is its derivative along the rates of the inputs. Without `rates` the outputs are as they were.
    What the program decides by comparisons it decides by the values alone.
    """
    graph = Graph()

    def entry(port: int, k: int) -> int:
        return graph.node("input", (), (port, k))

    found = recorded(program, graph, entry)
    zero = graph.const(0.0)
    moving: list[int] = [zero] * len(found)
    if rates:
        entries = [(port, k, p.size) for port, p in enumerate(program.inputs) for k in range(p.size)]
        seeds: Seeds = {entry(port, k): {0: entry(port, size + k)} for port, k, size in entries}
        moving = [row.get(0, zero) for row in Derivatives(graph, found, seeds).forward()]
    outputs, results, start = list[Port](), list[tuple[int, ...]](), 0
    for port in program.outputs:
        end = start + port.size
        outputs.append(_doubled(port) if rates else port)
        results.append((*found[start:end], *(moving[start:end] if rates else ())))
        start = end
    return Program(graph, tuple(map(_doubled, program.inputs)), tuple(outputs), tuple(results))


def _doubled(port: Port) -> Port:
    return port._replace(shape=(2 * port.size,))


def adjoint(program: Program) -> Program:
    """Return the program of the adjoints of all entries of its inputs, one array, given those of its results.

    Its inputs are those of the program, of which the last one is followed by the adjoints of all results.
    """
    graph, last = Graph(), len(program.inputs) - 1
    extended = program.inputs[last]._replace(shape=(program.inputs[last].size + sum(p.size for p in program.outputs),))

    def entry(port: int, k: int) -> int:
        return graph.node("input", (), (port, k))

    found = recorded(program, graph, entry)
    entries = [(port, k) for port, p in enumerate(program.inputs) for k in range(p.size)]
    seeds: Seeds = {entry(*at): {at: graph.const(1.0)} for at in entries}
    weights = {place: entry(last, program.inputs[last].size + place) for place in range(len(found))}
    row = Derivatives(graph, found, seeds).backward(weights)
    adjoints = tuple(row.get(at, graph.const(0.0)) for at in entries)
    return Program(graph, (*program.inputs[:last], extended), (Port("adjoints", (len(adjoints),)),), (adjoints,))


def inlined(program: Program, graph: Graph, given: Sequence[int]) -> list[int]:
    """Return the nodes of a program's results in this graph, given those of its inputs, one port after another."""
    first = [0]
    for port in program.inputs:
        first.append(first[-1] + port.size)
    return recorded(program, graph, lambda port, k: given[first[port] + k])


def _inputs(*sizes: int) -> tuple[Graph, list[list[int]], tuple[Port, ...]]:
    """Return a graph with inputs of these sizes, their nodes, and their ports."""
    graph = Graph()
    nodes = [[graph.node("input", (), (port, k)) for k in range(size)] for port, size in enumerate(sizes)]
    return graph, nodes, tuple(Port(f"x{port}", (size,)) for port, size in enumerate(sizes))


@functools.lru_cache(maxsize=256)
def _rule(declared: Declared, kind: str) -> Program:
    """Return how rates ("jvp") or adjoints ("vjp") follow, from the arguments with them; see `Declared`."""
    assert declared.rule is not None
    known, rule = declared.kind, declared.rule
    if known == "residual":
        known, rule = "jvp", _of_residual(declared)
    return rule if known == kind else _transposed(rule, declared.followed if known == "jvp" else declared.size)


def _of_residual(declared: Declared) -> Program:
    """Return the rates of x where F(x, θ) = 0 from θ, x and the rates of θ: dx = −F_x⁻¹ F_θ dθ."""
    assert declared.rule is not None
    graph, (given, rates), ports = _inputs(declared.arity, declared.followed)
    residual, one = inlined(declared.rule, graph, given), graph.const(1.0)
    seeds: Seeds = {node: {0: rate} for node, rate in zip(given, rates, strict=False)}
    unknowns = given[declared.followed :]
    moved = Derivatives(graph, residual, seeds).forward()
    rows = Derivatives(graph, residual, {node: {k: one} for k, node in enumerate(unknowns)}).jacobian()

    def entry(row: Row, k: int) -> Expr:
        return Expr(graph, row.get(k, graph.const(0.0)))

    n, scale = declared.size, Expr(graph, one)
    for i in residual if declared.tolerance < float("inf") else ():
        scale = choice(abs(Expr(graph, i)) <= declared.tolerance, scale, float("nan"))
    A = traced_array([entry(row, k) for row in rows for k in range(n)], (n, n))
    b = traced_array([-entry(row, 0) * scale for row in moved], (n,))
    return Program(graph, ports, (Port("rates", (n,)),), (tuple(x.id for x in solve(A, b)),))


def _transposed(program: Program, size: int) -> Program:
    """Return the transpose of a program that is linear in its last entries, so many of them."""
    before = sum(port.size for port in program.inputs) - size
    graph, (given, moving), _ = _inputs(before, size)
    found = inlined(program, graph, [*given, *moving])
    weights = [graph.node("input", (), (2, k)) for k in range(len(found))]
    seeds: Seeds = {node: {k: graph.const(1.0)} for k, node in enumerate(moving)}
    row = Derivatives(graph, found, seeds).backward(dict(enumerate(weights)))
    results = tuple(row.get(k, graph.const(0.0)) for k in range(size))
    ports = tuple(Port(f"x{k}", (n,)) for k, n in enumerate((before, size, len(found))))
    linear = Program(graph, ports, (Port("adjoints", (size,)),), (results,))
    graph, (given, weights), ports = _inputs(before, len(found))
    found = inlined(linear, graph, [*given, *[graph.const(0.0)] * size, *weights])
    return Program(graph, ports, linear.outputs, (tuple(found),))


def _add_to(graph: Graph, row: dict[Hashable, int], key: Hashable, node: int) -> None:
    """Add a node to an entry of a row."""
    there = row.get(key)
    row[key] = node if there is None else fold.add(graph, there, node)
