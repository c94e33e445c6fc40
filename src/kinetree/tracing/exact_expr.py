"""`ExactExpr`, the scalar of a user's own lines: arithmetic on it is computed as it is written."""

from __future__ import annotations

from numbers import Real
from typing import Any

from kinetree.graph import Graph, exact
from kinetree.graph.ops import Op
from kinetree.tracing.expr import Expr, arithmetic, negation


class ExactExpr(Expr):
    """A scalar whose arithmetic is computed as it is written, with the bits of IEEE arithmetic: a user's.

    Examples
    --------
    >>> g = Graph()
    >>> x = ExactExpr(g, g.node("input", (), (0, 0)))
    >>> y = recast(x, Expr)
    >>> (x - x).constant, (y - y).constant
    (None, 0.0)
    """

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
