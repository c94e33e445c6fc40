"""The table of operations: one row each, and everything that is known of it.

A new operation is a new row here, a spelling in each backend that can do it, and, if it has algebra
of its own, a folding rule in `fold.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Op:
    """One operation of the graph.

    Attributes
    ----------
    name : str
        Its name in a node, and in the tables of the backends.
    arity : int
        How many arguments it takes.
    evaluate : callable
        Its value on floats, correctly rounded where the operation is an IEEE one.
    listing : str
        How it is printed, with ``{0}``, ``{1}``, … for the arguments.
    commutative : bool
        Whether the first two arguments may be exchanged.
    staged : bool
        Whether a backend evaluates all nodes of this kind together, as arrays, before the straight-line
        code that uses them (elementary functions: long, and the same for every argument).
    """

    name: str
    arity: int
    evaluate: Callable[..., float]
    listing: str
    commutative: bool = False
    staged: bool = False


def _divide(a: float, b: float) -> float:
    if b == 0.0:
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0.0 else math.nan


def _circular(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: function(a) if math.isfinite(a) else math.nan


def _fma(a: float, b: float, c: float) -> float:
    """Return a·b + c with one rounding (exact rationals: slow, and the reference)."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # also where a·b is finite but too large
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of an exact zero
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


OPS: dict[str, Op] = {
    row.name: row
    for row in (
        Op("const", 0, lambda: math.nan, "{payload!r}"),
        Op("input", 0, lambda: math.nan, "{payload}"),
        Op("add", 2, lambda a, b: a + b, "({0} + {1})", commutative=True),
        Op("sub", 2, lambda a, b: a - b, "({0} - {1})"),
        Op("mul", 2, lambda a, b: a * b, "({0} * {1})", commutative=True),
        Op("div", 2, _divide, "({0} / {1})"),
        Op("neg", 1, lambda a: -a, "(-{0})"),
        Op("abs", 1, abs, "abs({0})"),
        # {2} where the comparison holds, {3} where not, which is where a NaN is compared too
        Op("select_lt", 4, lambda a, b, x, y: x if a < b else y, "({2} if {0} < {1} else {3})"),
        Op("select_le", 4, lambda a, b, x, y: x if a <= b else y, "({2} if {0} <= {1} else {3})"),
        Op("sqrt", 1, _sqrt, "sqrt({0})"),
        Op("sin", 1, _circular(math.sin), "sin({0})", staged=True),
        Op("cos", 1, _circular(math.cos), "cos({0})", staged=True),
        # one rounding; formed by passes.contract, never by the tracer
        Op("fma", 3, _fma, "fma({0}, {1}, {2})", commutative=True),  # a·b + c
        Op("fms", 3, lambda a, b, c: _fma(a, b, -c), "fms({0}, {1}, {2})", commutative=True),  # a·b − c
        Op("fnma", 3, lambda a, b, c: _fma(-a, b, c), "fnma({0}, {1}, {2})", commutative=True),  # c − a·b
    )
}
