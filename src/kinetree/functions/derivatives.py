"""Derivatives of compiled functions as functions: Jacobians, products with them, and Hessians, on the manifold.

Each is a transform of the spec of a function into that of another one, and so batched, cached, written as C and
part of compositions as any function is. With respect to a configuration they are taken along the velocities dv of
``q ⊞ dv`` (`Joint.integrate`), so that it counts nv numbers, as an argument and as a result.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ArgumentError, DerivativeWarning, listed, warn_user
from kinetree.functions.derivative_kinds import TRANSFORMS, Made, OpenProgram, Options, Transform, recorded_results
from kinetree.functions.sparsity import only_nonzeros
from kinetree.graph import Port, Program
from kinetree.runtime.function import Function
from kinetree.runtime.options import Constant, Fixed, Names, Option, Value, plain
from kinetree.runtime.spec import Arguments, FunctionSpec, Variant, describe_shape


@dataclass(frozen=True)
class Inputs(Names):
    """Any number of a function's inputs by name, of which one may be given alone."""

    def canonical(self, value: object) -> Value:
        """Return the names in their order, each once."""
        names: Any = [value] if isinstance(value, str) else value or ()
        super().canonical(names)
        return tuple(dict.fromkeys(names))


class WithValue(Constant):
    """Whether the results of the function come first."""


class Form(Option):
    """Whether matrices are whole, or their entries that are not known to be zero (see `kinetree.Sparsity`)."""


CHOSEN = (Inputs, WithValue, Form)
"""The options of derivatives: in a derivative of one they have their defaults, unless they are bound."""


NO_DERIVATIVES = (
    "{} yet: those of mechanisms and contacts, solvers, and what calls them, are not differentiated; "
    "kt.implicit declares the derivatives of a solver"
)


def transformed(function: Function, kind: str) -> Function:
    """Return a derivative of a function as a function; see `kinetree.runtime.Function`."""
    return Function(_spec(function.spec, kind, lambda: (_again, (function, kind))))


def _again(function: Function, kind: str) -> Function:
    return getattr(function, kind)  # type: ignore[no-any-return]


def _spec(spec: FunctionSpec, kind: str, reduce: Callable[[], tuple[Any, ...]]) -> FunctionSpec:
    if spec.spaces is None:
        raise ArgumentError(NO_DERIVATIVES.format(f"{spec.name} has no {kind}"))
    spec = spec.bind({option.name: option.default for option in spec.open_options if isinstance(option, CHOSEN)})
    hidden = {*spec.flags, *(spec.group.inner if spec.group else ())}
    names = tuple(port.name for port in spec.inputs if port.name not in hidden)
    usual = tuple(port.name for port in spec.required if port.name not in hidden)
    transform = TRANSFORMS[kind].apart(spec, names)
    further = transform.ports(spec, names)
    of = dict(zip((port.name for port in further), transform.further(spec, names), strict=True))
    needed, extra = ((), further) if transform.directions else (further, ())
    first = len(spec.required)

    @functools.cache
    def variant(optional: tuple[str, ...], options: Options) -> FunctionSpec:
        given, chosen = tuple(name for name in optional if name in spec.optional), dict(options)
        there = {port.name for port in spec.ports(given)}
        named: tuple[str, ...] = () if transform.directions else chosen["wrt"]  # type: ignore[assignment]
        if transform.directions:
            wrt = tuple(name for name in names if transform.pattern.format(name) in optional)
        else:
            wrt = named or tuple(name for name in usual if name in there)
        refused = ""
        if not wrt:
            refused = f"takes rates of at least one input: {listed([p.name for p in further]) or 'it has none'}"
        if absent := [name for name in wrt if name not in there]:
            refused = f"by {absent[0]!r} is taken where that is given: give it"
        own = tuple((o.name, o.default if isinstance(o, Fixed) else chosen[o.name]) for o in spec.options)
        value = bool(plain(chosen["value"]))
        dense = functools.partial(
            _variant, spec, made.name, transform, wrt, given, own, refused, functools.partial(tell, named)
        )
        if chosen.get("form") != "nonzeros" or refused or transform.columns is None:
            return dense(value)
        columns = transform.columns(spec.of(given, own), wrt)
        return only_nonzeros(dense(value), dense(False) if value else None, columns, transform.symmetric)

    def tell(named: Sequence[str], independent: Sequence[str]) -> None:
        for name in quiet.intersection(named).intersection(independent):
            quiet.discard(name)
            warn_user(f"{made.name}: no result depends on {name!r}: what is by it is zero", DerivativeWarning)

    quiet = set(names)
    forms = (Form("form", ("dense", "nonzeros")),) if transform.columns else ()
    refused = {name: f"{name!r} is a flag, 0 or 1, by which nothing has a derivative" for name in spec.flags}
    refused |= {
        o.name: f"{o.name!r} is an option, a constant of the program; derivatives are taken by numbers and arrays"
        for o in spec.options
    }
    chosen_by = () if transform.directions else (Inputs("wrt", names, "input", refused=refused),)
    taken_by = (*chosen_by, *forms)
    arguments = [*(port.name for port in (*spec.inputs, *further)), *(o.name for o in (*spec.open_options, *taken_by))]
    if twice := [name for name, n in Counter([*arguments, "value"]).items() if n > 1]:
        raise ArgumentError(
            f"{spec.name}_{kind} would have two arguments {twice[0]!r}: give that of yours another name"
        )
    made = replace(
        spec,
        name=f"{spec.name}_{kind}",
        doc=_documentation(spec, transform, further, taken_by),
        inputs=(*spec.inputs[:first], *needed, *spec.inputs[first:], *extra),
        optional=(*spec.optional, *(port.name for port in extra)),
        outputs=(),
        options=(*spec.open_options, *taken_by, WithValue("value", (), default=False, annotation=bool)),
        called=_called(spec, needed, extra, taken_by),
        variant=variant,
        describe=_described(spec, of),
        named={**spec.named, **{new: spec.named[old] for new, old in of.items() if old in spec.named}},
        reduce=reduce,
        truths=frozenset(),
        jacobians=None,
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
    given: tuple[str, ...],
    options: Options,
    refused: str,
    tell: Callable[[Sequence[str]], None],
    value: bool,
) -> FunctionSpec:
    """Return the spec of a derivative with these options and optional inputs."""
    base = spec.of(given, options)
    ports = base.ports(given)
    shapes = replace(base, inputs=spec.inputs, optional=spec.optional) if refused else base
    further, of = transform.ports(shapes, wrt), transform.further(shapes, wrt)
    first = len(ports) if transform.directions else len(spec.required)
    inputs = (*ports[:first], *further, *ports[first:])
    outputs = (*(base.outputs if value else ()), *transform.outputs(shapes, wrt, transform.pattern))

    def program() -> Program:
        if refused:
            raise ArgumentError(f"{name} {refused}")
        if base.spaces is None:
            raise ArgumentError(NO_DERIVATIVES.format(f"there is no {name}"))
        source = OpenProgram.of(base, Variant(given, options, "float64"), inputs, wrt, value)
        values, start = Made(), 0
        for port in base.outputs if value else ():
            values.append(tuple(source.results[start : start + port.size]))
            start += port.size
        try:
            made = transform.make(source, {x: source.entries(port.name) for x, port in zip(of, further, strict=True)})
        except NotImplementedError as error:
            raise ArgumentError(f"{name}: {error}") from None
        if transform.by_input:
            zero = {source.graph.const(0.0)}
            tell([x for k, x in enumerate(wrt) if all({*nodes} <= zero for nodes in made[k :: len(wrt)])])
        return Program(source.graph, inputs, outputs, (*values, *made))

    def evaluate(arguments: Arguments, _: object) -> Sequence[Any]:
        return recorded_results(program(), arguments)

    spaces = {key: space for key, space in (base.spaces or {}).items() if key in wrt or key in dict(base.outputs)}
    more = repr((name, wrt, value, given, options, [(key, space.identity) for key, space in spaces.items()]))
    if len({port.name for port in outputs}) < len(outputs):
        raise ArgumentError(f"{name}: these results do not have different names: {[port.name for port in outputs]}")
    return replace(
        base,
        name=name,
        inputs=inputs,
        outputs=outputs,
        evaluate=evaluate,
        describe=_described(base, dict(zip((port.name for port in further), of, strict=True))),
        identity=functools.partial(_identity, base, more),
        optional=(),
        options=(),
        variant=None,
        program=None,
        jacobians=None,
        truths=frozenset(),
        returns=None,
        wrapped=None,
    )


def _described(spec: FunctionSpec, of: Mapping[str, str]) -> Callable[[Port], str]:
    """Return what an input is made of, for messages; `of` has the input or result that each further one is of."""
    spaces = spec.spaces or {}

    def describe(port: Port) -> str:
        if port.name not in of:
            return spec.describe(port)
        velocity = "; a step of a configuration is a velocity, nv numbers" if of[port.name] in spaces else ""
        return f"{describe_shape(port)}{velocity}"

    return describe


def _identity(base: FunctionSpec, more: str) -> bytes | None:
    found = base.identity()
    return None if found is None else found + more.encode()


def _called(
    spec: FunctionSpec, needed: Sequence[Port], extra: Sequence[Port], taken_by: Sequence[Option]
) -> inspect.Signature | None:
    """Return the signature of calls with the further arguments, if it is not that of a robot's functions."""
    from kinetree.functions.parameters import with_required

    if spec.called is None:
        return None
    fixed = [option.name for option in spec.options if isinstance(option, Fixed)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    further = [inspect.Parameter(port.name, keyword, default=None) for port in extra]
    further += [inspect.Parameter(option.name, keyword, default=option.default) for option in taken_by]
    further.append(inspect.Parameter("value", keyword, default=False))
    own = with_required(spec.called, [port.name for port in needed]).parameters.values()
    return spec.called.replace(parameters=[*(p for p in own if p.name not in fixed), *further])


def _documentation(
    spec: FunctionSpec, transform: Transform, further: Sequence[Port], taken_by: Sequence[Option]
) -> str:
    """Return the documentation of a derivative."""
    texts = {
        "wrt": "wrt : str or sequence of str, optional\n    Inputs by which it is taken; if not given, all required.",
        "form": 'form : {"dense", "nonzeros"}\n    The latter are the entries that are not known to be zero, column by '
        "column as `sparsity` has them" + (", of the lower triangle." if transform.symmetric else "."),
    }
    parts = [
        (", ".join(port.name for port in spec.inputs), f"As `{spec.name}` takes them, with its options."),
        (", ".join(port.name for port in further), "As said above; (..., nv) where it is of a configuration."),
    ]
    known = [f"{name}\n    {text}" for name, text in parts if name] + [texts[option.name] for option in taken_by]
    known.append(f"value : bool\n    Whether the results of `{spec.name}`, with its bits, come first.")
    entries = "\n".join(known)
    return (
        f"{transform.summary.format(spec.name)}\n\n{transform.text}\n\nParameters\n----------\n{entries}\n\n"
        "Returns\n-------\narray or named tuple\n    In the order of the results, and of `wrt`.\n\n"
        "Raises\n------\nArgumentError\n    If an argument is wrong, or there is an operation that has no derivative.\n"
    )
