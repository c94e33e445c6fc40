"""The exponential function and the hyperbolic ones.

``x = n ln 2 + r`` with ``|r| ≤ ln 2 / 2``, and ``exp r − 1`` as r and a small rest, a polynomial that needs few digits.
Where r is not exact, or where terms cancel, the sum of the largest ones is a pair of numbers: only the last addition
rounds to the last place.
"""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, quick_sum
from kinetree.graph.elementary.record import Scalar, Value, copysign, fma, polynomial, pow2, rint, select

LOG2E = float.fromhex("0x1.71547652b82fep+0")
LN2, LN2_REST = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")
_ROUND = 1.5 * 2.0**52  # a sum with it is whole

# (exp r − 1 − r) / r² to 2⁻⁵⁸ of 1 and to 2⁻⁶¹ of r, and in r² (sinh r − r) / r³ to 2⁻⁶¹ of r and (cosh r − 1) / r² to
# 2⁻⁵⁸ of 1 (tools/minimax.py)
_EXP = (
    0.5000000000000012, 0.166666666666667, 0.041666666666516194, 0.008333333333307252, 0.0013888888946836343,
    0.00019841269917303788, 2.4801490111176566e-05, 2.755721635247067e-06, 2.76312244252305e-07,
    2.511785021161301e-08,
)  # fmt: skip
_EXPM1 = (
    0.5, 0.16666666666666677, 0.0416666666666667, 0.008333333333321655, 0.001388888888886679, 0.0001984126988606414,
    2.4801587360617593e-05, 2.7557244273038484e-06, 2.755724271807559e-07, 2.5109014099986573e-08,
    2.092445492415878e-09,
)  # fmt: skip
_SINH = (
    0.16666666666666677, 0.008333333333321626, 0.00019841269886134604, 2.7557244207429667e-06,
    2.5109035510329937e-08,
)  # fmt: skip
_COSH = (
    0.5000000000000013, 0.04166666666651441, 0.0013888888947227885, 2.480148975825391e-05, 2.7631336812979753e-07,
)  # fmt: skip


def limited(x: Value, low: float, high: float) -> Value:
    """Return x within the bounds; NaN as it is."""
    return select(x > high, high, select(x < low, low, x))


def reduced(x: Value) -> tuple[Value, Value]:
    """Return n and ``x − n ln 2`` but for the rest of ln 2, for |x| < 1100."""
    n = fma(x, LOG2E, _ROUND) - _ROUND
    return n, fma(-n, LN2, x)  # exact: a multiple of 2⁻⁵⁴, and below 1/2


def reduced_pair(x: Value) -> tuple[Value, Pair]:
    """Return n and ``x − n ln 2`` as a pair."""
    n, near = reduced(x)
    r = fma(-n, LN2_REST, near)
    return n, (r, fma(-n, LN2_REST, near - r))


def scaled(y: Value, n: Value) -> Value:
    """Return y·2ⁿ for |y| about 1 and |n| ≤ 2000, rounded once."""
    half = rint(n * 0.5)
    return (y * pow2(half)) * pow2(n - half)


def exp_parts(x: Value, rest: Scalar) -> tuple[Value, Value]:
    """Return n and ``exp(x + rest)·2⁻ⁿ``, for |x| < 1100."""
    n, near = reduced(x)
    r, r_rest = quick_sum(near, fma(-n, LN2_REST, rest))
    high = 1.0 + r
    return n, high + (((1.0 - high) + r) + fma(r * r, polynomial(r, _EXP), fma(r_rest, r, r_rest)))


def exp_of_small(r: Value) -> Value:
    """Return e to the power of r, for |r| up to ln 2 / 2."""
    return fma(r, fma(r, polynomial(r, _EXP), 1.0), 1.0)


def exp(x: Value) -> tuple[Value, Value]:
    """Return e to the power of x."""
    n, near = reduced(x)
    return exp_of_small(fma(-n, LN2_REST, near)) * pow2(n), abs(x)


def any_exp(x: Value) -> Value:
    """Return e to the power of x, also where that is subnormal, infinite or NaN."""
    n, y = exp_parts(limited(x, -746.0, 710.0), 0.0)
    return scaled(y, n)


def expm1(x: Value) -> tuple[Value, Value]:
    """Return eˣ − 1, accurate near zero too: with s = 2ⁿ as ``s − 1 + s r`` and the rest."""
    n, (r, r_rest) = reduced_pair(x)
    s, square = pow2(n), r * r
    less = s - 1.0
    high, low = _plus_product(less, s, r)
    rest = fma(fma(r, r, -square), 0.5, fma(r_rest, r, r_rest))
    rest = fma(s, rest, low + ((s - less) - 1.0))
    y = high + fma(s * square, polynomial(r, _EXPM1), rest)
    return select(abs(x) < 2.0**-54, x, y), abs(x)


def far_expm1(x: Value) -> Value:
    """Return eˣ − 1 far from zero."""
    return any_exp(x) - 1.0


def _plus_product(a: Value, b: Value, c: Value) -> Pair:
    """Return a + b·c and its rounding error, for |a| ≥ |b·c| or a = 0 and an exact product."""
    high = fma(b, c, a)
    return high, fma(b, c, a - high)


def _hyperbolic(x: Value) -> tuple[Value, Value, Pair, Value, Value]:
    """Return a and b, a sum and a difference, ``sinh r`` as a pair, and ``cosh r − 1``, of ``x = n ln 2 + r`` ≥ 0.

    ``2 cosh x = a cosh r + b sinh r`` and ``2 sinh x = a sinh r + b cosh r``, with ``a, b = 2ⁿ ± 2⁻ⁿ``. Last comes what
    a lacks and b has too much, times e⁻ʳ.
    """
    n, (r, r_rest) = reduced_pair(x)
    z, s, inverse = r * r, pow2(n), pow2(-n)
    a = s + inverse
    lost = (s - a) + inverse
    rest = fma(r * z, polynomial(z, _SINH), r_rest)
    return a, s - inverse, (r, rest), z * polynomial(z, _COSH), fma(-r, lost, lost)


def sinh(x: Value) -> tuple[Value, Value]:
    """Return (eˣ − e⁻ˣ)/2."""
    size = abs(x)
    a, b, (r, rest), c, lost = _hyperbolic(size)
    high, low = _plus_product(b, a, r)
    return copysign((high + (low + fma(a, rest, fma(b, c, -lost)))) * 0.5, x), size


def cosh(x: Value) -> tuple[Value, Value]:
    """Return (eˣ + e⁻ˣ)/2."""
    size = abs(x)
    a, b, (r, rest), c, lost = _hyperbolic(size)
    high, low = _plus_product(a, b, r)
    return (high + (low + fma(b, rest, fma(a, c, lost)))) * 0.5, size


def far_cosh(x: Value) -> Value:
    """Return (eˣ + e⁻ˣ)/2 far from zero, which is half the larger term."""
    n, y = exp_parts(limited(abs(x), 0.0, 711.0), 0.0)
    return scaled(y, n - 1.0)


def far_sinh(x: Value) -> Value:
    """Return (eˣ − e⁻ˣ)/2 far from zero."""
    return copysign(far_cosh(x), x)


def tanh(x: Value) -> Value:
    """Return sinh x / cosh x, as (E − 1)/(E + 1) with E = exp 2|x|."""
    size = abs(x)
    n, (r, r_rest) = reduced_pair(select(size > 20.0, 20.0, size) * 2.0)
    s, one_and_r = pow2(n), 1.0 + r
    rest = fma(r * r, polynomial(r, _EXPM1), ((1.0 - one_and_r) + r) + r_rest)
    above, below = fma(s, one_and_r, -1.0), fma(s, one_and_r, 1.0)
    above_rest, below_rest = (
        fma(s, rest, fma(s, one_and_r, -total) + one) for total, one in ((above, -1.0), (below, 1.0))
    )
    inverse = 1.0 / (below + below_rest)
    y = (above + above_rest) * inverse
    left = fma(-y, below, above) + fma(-y, below_rest, above_rest)
    return select(size < 2.0**-28, x, copysign(fma(left, inverse, y), x))
