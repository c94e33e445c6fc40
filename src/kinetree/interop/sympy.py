"""Compiled functions on SymPy's symbols."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.interop.operation import bound, matrix_shape
from kinetree.interop.symbolic import ARITHMETIC, Library
from kinetree.runtime.function import Function
from kinetree.runtime.outputs import returned

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
        It takes the arguments of the function for one state, as matrices, lists or arrays of symbols and numbers, and
        its options; it returns an expression, or a `sympy.Matrix`: a column for a vector; of more than two axes all
        but the first are one. Whole numbers are exact, others have 53 bits.

    Raises
    ------
    ArgumentError
        If SymPy is missing. When called, for wrong arguments, and for operations that SymPy does not have.

    Examples
    --------
    >>> import sympy as sp
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> q = sp.symbols("q:7")
    >>> placement = robot.frame_placement.to_sympy()
    >>> placement(q, frame="panda_link2")[0, 0].simplify()
    cos(q0)*cos(q1)
    """

    @functools.wraps(function.__origin__)
    def call(*args: Any, **kwargs: Any) -> Any:
        operation, arrays, lead, *_ = bound(function, args, kwargs, _array)
        if lead:
            raise ArgumentError(f"{function.__name__}: SymPy's matrices have no leading axes: give it one state")
        entries = [[sp.sympify(x) for x in array.ravel()] for array in arrays]
        found, results = iter(_SYMPY.evaluate(operation.program, entries)), []
        for port in operation.outputs:
            own = [next(found) for _ in range(port.size)]
            results.append(sp.Matrix(*matrix_shape(port), own) if port.shape else own[0])
        return returned(operation.named, results)

    return call


def _array(_: str, x: Any) -> Any:
    """Return an argument as an array; a column is a vector."""
    column = isinstance(x, sp.MatrixBase) and x.cols == 1
    return np.array(list(x) if column else x, dtype=object)


def _constant(x: float) -> Any:
    if not math.isfinite(x):
        return sp.nan if math.isnan(x) else sp.oo * int(math.copysign(1, x))
    return sp.Integer(int(x)) if x == int(x) and abs(x) < 2**53 else sp.Float(x, precision=53)


def _select(relation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda a, b, x, y: sp.Piecewise((x, relation(a, b)), (y, True))


def _sign(x: Any) -> Any:
    return sp.Piecewise((1, x >= 0), (-1, True))


_SYMPY = Library(
    "SymPy",
    _constant,
    {
        **ARITHMETIC,
        **{"abs": sp.Abs, "sqrt": sp.sqrt, "sin": sp.sin, "cos": sp.cos},
        **{"select_lt": _select(sp.StrictLessThan), "select_le": _select(sp.LessThan)},
        **{"floor": sp.floor, "ceil": sp.ceiling, "copysign": lambda a, b: sp.Abs(a) * _sign(b)},
        **{"trunc": lambda a: _sign(a) * sp.floor(sp.Abs(a)), "exp": sp.exp, "expm1": lambda a: sp.exp(a) - 1},
        **{"sinh": sp.sinh, "cosh": sp.cosh, "tanh": sp.tanh, "log": sp.log, "log1p": lambda a: sp.log(1 + a)},
        **{
            "cbrt": lambda a: sp.real_root(a, 3),
            "arcsin": sp.asin,
            "arccos": sp.acos,
            "arctan": sp.atan,
            "arctan2": sp.atan2,
        },
        **{"hypot": lambda a, b: sp.sqrt(a**2 + b**2)},
        **{"fmod": lambda a, b: _sign(a) * sp.Mod(sp.Abs(a), sp.Abs(b))},
    },
)
