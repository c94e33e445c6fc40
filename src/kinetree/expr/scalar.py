"""`Expr`, the scalar that records: arithmetic on it makes nodes of a graph."""

from __future__ import annotations

from numbers import Real
from typing import NoReturn

from kinetree.expr import fold
from kinetree.expr.graph import Graph, Port, Program

_BRANCH = (
    "a traced value has no {what} while the function is being traced: the same compiled code serves every "
    "state, so it cannot branch on one. Branch on the model or on plain Python values instead."
)


class Expr:
    """A scalar whose arithmetic is recorded in a graph.

    Examples
    --------
    >>> g = Graph()
    >>> x = Expr(g, g.node("input", (), (0, 0)))
    >>> y = 2 * x + 0
    >>> y.graph[y.id].op, (x * 0).constant
    ('mul', 0.0)
    """

    __slots__ = ("graph", "id")
    __array_ufunc__ = None  # NumPy scalars on the left defer to us

    def __init__(self, graph: Graph, node_id: int) -> None:
        self.graph = graph
        self.id = node_id

    @property
    def constant(self) -> float | None:
        """The value, where it is known while tracing."""
        return fold.value(self.graph, self.id)

    def _id(self, other: object) -> int | None:
        """Return the node of the other operand in this graph, None if it is no scalar."""
        if isinstance(other, Expr):
            if other.graph is not self.graph:
                raise ValueError("these two values belong to different traces and cannot be combined")
            return other.id
        if isinstance(other, Real):
            return self.graph.const(float(other))
        return None

    def __add__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.add(self.graph, self.id, b))

    __radd__ = __add__

    def __sub__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.sub(self.graph, self.id, b))

    def __rsub__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.sub(self.graph, b, self.id))

    def __mul__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.mul(self.graph, self.id, b))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.div(self.graph, self.id, b))

    def __rtruediv__(self, other: object) -> Expr:
        b = self._id(other)
        return NotImplemented if b is None else Expr(self.graph, fold.div(self.graph, b, self.id))

    def __neg__(self) -> Expr:
        return Expr(self.graph, fold.neg(self.graph, self.id))

    def __pos__(self) -> Expr:
        return self

    def __pow__(self, exponent: object) -> Expr:
        if not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        result = Expr(self.graph, self.graph.const(1.0))
        for _ in range(exponent):
            result = result * self
        return result

    def sqrt(self) -> Expr:
        """Return the square root."""
        return Expr(self.graph, fold.sqrt(self.graph, self.id))

    def sin(self) -> Expr:
        """Return the sine of this angle in radians."""
        return Expr(self.graph, fold.sin(self.graph, self.id))

    def cos(self) -> Expr:
        """Return the cosine of this angle in radians."""
        return Expr(self.graph, fold.cos(self.graph, self.id))

    def __bool__(self) -> NoReturn:
        raise TypeError(_BRANCH.format(what="truth value"))

    def __float__(self) -> NoReturn:
        raise TypeError(_BRANCH.format(what="number"))

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError(_BRANCH.format(what="order"))

    __le__ = __gt__ = __ge__ = __lt__

    def __repr__(self) -> str:
        return f"Expr(@{self.id} = {self.graph[self.id].op})"


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
