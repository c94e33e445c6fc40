"""The natural logarithm, and real powers.

``x = 2ᵏ (1 + f)`` with 1 + f from √½ to √2, and ``log(1 + f) = 2 artanh s`` with ``s = f/(2 + f)``.
"""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, exact_product, exact_sum, quick_sum
from kinetree.graph.elementary.exponential import LN2_REST, exp_of_small, exp_parts, reduced, scaled
from kinetree.graph.elementary.record import (
    INF,
    NAN,
    Scalar,
    Value,
    copysign,
    exponent,
    floor,
    fma,
    polynomial,
    pow2,
    rint,
    select,
    significand,
    where_equal,
)

_LN2, _LN2_REST = float.fromhex("0x1.62e42fefa3800p-1"), float.fromhex("0x1.ef35793c76730p-45")  # k·_LN2 is exact
_STRANGE = 708.5 / 1022.0**2
"""Makes k² more than `RARE_ABOVE` where the exponent k is that of no positive normal number: -1023 or, of the larger
subnormal ones, -1022; 1024 of infinity, and more of NaN and negative numbers."""
_TINY, _MAX = 2.0**-1022, float.fromhex("0x1.fffffffffffffp+1023")

# (2 artanh s − 2 s) / s³ in s², for |s| ≤ 0.1716 to 2⁻⁵⁸ of s, and for |s| ≤ 0.0408 to 2⁻⁶⁹ (tools/minimax.py)
_LOG = (
    0.6666666666666734, 0.3999999999941464, 0.2857142874240605, 0.22222198570483478, 0.1818356450123588,
    0.15314045329474485, 0.14796008220426105,
)  # fmt: skip
_LOG_NEAR = (
    0.6666666666666667, 0.39999999999958513, 0.2857142868611375, 0.2222208389283227, 0.18257521825505513,
)  # fmt: skip

_EIGHTHS = (32.48479725084908, -48.47636168250201, 31.513536812692173, -7.535412873079312)
"""8/m for m from √½ to √2, to 2⁻⁶."""

_LOGS = {
    j: (float.fromhex(high), float.fromhex(low))
    for j, high, low in (
        (11, "-0x1.4618bc21c6000p-2", "0x1.3d82f484c84ccp-46"),
        (10, "-0x1.c8ff7c79aa000p-3", "0x1.7794f689f8434p-45"),
        (9, "-0x1.e27076e2b0000p-4", "0x1.a342c2af0003cp-45"),
        (8, "0x0.0p+0", "0x0.0p+0"),
        (7, "0x1.1178e8227e000p-3", "0x1.1ef78ce2d07f2p-45"),
        (6, "0x1.269621134e000p-2", "-0x1.1b61f10522625p-44"),
    )
}
"""By j, -log(j/8) as a pair; the first parts are multiples of 2⁻⁴²."""


def _log(k: Value, m: Value, rest: Scalar = 0.0) -> Value:
    """Return ``k ln 2 + log(m + rest)``, for m from √½ to √2 and a rest below its last digit."""
    f = m - 1.0
    s, low = f / (f + 2.0), k * _LN2_REST
    z = s * s
    if isinstance(rest, Value):  # times the derivative 1/(1 + f), to 7 %
        low = low + fma(rest, fma(f, f, -f), rest)
    tail = fma(s, fma(z, polynomial(z, _LOG), -f), low)  # log(1 + f) = f − s (f − …), where s f is a quarter or less
    high = fma(k, _LN2, f)
    return high + ((fma(k, _LN2, -high) + f) + tail)


def log(x: Value) -> tuple[Value, Value]:
    """Return the natural logarithm."""
    k = exponent(x)
    return _log(k, significand(x)), (k * _STRANGE) * k


def any_log(x: Value) -> Value:
    """Return the natural logarithm, also of special numbers."""
    k, m = _parts(x)
    y = select(x <= _MAX, _log(k, m), x)  # infinity and NaN
    return select(x <= 0.0, select(x < 0.0, NAN, -INF), y)


def _parts(x: Value) -> tuple[Value, Value]:
    """Return k and m of a positive number, which may be subnormal."""
    subnormal = x < _TINY
    normal = select(subnormal, x * 2.0**54, x)
    k = exponent(normal)
    return select(subnormal, k - 54.0, k), significand(normal)


def log1p(x: Value) -> tuple[Value, Value]:
    """Return log(1 + x), accurate near zero too."""
    total, rest = exact_sum(x, 1.0)
    k = exponent(total)
    y = _log(k, significand(total), rest * pow2(-k))
    return select(abs(x) < 2.0**-54, x, y), (k * _STRANGE) * k


def any_log1p(x: Value) -> Value:
    """Return log(1 + x) of special numbers and of large ones."""
    return any_log(x + 1.0)


def _log_pair(k: Value, m: Value) -> Pair:
    """Return ``k ln 2 + log m`` to about 2⁻⁶⁴, as a pair: that of j/8 with the nearest j, and of 1 + f = m·j/8."""
    j = rint(polynomial(m, _EIGHTHS))
    f = fma(m, j * 0.125, -1.0)  # exact: a multiple of 2⁻⁵⁶ below 2⁻³
    base, base_rest = (_chosen(j, part) for part in (0, 1))
    below = 2.0 + f
    below_rest = (2.0 - below) + f
    inverse = 1.0 / below
    s = f * inverse
    rest = fma(-s, below_rest, fma(-s, below, f)) * (inverse * 2.0)
    z = s * s
    tail = fma(s * z, polynomial(z, _LOG_NEAR), fma(rest, z, rest))
    high, low = quick_sum(fma(k, _LN2, base), s * 2.0)  # the first term is exact
    return quick_sum(high, low + (fma(k, _LN2_REST, base_rest) + tail))


def _chosen(j: Value, part: int) -> Value:
    """Return this part of the logarithm for j."""
    (_, first), *others = _LOGS.items()
    chosen: Scalar = first[part]
    for i, pair in others:
        chosen = select(j < i + 0.5, pair[part], chosen)
    assert isinstance(chosen, Value)
    return chosen


def _exponent(log: Pair, y: Value) -> Pair:
    """Return y times a logarithm, as a pair."""
    product, error = exact_product(log[0], y)
    return product, fma(log[1], y, error)


def power(x: Value, y: Value) -> tuple[Value, Value]:
    """Return x to the power of y, for positive x."""
    k = exponent(x)
    product, rest = _exponent(_log_pair(k, significand(x)), y)
    n, near = reduced(product)
    r = near + fma(-n, LN2_REST, rest)
    return exp_of_small(r) * pow2(n), fma(k * _STRANGE, k, abs(product))


def any_power(x: Value, y: Value) -> Value:
    """Return x to the power of y, as C's pow: 1 where y is 0 or x is 1; NaN for x < 0 unless y is a whole number."""
    size = abs(x)
    high, low = _log_pair(*_parts(size))
    high = select(size <= 0.0, -INF, select(size <= _MAX, high, size))
    product, rest = _exponent((high, low), y)
    rest = select(abs(product) < 800.0, rest, 0.0)
    product = select(product < -800.0, -800.0, select(product > 800.0, 800.0, product))
    n, z = exp_parts(product, rest)
    result = where_equal(size, 1.0, 1.0, scaled(z, n))
    half = y * 0.5
    even = where_equal(floor(half), half, result, -result)
    not_whole = select(size <= _MAX, select(size > 0.0, NAN, result), result)
    result = select(copysign(1.0, x) < 0.0, where_equal(floor(y), y, even, not_whole), result)
    result = select(size <= INF, select(abs(y) <= INF, result, y), x)
    return where_equal(y, 0.0, 1.0, where_equal(x, 1.0, 1.0, result))
