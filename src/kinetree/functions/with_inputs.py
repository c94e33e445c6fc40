"""A robot's function with numbers of the robot as further inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.functions import context as tracing
from kinetree.functions.model_inputs import RunTimeInput
from kinetree.functions.of_robot import nested
from kinetree.graph import Port, Program
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import Declaration, describe_shape
from kinetree.tracing.tracer import Tracer


def with_inputs(model: Model, function: Function, inputs: tuple[RunTimeInput, ...], name: str | None) -> Function:
    """Return the function with these inputs after its required ones; options and optional inputs are as before."""
    known = function.declaration
    if known.inline is None:
        raise ArgumentError(f"{known.name} cannot have further inputs")
    made_by, parts = known.reduce() if known.reduce else (None, ())
    if made_by is with_inputs:  # inputs on inputs: all of them at once
        _, inner, had, had_name = parts
        again: Function = with_inputs(model, inner, (*had, *inputs), name or had_name)
        return again
    extra = tuple(Port(i.name, i.shape) for i in inputs)
    ports = (*known.required, *extra, *known.inputs[len(known.required) :])

    def inline(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        values = {i: arguments[i.name] for i in inputs}
        own = {key: entries for key, entries in arguments.items() if key not in {i.name for i in inputs}}
        with tracing.tracing({model.digest: values}) as changes:
            results = known.inline(own, options)  # type: ignore[misc]
        if model.digest not in changes.asked:
            raise ArgumentError(f"{known.name} is not a function of {model.name!r}, whose numbers are to be its inputs")
        return results

    def trace(optional: tuple[str, ...], options: Mapping[str, Any]) -> Program:
        tracer = Tracer()
        arguments = {p.name: nested(tracer.input(p), p.shape) for p in declaration.ports(optional)}
        results = zip(known.outputs, inline(arguments, options), strict=True)
        return tracer.program({port.name: (port.shape, list(tracing.flat(r))) for port, r in results})

    declaration: Declaration = replace(
        known,
        name=name or known.name,
        inputs=ports,
        trace=trace,
        describe=lambda port: describe_shape(port) if port in extra else known.describe(port),
        identity=lambda: known.identity() + repr(inputs).encode() + known.name.encode(),
        reduce=lambda: (with_inputs, (model, function, inputs, name)),
        inline=inline,
    )
    return Function(declaration)
