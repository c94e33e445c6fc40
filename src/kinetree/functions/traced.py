"""A user's function as a spec: it is called with arrays of traced scalars, and what it computes becomes a program.

Equal work of several robot functions in it (the joints' sines, the transforms) is done once.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from numbers import Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.functions.model_inputs import ModelInput, meanings, placement_spaces, substituting
from kinetree.functions.of_robot import describe, identity
from kinetree.functions.parameters import Shapes, parameters_of, with_required
from kinetree.functions.tangent_spaces import Configuration, Placement, spaces_of
from kinetree.functions.wrenches import named_wrenches
from kinetree.glossary.symbols import shape_of, shape_of_name, text_of_name
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.cache import source_digest
from kinetree.runtime.function import Function
from kinetree.runtime.options import Value, plain
from kinetree.runtime.spec import FunctionSpec, check_names, found_by_name, is_field
from kinetree.tracing import context
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.condition import Condition
from kinetree.tracing.expr import ExactExpr, Expr, recast
from kinetree.tracing.tracer import Tracer, flatten

Options = tuple[tuple[str, Value], ...]

CHANGED = (
    "{name}: a value that it takes from around it ({which}) has "
    "changed since its first trace, so that this one would mix old and new ones: make the value an argument, or "
    "compile the function again after the change"
)


WHICH = "a global, an attribute, an array, what its closure holds"


class _Comparing(threading.local):
    now = False


_comparing = _Comparing()


class Traces:
    """The specs of a function's variants, each traced when first asked for by ``trace(optional, options)``.

    What a function takes from around it becomes constants of its programs. Before it is called for another variant, or
    inside another function, its first variant is traced once more: another program means that such a value has changed.
    """

    def __init__(
        self, name: str, trace: Callable[[tuple[str, ...], Options], FunctionSpec], function: Callable[..., Any]
    ) -> None:
        self._name, self._trace, self._function = name, trace, function
        self._first: dict[str, object] = {}  # what was around it at the first trace
        self._specs: dict[tuple[tuple[str, ...], Options], FunctionSpec] = {}
        self._compared: Callable[[], object] = lambda: None

    def __call__(self, optional: tuple[str, ...], options: Options) -> FunctionSpec:
        """Return the spec of a variant."""
        key = optional, options
        if key not in self._specs:
            self._first = self._first or _around(self._function)
            self._specs.setdefault(key, self._trace(*key))
        return self._specs[key]

    def compare(self) -> None:
        """Raise `ArgumentError` if the first variant, traced now, is another program; once in each outermost trace."""
        outermost = context.outermost()
        if _comparing.now or (outermost is not None and self._compared() is outermost):
            return
        for key, first in list(self._specs.items())[:1]:
            _comparing.now = True  # for functions inside too: their values are in the program of this one
            try:
                changed = self._trace(*key).identity() != first.identity()
            except Exception as error:  # the other value has another shape, say
                raise ArgumentError(self._changed()) from error
            finally:
                _comparing.now = False
            if changed:
                raise ArgumentError(self._changed())
        self._compared = weakref.ref(outermost) if outermost is not None else self._compared

    def _changed(self) -> str:
        now = _around(self._function)
        names = [name for name in {**self._first, **now} if self._first.get(name) != now.get(name)]
        return CHANGED.format(name=self._name, which=", ".join(names) or WHICH)


def _around(function: Callable[..., Any]) -> dict[str, object]:
    """Return globals and variables of the closure as text, by name: those whose values show all they hold."""
    try:
        found = inspect.getclosurevars(inspect.unwrap(function))
    except TypeError:  # no function of Python
        return {}
    return {
        name: (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
        for name, value in {**found.globals, **found.nonlocals}.items()
        if isinstance(value, int | float | str | list | tuple | dict | np.ndarray | SimpleNamespace)
    }


def user_function(
    model: Model,
    function: Callable[..., Any],
    shapes: Shapes,
    inputs: Sequence[ModelInput],
    name: str,
    fuse: bool = False,
) -> Function:
    """Return a user's function compiled. It is traced at once: only that shows what it returns."""
    own, kind = parameters_of(model, function, shapes, name), Expr if fuse else ExactExpr
    guessed = frozenset(own.by_name) - {"q", "v", "t", "dt"}

    def results(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> _Results:
        given = [p for p in own.ports if p.name in arguments]
        arrays = {p.name: traced_array([recast(x, kind) for x in flatten(arguments[p.name])], p.shape) for p in given}
        graph = next((entry.graph for entry in flatten(list(arguments.values())) if isinstance(entry, Expr)), None)
        with context.tracing({}, graph, exact=not fuse) as own_trace:
            variant.compare()
            try:
                result = function(**arrays, **{key: plain(value) for key, value in options.items()})
            except (ValueError, IndexError) as error:  # of NumPy, if shapes do not fit
                if not guessed or isinstance(error, KinetreeError):
                    raise
                raise ArgumentError(f"{name}: {str(error).strip()}. {_guesses(own.ports, guessed)}") from error
            outputs = _outputs(result, name)
            outputs.undifferentiated = bool(own_trace.undifferentiated)
            return outputs

    def trace(optional: tuple[str, ...], options: Options) -> FunctionSpec:
        tracer, ports = Tracer(), whole.ports(optional)
        with context.outside():
            traced = run(tracer.arguments(ports), dict(options))
        program = tracer.program({key: (array.shape, array) for key, array in traced.items()}, kind)
        return replace(
            bare.with_program(program),
            inputs=ports,
            returns=traced.kind,
            evaluate=lambda arguments, _: list(run(arguments, dict(options)).values()),
            meanings={**bare.meanings} | {port.name: text_of_name(port.name) for port in program.outputs},
            spaces=None if traced.undifferentiated else _spaces(model, (*ports, *program.outputs), inputs),
        )

    def reduce() -> tuple[Any, ...]:
        if _is_of_an_object(function):
            raise ArgumentError(
                f"{name} cannot be pickled: it is compiled from a method, whose object may change or hold it. Compile "
                "a function at module level that takes the object's values as arguments; or let the object's "
                "__reduce__ make the object again from its values"
            )
        where = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
        found = found_by_name(*where)
        if isinstance(found, Function) and found.spec.reduce is reduce:  # it is decorated, and another was made of it
            return _named, where
        made_from = model, function, shapes, tuple(inputs), name, fuse
        return _made_again, (made_from, source_digest(), _usual_identity(whole))

    variant, run = Traces(name, trace, function), substituting(results, model, inputs, name)
    further = tuple(i.port(model) for i in inputs)
    names = [port.name for port in (*own.ports, *further)]
    check_names(name, [*names, *(constant.name for constant in own.constants)])
    bare = FunctionSpec(
        name=name,
        doc=inspect.getdoc(function) or "",
        inputs=(),
        outputs=(),
        evaluate=lambda arguments, options: list(run(arguments, options).values()),
        identity=lambda: None,
        describe=lambda port: describe(model, port, (port.name in own.by_name and shape_of_name(port.name)) or ()),
        meanings={port.name: text_of_name(port.name) for port in own.ports} | meanings(inputs),
        named={"f_ext": named_wrenches(model, name)} if Port("f_ext", (model.nb, 6)) in own.ports else {},
        wrapped=function,
        guessed=guessed,
        spaces=_spaces(model, own.ports, inputs),
        variant=variant,
    )
    whole = replace(
        bare,
        inputs=(*own.required, *further, *own.defaults, *own.optional),
        optional=tuple(port.name for port in own.optional),
        defaults={port.name: value for port, value in own.defaults.items()},
        options=tuple(own.constants),
        called=with_required(own.signature, [port.name for port in further]),
        reduce=reduce,
    )
    if whole.default_options is None:
        return Function(whole)
    first = variant((), whole.default_options)
    if whole.options or whole.optional:
        return Function(replace(whole, outputs=first.outputs))
    return Function(replace(first, defaults=whole.defaults, called=whole.called, reduce=whole.reduce))


def _spaces(
    model: Model, ports: Sequence[Port], inputs: Sequence[ModelInput]
) -> Mapping[str, Configuration | Placement] | None:
    """Return the tangent spaces of poses, and of arrays that the glossary calls configurations; None of a mechanism."""
    shapes = {port.name: shape_of_name(port.name) for port in ports}
    known = {p.name: shapes[p.name] for p in ports if (s := shapes[p.name]) and shape_of(s, model) == p.shape}
    return None if model.constraints else {**spaces_of(model, known, identity), **placement_spaces(inputs)}


def _guesses(ports: Sequence[Port], guessed: Collection[str]) -> str:
    """Return the advice if these shapes, which are known from the arguments' names alone, are others."""
    those = [port for port in ports if port.name in guessed]
    shapes = ", ".join(f"{port.name} {port.shape}" for port in those)
    name = those[-1].name
    return (
        f"Only the names of these arguments tell their shapes for one state: {shapes}. Give another as "
        f"shapes={{{name!r}: (3,)}}; annotate a number, {name}: float"
    )


def _usual_identity(spec: FunctionSpec) -> bytes | None:
    """Return the key of the usual call's program; None where every call has to choose a constant."""
    return None if spec.default_options is None else spec.of((), spec.default_options).identity()


def _made_again(made_from: tuple[Any, ...], source: str | None, identity: bytes | None) -> Function:
    """Return the function of a pickle; if the values around it are not those that it had, calls of it raise.

    An error here would end the worker of a `multiprocessing.Pool`, which waits for its result forever.
    """
    made = user_function(*made_from)
    if source is None or source != source_digest() or identity == _usual_identity(made.spec):
        return made

    def refuse(optional: tuple[str, ...], options: Options) -> FunctionSpec:
        raise ArgumentError(
            f"{made.__name__}: a value that it takes from around it (a global, say), or the order of a set, is not "
            "what it was where the function was pickled: make the value an argument, loop over sorted entries, or "
            "compile the function where it is used"
        )

    return Function(replace(made.spec, program=None, variant=refuse))


def _is_of_an_object(function: Any) -> bool:
    """Return whether a function is a method of an instance, or an instance with `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    owner = getattr(function, "__self__", None)
    return not hasattr(function, "__name__") or (inspect.ismethod(function) and not inspect.isclass(owner))


def _named(module: str, path: str) -> Any:
    """Return a function from a pickle, by its name."""
    import_module(module)
    return found_by_name(module, path)


class _Results(dict[str, Any]):
    """Arrays by name, the type of the named tuple that they were returned in, and if any of them has no derivative."""

    kind: type[tuple[Any, ...]] | None = None
    undifferentiated = False


def _outputs(result: Any, function: str) -> _Results:
    """Return the arrays that a user's function returned."""
    fields = getattr(result, "_fields", None)
    if isinstance(result, Mapping):
        named = dict(result)
    elif isinstance(result, tuple):
        named = dict(zip(fields or [f"r{k}" for k in range(len(result))], result, strict=True))
    else:
        named = {"result": result}
    if not named or not all(isinstance(key, str) and is_field(key) for key in named):
        raise ArgumentError(f"{function} returns {list(named) or 'nothing'}: results need names such as 'tau'")
    arrays = _Results()
    for key, entries in named.items():
        arrays[key] = _array(entries, f"{function}: what is returned" + (f" as {key}" if len(named) > 1 else ""))
    kind = type(result)
    if fields and (kind.__basicsize__, kind.__dictoffset__) == (tuple.__basicsize__, tuple.__dictoffset__):
        arrays.kind = kind
    return arrays


def _array(entries: Any, what: str) -> Any:
    try:
        array: Any = np.asarray(entries) if not isinstance(entries, Expr) else np.asarray(entries, dtype=object)
    except ValueError:
        raise ArgumentError(f"{what} has entries of different shapes: return a tuple of several arrays") from None
    if array.dtype.kind in "fiub":
        return array.astype(np.float64).astype(object)
    for entry in array.flat:
        if not isinstance(entry, (Expr, Real)):
            kind = type(entry).__name__
            of = f"has a {kind} in it" if array.ndim else f"is a {kind}"
            advice = (
                "make numbers of conditions by kt.where" if isinstance(entry, Condition) else "give numbers or arrays"
            )
            raise ArgumentError(f"{what} {of}: {advice}")
    return array
