"""`Tracer`: the inputs of a function as traced scalars, and in the end its program."""

from __future__ import annotations

from kinetree.graph import Graph, Port, Program
from kinetree.tracing.expr import Expr


class Tracer:
    """Make the inputs of a graph, and in the end the program.

    Examples
    --------
    >>> t = Tracer()
    >>> x, y = t.input(Port("x", (2,)))
    >>> t.program({"z": ((2,), [x + y, 3.0])}).op_count()
    {'add': 1}
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self._inputs: list[Port] = []

    def input(self, port: Port) -> list[Expr]:
        """Return the entries of a new input array, row-major."""
        k = len(self._inputs)
        self._inputs.append(port)
        return [Expr(self.graph, self.graph.node("input", (), (k, j))) for j in range(port.size)]

    def program(self, outputs: dict[str, tuple[tuple[int, ...], list[object]]]) -> Program:
        """Return the program whose outputs are these: name to shape and flat row-major entries."""
        ports, results = [], []
        for name, (shape, entries) in outputs.items():
            port = Port(name, shape)
            if len(entries) != port.size:
                raise ValueError(f"output {name!r} of shape {shape} has {len(entries)} entries, not {port.size}")
            ports.append(port)
            results.append(tuple(self._node(e) for e in entries))
        return Program(self.graph, tuple(self._inputs), tuple(ports), tuple(results))

    def _node(self, entry: object) -> int:
        if isinstance(entry, Expr):
            if entry.graph is not self.graph:
                raise ValueError("this value belongs to another trace")
            return entry.id
        return self.graph.const(float(entry))  # type: ignore[arg-type]
