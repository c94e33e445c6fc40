"""The arrays for the results of a call: those given as out, or new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.runtime import arguments, memory
from kinetree.runtime.arguments import DTYPES, Array, Inputs
from kinetree.runtime.batch import BatchKernel, KernelArguments, address, writable
from kinetree.runtime.spec import FunctionSpec


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
        given[k] if given and _in_place(given[k], port, inputs) else memory.empty(inputs.lead + port.shape, new)
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


def plain_batch(spec: FunctionSpec, kernel: BatchKernel, args: tuple[Any, ...], out: Any) -> Any:
    """Return the results of the default variant for plain float64 arrays of equally many states, None for others."""
    spec = spec.of((), spec.default_options or ())
    required, results = spec.required, spec.outputs
    if len(args) != len(required) or (out is not None and len(results) > 1):
        return None
    arrays = arguments.plain_batch((*required, *results), args if out is None else (*args, out))
    if arrays is None:
        return None
    n = len(arrays[0])
    if out is None:
        arrays += [memory.empty((n, *port.shape), DTYPES["float64"]) for port in results]
    elif not arrays[-1].flags.writeable or any(overlap(a, arrays[-1]) for a in arrays[:-1]):
        return None
    addresses, strides = [address(a) for a in arrays], [a.strides[0] for a in arrays]
    kernel.run(KernelArguments(arrays, addresses, strides, len(args)), n)
    return returned(spec, arrays[len(args) :])


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
