"""The scalar that elementary functions are traced with: every operation becomes a node as it is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from kinetree.graph.graph import Graph, Port, Program


class Test(NamedTuple):
    """A comparison of two values, which `select` chooses by."""

    op: str
    a: Value
    b: Value


class Value:
    """A node of the graph; arithmetic with it, and with numbers, makes further nodes."""

    __slots__ = ("graph", "id")

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph, self.id = graph, node

    def make(self, op: str, *args: Scalar) -> Value:
        """Return an operation on values and numbers."""
        ids = [a.id if isinstance(a, Value) else self.graph.const(a) for a in args]
        return Value(self.graph, self.graph.node(op, tuple(ids)))

    def __add__(self, b: Scalar) -> Value:
        return self.make("add", self, b)

    def __radd__(self, b: Scalar) -> Value:
        return self.make("add", b, self)

    def __sub__(self, b: Scalar) -> Value:
        return self.make("sub", self, b)

    def __rsub__(self, b: Scalar) -> Value:
        return self.make("sub", b, self)

    def __mul__(self, b: Scalar) -> Value:
        return self.make("mul", self, b)

    def __rmul__(self, b: Scalar) -> Value:
        return self.make("mul", b, self)

    def __truediv__(self, b: Scalar) -> Value:
        return self.make("div", self, b)

    def __rtruediv__(self, b: Scalar) -> Value:
        return self.make("div", b, self)

    def __neg__(self) -> Value:
        return self.make("neg", self)

    def __abs__(self) -> Value:
        return self.make("abs", self)

    def _as_value(self, b: Scalar) -> Value:
        return b if isinstance(b, Value) else Value(self.graph, self.graph.const(b))

    def __lt__(self, b: Scalar) -> Test:
        return Test("select_lt", self, self._as_value(b))

    def __le__(self, b: Scalar) -> Test:
        return Test("select_le", self, self._as_value(b))

    def __gt__(self, b: Scalar) -> Test:
        return Test("select_lt", self._as_value(b), self)

    def __ge__(self, b: Scalar) -> Test:
        return Test("select_le", self._as_value(b), self)


Scalar: TypeAlias = Value | float


def select(test: Test, x: Scalar, y: Scalar) -> Value:
    """Return x where the comparison holds, y elsewhere, also where a NaN is compared."""
    return test.a.make(test.op, test.a, test.b, x, y)


def where_equal(a: Value, b: Scalar, x: Scalar, y: Scalar) -> Value:
    """Return x where a and b are equal, y elsewhere."""
    return select(a <= b, select(a >= b, x, y), y)


def fma(a: Value, b: Scalar, c: Scalar) -> Value:
    """Return a·b + c with one rounding."""
    return a.make("fma", a, b, c)


def fnma(a: Value, b: Scalar, c: Scalar) -> Value:
    """Return c − a·b with one rounding."""
    return a.make("fnma", a, b, c)


def sqrt(a: Value) -> Value:
    """Return the square root."""
    return a.make("sqrt", a)


def rint(a: Value) -> Value:
    """Return the nearest whole number, the even one of two."""
    return a.make("rint", a)


def floor(a: Value) -> Value:
    """Return the largest whole number that is not above."""
    return a.make("floor", a)


def trunc(a: Value) -> Value:
    """Return the whole part."""
    return a.make("trunc", a)


def copysign(a: Scalar, b: Value) -> Value:
    """Return |a| with the sign of b."""
    return b.make("copysign", a, b)


def pow2(n: Value) -> Value:
    """Return 2ⁿ for a whole n in [-1022, 1023], 0 at -1023 and inf at 1024."""
    return n.make("pow2", n)


def exponent(a: Value) -> Value:
    """Return ⌊log₂|a|⌋ of a normal number: its exponent."""
    return a.make("exponent", a)


def significand(a: Value) -> Value:
    """Return |a|·2⁻ⁿ in [1, 2) of a normal number, n being its exponent."""
    return a.make("significand", a)


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Return Σ c_k xᵏ by Horner's rule."""
    *rest, last = coefficients
    total = x.make("fma", x, last, rest.pop())
    for c in reversed(rest):
        total = fma(total, x, c)
    return total


def program(function: Callable[..., Value | tuple[Value, ...]], arity: int, name: str) -> Program:
    """Return the program of an elementary function: of its result, and of whatever comes with it."""
    graph = Graph()
    ports = tuple(Port(f"x{k}", ()) for k in range(arity))
    arguments = [Value(graph, graph.node("input", (), (k, 0))) for k in range(arity)]
    made = function(*arguments)
    results = made if isinstance(made, tuple) else (made,)
    outputs = tuple(Port(name if not k else f"{name}_{k}", ()) for k in range(len(results)))
    return Program(graph, ports, outputs, tuple((y.id,) for y in results))


INF, NAN = math.inf, math.nan
