"""Elementary functions of any scalar: floats, NumPy arrays, traced expressions, SymPy, CasADi and others.

A scalar with a method of that name is asked first (traced expressions, CasADi, torch); a plain number goes to
`math`; anything else to the function of that name in the package that the scalar's type comes from.
"""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any

# The scalar's own type is what the caller chose; arithmetic is all that kinetree asks of it.
Scalar = Any


def _apply(name: str, x: Scalar) -> Scalar:
    if isinstance(x, Real):
        return getattr(math, name)(x)
    method = getattr(x, name, None)
    if method is not None:
        return method()
    package = type(x).__module__.partition(".")[0]
    namespace = sys.modules.get({"jaxlib": "jax.numpy", "jax": "jax.numpy"}.get(package, package))
    function = getattr(namespace, name, None)
    if function is None:
        raise TypeError(f"cannot take {name} of a {type(x).__module__}.{type(x).__qualname__}")
    return function(x)


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle in radians.

    Examples
    --------
    >>> sin(0.0)
    0.0
    """
    return _apply("sin", x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle in radians.

    Examples
    --------
    >>> cos(0.0)
    1.0
    """
    return _apply("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root.

    Examples
    --------
    >>> sqrt(4.0)
    2.0
    """
    return _apply("sqrt", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), in radians.

    Examples
    --------
    >>> atan2(0.0, 1.0)
    0.0
    """
    if isinstance(x, Real) and isinstance(y, Real):
        return math.atan2(y, x)
    method = getattr(y, "atan2", None) or getattr(y, "arctan2", None)
    if method is not None:
        return method(x)
    package = sys.modules[type(y).__module__.partition(".")[0]]
    return (getattr(package, "atan2", None) or package.arctan2)(y, x)


def is_zero(x: Scalar) -> bool:
    """Return whether x is known to be zero: the number, or an expression that folded to it.

    Examples
    --------
    >>> is_zero(0.0), is_zero(1.0)
    (True, False)
    """
    known = getattr(x, "constant", x)
    return isinstance(known, Real) and known == 0


def is_negligible(x: Scalar, scale: Scalar) -> bool:
    """Return whether x is known to be nothing but rounding, against a known scale of what it was computed from.

    Examples
    --------
    >>> is_negligible(1e-16, 1.0), is_negligible(1e-9, 1.0)
    (True, False)
    """
    known, measure = getattr(x, "constant", x), getattr(scale, "constant", scale)
    if not (isinstance(known, Real) and isinstance(measure, Real)):
        return False
    return abs(float(known)) <= 1e-14 * abs(float(measure))


def select_less(x: Scalar, limit: float, below: Scalar, otherwise: Scalar) -> Scalar:
    """Return `below` where x < limit, `otherwise` elsewhere; both must be free of errors everywhere.

    Examples
    --------
    >>> select_less(1.0, 2.0, "below", "otherwise")
    'below'
    """
    if isinstance(x, Real):
        return below if x < limit else otherwise
    package = type(x).__module__.partition(".")[0]
    namespace: Any = sys.modules.get({"jaxlib": "jax.numpy", "jax": "jax.numpy"}.get(package, package))
    if package == "sympy":
        return namespace.Piecewise((below, x < limit), (otherwise, True))
    choose = getattr(namespace, "if_else", None) or namespace.where
    return choose(x < limit, below, otherwise)
