"""The remainder of a division, exact whatever the quotient is."""

from __future__ import annotations

from kinetree.graph.elementary.exponential import scaled
from kinetree.graph.elementary.record import (
    INF,
    Scalar,
    Value,
    copysign,
    exponent,
    fma,
    pow2,
    select,
    significand,
    trunc,
    where_equal,
)

_STEP = 51.0
_STEPS = 42  # of 51 bits each: a quotient is below 2²⁰⁹⁹


def _rest(x: Value, y: Scalar) -> Value:
    """Return x − ⌊x/y⌋ y for positive numbers with a quotient below 2⁵²: exact, as a multiple of the last digit."""
    rest = fma(-trunc(x / y), y, x)
    return select(rest < 0.0, rest + y, rest)  # the quotient was rounded up


def fmod(x: Value, y: Value) -> tuple[Value, Value]:
    """Return the remainder of x/y with the sign of x, as C's fmod, and inf where the quotient is too large for that."""
    a, b = abs(x), abs(y)
    rest = where_equal(b, INF, select(a < INF, a, a - a), _rest(a, b))
    large = select(a / b < 2.0**52, 0.0, select(a < INF, select(b > 0.0, INF, 0.0), 0.0))
    return copysign(rest, x), large


def long_fmod(x: Value, y: Value) -> Value:
    """Return the remainder by long division, 51 bits of the quotient a step, for finite x and y > 0."""
    (m, e), (divisor, low) = _parts(abs(x)), _parts(abs(y))
    left = e - low
    rest = select(m < divisor, m, m - divisor)
    for _ in range(_STEPS):
        step = select(left > _STEP, _STEP, select(left < 0.0, 0.0, left))
        rest = _rest(rest * pow2(step), divisor)
        left = left - step
    return copysign(scaled(rest, low), x)


def _parts(x: Value) -> tuple[Value, Value]:
    """Return m in [√½, √2) and e with ``x = m·2ᵉ``, also of subnormal numbers."""
    subnormal = x < 2.0**-1022
    normal = select(subnormal, x * 2.0**54, x)
    e = exponent(normal)
    return significand(normal), select(subnormal, e - 54.0, e)
