"""Derivatives of compiled functions as functions: Jacobians, products with them, and Hessians, on the manifold.

Each is a transform of the spec of a function into that of another one, and so batched, cached, written as C and
part of compositions as any function is. With respect to a configuration they are taken along the velocities dv of
``q ⊞ dv`` (`Joint.integrate`), so that it counts nv numbers, as an argument and as a result.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.errors import ArgumentError, listed
from kinetree.graph import Graph, Port, Program
from kinetree.runtime.function import Function
from kinetree.runtime.options import Constant, Fixed, Names, Value, plain
from kinetree.runtime.spec import Arguments, FunctionSpec, Variant

if TYPE_CHECKING:
    from kinetree.passes.adjoints import Derivatives, Row

Options = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Inputs(Names):
    """Any number of a function's inputs by name, of which one may be given alone."""

    def canonical(self, value: object) -> Value:
        """Return the names in the order of the signature."""
        return super().canonical([value] if isinstance(value, str) else value)


class Opened(NamedTuple):
    """The program of a function in a graph that grows, and what its derivatives are taken of and by.

    `spec` is that of one variant; `wrt` are the names of inputs.
    """

    spec: FunctionSpec
    ports: tuple[Port, ...]
    graph: Graph
    results: list[int]
    wrt: tuple[str, ...]
    options: Options

    @classmethod
    def of(cls, spec: FunctionSpec, variant: Variant, wrt: tuple[str, ...], value: bool) -> Opened:
        """Return the function opened; where its value is a result too, that keeps its bits."""
        from kinetree.passes import optimize
        from kinetree.passes.adjoints import recorded

        program = spec.trace(variant)
        program = optimize(program) if value else program
        graph = Graph()
        results = recorded(program, graph, lambda port, k: graph.node("input", (), (port, k)), exact=value)
        return cls(spec, spec.ports(variant.optional), graph, results, wrt, variant.options)

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

    def paged(self, page: Callable[[Arguments, Mapping[str, Any]], Mapping[str, Any]]) -> Made:
        """Return what the page of the function's derivatives says of them."""
        from kinetree.tracing.tracer import flatten, nested

        given = {port.name: nested(self.scalars(self.entries(port.name)), port.shape) for port in self.ports}
        found = page(given, dict(self.options))
        return [tuple(self.node(x) for x in flatten(found[name])) for name in self.wrt]

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


Made = list[tuple[int, ...]]
"""The nodes of each result, after those of the value."""


@dataclass(frozen=True)
class Transform:
    """A kind of derivative: what its function takes beside the arguments, what it returns, and how it is made.

    Attributes
    ----------
    summary : str
        The first line of its documentation.
    further : callable
        ``further(spec, wrt) -> ports``: the further inputs.
    outputs : callable
        ``outputs(spec, wrt) -> ports``.
    make : callable
        ``make(opened, further) -> nodes``, where `further` has the nodes of the further inputs by name.
    directions : bool
        Whether the further inputs are optional and choose what the derivative is taken by; else `wrt` does.
    """

    summary: str
    further: Callable[[FunctionSpec, Sequence[str]], Sequence[Port]]
    outputs: Callable[[FunctionSpec, Sequence[str]], Sequence[Port]]
    make: Callable[[Opened, Mapping[str, list[int]]], Made]
    directions: bool = False


def _tangent(spec: FunctionSpec, name: str) -> Port:
    """Return the port of directions of an input or output: nv numbers for a configuration."""
    space = spec.spaces and spec.spaces.get(name)
    own = next(port for port in (*spec.inputs, *spec.outputs) if port.name == name)
    return space.port if space else own


def _blocks(spec: FunctionSpec, wrt: Sequence[str]) -> list[Port]:
    shapes = {name: _tangent(spec, name).shape for name in (*(p.name for p in spec.outputs), *wrt)}
    return [Port(f"d{out.name}_d{name}", shapes[out.name] + shapes[name]) for out in spec.outputs for name in wrt]


def _jacobian(opened: Opened, _: Mapping[str, list[int]]) -> Made:
    page = opened.spec.jacobians
    if page is not None and page[0].issuperset(opened.wrt):
        return opened.paged(page[1])
    rows, zero, found = opened.derivatives().jacobian(), opened.graph.const(0.0), Made()
    for _port, start, combined in opened.outputs():
        for name in opened.wrt:
            columns = [(name, k) for k in range(_tangent(opened.spec, name).size)]
            found.append(
                tuple(
                    opened.sum((x, rows[start + k].get(column, zero)) for k, x in row.items())
                    for row in combined
                    for column in columns
                )
            )
    return found


def _directed(opened: Opened, directions: Mapping[str, list[int]]) -> dict[int, Row]:
    """Return the rates of the inputs' entries along one direction, whose entries are nodes."""
    return {
        node: {0: opened.sum((x, directions[column[0]][column[1]]) for column, x in row.items())}  # type: ignore[index]
        for node, row in opened.seeds().items()
    }


def _rates(opened: Opened, further: Mapping[str, list[int]]) -> Made:
    directions = {name: further[f"d{name}"] for name in opened.wrt}
    rates, zero = opened.derivatives(_directed(opened, directions)).forward(), opened.graph.const(0.0)
    return [
        tuple(opened.sum((x, rates[start + k].get(0, zero)) for k, x in row.items()) for row in combined)
        for _port, start, combined in opened.outputs()
    ]


def _gradient(opened: Opened, further: Mapping[str, list[int]]) -> Row:
    """Return the derivative of the sum of the outputs times their weights."""
    weights: dict[int, int] = {}
    for port, start, combined in opened.outputs():
        bar = further[f"{port.name}_bar"]
        for k in range(port.size):
            weights[start + k] = opened.sum((row[k], bar[j]) for j, row in enumerate(combined) if k in row)
    return opened.derivatives().backward(weights)


def _columns(opened: Opened) -> list[Hashable]:
    return [(name, k) for name in opened.wrt for k in range(_tangent(opened.spec, name).size)]


def _adjoints(opened: Opened, further: Mapping[str, list[int]]) -> Made:
    row, zero = _gradient(opened, further), opened.graph.const(0.0)
    return [tuple(row.get((name, k), zero) for k in range(_tangent(opened.spec, name).size)) for name in opened.wrt]


def _hessian(opened: Opened, further: Mapping[str, list[int]]) -> Made:
    """Return the symmetric part of the derivatives of the gradient: of ``f(q ⊞ δ)`` in δ, as ⊞ is an exponential."""
    row, zero, half = _gradient(opened, further), opened.graph.const(0.0), opened.graph.const(0.5)
    columns = _columns(opened)
    rates = opened._replace(results=[row.get(c, zero) for c in columns]).derivatives().forward()
    return [
        tuple(
            opened.sum([(half, rates[i].get(b, zero)), (half, rates[j].get(a, zero))])
            if i != j
            else rates[i].get(a, zero)
            for i, a in enumerate(columns)
            for j, b in enumerate(columns)
        )
    ]


def _weights(spec: FunctionSpec, _: Sequence[str]) -> list[Port]:
    return [Port(f"{port.name}_bar", _tangent(spec, port.name).shape) for port in spec.outputs]


def _square(spec: FunctionSpec, wrt: Sequence[str]) -> list[Port]:
    n = sum(_tangent(spec, name).size for name in wrt)
    return [Port("hessian", (n, n))]


TRANSFORMS: dict[str, Transform] = {
    "derivatives": Transform(
        "Derivatives of the results of {} by those of its inputs that `wrt` names.",
        lambda spec, wrt: [],
        _blocks,
        _jacobian,
    ),
    "jvp": Transform(
        "Rates of the results of {} along rates of its inputs: products with its Jacobian.",
        lambda spec, wrt: [Port(f"d{name}", _tangent(spec, name).shape) for name in wrt],
        lambda spec, wrt: [Port(f"d{port.name}", _tangent(spec, port.name).shape) for port in spec.outputs],
        _rates,
        directions=True,
    ),
    "vjp": Transform(
        "Derivatives of the weighted sum of the results of {}: products with its transposed Jacobian.",
        _weights,
        lambda spec, wrt: [Port(f"{name}_bar", _tangent(spec, name).shape) for name in wrt],
        _adjoints,
    ),
    "hessian": Transform(
        "Second derivatives of the weighted sum of the results of {}, a symmetric matrix.",
        _weights,
        _square,
        _hessian,
    ),
}
"""The kinds of derivatives, by the attributes of a function that they are."""


def transformed(function: Function, kind: str) -> Function:
    """Return a derivative of a function as a function; see `kinetree.runtime.Function`."""
    return Function(_spec(function.spec, kind, lambda: (_again, (function, kind))))


def _again(function: Function, kind: str) -> Function:
    return getattr(function, kind)  # type: ignore[no-any-return]


def _spec(spec: FunctionSpec, kind: str, reduce: Callable[[], tuple[Any, ...]]) -> FunctionSpec:
    if spec.spaces is None:
        raise ArgumentError(
            f"{spec.name} has no {kind} yet: functions of mechanisms and contacts are not differentiated"
        )
    transform, inner = TRANSFORMS[kind], {"wrt": (), "value": False}
    spec = spec.bind({option.name: inner[option.name] for option in spec.open_options if option.name in inner})
    hidden = {*spec.flags, *(spec.group.inner if spec.group else ())}
    names = tuple(port.name for port in spec.inputs if port.name not in hidden)
    usual = tuple(port.name for port in spec.required if port.name not in hidden)
    further = tuple(transform.further(spec, names))
    needed, extra = ((), further) if transform.directions else (further, ())
    first = len(spec.required)

    @functools.cache
    def variant(optional: tuple[str, ...], options: Options) -> FunctionSpec:
        given, chosen = tuple(name for name in optional if name in spec.optional), dict(options)
        there = {port.name for port in spec.ports(given)}
        if transform.directions:
            wrt = tuple(name for name in names if f"d{name}" in optional)
        else:
            wrt = chosen["wrt"] or tuple(name for name in usual if name in there)  # type: ignore[assignment]
        if not wrt:
            raise ArgumentError(f"{made.name} takes rates of at least one input: {listed([p.name for p in further])}")
        if absent := [name for name in wrt if name not in there]:
            raise ArgumentError(f"{made.name}: the derivative by {absent[0]!r} is taken where that is given: give it")
        own = tuple((o.name, o.default if isinstance(o, Fixed) else chosen[o.name]) for o in spec.options)
        return _variant(spec, made.name, transform, wrt, bool(plain(chosen["value"])), given, own)

    taken_by = () if transform.directions else (Inputs("wrt", names, "input"),)
    made = replace(
        spec,
        name=f"{spec.name}_{kind}",
        doc=_documentation(spec, transform, kind),
        inputs=(*spec.inputs[:first], *needed, *spec.inputs[first:], *extra),
        optional=(*spec.optional, *(port.name for port in extra)),
        outputs=(),
        options=(*spec.open_options, *taken_by, Constant("value", (), default=False, annotation=bool)),
        called=spec.called and _called(spec.called, needed, extra, [x.name for x in taken_by]),
        variant=variant,
        reduce=reduce,
        truths=frozenset(),
        program=None,
        wrapped=None,
        returns=None,
    )
    return made


def _variant(
    spec: FunctionSpec,
    name: str,
    transform: Transform,
    wrt: tuple[str, ...],
    value: bool,
    given: tuple[str, ...],
    options: Options,
) -> FunctionSpec:
    """Return the spec of a derivative with these options and optional inputs."""
    base = spec.of(given, options)
    ports = base.ports(given)
    further = tuple(transform.further(base, wrt))
    inputs = (*ports, *further)
    outputs = (*(base.outputs if value else ()), *transform.outputs(base, wrt))

    def program() -> Program:
        opened = Opened.of(base, Variant(given, options, "float64"), wrt, value)
        nodes = {
            port.name: [opened.graph.node("input", (), (len(ports) + k, j)) for j in range(port.size)]
            for k, port in enumerate(further)
        }
        values, start = Made(), 0
        for port in base.outputs if value else ():
            values.append(tuple(opened.results[start : start + port.size]))
            start += port.size
        return Program(opened.graph, inputs, outputs, (*values, *transform.make(opened, nodes)))

    def evaluate(arguments: Arguments, _: object) -> Sequence[Any]:
        return recorded_results(program(), arguments)

    spaces = {**(base.spaces or {})}
    identity = functools.partial(_identity, base, repr((name, wrt, value, given, options)))
    return replace(
        base,
        name=name,
        inputs=inputs,
        outputs=outputs,
        evaluate=evaluate,
        identity=identity,
        optional=(),
        options=(),
        variant=None,
        program=None,
        spaces=spaces,
        truths=frozenset(),
        returns=None,
        wrapped=None,
    )


def _identity(base: FunctionSpec, more: str) -> bytes | None:
    found = base.identity()
    return None if found is None else found + more.encode()


def recorded_results(program: Program, arguments: Arguments) -> list[list[Any]]:
    """Return the results of a program recorded on these scalars, of which some may be numbers."""
    from kinetree.graph.ops import interpret
    from kinetree.passes.adjoints import recorded
    from kinetree.tracing.expr import Expr
    from kinetree.tracing.tracer import flatten

    given = [list(flatten(arguments[port.name])) for port in program.inputs]
    graph = next((x.graph for entries in given for x in entries if isinstance(x, Expr)), None)
    if graph is None:
        return [list(array.ravel()) for array in interpret(program, given)]
    zero = Expr(graph, graph.const(0.0))
    found = iter(recorded(program, graph, lambda port, k: zero.node(given[port][k])))
    return [[Expr(graph, next(found)) for _ in range(port.size)] for port in program.outputs]


def _called(
    signature: inspect.Signature, needed: Sequence[Port], extra: Sequence[Port], options: Sequence[str]
) -> inspect.Signature:
    """Return the signature of calls with the further arguments."""
    from kinetree.functions.parameters import with_required

    signature = with_required(signature, [port.name for port in needed])
    keyword = inspect.Parameter.KEYWORD_ONLY
    further = [inspect.Parameter(name, keyword, default=None) for name in (*(p.name for p in extra), *options)]
    further.append(inspect.Parameter("value", keyword, default=False))
    return signature.replace(parameters=[*signature.parameters.values(), *further])


def _documentation(spec: FunctionSpec, transform: Transform, kind: str) -> str:
    return transform.summary.format(spec.name)
