"""The reference interpreter: evaluates a program one operation at a time, on Python floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ArgumentError
from kinetree.graph.graph import Program
from kinetree.graph.ops import run


def interpret(program: Program, inputs: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    """Return the outputs of the program for one state.

    There is one input array for each port, by name or in order, of the port's shape or flat.

    Examples
    --------
    >>> from kinetree.graph import Port
    >>> from kinetree.tracing.tracer import Tracer
    >>> t = Tracer()
    >>> x, y = t.input(Port("x", (2,)))
    >>> interpret(t.program({"z": ((2,), [x * y, x - y])}), {"x": [3.0, 2.0]})
    [array([6., 1.])]
    """
    arrays = [inputs[port.name] for port in program.inputs] if isinstance(inputs, Mapping) else list(inputs)
    if len(arrays) != len(program.inputs):
        raise ArgumentError(f"the program has {len(program.inputs)} inputs, not {len(arrays)}")
    entries: list[list[float]] = []
    for port, array in zip(program.inputs, arrays, strict=True):
        flat = np.asarray(array, dtype=np.float64).ravel()
        if flat.size != port.size:
            raise ArgumentError(f"input {port.name!r} has {flat.size} entries, not the {port.size} of {port.shape}")
        entries.append(flat.tolist())
    results = iter(run(program, entries))
    return [
        np.array([next(results) for _ in range(port.size)], dtype=np.float64).reshape(port.shape)
        for port in program.outputs
    ]
