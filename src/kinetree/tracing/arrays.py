"""Arrays of traced scalars: NumPy arrays of `Expr`, whose comparisons and choices are recorded too.

NumPy does most by itself: arithmetic, ``@``, sums, slices, stacking call the scalars' own operators. What it would
decide by looking at a value (`np.maximum`, `np.where`, comparisons) is replaced by what `kinetree.tracing.functions`
records, and what cannot be traced is refused with what to use instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from kinetree.locks import importing
from kinetree.tracing.expr import Condition, Expr, formatted

_SCALAR: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
}

# what does the right thing on arrays of objects
_NATURAL = {
    *(np.add, np.subtract, np.multiply, np.true_divide, np.matmul, np.negative, np.positive, np.square, np.power),
    *(np.reciprocal, np.sqrt, np.sin, np.cos, np.tan, np.bitwise_and, np.bitwise_or, np.invert),
}

_INSTEAD = {
    "logical_and": "combine conditions with &",
    "logical_or": "combine conditions with |",
    "logical_not": "~condition is its opposite",
    "vecdot": "write (a * b).sum(-1)",
    "solve": "kt.solve(A, b) solves with a symmetric positive definite A",
    "inv": "kt.solve(A, b) solves with a symmetric positive definite A; kt.solve(A, np.eye(n)) is its inverse",
    "pinv": "with kt.solve: J.T @ kt.solve(J @ J.T, b)",
    "norm": "write np.sqrt(x @ x)",
    "exp": "there is no exponential function yet: pass what depends on it as an argument",
}


class TracedArray(np.ndarray[Any, Any]):
    """An array of traced scalars (and plain numbers), as a function that is being compiled gets them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return apply_function(function, args, kwargs)

    def __format__(self, spec: str) -> str:
        return formatted(self, spec)

    def clip(self, min: Any = None, max: Any = None) -> Any:  # type: ignore[override]
        """Return what `np.clip` does: NumPy's method would compare values."""
        return np.clip(self, min, max)


def traced_array(entries: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the array with these row-major entries; the entry itself if there are no axes."""
    if not shape:
        return entries[0]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape).view(TracedArray)


def is_traced(value: Any) -> bool:
    """Return whether there is a traced scalar in this, or room for none: an array, nested sequences, or a scalar."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and (value.size == 0 or any(isinstance(entry, Expr) for entry in value.flat))
    if isinstance(value, list | tuple):
        return any(is_traced(entry) for entry in value)
    return isinstance(value, Expr)


def plain(value: Any) -> Any:
    """Return the value as NumPy's own functions take it: an ordinary array of objects, or what is no array."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if isinstance(value, Expr | Condition):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return value


def _wrapped(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return type(result)(_wrapped(r) for r in result)
    if type(result) is np.ndarray and result.dtype == object:
        return result.view(TracedArray) if result.ndim else result[()]
    return result


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do what ``__array_ufunc__`` must for traced arguments."""
    quick = _SCALAR.get(ufunc)  # for NumPy's own numbers among ours, which are many
    if quick is not None and method == "__call__" and not kwargs and all(isinstance(x, Expr | Real) for x in inputs):
        return quick(*(x if isinstance(x, Expr) else float(x) for x in inputs))
    with importing:
        from kinetree.tracing import functions

    function = ufunc if ufunc in _NATURAL else functions.UFUNCS.get(ufunc)
    if function is None:
        raise TypeError(_refusal(ufunc.__name__))
    out = kwargs.pop("out", None)
    if out is not None:
        if not all(isinstance(o, np.ndarray) and o.dtype == object for o in out):
            raise TypeError(
                f"np.{ufunc.__name__} cannot put traced values into an array of numbers: make a new array, as with "
                "x = x + y instead of x += y"
            )
        kwargs["out"] = tuple(plain(o) for o in out)
    result = getattr(function, method)(*(plain(x) for x in inputs), **kwargs)
    return out[0] if out is not None else _wrapped(result)


def apply_function(function: Any, args: Any, kwargs: Any) -> Any:
    """Do what ``__array_function__`` must for traced arguments."""
    with importing:
        from kinetree.tracing import functions

    if function in functions.FUNCTIONS:
        return functions.FUNCTIONS[function](*args, **kwargs)
    if function.__module__.startswith("numpy.linalg"):
        raise TypeError(_refusal(f"linalg.{function.__name__}"))
    try:
        return _wrapped(function._implementation(*args, **kwargs))
    except TypeError as error:
        if not str(error).startswith("loop of ufunc does not support"):
            raise
        raise TypeError(_refusal(function.__name__)) from None


def _refusal(name: str) -> str:
    instead = _INSTEAD.get(name.rpartition(".")[2])
    hint = (
        instead
        or "use arithmetic, @, np.sqrt, np.sin, np.cos, np.tan, np.arctan2, kt.where, kt.minimum, kt.maximum, "
        "kt.abs, kt.solve"
    )
    return f"np.{name} cannot be traced into a compiled function: {hint}"
