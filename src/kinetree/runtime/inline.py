"""Calls of compiled functions while another function is traced: they become part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.runtime.arguments import Array, Call
from kinetree.runtime.outputs import returned
from kinetree.runtime.spec import FunctionSpec
from kinetree.tracing import context  # what records is imported where there is a trace: cached code needs none


def is_part_of_trace(call: Call) -> bool:
    """Return whether this call is part of the function that is being traced, rather than one to be evaluated now."""
    trace = context.current()
    if trace is None:
        return False
    from kinetree.tracing.arrays import is_traced

    if any(is_traced(value) for value in call.values):
        return True
    return bool(trace.substitutions) and not trace.is_interrupted()


def inline_call(spec: FunctionSpec, call: Call) -> Any:
    """Return the results of a call on traced values, one state."""
    from kinetree.tracing.arrays import traced_array
    from kinetree.tracing.tracer import flatten

    if call.out is not None:
        raise ArgumentError(f"{spec.name}: out= has no meaning in a function that is being compiled")
    arguments = {}
    for port, value in zip(spec.ports(call.optional), call.values, strict=True):
        array: Array = np.asarray(value, dtype=object)
        if array.shape != port.shape:
            raise ArgumentError(
                f"{spec.name}: {port.name} has shape {array.shape}, a function that is being compiled gives it one "
                f"state: {port.shape}; {spec.describe(port)}"
            )
        arguments[port.name] = array.tolist()
    results = spec.evaluate(arguments, dict(call.options))
    return returned(spec, [traced_array(list(flatten(r)), p.shape) for p, r in zip(spec.outputs, results, strict=True)])
