"""Elementary functions composed of other operations: the arctangent as a polynomial and choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

# Minimax coefficients of (x − atan x) / x³ in x² for |x| ≤ 7/16, as in fdlibm's s_atan.c
_ATAN = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_TAN_22_5 = math.sqrt(2.0) - 1.0


def atan2(y: Any, x: Any, choice: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the angle of the point (x, y) in (−π, π], to 3 ulp; ``choice(condition, a, b)`` selects a or b.

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
