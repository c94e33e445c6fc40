"""`Tracer`: creates a function's inputs as traced scalars, and collects its outputs into a program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import kinetree.tracing.functions
import kinetree.tracing.linalg  # noqa: F401  # both fill the tables of NumPy's functions
from kinetree.graph import Graph, Port, Program
from kinetree.tracing.expr import Expr


class Tracer:
    """Creates the inputs of a graph, and the program once the outputs are known."""

    def __init__(self) -> None:
        self.graph = Graph()
        self._inputs: list[Port] = []

    def input(self, port: Port) -> list[Expr]:
        """Return the entries of a new input array, row-major."""
        k = len(self._inputs)
        self._inputs.append(port)
        return [Expr(self.graph, self.graph.node("input", (), (k, j))) for j in range(port.size)]

    def arguments(self, ports: Iterable[Port]) -> dict[str, Any]:
        """Return new input arrays by name, as nested lists; scalars where they have no axes."""
        return {port.name: nested(self.input(port), port.shape) for port in ports}

    def program(self, outputs: Mapping[str, tuple[tuple[int, ...], Any]], kind: type[Expr] = Expr) -> Program:
        """Return the program with these outputs: name to shape and entries; numbers become constants of `kind`."""
        ports, results = [], []
        for name, (shape, entries) in outputs.items():
            port, scalars = Port(name, shape), list(flatten(entries))
            if len(scalars) != port.size:
                raise ValueError(f"output {name!r} of shape {shape} has {len(scalars)} entries, not {port.size}")
            ports.append(port)
            results.append(tuple(self._node(entry, kind) for entry in scalars))
        return Program(self.graph, tuple(self._inputs), tuple(ports), tuple(results))

    def _node(self, entry: object, kind: type[Expr]) -> int:
        if isinstance(entry, Expr):
            if entry.graph is not self.graph:
                raise ValueError("this value belongs to another trace")
            return entry.id
        return kind(self.graph, 0).node_of(entry)


def nested(entries: list[Expr], shape: tuple[int, ...]) -> Any:
    """Return flat row-major entries as nested lists of this shape."""
    if len(shape) <= 1:
        return entries if shape else entries[0]
    step = math.prod(shape[1:])
    return [nested(entries[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def flatten(entries: Any) -> Iterator[Any]:
    """Yield the scalars of nested sequences or arrays, row-major."""
    if isinstance(entries, np.ndarray):
        entries = entries.tolist()
    if isinstance(entries, (list, tuple)):
        for entry in entries:
            yield from flatten(entry)
    else:
        yield entries
