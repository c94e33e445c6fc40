"""Calls of compiled functions while another function is traced: they become part of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.runtime.arguments import Array, Call, check_range
from kinetree.runtime.outputs import returned
from kinetree.runtime.spec import FunctionSpec
from kinetree.tracing import context  # what records is imported where there is a trace: cached code needs none


def is_part_of_trace(values: Iterable[object]) -> bool:
    """Return whether a call with these arguments is part of the function being traced, not one to be evaluated now."""
    trace = context.current()
    if trace is None:
        return False
    from kinetree.tracing.arrays import is_traced

    if any(is_traced(value) for value in values):
        return True
    return bool(trace.substitutions) and not trace.is_interrupted()


def inline_call(spec: FunctionSpec, call: Call) -> Any:
    """Return the results of a call on traced values, one state.

    The function's own arithmetic is recorded as in its compiled code, whatever that of the calling lines is.
    """
    from kinetree.tracing.arrays import traced_array
    from kinetree.tracing.expr import ExactExpr, Expr, recast
    from kinetree.tracing.tracer import flatten

    trace = context.current()
    kind = ExactExpr if trace is not None and trace.exact else Expr

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
        if port.name in spec.ranges:
            check_range(spec, port, np.array([x for x in array.flat if not isinstance(x, Expr)], dtype=np.float64))
        relaxed: Array = np.array([recast(entry, Expr) for entry in array.flat], dtype=object)
        arguments[port.name] = relaxed.reshape(port.shape).tolist()
    results = spec.evaluate(arguments, dict(call.options))
    entries = [[recast(entry, kind) for entry in flatten(result)] for result in results]
    return returned(spec, [traced_array(e, port.shape) for e, port in zip(entries, spec.outputs, strict=True)])
