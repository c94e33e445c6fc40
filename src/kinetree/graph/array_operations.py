"""Operations on arrays: many scalars in, many scalars out, made of programs of their own.

A node ``call`` computes one; its payload is the operation, its arguments are scalars, and the results are nodes ``get``
with their index as payload. Loops are such operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from kinetree.graph.graph import Graph, Program


class ArrayOperation(ABC):
    """The contract of an array operation.

    Operations are equal if they have the same `identity`; calls of equal operations on the same arguments are one node.

    Attributes
    ----------
    name : str
        Its kind: the key of the backends' emitters.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def arity(self) -> int:
        """The number of arguments."""

    @property
    @abstractmethod
    def results(self) -> int:
        """The number of results."""

    @property
    @abstractmethod
    def programs(self) -> tuple[Program, ...]:
        """What it is made of; passes replace them by better ones."""

    @property
    def times(self) -> int:
        """The largest number of times that its programs run."""
        return 1

    @abstractmethod
    def with_programs(self, change: Callable[[Program], Program]) -> Self:
        """Return this operation on changed programs."""

    @abstractmethod
    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        """Return its results on floats."""

    @property
    @abstractmethod
    def parts(self) -> tuple[int, ...]:
        """The numbers of arguments that belong together."""

    @abstractmethod
    def tangent(self, tangent: Callable[..., Program]) -> Self:
        """Return the operation on values and rates, with the tangents of its programs (`kinetree.passes.tangents`).

        Each part of its arguments is followed by the rates of that part, and the results by theirs.
        """

    @property
    @abstractmethod
    def identity(self) -> str:
        """A digest of all that the results depend on, the same in every process."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayOperation) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"{self.name}<{self.identity}>"


def call(graph: Graph, operation: ArrayOperation, arguments: Sequence[int]) -> list[int]:
    """Return the nodes of the results of an operation on these nodes."""
    node = graph.node("call", tuple(arguments), operation)
    return [graph.node("get", (node,), k) for k in range(operation.results)]
