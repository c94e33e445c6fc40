"""Elementary functions of any scalar: floats, NumPy arrays, traced expressions, SymPy, CasADi and others.

A number of Python, or of NumPy up to float64, goes to `math`. Any other scalar keeps its own precision: a method of
that name is asked first (traced expressions, CasADi, torch), then the function of that name in the package that the
scalar's type comes from (NumPy's long doubles and arrays, mpmath, gmpy2, SymPy, JAX). What has neither and is a real
number (a fraction) goes to `math` as well.
"""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any

import numpy as np

# The scalar's own type is what the caller chose; arithmetic is all that kinetree asks of it.
Scalar = Any


_DOUBLE = (float, int, np.floating, np.integer)


def _is_double(x: Scalar) -> bool:
    """Return whether x is a number of which a float holds all digits."""
    return isinstance(x, _DOUBLE) and not isinstance(x, np.longdouble)


def _namespace(x: Scalar) -> Any:
    """Return the module whose functions take such scalars."""
    package = type(x).__module__.partition(".")[0]
    return sys.modules.get({"jaxlib": "jax.numpy", "jax": "jax.numpy"}.get(package, package))


def _apply(name: str, x: Scalar) -> Scalar:
    if _is_double(x):
        return getattr(math, name)(x)
    method: Any = getattr(x, name, None)
    if method is not None:
        return method()
    function: Any = getattr(_namespace(x), name, getattr(math, name) if isinstance(x, Real) else None)
    if function is None:
        raise TypeError(f"cannot take {name} of a {type(x).__module__}.{type(x).__qualname__}")
    return function(x)


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle in radians."""
    return _apply("sin", x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle in radians."""
    return _apply("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root."""
    return _apply("sqrt", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), in radians."""
    if _is_double(x) and _is_double(y):
        return math.atan2(y, x)
    method = getattr(y, "atan2", None) or getattr(y, "arctan2", None)
    if method is not None:
        return method(x)
    package = _namespace(x if _is_double(y) else y)
    function: Any = getattr(package, "atan2", getattr(package, "arctan2", math.atan2))
    return function(y, x)


def is_zero(x: Scalar) -> bool:
    """Return whether x is known to be zero: the number, or an expression that folded to it.

    Examples
    --------
    >>> is_zero(0.0), is_zero(1.0)
    (True, False)
    """
    known = getattr(x, "constant", x)
    return isinstance(known, Real) and known == 0


def select_less(x: Scalar, limit: Scalar, below: Scalar, otherwise: Scalar) -> Scalar:
    """Return `below` where x < limit, `otherwise` elsewhere; both must be free of errors everywhere.

    Examples
    --------
    >>> select_less(1.0, 2.0, "below", "otherwise")
    'below'
    """
    condition = x < limit
    if isinstance(condition, bool | np.bool_):
        return below if condition else otherwise
    namespace = _namespace(condition)
    if namespace.__name__ == "sympy":
        return namespace.Piecewise((below, condition), (otherwise, True))
    choose = getattr(namespace, "if_else", None) or namespace.where
    return choose(condition, below, otherwise)
