"""`FunctionSpec`: the definition of a function, from which the runtime compiles and calls it; and types of results."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any, NamedTuple, Protocol

from kinetree.errors import ArgumentError, unknown_name
from kinetree.glue.descriptor import Array
from kinetree.graph import Port, Program
from kinetree.groups import Group
from kinetree.lazy import cached_property
from kinetree.runtime.options import Constant, Fixed, Option, Value, plain
from kinetree.validation import Range

_types: dict[tuple[str, tuple[str, ...]], type[tuple[Any, ...]]] = {}


def result_type(function: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Return the named tuple of a function's outputs, the same type for the same names, in all threads.

    Its instances can be pickled. It adds nothing to the memory of a tuple, and it lives as long as the process;
    the call glue relies on both.
    """
    return _types.get((function, names)) or _types.setdefault((function, names), _made(function, names))


def _made(function: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    title = "".join(part[:1].upper() + part[1:] for part in function.split("_"))
    title = title if is_field(title) else "Result"  # a lambda has no name to make a type's of
    base: Any = namedtuple(title, names)  # type: ignore[misc]
    members = {
        "__slots__": (),
        "__module__": __name__,
        "__doc__": f"The results of {function}: {', '.join(names)}.",
        "__reduce__": lambda self: (rebuilt, (function, names, tuple(self))),
    }
    return type(title, (base,), members)


def found_by_name(module: str, path: str) -> Any:
    """Return the object of this name in a module that is imported, None if there is none."""
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def rebuilt(function: str, names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results from a pickle."""
    made: Any = result_type(function, names)
    return made(*values)  # type: ignore[no-any-return]


def is_field(name: str) -> bool:
    """Return whether a named tuple can have a field of this name."""
    return name.isidentifier() and not iskeyword(name) and not name.startswith("_")


class Variant(NamedTuple):
    """One of a function's programs, compiled when first used: the optional inputs given, all options, and the dtype."""

    optional: tuple[str, ...]  # names, in the order of the signature
    options: tuple[tuple[str, Value], ...]
    dtype: str


def describe_shape(port: Port) -> str:
    """Return the description of a port without a meaning: its shape."""
    return f"one state has shape {port.shape}"


def check_names(function: str, names: list[str]) -> None:
    """Raise `ArgumentError` if two arguments of a function have one name, or one that of the memory for results."""
    if "out" in names:
        raise ArgumentError(f"{function}: calls take out= as the memory for results: give that argument another name")
    if len(set(names)) != len(names):
        raise ArgumentError(f"{function}: these arguments do not have different names: {names}")


class TangentSpace(Protocol):
    """The directions in which an array can move that is no vector, as a configuration with quaternions."""

    @property
    def port(self) -> Port:
        """A direction, as an array."""

    @property
    def identity(self) -> bytes:
        """All that the space depends on."""

    def rates(self, entries: Sequence[Any]) -> list[dict[int, Any]]:
        """Return the rates of each entry along each direction, by the direction's index."""

    def velocities(self, entries: Sequence[Any]) -> list[dict[int, Any]]:
        """Return each entry of the direction of a motion as a combination of the entries' rates, by their index."""


Arguments = Mapping[str, Any]
"""The inputs by name, as nested lists of scalars; an input without axes is a scalar."""

Page = Callable[[Arguments, Mapping[str, Any], Sequence[str]], Mapping[tuple[str, str], Any]]
"""Derivatives by these inputs, by the names of result and input, from arguments and options."""


@dataclass(frozen=True)
class FunctionSpec:
    """A function of arrays, before it is compiled: new functions come from old ones by transforms of this.

    Attributes
    ----------
    name : str
        Its name, a Python identifier.
    doc : str
        Its docstring.
    inputs : tuple of Port
        The array arguments and their shapes for one state, in the order of the signature; the optional ones last.
    outputs : tuple of Port
        The results and their shapes for one state.
    evaluate : callable
        ``evaluate(arguments, options) -> results``: the function on scalars that record what is done with them.
        `arguments` has the inputs that are given (the optional ones may be missing), `options` a value for each option;
        there is one result an output: a scalar, nested sequences or an array.
    identity : callable
        ``identity() -> bytes``: all that the program depends on besides the name, the variant and kinetree's source;
        None where that is not known, and the code is not kept on disk. For a robot: the hashes of its model and of
        user-defined joint types. Functions with different programs must not share it: it is part of the cache's key.
    optional : tuple of str
        The names of the inputs that may be left out.
    options : tuple of Option
        The keywords that choose between programs.
    describe : callable
        ``describe(port) -> str``: what an input is made of, for error messages
        (``"this robot has nq = 7: joints panda_joint1, …"``).
    meanings : mapping of str to str
        What arguments and results are, with their units, by name; where `doc` says it too, that counts.
    named : mapping of str to callable
        ``named[input](dict, options) -> array``: how a dict that is given for this input becomes its array.
    group : Group, optional
        An argument that is a value, whose fields are some of the optional inputs and of the options.
    jacobians : (frozenset of str, callable), optional
        The inputs by which derivatives of the only result are known otherwise than from the program, and the page.
    spaces : mapping of str to TangentSpace, optional
        Those of inputs and outputs that are configurations, by name. None if the function is not differentiated.
    ranges : mapping of str to Range
        The numbers that inputs may hold. Those of flags may be bools, and have no say in whether a call is float32.
    truths : frozenset of str
        Outputs that are 1 or 0 in the program, and bools to who calls it; such functions are called by Python code.
    guessed : frozenset of str
        Inputs whose shapes only their names tell: a user who means another can say so.
    reduce : callable, optional
        ``reduce() -> (callable, arguments)``: how a pickle makes the function again (from its robot and name).
    program : Program, optional
        The program, where the function has been traced to know its outputs; it has no options then.
    wrapped : callable, optional
        The user's function that was compiled.
    defaults : mapping of str to array
        The values of inputs for calls that do not give them, float64. These inputs come before the optional ones.
    returns : type, optional
        The named tuple of several results, where one is made already; it adds nothing to the memory of a tuple.
    called : inspect.Signature, optional
        The inputs and options as calls give them, if not as the functions of a robot have them: inputs by position or
        name, then options by name.
    patterns : mapping of str to Sparsity
        Of the outputs that are the non-zeros of matrices, by name.
    variant : callable, optional
        ``variant(optional, options) -> spec``, where results depend on these too: the function with these options and
        optional inputs only, as a spec without any.
    """

    name: str
    doc: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    evaluate: Callable[[Arguments, Mapping[str, Any]], Sequence[Any]]
    identity: Callable[[], bytes | None]
    optional: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    describe: Callable[[Port], str] = describe_shape
    meanings: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Any]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    group: Group | None = None
    jacobians: tuple[frozenset[str], Page] | None = None
    spaces: Mapping[str, TangentSpace] | None = None
    truths: frozenset[str] = frozenset()
    guessed: frozenset[str] = frozenset()
    reduce: Callable[[], tuple[Any, ...]] | None = None
    program: Program | None = None
    wrapped: Callable[..., Any] | None = None
    defaults: Mapping[str, Array] = field(default_factory=dict)
    returns: type[tuple[Any, ...]] | None = None
    called: inspect.Signature | None = None
    patterns: Mapping[str, Any] = field(default_factory=dict)
    variant: Callable[[tuple[str, ...], tuple[tuple[str, Value], ...]], FunctionSpec] | None = None

    def __post_init__(self) -> None:
        names = [port.name for port in self.inputs]
        check_names(self.name, [*names, *(option.name for option in self.options)])
        if tuple(names[len(names) - len(self.optional) :]) != self.optional:
            raise ValueError(f"{self.name}: the optional inputs {self.optional} are not the last of {names}")
        if not self.outputs and self.variant is None:
            raise ValueError(f"{self.name} has no output")
        if len(self.outputs) > 1 and not all(is_field(port.name) for port in self.outputs):
            raise ValueError(f"{self.name}: outputs of these names cannot be those of a named tuple: {self.outputs}")

    @cached_property
    def required(self) -> tuple[Port, ...]:
        """The inputs that every call must give."""
        return self.inputs[: len(self.inputs) - len(self.optional) - len(self.defaults)]

    def spelled(self, name: str) -> str:
        """Return the name by which a call has an input or option, whose value may be part of another argument."""
        return name if self.group is None else self.group.inner.get(name, name)

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of arguments that may be given by position."""
        parameters = self.signature().parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)

    @cached_property
    def flags(self) -> frozenset[str]:
        """Inputs of 1 and 0 only, or bools."""
        return frozenset(name for name, allowed in self.ranges.items() if allowed.flags)

    @cached_property
    def is_plain(self) -> bool:
        """Whether a call with the required inputs alone, by position and in order, is all that is needed."""
        names = tuple(port.name for port in self.required)
        is_simple = self.default_options is not None and not self.defaults and self.ranges.keys().isdisjoint(names)
        return is_simple and self.positional[: len(names)] == names

    @cached_property
    def default_options(self) -> tuple[tuple[str, Value], ...] | None:
        """Every option with its default value; None if one must be given."""
        if any(option.required for option in self.options):
            return None
        return tuple((option.name, option.default) for option in self.options)

    @cached_property
    def open_options(self) -> tuple[Option, ...]:
        """The options that are not fixed."""
        return tuple(option for option in self.options if not isinstance(option, Fixed))

    @cached_property
    def result(self) -> type[tuple[Any, ...]] | None:
        """The type of the results, None where there is one output only."""
        if len(self.outputs) == 1:
            return None
        return self.returns or result_type(self.name, tuple(port.name for port in self.outputs))

    def chosen(self, given: Mapping[str, object]) -> tuple[tuple[str, Value], ...]:
        """Return every option with its value, where these are given; raise where that is not possible."""
        for option in self.options:
            absent = option.name not in given or (given[option.name] is None and not isinstance(option, Constant))
            if option.required and absent:
                raise ArgumentError(f"{self.name} needs {option.name}=: {option.expected}")
        values = self._canonical(given)
        return tuple((o.name, values.get(o.name, o.default)) for o in self.options)

    def _canonical(self, given: Mapping[str, object]) -> dict[str, Value]:
        try:
            return {o.name: o.canonical(given[o.name]) for o in self.options if o.name in given}
        except ArgumentError as error:
            raise ArgumentError(f"{self.name}: {error}") from None

    def ports(self, optional: tuple[str, ...]) -> tuple[Port, ...]:
        """Return the inputs of the program when these optional ones are given."""
        return tuple(p for p in self.inputs if p.name in optional or p.name not in self.optional)

    def trace(self, variant: Variant) -> Program:
        """Return the program of this variant, before any pass."""
        if self.program is not None:
            return self.program
        if self.variant is not None:
            return self.of(variant.optional, variant.options).trace(variant)
        from kinetree.tracing.tracer import Tracer

        tracer = Tracer()
        results = self.evaluate(tracer.arguments(self.ports(variant.optional)), dict(variant.options))
        return tracer.program({p.name: (p.shape, r) for p, r in zip(self.outputs, results, strict=True)})

    def with_program(self, program: Program, kind: str = "traced") -> FunctionSpec:
        """Return the spec of a program: its digest is the identity; source text does not show what closures hold."""
        from kinetree.graph.graph import digest

        identity = functools.cache(lambda: f"{kind} ".encode() + digest(program))
        return replace(self, program=program, outputs=program.outputs, identity=identity, variant=None)

    def of(self, optional: tuple[str, ...], options: tuple[tuple[str, Value], ...]) -> FunctionSpec:
        """Return the spec that has the results of calls with these optional inputs and options."""
        return self if self.variant is None else self.variant(optional, options)

    def shaped(self, port: Port) -> Port:
        """Return an input with the shape of the one of that name here, if there is one."""
        return next((own for own in self.inputs if own.name == port.name), port)

    def bind(self, options: Mapping[str, object]) -> FunctionSpec:
        """Return the spec with these options fixed; raise where there is no such option or value."""
        names = [option.name for option in self.open_options]
        for name in options:
            if name not in names:
                raise ArgumentError(f"{self.name} has {unknown_name('option', name, names)}")
        values = self._canonical(options)
        bound = replace(
            self,
            options=tuple(Fixed(o.name, (), default=values[o.name]) if o.name in values else o for o in self.options),
            reduce=self.reduce
            and (lambda: (_rebuild_bound, (self.reduce(), {k: plain(x) for k, x in values.items()}))),  # type: ignore[misc]
        )
        if self.variant is None or bound.default_options is None:
            return bound
        usual = bound.of((), bound.default_options)
        return replace(bound, inputs=tuple(usual.shaped(port) for port in self.inputs), outputs=usual.outputs)

    def signature(self) -> inspect.Signature:
        """Return the signature that users see."""
        parameter = inspect.Parameter
        out = parameter("out", parameter.KEYWORD_ONLY, default=None)
        if self.called is not None:
            fixed = [option.name for option in self.options if isinstance(option, Fixed)]
            own = [p for p in self.called.parameters.values() if p.name not in fixed]
            return self.called.replace(parameters=[*own, out])
        either, by_name = parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY
        required = [parameter(p.name, either) for p in self.required]
        outer = [self.group.name if self.group and n in self.group.inner else n for n in self.optional]
        optional = [parameter(name, either, default=None) for name in dict.fromkeys(outer)]
        outside = [option for option in self.open_options if self.spelled(option.name) == option.name]
        defaults = {o.name: parameter.empty if o.required else o.default for o in outside}
        by_keyword = [parameter(name, by_name, default=value) for name, value in defaults.items()]
        return inspect.Signature([*required, *optional, *by_keyword, out])

    @property
    def usage(self) -> str:
        """How it is called, without annotations."""
        parameters = [p.replace(annotation=p.empty) for p in self.signature().parameters.values()]
        return f"{self.name}{inspect.Signature(parameters)}"


def _rebuild_bound(made_by: tuple[Any, ...], options: Mapping[str, object]) -> Any:
    """Return a function with options fixed, from a pickle."""
    make, arguments = made_by
    return make(*arguments)._with_fixed(options)
