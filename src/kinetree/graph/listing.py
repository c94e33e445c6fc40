"""A program as text, one operation per line."""

from __future__ import annotations

import numpy as np

from kinetree.graph.graph import Port, Program
from kinetree.graph.ops import OPS


def listing(program: Program) -> str:
    """Return a readable listing of the program: its operations in evaluation order, then its outputs.

    Examples
    --------
    >>> from kinetree.tracing.tracer import Tracer
    >>> t = Tracer()
    >>> (x,), (a, b) = t.input(Port("x", ())), t.input(Port("y", (2,)))
    >>> print(listing(t.program({"r": ((2,), [x.sin() * a + 0.5, 2.0])})))
    @1 = sin(x)
    @2 = (y[0] * @1)
    @3 = (@2 + 0.5)
    r[0] = @3
    r[1] = 2.0
    """
    names: dict[int, str] = {}
    lines: list[str] = []
    for i in program.schedule():
        op, args, payload = program.graph[i]
        if op == "const":
            names[i] = repr(payload)
        elif op == "input":
            port, entry = payload
            names[i] = entry_name(program.inputs[port], entry)
        else:
            names[i] = f"@{len(lines) + 1}"
            shown = [names[a] for a in args]
            lines.append(f"{names[i]} = {OPS[op].listing.format(*shown, args=', '.join(shown), payload=payload)}")
    for output, entries in zip(program.outputs, program.results, strict=True):
        lines.extend(f"{entry_name(output, j)} = {names[i]}" for j, i in enumerate(entries))
    return "\n".join(lines)


def entry_name(port: Port, entry: int) -> str:
    """Return the name of one entry of an array, from its row-major position: ``M[1, 2]``."""
    if not port.shape:
        return port.name
    return f"{port.name}[{', '.join(str(int(k)) for k in np.unravel_index(entry, port.shape))}]"
