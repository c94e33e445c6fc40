"""Compiled functions on SymPy's symbols."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.interop.operation import bound, returned
from kinetree.interop.symbolic import Library
from kinetree.runtime.function import Function

try:
    import sympy as sp
except ImportError as error:
    raise ArgumentError("to_sympy needs the package sympy: pip install 'kinetree[sympy]'") from error


def to_sympy(function: Function) -> Callable[..., Any]:
    """Return this function as one of SymPy's expressions, for derivations and checks of small robots.

    Parameters
    ----------
    function : Function
        Any compiled function.

    Returns
    -------
    callable
        It takes the arguments of the function for one state, as matrices, lists or arrays of symbols and numbers, and its
        options; it returns an expression, or a `sympy.Matrix`: a column for a vector, one row for each index before
        the last where there are more than two. Whole numbers are exact, others have 53 bits.

    Raises
    ------
    ArgumentError
        If SymPy is missing. When called, for wrong arguments, and for operations that SymPy does not have.

    Examples
    --------
    >>> import sympy as sp
    >>> import kinetree as kt
    >>> energy = kt.load("double_pendulum").kinetic_energy.to_sympy()
    >>> q, v = sp.symbols("q:2"), sp.symbols("v:2")
    >>> sp.diff(energy(q, v), q[0])
    0
    """

    @functools.wraps(function.__origin__)
    def call(*args: Any, **kwargs: Any) -> Any:
        operation, values = bound(function, args, kwargs)
        entries = []
        for port, value in zip(operation.inputs, values, strict=True):
            array = np.array(value, dtype=object)
            if array.size != port.size:
                raise ArgumentError(
                    f"{function.__name__}: {operation.named[len(entries)].name} has {array.size} entries, "
                    f"one state has shape {port.shape}"
                )
            entries.append([sp.sympify(x) for x in array.ravel()])
        found = iter(_SYMPY.evaluate(operation.program, entries))
        results = []
        for port in operation.outputs:
            own = [next(found) for _ in range(port.size)]
            columns = port.shape[-1] if len(port.shape) > 1 else 1
            results.append(sp.Matrix(port.size // max(columns, 1), columns, own) if port.shape else own[0])
        return returned(function, results)

    return call


def _constant(x: float) -> Any:
    return sp.Integer(int(x)) if x == int(x) and abs(x) < 2**53 else sp.Float(x, precision=53)


def _select(relation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda a, b, x, y: sp.Piecewise((x, relation(a, b)), (y, True))


def _sign(x: Any) -> Any:
    return sp.Piecewise((1, x >= 0), (-1, True))


_SYMPY = Library(
    "SymPy",
    _constant,
    {
        **{"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b},
        **{"neg": lambda a: -a, "abs": sp.Abs, "sqrt": sp.sqrt, "sin": sp.sin, "cos": sp.cos},
        **{"select_lt": _select(sp.StrictLessThan), "select_le": _select(sp.LessThan)},
        **{"fma": lambda a, b, c: a * b + c, "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b},
        **{"floor": sp.floor, "ceil": sp.ceiling, "copysign": lambda a, b: sp.Abs(a) * _sign(b)},
        **{"trunc": lambda a: _sign(a) * sp.floor(sp.Abs(a)), "exp": sp.exp, "expm1": lambda a: sp.exp(a) - 1},
        **{"sinh": sp.sinh, "cosh": sp.cosh, "tanh": sp.tanh, "log": sp.log, "log1p": lambda a: sp.log(1 + a)},
        **{"cbrt": lambda a: sp.real_root(a, 3), "arcsin": sp.asin, "arccos": sp.acos, "arctan": sp.atan, "arctan2": sp.atan2},
        **{"hypot": lambda a, b: sp.sqrt(a**2 + b**2), "power": lambda a, b: a**b},
        **{"fmod": lambda a, b: _sign(a) * sp.Mod(sp.Abs(a), sp.Abs(b))},
    },
)
