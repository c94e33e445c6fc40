"""What is being traced now, in this thread: so that a robot's functions know when they are part of another one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import RunTimeInput, changed
from kinetree.locks import importing
from kinetree.model import Model
from kinetree.model.regroup import regrouped
from kinetree.runtime.arguments import Array, Call
from kinetree.runtime.spec import Declaration

Values = Mapping[RunTimeInput, Sequence[Any]]


class _Local(threading.local):
    def __init__(self) -> None:
        self.changes: list[Changes] = []


class Changes(dict[str, Values]):
    """By the digest of a model, what numbers of it are arguments; and which models were asked for."""

    def __init__(self, values: Mapping[str, Values]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()


_local = _Local()


@contextlib.contextmanager
def tracing(changes: Mapping[str, Values]) -> Iterator[Changes]:
    """Trace in this context.

    Parameters
    ----------
    changes : dict
        By the digest of a model, the run-time inputs that change it. Those of the contexts around this one count too.
    """
    outer = _local.changes[-1] if _local.changes else {}
    here = Changes({**outer, **{digest: {**outer.get(digest, {}), **new} for digest, new in changes.items()}})
    _local.changes.append(here)
    try:
        yield here
    finally:
        _local.changes.pop()
        if _local.changes:
            _local.changes[-1].asked |= here.asked


def model_for(model: Model, joint_space: bool) -> Model:
    """Return the model that a page is to be traced from."""
    if _local.changes:
        _local.changes[-1].asked.add(model.digest)
        if model.digest in _local.changes[-1]:
            return changed(model, _local.changes[-1][model.digest], joint_space)
    return regrouped(model) if joint_space else model


def is_inlined(call: Call) -> bool:
    """Return whether this call is a part of the function that is being traced, rather than one to be evaluated now."""
    if not _local.changes:
        return False
    with importing:
        from kinetree.tracing.arrays import is_traced

    return bool(_local.changes[-1]) or any(is_traced(value) for value in call.values)


def inlined(declaration: Declaration, call: Call) -> Any:
    """Return the results of a call on traced values, one state."""
    with importing:
        from kinetree.tracing.arrays import traced_array

    name = declaration.name
    if declaration.inline is None:
        raise TypeError(f"{name} cannot be part of a compiled function")
    if call.out is not None:
        raise ArgumentError(f"{name}: out= has no meaning in a function that is being compiled")
    arguments = {}
    for port, value in zip(declaration.ports(call.optional), call.values, strict=True):
        array: Array = np.asarray(value, dtype=object)
        if array.shape != port.shape:
            raise ArgumentError(
                f"{name}: {port.name} has shape {array.shape}, a function that is being compiled gives it one state: "
                f"{port.shape}; {declaration.describe(port)}"
            )
        arguments[port.name] = array.tolist()
    results: Sequence[Any] = declaration.inline(arguments, dict(call.options))
    arrays = [traced_array(list(flat(r)), p.shape) for p, r in zip(declaration.outputs, results, strict=True)]
    result: Any = declaration.result
    return arrays[0] if result is None else result(*arrays)


def flat(entries: Any) -> Iterator[Any]:
    """Yield the scalars of nested sequences or arrays, row-major."""
    if isinstance(entries, np.ndarray):
        entries = entries.tolist()
    if isinstance(entries, (list, tuple)):
        for entry in entries:
            yield from flat(entry)
    else:
        yield entries
