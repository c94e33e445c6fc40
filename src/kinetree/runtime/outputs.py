"""The results of a call: arrays given as out, or new ones; and calls that become part of a function being traced.

The block of a deleted large result is reused for the next: the system clears every page of new memory, and the C
library (glibc for one result from 32 MB on, for several together from less) asks for new memory each time, which takes
longer than to compute them. So the blocks of the last ones are retained. One is free when nothing but this module
refers to it: results and their views have it as their base.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.runtime.arguments import DTYPES, Array, Call, Inputs, check_range
from kinetree.runtime.batch import writable
from kinetree.runtime.spec import FunctionSpec
from kinetree.tracing import context  # what records is imported where there is a trace: cached code needs none


def given_outputs(spec: FunctionSpec, out: object, inputs: Inputs) -> list[Array] | None:
    """Return the arrays given as out, one for each output; None if none are given."""
    ports = spec.outputs
    if out is None:
        return None
    outs = (out,) if len(ports) == 1 else out
    if not isinstance(outs, tuple | list) or len(outs) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise ArgumentError(f"{spec.name}: out must be a tuple of {len(ports)} arrays, for {names}")
    given = [_checked(spec, port, o, inputs) for port, o in zip(ports, outs, strict=True)]
    if any(overlap(a, b) for k, a in enumerate(given) for b in given[:k]):
        raise ArgumentError(f"{spec.name}: the arrays of out overlap, each result needs memory of its own")
    return given


def result_arrays(spec: FunctionSpec, given: Sequence[Array] | None, inputs: Inputs) -> list[Array]:
    """Return the arrays to compute the outputs in: those given, or new ones where a kernel cannot write to them."""
    new = DTYPES[inputs.variant.dtype]
    return [
        given[k] if given and _in_place(given[k], port, inputs) else empty(inputs.lead + port.shape, new)
        for k, port in enumerate(spec.outputs)
    ]


def _in_place(out: Array, port: Port, inputs: Inputs) -> bool:
    return writable(out, inputs.lead, port) and not any(overlap(out, array) for array in inputs.arrays)


def returned(spec: FunctionSpec, results: Sequence[Any]) -> Any:
    """Return the only result, or the named tuple of several; those that say yes or no as bools, but in a trace."""
    result: Any = spec.result
    if spec.truths:
        results = [
            x > 0.5
            if port.name in spec.truths and isinstance(x, np.ndarray | np.floating) and x.dtype.kind == "f"
            else x
            for x, port in zip(results, spec.outputs, strict=True)
        ]
    return results[0] if result is None else result(*results)


def overlap(a: Array, b: Array) -> bool:
    """Return whether two arrays share memory, or might where finding out would take long."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _checked(spec: FunctionSpec, port: Port, out: object, inputs: Inputs) -> Array:
    """Return `out` if the results can be written to it."""
    shape, dtype = inputs.lead + port.shape, inputs.variant.dtype
    name = "out" if len(spec.outputs) == 1 else f"out for {port.name}"
    where = f"{spec.name}: {name}"
    wanted = f"a writeable array of shape {shape} and dtype {dtype}"
    if not isinstance(out, np.ndarray):
        raise ArgumentError(f"{where} is a {type(out).__name__}, it must be {wanted}")
    if out.shape != shape:
        raise ArgumentError(f"{where} has shape {out.shape}, it must be {wanted}")
    if out.dtype != DTYPES[dtype]:
        reason = "the result is float32 only where all inputs are"
        raise ArgumentError(f"{where} has dtype {out.dtype}, it must be {wanted} ({reason})")
    if not out.flags.writeable:
        raise ArgumentError(f"{where} is read-only, it must be {wanted}")
    return out


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
    """Return the results of a call on traced values, one state: its own arithmetic is that of its compiled code."""
    from kinetree.tracing.arrays import traced_array
    from kinetree.tracing.expr import ExactExpr, Expr, recast
    from kinetree.tracing.tracer import flatten

    trace = context.current()
    kind = ExactExpr if trace is not None and trace.exact else Expr
    if trace is not None and spec.spaces is None:
        trace.undifferentiated.add(spec.name)
    if call.out is not None:
        raise ArgumentError(f"{spec.name}: out= has no meaning in a function that is being compiled")
    given = {}
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
        given[port.name] = relaxed.reshape(port.shape).tolist()
    results = spec.evaluate(given, dict(call.options))
    entries = [[recast(entry, kind) for entry in flatten(result)] for result in results]
    return returned(spec, [traced_array(e, port.shape) for e, port in zip(entries, spec.outputs, strict=True)])


LEAST_BYTES, MOST_BYTES = 8 << 20, 64 << 20  # of one result
RETAINED_BYTES = 128 << 20

_blocks: deque[list[Array]] = deque()  # lists of one block: passing a list adds no reference to its block
_UNUSED = 2  # references to a block: by its list, and by the argument of getrefcount
_COUNTED: bool = getattr(sys, "_is_gil_enabled", lambda: True)()  # else another thread may be adding a reference


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array with anything in it, as `numpy.empty` does."""
    size = math.prod(shape) * dtype.itemsize
    if not (LEAST_BYTES <= size <= MOST_BYTES and _COUNTED):
        return np.empty(shape, dtype)
    holder = _unused(size) or [np.empty(size, np.uint8)]
    array = holder[0].view(dtype).reshape(shape)
    _blocks.append(holder)
    with contextlib.suppress(IndexError):  # other threads may release some as well
        while sum(block.nbytes for (block,) in list(_blocks)) > RETAINED_BYTES:
            _blocks.popleft()
    return array


def _unused(size: int) -> list[Array] | None:
    """Take an unused block of this size out of the queue, so that other threads do not see it."""
    for _ in range(len(_blocks)):
        try:
            holder = _blocks.popleft()
        except IndexError:  # another thread has them
            return None
        if holder[0].nbytes == size and sys.getrefcount(holder[0]) == _UNUSED:
            return holder
        _blocks.append(holder)
    return None


def release_memory() -> None:
    """Release the unused blocks."""
    _blocks.clear()
