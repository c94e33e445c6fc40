"""The kinds of derivatives of a function: what each takes and returns, and how it is made of the program."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.graph import Graph, Port, Program
from kinetree.runtime.options import Value
from kinetree.runtime.spec import Arguments, FunctionSpec, Page, Variant

if TYPE_CHECKING:
    from kinetree.passes.adjoints import Derivatives
    from kinetree.passes.direction import Row

Options = tuple[tuple[str, Value], ...]


class OpenProgram(NamedTuple):
    """The program of a function in a graph that grows, and what its derivatives are taken of and by.

    `spec` is that of one variant; `ports` are all inputs, also those of the derivative; `wrt` are names of inputs.
    """

    spec: FunctionSpec
    ports: tuple[Port, ...]
    graph: Graph
    results: list[int]
    wrt: tuple[str, ...]
    variant: Variant

    @classmethod
    def of(
        cls, spec: FunctionSpec, variant: Variant, inputs: tuple[Port, ...], wrt: tuple[str, ...], value: bool
    ) -> OpenProgram:
        """Return the program of a function, as a part of one with these inputs.

        Where its value is a result too, that keeps its bits.
        """
        from kinetree.passes import optimize
        from kinetree.passes.reversal import recorded

        program = spec.trace(variant)
        program = optimize(program, declared=True) if value else program
        graph, names = Graph(), [port.name for port in inputs]
        own = [names.index(port.name) for port in spec.ports(variant.optional)]
        results = recorded(program, graph, lambda port, k: graph.node("input", (), (own[port], k)), exact=value)
        return cls(spec, inputs, graph, results, wrt, variant)

    def entries(self, name: str) -> list[int]:
        """Return the nodes of an input."""
        place, port = next((k, port) for k, port in enumerate(self.ports) if port.name == name)
        return [self.graph.node("input", (), (place, k)) for k in range(port.size)]

    def derivatives(self, seeds: Mapping[int, Row] | None = None) -> Derivatives:
        """Return the derivatives of the results by the inputs: its columns are names with indices."""
        from kinetree.passes.adjoints import Derivatives

        return Derivatives(self.graph, self.results, self.seeds() if seeds is None else seeds)

    def seeds(self) -> dict[int, Row]:
        """Return the rates of the inputs' entries along each direction."""
        found: dict[int, Row] = {}
        for name in self.wrt:
            nodes = self.entries(name)
            for node, rates in zip(nodes, self._rates(name, nodes), strict=True):
                found[node] = {(name, k): self.node(x) for k, x in rates.items()}
        return found

    def _rates(self, name: str, nodes: Sequence[int]) -> list[dict[int, Any]]:
        space = self.spec.spaces and self.spec.spaces.get(name)
        return space.rates(self.scalars(nodes)) if space else [{k: 1.0} for k in range(len(nodes))]

    def outputs(self) -> Iterator[tuple[Port, int, list[dict[int, int]]]]:
        """Yield each output, where its entries begin, and its rates as combinations of those of its entries."""
        start = 0
        for port in self.spec.outputs:
            nodes = self.results[start : start + port.size]
            space = self.spec.spaces and self.spec.spaces.get(port.name)
            rows = space.velocities(self.scalars(nodes)) if space else [{k: 1.0} for k in range(port.size)]
            yield port, start, [{k: self.node(x) for k, x in row.items()} for row in rows]
            start += port.size

    def blocks_from(self, page: Page) -> dict[tuple[str, str], tuple[int, ...]]:
        """Return the blocks of the Jacobian, of which a page knows, by the names of the result and of inputs."""
        from kinetree.tracing.tracer import flatten, nested

        given = {
            port.name: nested(self.scalars(self.entries(port.name)), port.shape)
            for port in self.spec.ports(self.variant.optional)
        }
        found = page(given, dict(self.variant.options), self.wrt)
        blocks = {(port.name, name): found[port.name, name] for port in self.spec.outputs for name in self.wrt}
        return {key: tuple(self.node(x) for x in flatten(block)) for key, block in blocks.items()}

    def scalars(self, nodes: Iterable[int]) -> list[Any]:
        """Return nodes as scalars that record."""
        from kinetree.tracing.expr import Expr

        return [Expr(self.graph, i) for i in nodes]

    def node(self, x: Any) -> int:
        """Return the node of a scalar."""
        return self.graph.const(x) if isinstance(x, float | int) else x.id

    def sum(self, pairs: Iterable[tuple[int, int]]) -> int:
        """Return the sum of these products."""
        from kinetree.graph import fold

        total = self.graph.const(0.0)
        for a, b in pairs:
            total = fold.add(self.graph, total, fold.mul(self.graph, a, b))
        return total


def recorded_results(program: Program, arguments: Arguments) -> list[list[Any]]:
    """Return the results of a program recorded on these scalars, of which some may be numbers."""
    from kinetree.graph.ops import interpret
    from kinetree.passes.reversal import recorded
    from kinetree.tracing.expr import Expr
    from kinetree.tracing.tracer import flatten

    given = [list(flatten(arguments[port.name])) for port in program.inputs]
    graph = next((x.graph for entries in given for x in entries if isinstance(x, Expr)), None)
    if graph is None:
        return [list(array.ravel()) for array in interpret(program, given)]
    zero = Expr(graph, graph.const(0.0))
    found = iter(recorded(program, graph, lambda port, k: zero.node(given[port][k])))
    return [[Expr(graph, next(found)) for _ in range(port.size)] for port in program.outputs]


Made = list[tuple[int, ...]]
"""The nodes of each result, after those of the value."""


@dataclass(frozen=True)
class Transform:
    """A kind of derivative: what its function takes beside the arguments, what it returns, and how it is made.

    Attributes
    ----------
    summary, text : str
        Of its documentation.
    pattern : str
        Which names rates or weights have, of which a function takes some: "d{}", that of q is dq.
    further : callable
        ``further(spec, wrt) -> names``: the inputs or results whose rates or weights it takes.
    outputs : callable
        ``outputs(spec, wrt, pattern) -> ports``.
    make : callable
        ``make(program, further) -> nodes``, where `further` has the nodes of the rates or weights by these names.
    directions : bool
        Whether the further inputs are optional and choose what the derivative is taken by; else `wrt` does.
    columns : callable, optional
        ``columns(spec, wrt) -> numbers``: of the columns of each result, where those are matrices with many zeros.
    symmetric : bool
        Whether these are.
    by_input : bool
        Whether each result is by one input: for each output of the function those by all inputs of `wrt` in turn.
    """

    summary: str
    text: str
    pattern: str
    further: Callable[[FunctionSpec, Sequence[str]], Sequence[str]]
    outputs: Callable[[FunctionSpec, Sequence[str], str], Sequence[Port]]
    make: Callable[[OpenProgram, Mapping[str, list[int]]], Made]
    directions: bool = False
    columns: Callable[[FunctionSpec, Sequence[str]], Sequence[int]] | None = None
    symmetric: bool = False
    by_input: bool = False

    def ports(self, spec: FunctionSpec, wrt: Sequence[str]) -> tuple[Port, ...]:
        """Return the further inputs."""
        return tuple(_like(spec, name, self.pattern) for name in self.further(spec, wrt))

    def apart(self, spec: FunctionSpec, names: Sequence[str]) -> Transform:
        """Return it with names that no argument or result has: the rates of a jvp's arguments are d2q, d2dq, …."""
        taken = {port.name for port in (*spec.inputs, *spec.outputs)}
        for order in ("", *map(str, range(2, 10))):
            pattern = f"{self.pattern[:-2]}{order}{{}}" if self.pattern[-1] == "}" else f"{self.pattern}{order}"
            made = replace(self, pattern=pattern)
            if taken.isdisjoint(port.name for port in (*made.ports(spec, names), *made.outputs(spec, names, pattern))):
                break
        return made


def tangent_port(spec: FunctionSpec, name: str) -> Port:
    """Return the port of directions of an input or output: nv numbers for a configuration."""
    space = spec.spaces and spec.spaces.get(name)
    own = next(port for port in (*spec.inputs, *spec.outputs) if port.name == name)
    return space.port if space else own


def _like(spec: FunctionSpec, name: str, pattern: str) -> Port:
    return Port(pattern.format(name), tangent_port(spec, name).shape)


def _blocks(spec: FunctionSpec, wrt: Sequence[str], _: str) -> list[Port]:
    shapes = {name: tangent_port(spec, name).shape for name in (*(p.name for p in spec.outputs), *wrt)}
    return [Port(f"d{out.name}_d{name}", shapes[out.name] + shapes[name]) for out in spec.outputs for name in wrt]


def _jacobian(program: OpenProgram, _: Mapping[str, list[int]]) -> Made:
    known, page = program.spec.jacobians or (frozenset(), None)
    by_page = tuple(name for name in program.wrt if name in known)
    blocks = program._replace(wrt=by_page).blocks_from(page) if page and by_page else {}
    blocks |= _from_program(program._replace(wrt=tuple(name for name in program.wrt if name not in known)))
    return [blocks[port.name, name] for port in program.spec.outputs for name in program.wrt]


def _from_program(program: OpenProgram) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the blocks of the Jacobian by the names of results and inputs."""
    if not program.wrt:
        return {}
    rows, zero = program.derivatives().jacobian(), program.graph.const(0.0)
    return {
        (port.name, name): tuple(
            program.sum((x, rows[start + k].get((name, column), zero)) for k, x in row.items())
            for row in combined
            for column in range(tangent_port(program.spec, name).size)
        )
        for port, start, combined in program.outputs()
        for name in program.wrt
    }


def _directed(program: OpenProgram, directions: Mapping[str, list[int]]) -> dict[int, Row]:
    """Return the rates of the inputs' entries along one direction, whose entries are nodes."""
    return {
        node: {0: program.sum((x, directions[column[0]][column[1]]) for column, x in row.items())}  # type: ignore[index]
        for node, row in program.seeds().items()
    }


def _rates(program: OpenProgram, further: Mapping[str, list[int]]) -> Made:
    rates, zero = program.derivatives(_directed(program, further)).forward(), program.graph.const(0.0)
    return [
        tuple(program.sum((x, rates[start + k].get(0, zero)) for k, x in row.items()) for row in combined)
        for _port, start, combined in program.outputs()
    ]


def _gradient(program: OpenProgram, further: Mapping[str, list[int]]) -> Row:
    """Return the derivative of the sum of the outputs times their weights."""
    weights: dict[int, int] = {}
    for port, start, combined in program.outputs():
        bar = further[port.name]
        for k in range(port.size):
            weights[start + k] = program.sum((row[k], bar[j]) for j, row in enumerate(combined) if k in row)
    derivatives = program.derivatives()
    try:
        return derivatives.backward(weights)
    except NotImplementedError:  # a loop that goes forward only
        rates, zero = derivatives.forward(), program.graph.const(0.0)
        return {c: program.sum((x, rates[k].get(c, zero)) for k, x in weights.items()) for c in _columns(program)}


def _columns(program: OpenProgram) -> list[tuple[str, int]]:
    return [(name, k) for name in program.wrt for k in range(tangent_port(program.spec, name).size)]


def _adjoints(program: OpenProgram, further: Mapping[str, list[int]]) -> Made:
    row, zero = _gradient(program, further), program.graph.const(0.0)
    return [
        tuple(row.get((name, k), zero) for k in range(tangent_port(program.spec, name).size)) for name in program.wrt
    ]


def _hessian(program: OpenProgram, further: Mapping[str, list[int]]) -> Made:
    """Return the derivatives of the gradient, of ``f(q ⊞ δ)`` in δ.

    Steps along two velocities do not commute where one turns what the other one moves; ⊞ is an exponential, so that
    there it is the symmetric part; it is everywhere where results are configurations, whose directions move too.
    """
    row, zero, half = _gradient(program, further), program.graph.const(0.0), program.graph.const(0.5)
    columns = _columns(program)
    rates = program._replace(results=[row.get(c, zero) for c in columns]).derivatives().forward()
    seeds, turning = program.seeds(), set[tuple[Hashable, Hashable]]()
    for own in seeds.values():
        moving = {c for i in program.graph.live(own.values()) for c in seeds.get(i, ())} | {*own}
        turning |= {pair for c in own for d in moving for pair in ((c, d), (d, c))}

    placed = any(port.name in (program.spec.spaces or {}) for port in program.spec.outputs)
    work = {name: len(program.graph.live(row.get(c, zero) for c in columns if c[0] == name)) for name in program.wrt}
    rank = [(work[name], k) for name, k in columns]

    def entry(i: int, j: int) -> int:
        i, j = sorted((i, j), key=lambda k: rank[k])  # what is less work is differentiated
        if i == j or not (placed or (columns[i], columns[j]) in turning):
            return rates[i].get(columns[j], zero)
        return program.sum([(half, rates[i].get(columns[j], zero)), (half, rates[j].get(columns[i], zero))])

    return [tuple(entry(i, j) for i in range(len(columns)) for j in range(len(columns)))]


def _results(spec: FunctionSpec, _: Sequence[str]) -> list[str]:
    return [port.name for port in spec.outputs]


def _square(spec: FunctionSpec, wrt: Sequence[str], pattern: str) -> list[Port]:
    n = sum(tangent_port(spec, name).size for name in wrt)
    return [Port(pattern.format("hessian").replace("_bar", ""), (n, n))]


TRANSFORMS: dict[str, Transform] = {
    "derivatives": Transform(
        "Derivatives of the results of {0} by its inputs: Jacobians.",
        "The derivative of result y by input x is ``dy_dx`` (..., *y, *x), with nv numbers for a configuration.",
        "d{}",
        lambda spec, wrt: [],
        _blocks,
        _jacobian,
        columns=lambda spec, wrt: [tangent_port(spec, name).size for _ in spec.outputs for name in wrt],
        by_input=True,
    ),
    "jvp": Transform(
        "Rates of the results of {0} along rates of its inputs: products with its Jacobian.",
        "``dx`` is the rate of input x, that of a configuration (..., nv); at least one is given, others are zero. The "
        "rate of result y is ``dy``.",
        "d{}",
        lambda spec, wrt: wrt,
        lambda spec, wrt, pattern: [_like(spec, port.name, pattern) for port in spec.outputs],
        _rates,
        directions=True,
    ),
    "vjp": Transform(
        "Derivatives of the weighted sum of the results of {0}: products with its transposed Jacobian.",
        "``y_bar`` is the weight of result y, in its shape; the derivative by input x is ``x_bar``, (..., nv) for a "
        "configuration.",
        "{}_bar",
        _results,
        lambda spec, wrt, pattern: [_like(spec, name, pattern) for name in wrt],
        _adjoints,
        by_input=True,
    ),
    "hessian": Transform(
        "Second derivatives of the weighted sum of the results of {0}: a symmetric matrix.",
        "``y_bar`` is the weight of result y, in its shape. Rows and columns are the entries of the inputs, in the "
        "order of the arguments, nv for a configuration, whose steps are those of ``q ⊞ dv``.",
        "{}_bar",
        _results,
        _square,
        _hessian,
        columns=lambda spec, wrt: [sum(tangent_port(spec, name).size for name in wrt)],
        symmetric=True,
    ),
}
"""The kinds of derivatives, by the attributes of a function that they are."""
