"""NumPy's functions on traced values: which implementation records each, and what to suggest for the others.

NumPy's loops over objects call the operators of the entries, which record arithmetic, ``@``, sums and powers. Other
ufuncs are found in the table of operations, or in those that `implements` fills: functions that NumPy would compute
by comparing values, such as `np.maximum` and `np.where`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from kinetree.graph.ops import OPS, Op

OBJECT_UFUNCS = {
    *(np.add, np.subtract, np.multiply, np.matmul, np.positive, np.square, np.power, np.reciprocal),
    *(np.tan, np.bitwise_and, np.bitwise_or, np.invert),
}
"""Ufuncs that need no replacement: their loops over objects call the operators (or the method) of traced scalars."""

UFUNCS: dict[Any, Any] = {}
"""Ufunc to the ufunc over objects that replaces it."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's function to its replacement."""

SUGGESTIONS = {
    "sort": "kt.minimum(a, b) and kt.maximum(a, b) put two values in order",
    "vecdot": "write (a * b).sum(-1)",
    "pinv": "with kt.solve_spd, damped: J.T @ kt.solve_spd(J @ J.T + 1e-6 * np.eye(len(J)), b)",
    "cholesky": "kt.solve_spd(A, b) solves with a symmetric positive definite A",
    "eigh": "kt.eigh3(A) has the eigenvalues and eigenvectors of a symmetric 3×3 matrix",
    "eigvalsh": "kt.eigh3(A) has the eigenvalues and eigenvectors of a symmetric 3×3 matrix",
}

_F = TypeVar("_F", bound=Callable[..., Any])


def implements(*numpy_functions: Any) -> Callable[[_F], _F]:
    """Register the decorated function: for a ufunc it takes scalars, for other functions the same arguments."""

    def register(function: _F) -> _F:
        for replaced in numpy_functions:
            if isinstance(replaced, np.ufunc):
                UFUNCS[replaced] = np.frompyfunc(function, replaced.nin, 1)
            else:
                FUNCTIONS[replaced] = function
        return function

    return register


class NumpyDispatch:
    """Base of all traced values: overrides NumPy's functions."""

    __slots__ = ()

    def record(self, op: Op, *operands: object) -> Any:
        """Return the operation on these operands, which include this one."""
        raise TypeError(f"{op.name} takes traced numbers, not {type(self).__name__}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = _implementation(ufunc)
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

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        if function.__module__.startswith("numpy.linalg"):
            raise TypeError(_refusal(f"linalg.{function.__name__}"))
        try:
            return _wrapped(function._implementation(*args, **kwargs))
        except TypeError as error:
            if not str(error).startswith(("loop of ufunc does not support", "a traced value has no truth value")):
                raise
            raise TypeError(_refusal(function.__name__)) from error

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError("a traced value has no digits to print while the function is being traced; f'{x}' shows it")
        return repr(self)


class TracedArray(NumpyDispatch, np.ndarray[Any, Any]):
    """An array of traced scalars and plain numbers: the argument of a function that is being compiled."""

    def clip(self, min: Any = None, max: Any = None) -> Any:  # type: ignore[override]
        """Return `np.clip` of a traced value: NumPy's method would compare values."""
        return np.clip(self, min, max)

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Return `np.round` of a traced value."""
        return np.round(self, decimals, out)


def plain(value: Any) -> Any:
    """Return a traced value as an ordinary array of objects, anything else unchanged."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if isinstance(value, NumpyDispatch):
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


def operation(ufunc: Any) -> Op | None:
    """Return the operation that this ufunc is, if it is one."""
    for op in OPS.values():
        if op.ufunc is ufunc:
            return op
    return None


def _implementation(ufunc: Any) -> Any:
    """Return the ufunc of objects that records this one."""
    if ufunc in OBJECT_UFUNCS:
        return ufunc
    op = operation(ufunc)
    if op is not None:
        return np.frompyfunc(partial(_record, op), op.arity, 1)
    if ufunc not in UFUNCS:
        raise TypeError(_refusal(ufunc.__name__))
    return UFUNCS[ufunc]


def _record(op: Op, *operands: Any) -> Any:
    traced = next((x for x in operands if isinstance(x, NumpyDispatch)), None)
    return op.evaluate(*operands) if traced is None else traced.record(op, *operands)


def _refusal(name: str) -> str:
    hint = SUGGESTIONS.get(
        name.rpartition(".")[2],
        "use arithmetic, @, the elementary functions of NumPy (np.sqrt, np.sin, np.exp, …), kt.where, kt.minimum, "
        "kt.maximum, kt.abs, kt.solve",
    )
    return f"np.{name} cannot be traced into a compiled function: {hint}"
