"""The table of operations: one row each, with all that is known of it.

To add an operation, add a row here and its spelling to each backend that supports it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.graph import exact, fold, ieee
from kinetree.graph.graph import EXACT, Graph


@dataclass(frozen=True)
class Op:
    """One operation of the graph.

    Attributes
    ----------
    name : str
        Its name in nodes and in the tables of the backends.
    arity : int
        Number of arguments; leaves (constants and inputs) have none.
    evaluate : callable
        Its value on floats.
    listing : str
        Format of its text, with ``{0}``, ``{1}``, … for the arguments.
    fold : callable, optional
        Constructor of its nodes that simplifies what it can: ``fold(graph, *args)`` returns a node.
    exact_fold : callable, optional
        Constructor of its exact nodes, which folds what changes no bit; arithmetic has one.
    ufunc : numpy.ufunc, optional
        The ufunc that records this operation when applied to traced values.
    commutative : bool
        Whether the first two arguments may be exchanged.
    exact : bool
        Whether it is correctly rounded: every backend gives the bits of `evaluate` in float64.
    array_op : str
        Name of the array kernel that evaluates all nodes of this operation together, ahead of the straight-line code
        that uses them; empty for straight-line operations. Worthwhile for elementary functions, which are long. The
        outputs of a kernel are the operations that name it, in the order of the table.
    """

    name: str
    arity: int
    evaluate: Callable[..., float]
    listing: str
    fold: Callable[..., int] | None = None
    exact_fold: Callable[..., int] | None = None
    ufunc: np.ufunc | None = None
    commutative: bool = False
    exact: bool = True
    array_op: str = ""

    @property
    def straight_line(self) -> bool:
        """Whether straight-line code computes it: it is neither a leaf nor part of an array kernel."""
        return self.arity > 0 and not self.array_op

    def node(self, graph: Graph, args: tuple[int, ...], payload: Any = None) -> int:
        """Return the node of this operation on these arguments, folded if possible; an exact one as it is."""
        if self.fold is None or payload == EXACT:
            return graph.node(self.name, args, payload)
        return self.fold(graph, *args)

    def exact_node(self, graph: Graph, args: tuple[int, ...]) -> int:
        """Return the node whose value has the bits of IEEE arithmetic, whatever is made of it."""
        return self.node(graph, args) if self.exact_fold is None else self.exact_fold(graph, *args)


OPS: dict[str, Op] = {
    row.name: row
    for row in (
        Op("const", 0, lambda: math.nan, "{payload!r}"),
        Op("input", 0, lambda: math.nan, "{payload}"),
        Op("add", 2, lambda a, b: a + b, "({0} + {1})", fold.add, exact.add, np.add, commutative=True),
        Op("sub", 2, lambda a, b: a - b, "({0} - {1})", fold.sub, exact.sub, np.subtract),
        Op("mul", 2, lambda a, b: a * b, "({0} * {1})", fold.mul, exact.mul, np.multiply, commutative=True),
        Op("div", 2, ieee.div, "({0} / {1})", fold.div, exact.div, np.true_divide),
        Op("neg", 1, lambda a: -a, "(-{0})", fold.neg, exact.neg, np.negative),
        Op("abs", 1, abs, "abs({0})", fold.absolute, exact.absolute, np.absolute),
        # {2} where the comparison holds, else {3}, also where an operand is NaN
        Op("select_lt", 4, lambda a, b, x, y: x if a < b else y, "({2} if {0} < {1} else {3})", fold.select_lt),
        Op("select_le", 4, lambda a, b, x, y: x if a <= b else y, "({2} if {0} <= {1} else {3})", fold.select_le),
        Op("sqrt", 1, ieee.sqrt, "sqrt({0})", fold.sqrt, ufunc=np.sqrt),
        Op("sin", 1, ieee.sin, "sin({0})", fold.sin, ufunc=np.sin, exact=False, array_op="sincos"),
        Op("cos", 1, ieee.cos, "cos({0})", fold.cos, ufunc=np.cos, exact=False, array_op="sincos"),
        # one rounding; formed by passes.contract, never by the tracer
        Op("fma", 3, ieee.fma, "fma({0}, {1}, {2})", commutative=True),  # a·b + c
        Op("fms", 3, lambda a, b, c: ieee.fma(a, b, -c), "fms({0}, {1}, {2})", commutative=True),  # a·b − c
        Op("fnma", 3, lambda a, b, c: ieee.fma(-a, b, c), "fnma({0}, {1}, {2})", commutative=True),  # c − a·b
    )
}
