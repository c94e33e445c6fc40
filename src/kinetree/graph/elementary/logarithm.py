"""The natural logarithm, and real powers.

``x = 2ᵏ (1 + f)`` with 1 + f from √½ to √2, and ``log(1 + f) = 2 artanh s`` with ``s = f/(2 + f)``, which is a pair of
numbers: as a pair with the terms of k ln 2 and 2 s, only the last addition rounds to the last place.
"""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, exact_product, exact_sum, quick_sum, quotient, times
from kinetree.graph.elementary.exponential import exp_of
from kinetree.graph.elementary.record import (
    INF,
    NAN,
    Value,
    copysign,
    exponent,
    floor,
    fma,
    polynomial,
    pow2,
    select,
    significand,
    where_equal,
)

_LN2, _LN2_REST = float.fromhex("0x1.62e42fefa3800p-1"), float.fromhex("0x1.ef35793c76730p-45")  # k·_LN2 is exact
_TINY, _MAX = 2.0**-1022, float.fromhex("0x1.fffffffffffffp+1023")

# (2 artanh s − 2 s) / s³ in s² to 2⁻⁵⁸, and what it has above 2/3 divided by s² to 2⁻⁷² (tools/minimax.py)
_LOG = (
    0.6666666666666734, 0.3999999999941464, 0.2857142874240605, 0.22222198570483478, 0.1818356450123588,
    0.15314045329474485, 0.14796008220426105,
)  # fmt: skip
_LOG_REST = (
    0.3999999999999998, 0.285714285714451, 0.22222222217538717, 0.1818181887004559, 0.1538455688898501,
    0.13336316737423953, 0.1167483219097432, 0.11988900096824187,
)  # fmt: skip
_TWO_THIRDS = float.fromhex("0x1.5555555555555p-1"), float.fromhex("0x1.5555555555555p-55")


def _split(x: Value) -> tuple[Value, Value, Value]:
    """Return k, the factor 2⁻ᵏ (for k ≤ 1000) and ``x·2⁻ᵏ`` from √½ to √2, for positive normal x."""
    k, m = exponent(x), significand(x)
    large = m > 1.4142135623730951
    k = select(large, k + 1.0, k)
    return k, pow2(-select(k > 1000.0, 1000.0, k)), select(large, m * 0.5, m)


def _artanh_argument(f: Pair) -> Pair:
    """Return ``s = f/(2 + f)`` as a pair."""
    two = Value(f[0].graph, f[0].graph.const(2.0))
    high, low = quick_sum(two, f[0])
    return quotient(f, (high, low + f[1]))


def _log(k: Value, f: Pair) -> Value:
    """Return ``k ln 2 + log(1 + f)``."""
    s, s_rest = _artanh_argument(f)
    z = s * s
    tail = fma((s * z), polynomial(z, _LOG), fma(k, _LN2_REST, s_rest * 2.0))
    high, low = quick_sum(k * _LN2, s * 2.0)
    return high + (low + tail)


def log(x: Value) -> Value:
    """Return the natural logarithm."""
    subnormal = x < _TINY
    k, _, m = _split(select(subnormal, x * 2.0**54, x))
    y = _log(select(subnormal, k - 54.0, k), (m - 1.0, Value(x.graph, x.graph.const(0.0))))
    y = select(x <= _MAX, y, x)  # infinity and NaN
    return select(x <= 0.0, select(x < 0.0, NAN, -INF), y)


def log1p(x: Value) -> Value:
    """Return log(1 + x), accurate near zero too."""
    total, rest = exact_sum(x, 1.0)
    k, factor, m = _split(total)
    y = _log(k, quick_sum(m - 1.0, rest * factor))
    y = select(x <= _MAX, y, x)
    y = select(x <= -1.0, select(x < -1.0, NAN, -INF), y)
    return select(abs(x) < 2.0**-54, x, y)


def _log_pair(x: Value) -> Pair:
    """Return the logarithm of x ≥ 0 to about 2⁻⁶⁶, as a pair; of NaN, NaN."""
    subnormal = x < _TINY
    k, _, m = _split(select(subnormal, x * 2.0**54, x))
    k = select(subnormal, k - 54.0, k)
    s = _artanh_argument((m - 1.0, Value(x.graph, x.graph.const(0.0))))
    z = times(s, s)
    rest = z[0] * polynomial(z[0], _LOG_REST)
    high, low = quick_sum(Value(x.graph, x.graph.const(_TWO_THIRDS[0])), rest)
    cube = times(times(s, z), (high, low + _TWO_THIRDS[1]))
    double = quick_sum(s[0] * 2.0, cube[0])
    high, low = exact_sum(k * _LN2, double[0])
    low = low + (fma(s[1], 2.0, cube[1]) + double[1]) + k * _LN2_REST
    high, low = quick_sum(high, low)
    high = select(x <= 0.0, -INF, select(x <= _MAX, high, x))
    return high, low


def power(x: Value, y: Value) -> Value:
    """Return x to the power of y, as C's pow: 1 where y is 0 or x is 1; NaN for x < 0 unless y is a whole number."""
    size = abs(x)
    high, low = _log_pair(size)
    product, error = exact_product(high, y)
    inside = abs(product) < 800.0
    rest = select(inside, fma(low, y, error), 0.0)
    product = select(product < -800.0, -800.0, select(product > 800.0, 800.0, product))
    result = where_equal(size, 1.0, 1.0, exp_of(product, rest))
    half = y * 0.5
    even = where_equal(floor(half), half, result, -result)
    not_whole = select(size <= _MAX, select(size > 0.0, NAN, result), result)
    result = select(copysign(1.0, x) < 0.0, where_equal(floor(y), y, even, not_whole), result)
    result = select(size <= INF, select(abs(y) <= INF, result, y), x)
    return where_equal(y, 0.0, 1.0, where_equal(x, 1.0, 1.0, result))
