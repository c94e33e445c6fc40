"""Operations on arrays: many scalars in, many scalars out, made of programs of their own.

A node ``call`` computes one; its payload is the operation, its arguments are scalars, and the results are nodes ``get``
with their index as payload. Loops are such operations: `Repeat` until a condition holds, `Map` over columns. `Declared`
says how values are differentiated.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from kinetree.graph.graph import Graph, Node, Program, digest
from kinetree.graph.ops import interpret
from kinetree.lazy import cached_property


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

    def tangent(self, tangent: Callable[..., Program]) -> Self:
        """Return the operation on values and rates, with the tangents of its programs (`kinetree.passes.adjoints`).

        Each part of its arguments is followed by the rates of that part, and the results by theirs. Its adjoint is
        that of its name in `kinetree.passes.reversal.ADJOINTS`.
        """
        raise NotImplementedError(f"the array operation {self.name!r} has no derivative")

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


def followed(node: Node) -> tuple[int, ...]:
    """Return the arguments that the derivatives of a node follow: all but where they are declared."""
    return node.args[: node.payload.followed] if isinstance(node.payload, Declared) else node.args


def call(graph: Graph, operation: ArrayOperation, arguments: Sequence[int]) -> list[int]:
    """Return the nodes of the results of an operation on these nodes."""
    node = graph.node("call", tuple(arguments), operation)
    return [graph.node("get", (node,), k) for k in range(operation.results)]


@dataclass(frozen=True, eq=False, repr=False)
class Repeat(ArrayOperation):
    """A loop that carries values: ``for _ in range(most): if not go_on(x): break; x = body(x)``.

    The arguments are the captured values, which stay the same, and then the initial carried ones; the results are the
    final carried ones. Of many states side by side each ends by itself: its values stay as they are from then on.

    Attributes
    ----------
    condition : Program
        From ``captured`` and ``carried`` to one number, which is positive where the loop goes on.
    body : Program
        From the same to the next ``carried``.
    most : int
        The largest number of iterations, at least one.
    """

    name: ClassVar[str] = "repeat"
    condition: Program
    body: Program
    most: int

    @property
    def captured(self) -> int:
        """The number of captured values."""
        return self.body.inputs[0].size

    @property
    def results(self) -> int:
        """The number of carried values."""
        return self.body.inputs[1].size

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return self.captured + self.results

    @property
    def programs(self) -> tuple[Program, ...]:
        """The condition and the body."""
        return self.condition, self.body

    @property
    def times(self) -> int:
        """The largest number of iterations."""
        return self.most

    def with_programs(self, change: Callable[[Program], Program]) -> Self:
        """Return the loop with another condition and body."""
        return replace(self, condition=change(self.condition), body=change(self.body))

    @cached_property
    def identity(self) -> str:
        """A digest of the programs and the bound."""
        return _digest(self.name, self.most, digest(self.condition), digest(self.body))

    @property
    def parts(self) -> tuple[int, ...]:
        """The captured and the carried values."""
        return self.captured, self.results

    def tangent(self, tangent: Callable[..., Program]) -> Self:
        """Return the loop that carries rates too; they take no part in its condition."""
        return replace(self, condition=tangent(self.condition, rates=False), body=tangent(self.body))

    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        """Return the final carried values."""
        captured, carried = list(arguments[: self.captured]), list(arguments[self.captured :])
        for _ in range(self.most):
            if not interpret(self.condition, [captured, carried])[0] > 0.0:
                break
            carried = interpret(self.body, [captured, carried])[0].tolist()
        return carried


@dataclass(frozen=True, eq=False, repr=False)
class Map(ArrayOperation):
    """One program on each of several columns, which do not depend on each other.

    The arguments are the captured values, the same for all, and then the matrix of the columns, row-major; the results
    are the matrix of the programs' results, a column for each, row-major. Neighbours in memory belong to neighbouring
    columns: for one state these are computed side by side.

    Attributes
    ----------
    body : Program
        From ``captured`` and ``column`` to ``result``.
    count : int
        The number of columns.
    """

    name: ClassVar[str] = "map"
    body: Program
    count: int

    @property
    def captured(self) -> int:
        """The number of captured values."""
        return self.body.inputs[0].size

    @property
    def results(self) -> int:
        """The number of entries of all results."""
        return self.body.outputs[0].size * self.count

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return self.captured + self.body.inputs[1].size * self.count

    @property
    def programs(self) -> tuple[Program, ...]:
        """The body."""
        return (self.body,)

    @property
    def times(self) -> int:
        """The number of columns."""
        return self.count

    def with_programs(self, change: Callable[[Program], Program]) -> Self:
        """Return the map of another body."""
        return replace(self, body=change(self.body))

    @cached_property
    def identity(self) -> str:
        """A digest of the body and the number of columns."""
        return _digest(self.name, self.count, digest(self.body))

    @property
    def parts(self) -> tuple[int, ...]:
        """The captured values and the columns."""
        return self.captured, self.arity - self.captured

    def tangent(self, tangent: Callable[..., Program]) -> Self:
        """Return the map on columns of values and rates."""
        return replace(self, body=tangent(self.body))

    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        """Return the matrix of the results, row-major."""
        captured, columns = list(arguments[: self.captured]), arguments[self.captured :]
        results = [
            interpret(self.body, [captured, list(columns[c :: self.count])])[0].tolist() for c in range(self.count)
        ]
        return list(_row_major(results))


@dataclass(frozen=True, eq=False, repr=False)
class Declared(ArrayOperation):
    """Values whose derivatives are declared: the results are the last arguments.

    Derivatives follow the first arguments alone, by the rule. None of it is compiled (`kinetree.passes.optimize`).

    Attributes
    ----------
    followed : int
        The number of arguments that derivatives follow.
    size : int
        The number of values.
    kind : str
        What the rule is: "residual", which is zero at the values, "jvp", which are their rates, or "vjp".
    rule : Program, optional
        Its inputs are, one port after another, all arguments, and then the rates of those that are followed for "jvp",
        the weights of the values for "vjp". None where nothing is followed.
    tolerance : float
        The largest entry of a residual above which derivatives are NaN.
    """

    name: ClassVar[str] = "declared"
    followed: int
    size: int
    kind: str = ""
    rule: Program | None = field(default=None)
    tolerance: float = math.inf

    @property
    def results(self) -> int:
        """The number of values."""
        return self.size

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return self.followed + self.size

    @property
    def programs(self) -> tuple[Program, ...]:
        """None that is run."""
        return ()

    def with_programs(self, change: Callable[[Program], Program]) -> Self:
        """Return itself: the rule is not computed."""
        return self

    @cached_property
    def identity(self) -> str:
        """A digest of the rule."""
        rule = self.rule and digest(self.rule)
        return _digest(self.name, self.followed, self.size, self.kind, rule, self.tolerance)

    @property
    def parts(self) -> tuple[int, ...]:
        """The arguments that are followed, and the values."""
        return self.followed, self.size

    def evaluate(self, arguments: Sequence[float]) -> Sequence[float]:
        """Return the values."""
        return list(arguments[self.followed :])


def _row_major(columns: Sequence[Sequence[float]]) -> Iterator[float]:
    for row in zip(*columns, strict=True):
        yield from row


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
