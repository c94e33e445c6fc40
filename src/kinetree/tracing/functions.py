"""Choices, rounding and logic: functions of NumPy arrays that can be traced into a compiled function.

On plain numbers they are NumPy's own. NaN propagates as in NumPy: `minimum` and `maximum` give NaN if either argument
is NaN, and a comparison with NaN is false.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.graph import ieee
from kinetree.graph.ops import OPS
from kinetree.tracing.arrays import is_traced
from kinetree.tracing.condition import Condition
from kinetree.tracing.condition import choice as _choice
from kinetree.tracing.expr import Expr
from kinetree.tracing.numpy_dispatch import TracedArray, implements, plain

implements(np.less)(operator.lt)
implements(np.less_equal)(operator.le)
implements(np.greater)(operator.gt)
implements(np.greater_equal)(operator.ge)
implements(np.equal)(operator.eq)
implements(np.not_equal)(operator.ne)


@implements(np.minimum)
def _smaller(a: Any, b: Any) -> Any:
    return _choice(a < b, a, _choice(b <= a, b, a + b))  # unordered: one is NaN, and so is the sum


@implements(np.maximum)
def _larger(a: Any, b: Any) -> Any:
    return _choice(b < a, a, _choice(a <= b, b, a + b))


@implements(np.sign)
def _sign(x: Any) -> Any:
    return _choice(x > 0.0, 1.0, _choice(x < 0.0, -1.0, _choice(x <= 0.0, 0.0, x)))


@implements(np.isnan)
def _isnan(x: Any) -> Any:
    return _opposite(x <= x)


@implements(np.isfinite)
def _isfinite(x: Any) -> Any:
    return operator.abs(x) < math.inf


@implements(np.isinf)
def _isinf(x: Any) -> Any:
    return operator.abs(x) == math.inf


@implements(np.signbit)
def _signbit(x: Any) -> Any:
    return x.record(OPS["copysign"], 1.0, x) < 0.0 if isinstance(x, Expr) else ieee.copysign(1.0, x) < 0.0


def _truth(x: Any) -> Any:
    """Return whether x holds or is not zero, as a condition or a truth value."""
    return x != 0.0 if isinstance(x, Expr) else x if isinstance(x, Condition) else bool(x)


def _opposite(x: Any) -> Any:
    return ~x if isinstance(x, Condition) else not x


@implements(np.logical_and)
def _logical_and(a: Any, b: Any) -> Any:
    return _truth(a) & _truth(b)


@implements(np.logical_or)
def _logical_or(a: Any, b: Any) -> Any:
    return _truth(a) | _truth(b)


@implements(np.logical_xor)
def _logical_xor(a: Any, b: Any) -> Any:
    return _truth(a) ^ _truth(b)


@implements(np.logical_not)
def _logical_not(x: Any) -> Any:
    return _opposite(_truth(x))


implements(np.remainder)(operator.mod)
implements(np.floor_divide)(operator.floordiv)


@implements(np.deg2rad, np.radians)
def _deg2rad(x: Any) -> Any:
    return x * (math.pi / 180.0)


@implements(np.rad2deg, np.degrees)
def _rad2deg(x: Any) -> Any:
    return x * (180.0 / math.pi)


@implements(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    scale = 10.0 ** operator.abs(decimals)
    if decimals == 0:
        return np.rint(a, out=out)
    a = np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale
    return np.positive(a, out=out)


@implements(np.fix)
def _fix(x: Any, out: Any = None) -> Any:
    return np.trunc(x, out=out)


def _each(function: Callable[..., Any], arity: int, *args: Any) -> Any:
    with np.errstate(all="ignore"):  # a NaN among the constants is meant
        result = np.frompyfunc(function, arity, 1)(*(plain(x) for x in args))
    return result.view(TracedArray) if isinstance(result, np.ndarray) else result


@implements(np.where)
def where(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition holds, b elsewhere, entry by entry.

    Both are computed for every state, which costs the time of both. A division by zero or a NaN in the one that is not
    chosen, or a NaN in the condition, does not propagate.

    Parameters
    ----------
    condition : array of bool
        Or comparisons of traced values, combined with ``&``, ``|`` and ``~``.
    a, b : array
        They broadcast with it.

    Returns
    -------
    array

    Examples
    --------
    >>> import numpy as np
    >>> where(np.array([1.0, -1.0]) > 0, 10.0, 0.0)
    array([10.,  0.])
    """
    if is_traced(a) or is_traced(b) or _has_conditions(condition):
        return _each(_choice, 3, condition, a, b)
    return np.where(condition, a, b)


def _has_conditions(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return bool(value.dtype == object)
    if isinstance(value, list | tuple):
        return any(_has_conditions(entry) for entry in value)
    return isinstance(value, Condition)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of a and b, entry by entry; NaN where one is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> minimum(np.array([1.0, 3.0]), 2.0)
    array([1., 2.])
    """
    return _each(_smaller, 2, a, b) if is_traced(a) or is_traced(b) else np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of a and b, entry by entry; NaN where one is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> maximum(np.array([1.0, 3.0]), 2.0)
    array([2., 3.])
    """
    return _each(_larger, 2, a, b) if is_traced(a) or is_traced(b) else np.maximum(a, b)


def abs(x: Any) -> Any:
    """Return the absolute value, entry by entry.

    Examples
    --------
    >>> abs(-2.0)
    np.float64(2.0)
    """
    return _each(operator.abs, 1, x) if is_traced(x) else np.absolute(x)


@implements(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """Return a, limited to the bounds that are not None."""
    if a_min is not None:
        a = maximum(a, a_min)
    return a if a_max is None else minimum(a, a_max)
