"""Comparisons of traced values, choices by them, and the arctangent, which is made of choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from kinetree.graph import fold
from kinetree.tracing.numpy_dispatch import NumpyDispatch

BRANCH = (
    "a traced value has no {what} while the function is being traced: the same compiled code serves every state, so it "
    "cannot branch on one. To choose between values use kt.where(condition, a, b), kt.minimum, kt.maximum or kt.abs; "
    "to compute, the functions of NumPy, not those of math. Or branch on the model and on plain Python values."
)


class Condition(NumpyDispatch):
    """A comparison of traced values, as `compared`: ``choose(x, y)`` makes the node of x where it holds, else y."""

    __slots__ = ("choose", "compared")

    def __init__(self, compared: Any, choose: Callable[[int, int], int]) -> None:
        self.compared = compared
        self.choose = choose

    def where(self, x: object, y: object) -> Any:
        """Return x where the condition holds, y where it does not."""
        if self.compared.graph.inner is not None:
            return choice(self._here(), x, y)
        ids = [self.compared._id(entry) for entry in (x, y)]
        if None in ids:
            raise TypeError(f"kt.where chooses between numbers, not {type(x).__name__} and {type(y).__name__}")
        return type(self.compared)(self.compared.graph, self.choose(*ids))

    def _here(self) -> Condition:
        """Return this condition in the body of a loop that is being traced, by the number that it chooses."""
        graph = self.compared.graph
        if graph.inner is None:
            return self
        number = type(self.compared)(graph, self.choose(graph.const(1.0), graph.const(0.0))).here()
        half = number.graph.const(0.5)
        return Condition(number, lambda x, y: fold.select_lt(number.graph, half, number.id, x, y))

    def _with(self, other: Condition, choose: Callable[[Condition, Condition, int, int], int]) -> Condition:
        """Return the condition that this and another one make."""
        a, b = self._here(), other._here()
        return Condition(a.compared, lambda x, y: choose(a, b, x, y))

    def __and__(self, other: object) -> Any:
        if isinstance(other, Condition):
            return self._with(other, lambda a, b, x, y: a.choose(b.choose(x, y), y))
        return (self if other else False) if isinstance(other, bool | np.bool_) else NotImplemented

    def __or__(self, other: object) -> Any:
        if isinstance(other, Condition):
            return self._with(other, lambda a, b, x, y: a.choose(x, b.choose(x, y)))
        return (True if other else self) if isinstance(other, bool | np.bool_) else NotImplemented

    def __xor__(self, other: object) -> Any:
        if isinstance(other, Condition):
            return self._with(other, lambda a, b, x, y: a.choose(b.choose(y, x), b.choose(x, y)))
        return (~self if other else self) if isinstance(other, bool | np.bool_) else NotImplemented

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Condition:
        return Condition(self.compared, lambda x, y: self.choose(y, x))

    def _number(self, *others: object) -> NoReturn:
        raise TypeError(
            "a comparison of traced values is not a number: write kt.where(condition, x, 0) for x * condition"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _number

    def __bool__(self) -> NoReturn:
        more = (
            " Combine conditions with & | ~, not with and, or, not. Arrays that np.array makes of traced values ask "
            "for truth values when compared: make them with np.stack."
        )
        raise TypeError(BRANCH.format(what="truth value") + more)


def choice(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition, traced or known, holds, and b elsewhere."""
    if isinstance(condition, Condition):
        return condition.where(a, b)
    return a if condition else b


# Minimax coefficients of (x − atan x) / x³ in x² for |x| ≤ 7/16, as in fdlibm's s_atan.c
_ATAN = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_TAN_22_5 = math.sqrt(2.0) - 1.0


def atan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y) in (−π, π], to 3 ulp: a polynomial and choices.

    The angle is 0 at the origin, and NaN where x or y is NaN or both are infinite.

    Range reduction: the smaller coordinate over the larger is the tangent of an angle up to 45°, and above 22.5° that
    angle is rotated back by 45°. The larger coordinate and the signs then give the octant. The two are scaled by a
    power of two before they are added, so that neither overflow nor underflow costs digits.
    """
    size_x, size_y = abs(x), abs(y)
    steep = size_x < size_y
    near, far = choice(steep, size_x, size_y), choice(steep, size_y, size_x)
    scale = choice(far < 1.0, 2.0**54, 0.5)
    a, b = near * scale, far * scale
    turned = b * _TAN_22_5 < a
    numerator, denominator = choice(turned, a - b, near), choice(turned, a + b, far)
    t = numerator / choice(denominator <= 0.0, 1.0, denominator)
    angle = t - t * _reduced(t * t)
    angle = choice(turned, angle + math.pi / 4, angle)
    angle = choice(steep, math.pi / 2 - angle, angle)
    angle = choice(x < 0.0, math.pi - angle, angle)
    return choice(y < 0.0, -angle, angle)


def _reduced(z: Any) -> Any:
    """Return (x − atan x) / x at x² = z."""
    total = z * _ATAN[-1] + _ATAN[-2]
    for c in reversed(_ATAN[:-2]):
        total = total * z + c
    return total * z
