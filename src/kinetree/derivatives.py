"""Partial derivatives of the elementary functions, as formulas over any scalar: what every differentiation takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Formula = Callable[..., tuple[Any, ...]]


def _polar(f: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return a/r and b/r, and r = √(a² + b²): by the larger one, so that squares neither overflow nor vanish."""
    size = f.select_lt(abs(a), abs(b), abs(b), abs(a))
    a, b = a / size, b / size
    r = f.sqrt(a * a + b * b)
    return a / r, b / r, r * size


def _of_angle(a: Any, b: Any, r: Any) -> tuple[Any, Any]:
    return b / r, -(a / r)


PARTIALS: dict[str, Formula] = {
    "add": lambda f, y, a, b: (1.0, 1.0),
    "sub": lambda f, y, a, b: (1.0, -1.0),
    "mul": lambda f, y, a, b: (b, a),
    "div": lambda f, y, a, b: (1.0 / b, -(y / b)),
    "neg": lambda f, y, a: (-1.0,),
    "abs": lambda f, y, a: (f.select_le(0.0, a, 1.0, -1.0),),
    "select_lt": lambda f, y, a, b, c, d: (0.0, 0.0, f.select_lt(a, b, 1.0, 0.0), f.select_lt(a, b, 0.0, 1.0)),
    "select_le": lambda f, y, a, b, c, d: (0.0, 0.0, f.select_le(a, b, 1.0, 0.0), f.select_le(a, b, 0.0, 1.0)),
    "sqrt": lambda f, y, a: (0.5 / y,),
    "sin": lambda f, y, a: (f.cos(a),),
    "cos": lambda f, y, a: (-f.sin(a),),
    "fma": lambda f, y, a, b, c: (b, a, 1.0),
    "fms": lambda f, y, a, b, c: (b, a, -1.0),
    "fnma": lambda f, y, a, b, c: (-b, -a, 1.0),
    "rint": lambda f, y, a: (0.0,),
    "floor": lambda f, y, a: (0.0,),
    "ceil": lambda f, y, a: (0.0,),
    "trunc": lambda f, y, a: (0.0,),
    "copysign": lambda f, y, a, b: (f.select_le(0.0, a, 1.0, -1.0) * f.copysign(1.0, b), 0.0),
    "exp": lambda f, y, a: (y,),
    "expm1": lambda f, y, a: (y + 1.0,),
    "sinh": lambda f, y, a: (f.cosh(a),),
    "cosh": lambda f, y, a: (f.sinh(a),),
    "tanh": lambda f, y, a: ((1.0 - y) * (1.0 + y),),
    "log": lambda f, y, a: (1.0 / a,),
    "log1p": lambda f, y, a: (1.0 / (1.0 + a),),
    "cbrt": lambda f, y, a: (1.0 / (3.0 * y * y),),
    "arcsin": lambda f, y, a: (1.0 / f.sqrt((1.0 - a) * (1.0 + a)),),
    "arccos": lambda f, y, a: (-1.0 / f.sqrt((1.0 - a) * (1.0 + a)),),
    "arctan": lambda f, y, a: (1.0 / (1.0 + a * a),),
    "arctan2": lambda f, y, a, b: _of_angle(*_polar(f, a, b)),
    "hypot": lambda f, y, a, b: _polar(f, a, b)[:2],
    "power": lambda f, y, a, b: (
        f.select_le(abs(b), 0.0, 0.0, b * f.power(a, b - 1.0)),
        f.select_le(abs(a), 0.0, 0.0, y * f.log(a)),
    ),
    "fmod": lambda f, y, a, b: (1.0, -f.trunc(a / b)),
    "exponent": lambda f, y, a: (0.0,),
    "pow2": lambda f, y, a: (0.0,),  # of whole numbers
}
"""``PARTIALS[name](f, y, *args)``: the derivatives of the value y with respect to each argument, almost everywhere.

f has the elementary functions of the scalars, by their names here.
"""
