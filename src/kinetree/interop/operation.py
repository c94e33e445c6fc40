"""One variant of a function as an operation on arrays by position: what other libraries call, and differentiate.

Its derivatives are operations too, so that those of any order are. They are taken along the entries of the arrays,
as these libraries know no tangent of a configuration. No function of a robot depends on the length of a quaternion, so
a gradient by q lies in the tangent space of the unit quaternions by itself, and second derivatives are symmetric.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import secrets
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kinetree.errors import ArgumentError, DerivativeWarning
from kinetree.graph import Port, Program
from kinetree.lazy import cached_property
from kinetree.runtime import arguments
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec, TangentSpace, Variant

PLAIN = Variant((), (), "float64")
"""The variant of an operation, which has no others but for the dtype."""


# Users do not know the names of arrays by position; derivatives by what makes no difference are zero, silently.
warnings.filterwarnings("ignore", r".* no result depends on 'array\d+'", DerivativeWarning)


_process, _numbers = secrets.token_hex(16), itertools.count()


class Operation:
    """A function of arrays by position, without options: each input and each result has the shape of one state.

    Parameters
    ----------
    spec : FunctionSpec
        A plain one, with inputs array0, array1, … and outputs result0, result1, …
    named : FunctionSpec, optional
        The one of which it is a variant, which has the names that calls use, and the type of the results.
    """

    def __init__(self, spec: FunctionSpec, named: FunctionSpec | None = None) -> None:
        self.spec, self.named = spec, named or spec
        self.inputs, self.outputs = spec.inputs, spec.outputs
        self._derivatives: dict[tuple[str, tuple[int, ...]], Operation] = {}
        self.rates_of: tuple[Operation, tuple[int, ...]] | None = None

    @cached_property
    def digest(self) -> str:
        """The same for operations that compute the same, in all processes where all that they depend on is known."""
        ports = repr((self.spec.name, self.inputs, self.outputs)).encode()
        own = self.spec.identity() or f"{_process} {next(_numbers)}".encode()
        return hashlib.sha256(own + ports).hexdigest()[:32]

    @cached_property
    def function(self) -> Function:
        """The compiled function."""
        return Function(self.spec)

    @property
    def program(self) -> Program:
        """The optimised program."""
        return self.function._kernels.program(PLAIN)

    def jvp(self, wrt: tuple[int, ...]) -> Operation:
        """Return the operation on the inputs, and then rates of these of them, to the rates of the results."""
        rates = self._derivative("jvp", wrt)
        rates.rates_of = self, wrt
        return rates

    def vjp(self, wrt: tuple[int, ...]) -> Operation:
        """Return the operation on the inputs, and then weights of the results, to the gradients by these inputs."""
        return self._derivative("vjp", wrt)

    def derivatives(self, wrt: tuple[int, ...]) -> Operation:
        """Return the operation on the inputs to the derivatives of each result by each of these, in this order."""
        return self._derivative("derivatives", wrt)

    def hessian(self, wrt: tuple[int, ...]) -> Operation:
        """Return the operation on the inputs, and then weights of the results, to the second derivatives."""
        return self._derivative("hessian", wrt)

    def _derivative(self, kind: str, wrt: tuple[int, ...]) -> Operation:
        if (kind, wrt) not in self._derivatives:
            spec = getattr(self.function, kind).spec
            names = tuple(self.inputs[k].name for k in wrt)
            given, options = (tuple(f"d{n}" for n in names), {}) if kind == "jvp" else ((), {"wrt": names})
            made = _plain(spec, given, spec.chosen(options))
            self._derivatives.setdefault((kind, wrt), Operation(made))
        return self._derivatives[kind, wrt]


_known: weakref.WeakKeyDictionary[Function, dict[Any, Operation]] = weakref.WeakKeyDictionary()


def matrix_shape(port: Port) -> tuple[int, int]:
    """Return the rows and columns of an array where all are matrices: of vectors one column."""
    return (port.shape[0], math.prod(port.shape[1:])) if port.shape else (1, 1)


class Bound(NamedTuple):
    """A call of a function."""

    operation: Operation
    arrays: list[Any]  # the arguments by position
    lead: tuple[int, ...]  # the axes before those of one state
    given: list[Any]  # the arrays that are no defaults: they choose between float32 and float64
    names: list[str]  # of the arguments


def bound(
    function: Function,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    convert: Callable[[str, Any], Any],
) -> Bound:
    """Return a call of a function; ``convert(name, value)`` makes an array of an argument.

    Raises
    ------
    ArgumentError
        For arguments, options and shapes that the function does not have, and for memory for results.
    """
    if kwargs.get("out") is not None:
        raise ArgumentError(f"{function.__name__}: other libraries have memory of their own for results: leave out=")
    spec = function.spec
    if (split := arguments.ungrouped(spec, args, kwargs)) is not None:
        args, kwargs = split
    try:
        call = arguments.bind(spec, args, kwargs)
    except (TypeError, RuntimeError) as error:
        raise ArgumentError(
            f"{spec.name}: NumPy cannot read what a dict holds here, give the array: {error}"
        ) from error
    operation = _operation(function, call.optional, call.options)
    ports = operation.named.ports(call.optional)
    arrays = [convert(port.name, x) for port, x in zip(ports, call.values, strict=True)]
    for port, array in zip(ports, arrays, strict=True):
        if "complex" in str(array.dtype):
            raise ArgumentError(f"{spec.name}: {port.name} has dtype {array.dtype}, which is not a real number")
    leads = [arguments.leading_axes(spec, port, x) for port, x in zip(ports, arrays, strict=True)]
    given = [x for port, x in zip(ports, arrays, strict=True) if port.name not in call.defaulted]
    lead = arguments.broadcast_axes(spec, ports, arrays, leads)
    return Bound(operation, arrays, lead, given, [port.name for port in ports])


def variant_of(
    function: Function, optional: tuple[str, ...], options: Mapping[str, object]
) -> tuple[Operation, tuple[Port, ...]]:
    """Return what a call with these optional arguments and options computes, and its inputs by name."""
    chosen = function._variant("float64", optional, options)
    operation = _operation(function, *chosen[:2])
    return operation, operation.named.ports(chosen.optional)


def _operation(function: Function, optional: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Operation:
    known, key = _known.setdefault(function, {}), (optional, options)
    if key not in known:
        known.setdefault(key, Operation(_plain(function.spec, *key), function.spec.of(*key)))
    return known[key]


def _plain(spec: FunctionSpec, optional: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> FunctionSpec:
    """Return the spec with these optional inputs and options, its arrays known by position and differentiated so."""
    base = spec.of(optional, options)
    ports, spaces = base.ports(optional), base.spaces or {}
    inputs = tuple(Port(f"array{k}", port.shape) for k, port in enumerate(ports))
    results = tuple(Port(f"result{k}", port.shape) for k, port in enumerate(base.outputs))
    known = {new.name: port for new, port in zip(inputs, ports, strict=True)}
    more = repr(("arrays by position", optional, options)).encode()

    def named(given: Mapping[str, Any]) -> dict[str, Any]:
        return {port.name: given[x] for x, port in known.items()}

    def evaluate(given: Mapping[str, Any], _: object) -> Sequence[Any]:
        return base.evaluate(named(given), dict(options))

    def page(given: Mapping[str, Any], _: object, wrt: Sequence[str]) -> dict[tuple[str, str], Any]:
        names = {x: known[x].name for x in wrt}
        found = base.jacobians[1](named(given), dict(options), list(names.values()))  # type: ignore[index]
        return {
            (new.name, x): _by_entries(spaces.get(name), found[port.name, name], given[x])
            for new, port in zip(results, base.outputs, strict=True)
            for x, name in names.items()
        }

    def identity() -> bytes | None:
        own = base.identity()
        return None if own is None else own + more

    made = FunctionSpec(base.name, base.doc, inputs, results, evaluate, identity)
    if base.spaces is None:
        return made
    by_page = None
    if base.jacobians and not any(port.name in spaces for port in base.outputs):  # those have the rates of velocities
        by_page = frozenset(x for x, port in known.items() if port.name in base.jacobians[0]), page
    return replace(made, spaces={}, jacobians=by_page)


def _by_entries(space: TangentSpace | None, rows: Sequence[Sequence[Any]], entries: Sequence[Any]) -> Any:
    """Return derivatives by the entries of an array, given those by the directions of its space."""
    if space is None:
        return rows
    rates = space.velocities(entries)
    return [
        [sum((x * to[k] for x, to in zip(row, rates, strict=True) if k in to), 0.0) for k in range(len(entries))]
        for row in rows
    ]
