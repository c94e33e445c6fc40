"""Elementary functions of any scalar: floats, NumPy arrays, traced expressions, SymPy, CasADi and others.

A number of Python, or of NumPy up to float64, goes to `math`. Any other scalar keeps its own precision: a method of
that name is asked first (traced expressions, CasADi, torch), then the function of that name in the package that the
scalar's type comes from (NumPy's long doubles and arrays, mpmath, gmpy2, SymPy, JAX). What has neither and is a real
number (a fraction) goes to `math` as well.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
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


_SHORT = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"}  # in `math`, and not in NumPy


def apply(name: str, *operands: Scalar) -> Scalar:
    """Return the elementary function of this name, which is NumPy's, of these scalars."""
    if name == "power":
        return operands[0] ** operands[1]
    short = _SHORT.get(name, name)
    scalar = next((x for x in operands if not _is_double(x)), None)
    if scalar is None:
        return getattr(math, short)(*operands)
    method: Any = getattr(scalar, name, None) or getattr(scalar, short, None) if len(operands) == 1 else None
    if method is not None:
        return method()
    own: Any = getattr(scalar, "apply_function", None)  # traced expressions and dual numbers
    if own is not None:
        return own(name, *operands)
    package = _namespace(scalar)
    known = getattr(math, short) if isinstance(scalar, Real) else None
    function: Any = getattr(package, name, getattr(package, short, known))
    if function is None:
        raise TypeError(f"cannot take {name} of a {type(scalar).__module__}.{type(scalar).__qualname__}")
    return function(*operands)


def _elementary(name: str, doc: str) -> Callable[..., Scalar]:
    """Return the function of this name of any scalars."""

    def function(*operands: Scalar) -> Scalar:
        return apply(name, *operands)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


sin = _elementary("sin", "Return the sine of an angle in radians.")
cos = _elementary("cos", "Return the cosine of an angle in radians.")
sqrt = _elementary("sqrt", "Return the square root.")
exp = _elementary("exp", "Return e to the power of x.")
expm1 = _elementary("expm1", "Return eˣ − 1, accurate near zero too.")
log = _elementary("log", "Return the natural logarithm.")
log1p = _elementary("log1p", "Return log(1 + x), accurate near zero too.")
sinh = _elementary("sinh", "Return the hyperbolic sine.")
cosh = _elementary("cosh", "Return the hyperbolic cosine.")
tanh = _elementary("tanh", "Return the hyperbolic tangent.")
arcsin = _elementary("arcsin", "Return the angle from −π/2 to π/2 of this sine.")
arccos = _elementary("arccos", "Return the angle from 0 to π of this cosine.")
arctan = _elementary("arctan", "Return the angle from −π/2 to π/2 of this tangent.")
cbrt = _elementary("cbrt", "Return the cube root.")
floor = _elementary("floor", "Return the largest whole number that is not above.")
ceil = _elementary("ceil", "Return the smallest whole number that is not below.")
trunc = _elementary("trunc", "Return the whole part.")
power = _elementary("power", "Return x to the power of y.")
hypot = _elementary("hypot", "Return √(x² + y²), without overflow or underflow on the way.")
fmod = _elementary("fmod", "Return the remainder of x/y with the sign of x.")


def copysign(x: Scalar, y: Scalar) -> Scalar:
    """Return |x| with the sign of y, plus if y is NaN: which sign a computed NaN has depends on the processor."""
    return apply("copysign", x, 0.0 if _is_double(y) and y != y else y)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), in radians."""
    if _is_double(x) and _is_double(y):
        return math.atan2(y, x)
    method = getattr(y, "atan2", None) or getattr(y, "arctan2", None)
    if method is not None:
        return method(x)
    return apply("arctan2", y, x)


def is_zero(x: Scalar) -> bool:
    """Return whether x is known to be zero: the number, or an expression that folded to it."""
    known = getattr(x, "constant", x)
    return isinstance(known, Real) and known == 0


def select(condition: Any, chosen: Scalar, otherwise: Scalar) -> Scalar:
    """Return `chosen` where a comparison holds, `otherwise` elsewhere; both must be free of errors everywhere.

    Examples
    --------
    >>> select((1.0 < 2.0) & (2.0 <= 2.0), "chosen", "otherwise")
    'chosen'
    """
    if isinstance(condition, bool | np.bool_):
        return chosen if condition else otherwise
    own: Any = getattr(chosen, "selected", None) or getattr(otherwise, "selected", None)  # dual numbers
    if own is not None:
        return own(condition, chosen, otherwise)
    namespace = _namespace(condition)
    if namespace.__name__ == "sympy":
        return namespace.Piecewise((chosen, condition), (otherwise, True))
    choose = vars(namespace).get("if_else") or namespace.where  # kinetree looks long for names that it has not
    return choose(condition, chosen, otherwise)


def select_less(x: Scalar, limit: Scalar, below: Scalar, otherwise: Scalar) -> Scalar:
    """Return `below` where x < limit, `otherwise` elsewhere; both must be free of errors everywhere."""
    return select(x < limit, below, otherwise)


def select_lt(x: Scalar, y: Scalar, chosen: Scalar, otherwise: Scalar) -> Scalar:
    """Return `chosen` where x < y, as the operation of this name does."""
    return select(x < y, chosen, otherwise)


def select_le(x: Scalar, y: Scalar, chosen: Scalar, otherwise: Scalar) -> Scalar:
    """Return `chosen` where x ≤ y, as the operation of this name does."""
    return select(x <= y, chosen, otherwise)


def larger(x: Scalar, y: Scalar) -> Scalar:
    """Return the larger of two scalars, x if one is NaN."""
    return select_less(x, y, y, x)


def smaller(x: Scalar, y: Scalar) -> Scalar:
    """Return the smaller of two scalars, y if one is NaN."""
    return select_less(x, y, x, y)


def or_one(x: Scalar) -> Scalar:
    """Return x, or 1 if it is not positive: a divisor."""
    return select_less(0.0, x, x, 1.0)
