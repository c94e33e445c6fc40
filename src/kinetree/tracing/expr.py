"""`Expr`, the scalar that records: arithmetic on it makes nodes of a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from kinetree.graph import Graph, fold
from kinetree.graph.elementary import atan2
from kinetree.graph.ops import OPS, Op
from kinetree.tracing.numpy_dispatch import NumpyDispatch, operation

_BRANCH = (
    "a traced value has no {what} while the function is being traced: the same compiled code serves every state, so it "
    "cannot branch on one. To choose between values use kt.where(condition, a, b), kt.minimum, kt.maximum or kt.abs; "
    "to compute, the functions of NumPy, not those of math. Or branch on the model and on plain Python values."
)

_NUMBER = (
    "a traced value is no number while the function is being traced. To compute, use the functions of NumPy, not those "
    "of math; to fill an array entry by entry, make it with np.zeros_like(q), np.stack or np.concatenate of traced "
    "values, or np.zeros(n, dtype=object)"
)

_POWER = "of a traced value there are whole powers and square roots; pass what needs another power as an argument"


def _arithmetic(make: Callable[[Graph, int, int], int], *, reflected: bool = False) -> Callable[[Expr, object], Expr]:
    """Return the operator method that records this operation."""

    def method(self: Expr, other: object) -> Expr:
        if self.graph.inner is not None:
            self = self._here()
        b = self._id(other)
        if b is None:
            return NotImplemented  # type: ignore[no-any-return]
        return Expr(self.graph, make(self.graph, b, self.id) if reflected else make(self.graph, self.id, b))

    return method


def _comparison(
    known: Callable[[float, float], bool], select: Callable[[Graph, int, int, int, int], int], *, swap: bool = False
) -> Callable[[Expr, object], Any]:
    """Return the operator method that makes a condition, or a truth value where both sides are constants."""

    def method(self: Expr, other: object) -> Any:
        if self.graph.inner is not None:
            self = self._here()
        b = self._id(other)
        if b is None:
            return NotImplemented
        graph, left, right = self.graph, self.constant, fold.value(self.graph, b)
        if left is not None and right is not None:
            return known(left, right)
        first, second = (b, self.id) if swap else (self.id, b)
        return Condition(graph, lambda x, y: select(graph, first, second, x, y))

    return method


class Expr(NumpyDispatch):
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

    def _here(self) -> Expr:
        """Return this value in the innermost of the graphs inside its own: the body of a loop that is being traced."""
        graph = self.graph
        while graph.inner is not None:
            graph = graph.inner
        return Expr(graph, graph.capture(self.graph, self.id))

    def record(self, op: Op, *operands: object) -> Expr:
        """Return the operation on these operands, which include this one."""
        if self.graph.inner is not None:
            self = self._here()
        ids = [self._id(x) for x in operands]
        if None in ids:
            raise TypeError(f"{op.name} takes numbers, not {', '.join(type(x).__name__ for x in operands)}")
        return Expr(self.graph, op.node(self.graph, tuple(ids)))  # type: ignore[arg-type]

    __add__ = __radd__ = _arithmetic(fold.add)
    __sub__, __rsub__ = _arithmetic(fold.sub), _arithmetic(fold.sub, reflected=True)
    __mul__ = __rmul__ = _arithmetic(fold.mul)
    __truediv__, __rtruediv__ = _arithmetic(fold.div), _arithmetic(fold.div, reflected=True)

    def __neg__(self) -> Expr:
        return self.record(OPS["neg"], self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return self.record(OPS["abs"], self)

    def __pow__(self, exponent: object) -> Expr:
        if isinstance(exponent, Expr):
            raise TypeError(_POWER)
        if not isinstance(exponent, Real):
            return NotImplemented
        if exponent == 0.5:
            return self.sqrt()
        if not float(exponent).is_integer():
            raise TypeError(_POWER)
        n = int(float(exponent))
        result = Expr(self.graph, self.graph.const(1.0))
        for _ in range(abs(n)):
            result = result * self
        return result if n >= 0 else 1.0 / result

    def __rpow__(self, base: object) -> NoReturn:
        raise TypeError(_POWER)

    def sqrt(self) -> Expr:
        """Return the square root."""
        return self.record(OPS["sqrt"], self)

    def sin(self) -> Expr:
        """Return the sine of this angle in radians."""
        return self.record(OPS["sin"], self)

    def cos(self) -> Expr:
        """Return the cosine of this angle in radians."""
        return self.record(OPS["cos"], self)

    def tan(self) -> Expr:
        """Return the tangent of this angle in radians: the sine over the cosine."""
        return self.sin() / self.cos()

    def atan2(self, x: object) -> Expr:
        """Return the angle of the point (x, self) in radians."""
        return atan2(self, x, choice)  # type: ignore[no-any-return]

    def map_columns(
        self, function: Callable[[list[Any]], list[Any]], columns: Sequence[Sequence[Any]]
    ) -> list[list[Any]]:
        """Return the function of each column, recorded as one loop (see `kinetree.scalars.loops`)."""
        from kinetree.tracing.loops import map_columns  # which makes such scalars

        return map_columns(self._here().graph, function, columns)

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
        raise TypeError(_BRANCH.format(what="truth value"))

    def __float__(self) -> NoReturn:
        raise TypeError(_NUMBER)

    __int__ = __complex__ = __round__ = __floor__ = __ceil__ = __trunc__ = __mod__ = __floordiv__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and all(isinstance(x, Expr | Real) for x in inputs):
            op = operation(ufunc)  # fast path: operations with NumPy's scalars are frequent
            if op is not None:
                return self.record(op, *inputs)
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __repr__(self) -> str:
        return f"Expr(@{self.id} = {self.graph[self.id].op})"


class Condition(NumpyDispatch):
    """A comparison of traced values: what `kt.where` chooses by. ``&``, ``|`` and ``~`` combine conditions.

    ``choose(x, y)`` makes the node of the choice between two nodes: x where the condition holds, else y.
    """

    __slots__ = ("choose", "graph")

    def __init__(self, graph: Graph, choose: Callable[[int, int], int]) -> None:
        self.graph = graph
        self.choose = choose

    def where(self, x: object, y: object) -> Expr:
        """Return x where the condition holds, y where it does not."""
        if self.graph.inner is not None:
            return choice(self._here(), x, y)  # type: ignore[no-any-return]
        zero = Expr(self.graph, self.graph.const(0.0))
        ids = [zero._id(entry) for entry in (x, y)]
        if None in ids:
            raise TypeError(f"kt.where chooses between numbers, not {type(x).__name__} and {type(y).__name__}")
        return Expr(self.graph, self.choose(*ids))  # type: ignore[arg-type]

    def _here(self) -> Any:
        """Return this condition in the innermost of the graphs inside its own, by the number that it chooses."""
        graph = self.graph
        if graph.inner is None:
            return self
        return Expr(graph, self.choose(graph.const(1.0), graph.const(0.0)))._here() > 0.5

    def __and__(self, other: object) -> Any:
        if isinstance(other, Condition):
            a, b = self._here(), other._here()
            return Condition(a.graph, lambda x, y: a.choose(b.choose(x, y), y))
        return (self if other else False) if isinstance(other, bool | np.bool_) else NotImplemented

    def __or__(self, other: object) -> Any:
        if isinstance(other, Condition):
            a, b = self._here(), other._here()
            return Condition(a.graph, lambda x, y: a.choose(x, b.choose(x, y)))
        return (True if other else self) if isinstance(other, bool | np.bool_) else NotImplemented

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        return Condition(self.graph, lambda x, y: self.choose(y, x))

    def __bool__(self) -> NoReturn:
        more = (
            " Combine conditions with & | ~, not with and, or, not. Arrays that np.array makes of traced values ask "
            "for truth values when compared: make them with np.stack."
        )
        raise TypeError(_BRANCH.format(what="truth value") + more)


def choice(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition, traced or known, holds, and b elsewhere."""
    if isinstance(condition, Condition):
        return condition.where(a, b)
    return a if condition else b
