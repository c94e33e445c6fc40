"""The arctangent of a traced quotient, made of the other operations: a polynomial and choices."""

from __future__ import annotations

import math
from typing import Any

from kinetree.tracing.expr import Condition

# Minimax coefficients of (x − atan x) / x³ in x² for |x| ≤ 7/16, as in fdlibm's s_atan.c
_ATAN = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_TAN_22_5 = math.sqrt(2.0) - 1.0


def choice(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition, traced or known, holds, and b elsewhere."""
    if isinstance(condition, Condition):
        return condition.where(a, b)
    return a if condition else b


def atan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y) in (−π, π], to 3 ulp.

    It is 0 at the origin, and NaN where x or y is NaN or both are infinite.

    The smaller coordinate over the larger is within the first 45°. Above 22.5° it is turned back by 45°, so that a
    polynomial serves; the larger coordinate, and then the signs, tell where the point really is. Sums of the two are
    taken after scaling by a power of two, so that none overflows and none has lost its digits to underflow.
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
