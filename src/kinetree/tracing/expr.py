"""`Expr`, the scalar that records: arithmetic on it makes nodes of a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

from kinetree.graph import Graph, fold
from kinetree.locks import importing

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
    __hash__ = object.__hash__

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

    def __abs__(self) -> Expr:
        return Expr(self.graph, fold.absolute(self.graph, self.id))

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
        return Expr(self.graph, fold.sqrt(self.graph, self.id))

    def sin(self) -> Expr:
        """Return the sine of this angle in radians."""
        return Expr(self.graph, fold.sin(self.graph, self.id))

    def cos(self) -> Expr:
        """Return the cosine of this angle in radians."""
        return Expr(self.graph, fold.cos(self.graph, self.id))

    def tan(self) -> Expr:
        """Return the tangent of this angle in radians: the sine over the cosine."""
        return self.sin() / self.cos()

    def atan2(self, x: object) -> Expr:
        """Return the angle of the point (x, self) in radians."""
        with importing:
            from kinetree.graph.elementary import atan2

        return atan2(self, x)  # type: ignore[no-any-return]

    # -- comparisons: conditions, and plain truth values where both sides are known ------------------------------

    def _compare(self, other: object, known: Callable[[float, float], bool], *, strict: bool, swap: bool) -> Any:
        b = self._id(other)
        if b is None:
            return NotImplemented
        left, right = self.constant, fold.value(self.graph, b)
        if left is not None and right is not None:
            return known(left, right)
        first, second = (b, self.id) if swap else (self.id, b)
        select = fold.select_lt if strict else fold.select_le
        graph = self.graph
        return Condition(graph, lambda x, y: select(graph, first, second, x, y))

    def __lt__(self, other: object) -> Any:
        return self._compare(other, operator.lt, strict=True, swap=False)

    def __le__(self, other: object) -> Any:
        return self._compare(other, operator.le, strict=False, swap=False)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, operator.gt, strict=True, swap=True)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, operator.ge, strict=False, swap=True)

    def __eq__(self, other: object) -> Any:
        below = self.__le__(other)
        return below if below is NotImplemented else below & (self >= other)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        if equal is NotImplemented:
            return equal
        return ~equal if isinstance(equal, Condition) else not equal

    # -- what cannot be traced -----------------------------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        raise TypeError(_BRANCH.format(what="truth value"))

    def __float__(self) -> NoReturn:
        raise TypeError(_NUMBER)

    def __format__(self, spec: str) -> str:
        return formatted(self, spec)

    __int__ = __complex__ = __round__ = __floor__ = __ceil__ = __trunc__ = __mod__ = __floordiv__ = __float__

    # -- NumPy's functions ---------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        with importing:
            from kinetree.tracing.arrays import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with importing:
            from kinetree.tracing.arrays import apply_function

        return apply_function(function, args, kwargs)

    def __repr__(self) -> str:
        return f"Expr(@{self.id} = {self.graph[self.id].op})"


class Condition:
    """A comparison of traced values: what `kt.where` chooses by. ``&``, ``|`` and ``~`` combine conditions.

    Parameters
    ----------
    graph : Graph
    choose : callable
        The node of the choice between two nodes: the first where the condition holds, else the second.
    """

    __slots__ = ("choose", "graph")
    __array_ufunc__ = Expr.__array_ufunc__
    __array_function__ = Expr.__array_function__

    def __init__(self, graph: Graph, choose: Callable[[int, int], int]) -> None:
        self.graph = graph
        self.choose = choose

    def where(self, x: object, y: object) -> Expr:
        """Return x where the condition holds, y where it does not."""
        zero = Expr(self.graph, self.graph.const(0.0))
        ids = [zero._id(entry) for entry in (x, y)]
        if None in ids:
            raise TypeError(f"kt.where chooses between numbers, not {type(x).__name__} and {type(y).__name__}")
        return Expr(self.graph, self.choose(*ids))  # type: ignore[arg-type]

    def __and__(self, other: object) -> Any:
        if isinstance(other, Condition):
            return Condition(self.graph, lambda x, y: self.choose(other.choose(x, y), y))
        return (self if other else False) if _is_truth(other) else NotImplemented

    def __or__(self, other: object) -> Any:
        if isinstance(other, Condition):
            return Condition(self.graph, lambda x, y: self.choose(x, other.choose(x, y)))
        return (True if other else self) if _is_truth(other) else NotImplemented

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        return Condition(self.graph, lambda x, y: self.choose(y, x))

    def __bool__(self) -> NoReturn:
        more = (
            " Combine conditions with & | ~, not with and, or, not. Arrays that np.array makes of traced values ask "
            "for truth values when compared: make them with np.stack."
        )
        raise TypeError(_BRANCH.format(what="truth value") + more)


def formatted(value: object, spec: str) -> str:
    """Return what ``__format__`` of traced values must."""
    if spec:
        raise TypeError("a traced value has no digits to print while the function is being traced; f'{x}' shows it")
    return repr(value)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
