"""Programs on the symbols of other libraries: every operation in a table of theirs, loops unrolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.graph import Program

MOST = 1_000_000
"""Operations of a loop that is unrolled."""


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "power": lambda a, b: a**b,
}


@dataclass(frozen=True)
class Library:
    """How another library writes what programs are made of.

    Attributes
    ----------
    name : str
        For messages.
    constant : callable
        Returns the expression of a float.
    operations : mapping of str to callable
        By their names in `kinetree.graph.ops`; what is not there is refused.
    """

    name: str
    constant: Callable[[float], Any]
    operations: Mapping[str, Callable[..., Any]]

    def evaluate(self, program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the entries of all outputs of a program, from those of its inputs, row-major."""
        return program.evaluated(
            self.constant,
            lambda port, entry: inputs[port][entry],
            lambda node, given: self._operation(node.op)(*given),
            self._call,
        )

    def _operation(self, name: str) -> Callable[..., Any]:
        if name not in self.operations:
            raise ArgumentError(f"{self.name} has nothing for the operation {name!r}")
        return self.operations[name]

    def _call(self, operation: Any, given: Sequence[Any]) -> list[Any]:
        """Return the results of an array operation."""
        if operation.name not in _LOOPS:
            raise ArgumentError(f"{self.name} has nothing for the array operation {operation.name!r}")
        size = operation.times * sum(len(program.schedule()) for program in operation.programs)
        if size > MOST:
            raise ArgumentError(
                f"a loop of this function would be {size:,} operations in {self.name}: {MOST:,} at most"
            )
        first = operation.parts[0]
        return _LOOPS[operation.name](self, operation, given[:first], list(given[first:]))


def _mapped(library: Library, operation: Any, captured: Sequence[Any], columns: list[Any]) -> list[Any]:
    n = operation.count
    results = [library.evaluate(operation.body, [captured, columns[k::n]]) for k in range(n)]
    return [x for row in zip(*results, strict=True) for x in row]


def _repeated(library: Library, operation: Any, captured: Sequence[Any], carried: list[Any]) -> list[Any]:
    less, zero = library.operations["select_lt"], library.constant(0.0)
    for _ in range(operation.most):
        (goes_on,) = library.evaluate(operation.condition, [captured, carried])
        new = library.evaluate(operation.body, [captured, carried])
        carried = [less(zero, goes_on, x, old) for x, old in zip(new, carried, strict=True)]
    return carried


_LOOPS: dict[str, Callable[..., list[Any]]] = {"map": _mapped, "repeat": _repeated}
