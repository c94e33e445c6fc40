"""`Expr`, the scalar that records: arithmetic makes nodes of a graph. `ExactExpr` is that of a user's own lines."""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from kinetree.graph import Graph, exact, fold
from kinetree.graph.ops import OPS, Op
from kinetree.lazy import lazy_method
from kinetree.tracing.condition import BRANCH, Condition, atan2, choice
from kinetree.tracing.numpy_dispatch import NumpyDispatch, operation

_NUMBER = (
    "a traced value is not a number while the function is being traced. Compute with the functions of NumPy, not those "
    "of math; to fill an array entry by entry, make it with np.zeros_like(q), np.stack or np.concatenate of traced "
    "values, or np.zeros(n, dtype=object)"
)

LARGEST_PRODUCT = 32
"""Whole powers up to this are products; others are computed by `np.power`'s operation."""


def arithmetic(make: Callable[[Graph, int, int], int], *, reflected: bool = False) -> Callable[[Expr, object], Expr]:
    """Return the operator method that records this operation."""

    def method(self: Expr, other: object) -> Expr:
        if self.graph.inner is not None:
            self = self.here()
        b = self._id(other)
        if b is None:
            return NotImplemented  # type: ignore[no-any-return]
        return type(self)(self.graph, make(self.graph, b, self.id) if reflected else make(self.graph, self.id, b))

    return method


def negation(make: Callable[[Graph, int], int]) -> Callable[[Expr], Expr]:
    """Return the method that records a negation."""

    def method(self: Expr) -> Expr:
        if self.graph.inner is not None:
            self = self.here()
        return type(self)(self.graph, make(self.graph, self.id))

    return method


def _comparison(
    known: Callable[[float, float], bool], select: Callable[[Graph, int, int, int, int], int], *, swap: bool = False
) -> Callable[[Expr, object], Any]:
    """Return the operator method that makes a condition, or a truth value where both sides are constants."""

    def method(self: Expr, other: object) -> Any:
        if self.graph.inner is not None:
            self = self.here()
        b = self._id(other)
        if b is None:
            return NotImplemented
        graph, left, right = self.graph, self.constant, fold.value(self.graph, b)
        if left is not None and right is not None:
            return known(left, right)
        first, second = (b, self.id) if swap else (self.id, b)
        return Condition(self, lambda x, y: select(graph, first, second, x, y))

    return method


class Expr(NumpyDispatch):
    """A scalar whose arithmetic is recorded in a graph."""

    __slots__ = ("graph", "id")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, node_id: int) -> None:
        self.graph = graph
        self.id = node_id

    @property
    def constant(self) -> float | None:
        """The value if this is a constant, else None."""
        return fold.value(self.graph, self.id)

    def _id(self, other: object) -> int | None:
        """Return the node of the other operand in this graph, None if it is not a scalar."""
        if isinstance(other, Expr):
            if other.graph is self.graph:
                return other.id
            try:
                return self.graph.capture(other.graph, other.id)
            except KeyError:
                raise ValueError("these two values belong to different traces and cannot be combined") from None
        if type(other) is float or isinstance(other, Real):  # the first is much quicker
            return self.graph.const(float(other))
        return None

    def node(self, value: object) -> int:
        """Return the node of a number or traced value in this graph."""
        i = self._id(value)
        if i is None:
            raise TypeError(f"a number is needed, not {type(value).__name__}")
        return i

    def here(self) -> Self:
        """Return this value in the innermost of the graphs inside its own: the body of a loop that is being traced."""
        graph = self.graph
        while graph.inner is not None:
            graph = graph.inner
        return type(self)(graph, graph.capture(self.graph, self.id))

    def node_of(self, number: object) -> int:
        """Return the node of a number beside this value."""
        node = self._id(float(number))  # type: ignore[arg-type]
        assert node is not None
        return node

    def record(self, op: Op, *operands: object) -> Self:
        """Return the operation on these operands, which include this one."""
        if self.graph.inner is not None:
            self = self.here()
        ids = [self._id(x) for x in operands]
        if None in ids:
            raise TypeError(f"{op.name} takes numbers, not {', '.join(type(x).__name__ for x in operands)}")
        return type(self)(self.graph, self.make_node(op, self.graph, tuple(ids)))  # type: ignore[arg-type]

    def apply_function(self, name: str, *operands: object) -> Expr:
        """Return the operation of this name on these operands, which include this one."""
        return self.record(OPS[name], *operands)

    @staticmethod
    def make_node(op: Op, graph: Graph, args: tuple[int, ...]) -> int:
        """Return the node of an operation."""
        return op.node(graph, args)

    __add__ = __radd__ = arithmetic(fold.add)
    __sub__, __rsub__ = arithmetic(fold.sub), arithmetic(fold.sub, reflected=True)
    __mul__ = __rmul__ = arithmetic(fold.mul)
    __truediv__, __rtruediv__ = arithmetic(fold.div), arithmetic(fold.div, reflected=True)

    __neg__ = negation(fold.neg)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return self.record(OPS["abs"], self)

    def __pow__(self, exponent: object) -> Expr:
        if not isinstance(exponent, Expr | Real):
            return NotImplemented
        known = exponent.constant if isinstance(exponent, Expr) else float(exponent)
        if known == 0.5:
            return self.record(OPS["sqrt"], self)
        if known is None or not known.is_integer() or abs(known) > LARGEST_PRODUCT:
            return self.record(OPS["power"], self, exponent)
        n = int(known)
        result = type(self)(self.graph, self.graph.const(1.0))
        for _ in range(abs(n)):
            result = result * self
        return result if n >= 0 else 1.0 / result

    def __rpow__(self, base: object) -> Any:
        return self.record(OPS["power"], base, self) if isinstance(base, Real) else NotImplemented

    def __mod__(self, divisor: object) -> Any:
        return self._remainder(self, divisor)

    def __rmod__(self, dividend: object) -> Any:
        return self._remainder(dividend, self)

    def _remainder(self, a: Any, b: Any) -> Any:
        """Return the remainder with the sign of the divisor, as Python and NumPy have it."""
        if not isinstance(a, Expr | Real) or not isinstance(b, Expr | Real):
            return NotImplemented
        rest = self.record(OPS["fmod"], a, b)
        shifted = choice((rest < 0.0) ^ (b < 0.0), rest + b, rest)
        return choice(rest == 0.0, rest.copysign(b), shifted)

    def _floor_quotient(self, a: Any, b: Any) -> Any:
        """Return the quotient rounded down, by the remainder, as Python and NumPy have it."""
        if not all(isinstance(x, Expr | Real) for x in (a, b)):
            return NotImplemented
        rest, quotient = self.record(OPS["fmod"], a, b), self.record(OPS["div"], a, b)
        whole = (a - rest) / b
        below = (rest != 0.0) & ((rest < 0.0) ^ (b < 0.0))
        whole = choice(below, whole - 1.0, whole)
        rounded = self.record(OPS["floor"], whole)
        rounded = choice(whole - rounded > 0.5, rounded + 1.0, rounded)
        rounded = choice(whole == 0.0, self.record(OPS["copysign"], 0.0, quotient), rounded)
        return choice(b == 0.0, quotient, rounded)

    def __floordiv__(self, divisor: object) -> Any:
        return self._floor_quotient(self, divisor)

    def __rfloordiv__(self, dividend: object) -> Any:
        return self._floor_quotient(dividend, self)

    def __round__(self, ndigits: int | None = None) -> Any:
        return np.round(self, ndigits or 0)  # type: ignore[call-overload]

    def __floor__(self) -> Expr:
        return self.record(OPS["floor"], self)

    def __ceil__(self) -> Expr:
        return self.record(OPS["ceil"], self)

    def __trunc__(self) -> Expr:
        return self.record(OPS["trunc"], self)

    if TYPE_CHECKING:  # see `_add_methods`
        sqrt: Callable[[], Expr]
        sin: Callable[[], Expr]
        cos: Callable[[], Expr]
        copysign: Callable[[object], Expr]

    def tan(self) -> Expr:
        """Return the tangent of this angle in radians: the sine over the cosine."""
        return self.sin() / self.cos()

    def atan2(self, x: object) -> Expr:
        """Return the angle of the point (x, self) in radians."""
        return atan2(self, x)  # type: ignore[no-any-return]

    call_routine = lazy_method("kinetree.tracing.loops", "call_routine")
    declared = lazy_method("kinetree.tracing.declared", "declared")
    map_columns = lazy_method("kinetree.tracing.loops", "map_columns")
    repeat_while_positive = lazy_method("kinetree.tracing.loops", "repeat_while_positive")
    repeat = lazy_method("kinetree.tracing.loops", "repeat_relaxed")

    __lt__, __le__ = _comparison(operator.lt, fold.select_lt), _comparison(operator.le, fold.select_le)
    __gt__ = _comparison(operator.gt, fold.select_lt, swap=True)
    __ge__ = _comparison(operator.ge, fold.select_le, swap=True)

    def __eq__(self, other: object) -> Any:
        below = self.__le__(other)
        return below if below is NotImplemented else below & (self >= other)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        if equal is NotImplemented:
            return equal
        return ~equal if isinstance(equal, Condition) else not equal

    def __bool__(self) -> NoReturn:
        raise TypeError(BRANCH.format(what="truth value"))

    def __float__(self) -> NoReturn:
        raise TypeError(_NUMBER)

    __int__ = __complex__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and all(isinstance(x, Expr | Real) for x in inputs):
            op = operation(ufunc)  # fast path: operations with NumPy's scalars are frequent
            if op is not None:
                return self.record(op, *inputs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __repr__(self) -> str:
        return f"Expr(@{self.id} = {self.graph[self.id].op})"


def _add_methods() -> None:
    """Give traced scalars a method for each operation that is a function of NumPy, such as `sqrt` and `exp`."""

    def method_of(op: Op) -> Callable[..., Expr]:
        def method(self: Expr, *others: object) -> Expr:
            return self.record(op, self, *others)

        method.__name__, method.__doc__ = op.name, f"Return np.{op.name} of this value."
        return method

    for op in OPS.values():
        if op.ufunc is not None:
            setattr(Expr, op.name, method_of(op))


_add_methods()


class ExactExpr(Expr):
    """A scalar whose arithmetic is computed as it is written, with the bits of IEEE arithmetic: a user's."""

    __slots__ = ()
    __hash__ = object.__hash__

    __add__ = __radd__ = arithmetic(exact.add)
    __sub__, __rsub__ = arithmetic(exact.sub), arithmetic(exact.sub, reflected=True)
    __mul__ = __rmul__ = arithmetic(exact.mul)
    __truediv__, __rtruediv__ = arithmetic(exact.div), arithmetic(exact.div, reflected=True)
    __neg__ = negation(exact.neg)

    def _id(self, other: object) -> int | None:
        if isinstance(other, Real) and other == 0:  # −0 is another number
            return exact.const(self.graph, float(other))
        return super()._id(other)

    @staticmethod
    def make_node(op: Op, graph: Graph, args: tuple[int, ...]) -> int:
        """Return the exact node of an operation."""
        return op.exact_node(graph, args)


def recast(value: Any, kind: type[Expr]) -> Any:
    """Return a traced value as one of this type, which says how arithmetic on it is recorded; others as they are."""
    return kind(value.graph, value.id) if isinstance(value, Expr) else value
