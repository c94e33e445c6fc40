"""Derivatives of compiled functions as functions: Jacobians, products with them, and Hessians, on the manifold.

Each is a transform of the spec of a function into that of another one, and so batched, cached, written as C and
part of compositions as any function is. With respect to a configuration they are taken along the velocities dv of
``q ⊞ dv`` (`Joint.integrate`), so that it counts nv numbers, as an argument and as a result.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ArgumentError, listed
from kinetree.functions.derivative_kinds import TRANSFORMS, Made, Opened, Options, Transform
from kinetree.graph import Port, Program
from kinetree.runtime.function import Function
from kinetree.runtime.options import Constant, Fixed, Names, Value, plain
from kinetree.runtime.spec import Arguments, FunctionSpec, Variant, describe_shape


@dataclass(frozen=True)
class Inputs(Names):
    """Any number of a function's inputs by name, of which one may be given alone."""

    def canonical(self, value: object) -> Value:
        """Return the names in the order of the signature."""
        return super().canonical([value] if isinstance(value, str) else value)


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
        doc=_documentation(spec, transform),
        inputs=(*spec.inputs[:first], *needed, *spec.inputs[first:], *extra),
        optional=(*spec.optional, *(port.name for port in extra)),
        outputs=(),
        options=(*spec.open_options, *taken_by, Constant("value", (), default=False, annotation=bool)),
        called=spec.called and _called(spec.called, needed, extra, [x.name for x in taken_by]),
        variant=variant,
        describe=_described(spec),
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
    first = len(ports) if transform.directions else len(spec.required)
    inputs = (*ports[:first], *further, *ports[first:])
    outputs = (*(base.outputs if value else ()), *transform.outputs(base, wrt))

    def program() -> Program:
        opened = Opened.of(base, Variant(given, options, "float64"), inputs, wrt, value)
        nodes = {port.name: opened.entries(port.name) for port in further}
        values, start = Made(), 0
        for port in base.outputs if value else ():
            values.append(tuple(opened.results[start : start + port.size]))
            start += port.size
        try:
            made = transform.make(opened, nodes)
        except NotImplementedError as error:
            raise ArgumentError(f"{name}: {error}; `jvp` and `derivatives` may, which go forward") from None
        return Program(opened.graph, inputs, outputs, (*values, *made))

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
        describe=_described(base),
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


def _described(spec: FunctionSpec) -> Callable[[Port], str]:
    """Return what an input is made of, for messages: a direction of a configuration has nv numbers."""
    own = {port.name for port in spec.inputs}

    def describe(port: Port) -> str:
        if port.name in own:
            return spec.describe(port)
        velocities = any(space.port.shape == port.shape for space in (spec.spaces or {}).values())
        return describe_shape(port) + "; a step of a configuration is a velocity, nv numbers" * velocities

    return describe


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


def _documentation(spec: FunctionSpec, transform: Transform) -> str:
    wrt = ""
    if not transform.directions:
        wrt = """wrt : str or sequence of str, optional
    The inputs by which it is taken; if not given, all that must be given.
"""
    return f"""{transform.summary.format(spec.name)}

{transform.text}

Parameters
----------
{", ".join(port.name for port in spec.inputs)}
    Those of `{spec.name}`, and so are its options.
{wrt}value : bool
    Whether the results of `{spec.name}`, with its bits, come first.
"""
