"""One variant of a function as an operation on arrays by position: what other libraries call, and differentiate.

Its derivatives are operations too, so that those of any order are. They are taken along the entries of the arrays,
as these libraries know no tangent of a configuration: a rate of q is projected to the tangent space of the unit
quaternions (and of the unit circles of continuous joints), and a gradient by q lies in it.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Port, Program
from kinetree.lazy import cached_property
from kinetree.runtime import arguments
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec, TangentSpace, Variant


@dataclass(frozen=True)
class Ambient:
    """The tangent space of unit quaternions and the like in the entries of their array."""

    space: TangentSpace
    size: int

    @property
    def port(self) -> Port:
        """A direction, as an array."""
        return Port("dq", (self.size,))

    @property
    def identity(self) -> bytes:
        """All that it depends on."""
        return b"ambient " + self.space.identity

    def rates(self, entries: Sequence[Any]) -> list[dict[int, Any]]:
        """Return the projection to the tangent space, by rows."""
        velocities, found = self.space.velocities(entries), []
        for rates in self.space.rates(entries):
            row: dict[int, Any] = {}
            for j, rate in rates.items():
                for k, x in velocities[j].items():
                    row[k] = row[k] + rate * x if k in row else rate * x
            found.append(row)
        return found

    def ambient(self, rows: Sequence[Sequence[Any]], entries: Sequence[Any]) -> list[list[Any]]:
        """Return derivatives by the entries, given those by velocities."""
        velocities = self.space.velocities(entries)
        return [
            [sum((x * to[k] for x, to in zip(row, velocities, strict=True) if k in to), 0.0) for k in range(self.size)]
            for row in rows
        ]

    def velocities(self, entries: Sequence[Any]) -> list[dict[int, Any]]:
        """Return that a direction of a result is the rate of its entries."""
        return [{k: 1.0} for k in range(len(entries))]


PLAIN = Variant((), (), "float64")
"""The variant of an operation, which has no others but for the dtype."""


class Operation:
    """A function of arrays by position, without options: each input and each result has the shape of one state.

    Parameters
    ----------
    spec : FunctionSpec
        A plain one, with inputs x0, x1, … and outputs y0, y1, …
    named : tuple of Port
        The inputs with their names in calls.
    """

    def __init__(self, spec: FunctionSpec, named: tuple[Port, ...] = ()) -> None:
        self.spec, self.named = spec, named
        self.inputs, self.outputs = spec.inputs, spec.outputs
        self._derivatives: dict[tuple[str, tuple[int, ...]], Operation] = {}
        self.rates_of: tuple[Operation, tuple[int, ...]] | None = None

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


def bound(
    function: Function,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    convert: Callable[[str, Any], Any] = lambda name, x: np.asarray(x),
) -> tuple[Operation, list[Any], tuple[int, ...]]:
    """Return what a call computes, its arguments by position, and the axes before those of one state.

    ``convert(name, value)`` makes an array of an argument.

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
    call = arguments.bind(spec, args, kwargs)
    operation = _operation(function, call.optional, call.options)
    arrays = [convert(port.name, x) for port, x in zip(operation.named, call.values, strict=True)]
    leads = [arguments.leading_axes(spec, port, x) for port, x in zip(operation.named, arrays, strict=True)]
    return operation, arrays, arguments.broadcast_axes(spec, operation.named, arrays, leads)


def variant_of(
    function: Function, optional: tuple[str, ...], options: Mapping[str, object]
) -> tuple[Operation, tuple[Port, ...]]:
    """Return what a call with these optional arguments and options computes, and its results by name."""
    chosen = function._variant("float64", optional, options)
    return _operation(function, *chosen[:2]), function.spec.of(*chosen[:2]).outputs


def _operation(function: Function, optional: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Operation:
    known, key = _known.setdefault(function, {}), (optional, options)
    if key not in known:
        known.setdefault(key, Operation(_plain(function.spec, *key), function.spec.of(*key).ports(optional)))
    return known[key]


def _plain(spec: FunctionSpec, optional: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> FunctionSpec:
    """Return the spec with these optional inputs and options, its arrays known by position and differentiated so."""
    base = spec.of(optional, options)
    ports = base.ports(optional)
    inputs = tuple(Port(f"x{k}", port.shape) for k, port in enumerate(ports))
    results = tuple(Port(f"y{k}", port.shape) for k, port in enumerate(base.outputs))
    new = dict(zip((p.name for p in (*ports, *base.outputs)), (*inputs, *results), strict=True))
    known = (base.spaces or {}).items()
    spaces = {new[name].name: Ambient(space, new[name].size) for name, space in known if name in new}
    more = repr(("arrays by position", optional, options)).encode()

    def named(given: Mapping[str, Any]) -> dict[str, Any]:
        return {port.name: given[new[port.name].name] for port in ports}

    def evaluate(given: Mapping[str, Any], _: object) -> Sequence[Any]:
        return base.evaluate(named(given), dict(options))

    def page(given: Mapping[str, Any], _: Mapping[str, Any], wrt: Sequence[str]) -> dict[tuple[str, str], Any]:
        own = {new[port.name].name: port.name for port in ports}
        found = base.jacobians[1](named(given), dict(options), [own[x] for x in wrt])  # type: ignore[index]
        blocks = {(port.name, x): found[port.name, own[x]] for port in base.outputs for x in wrt}
        return {
            (new[y].name, x): spaces[x].ambient(block, given[x]) if x in spaces else block
            for (y, x), block in blocks.items()
        }

    jacobians = base.jacobians and (frozenset(new[n].name for n in base.jacobians[0] if n in new), page)
    if any(port.name in (base.spaces or {}) for port in base.outputs):  # its rows would be those of velocities
        jacobians = None

    def identity() -> bytes | None:
        own = base.identity()
        return None if own is None else own + more

    made = FunctionSpec(base.name, base.doc, inputs, results, evaluate, identity)
    return made if base.spaces is None else replace(made, spaces=spaces, jacobians=jacobians)
