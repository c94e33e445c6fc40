"""The exponential function and the hyperbolic ones.

``x = n ln 2 + r`` with ``|r| ≤ ln 2 / 2``, and ``exp r − 1`` as a pair of numbers: its largest term r is known with its
rounding error, so the rest, a polynomial, needs few digits. Only the last addition rounds to the last place.
"""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, exact_sum, quick_sum, quotient
from kinetree.graph.elementary.record import Scalar, Value, copysign, fma, polynomial, pow2, rint, select

LOG2E = float.fromhex("0x1.71547652b82fep+0")
LN2, LN2_REST = float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")

# (exp r − 1 − r − r²/2) / r³ to 2⁻⁶² of r (tools/minimax.py)
_EXPM1 = (
    0.16666666666666677, 0.04166666666666669, 0.008333333333321695, 0.001388888888887013, 0.00019841269885989145,
    2.4801587356130138e-05, 2.7557244330574633e-06, 2.7557245564218627e-07, 2.510899873160314e-08,
    2.092376450100822e-09,
)  # fmt: skip


def limited(x: Value, low: float, high: float) -> Value:
    """Return x within the bounds; NaN as it is."""
    return select(x > high, high, select(x < low, low, x))


def reduced(x: Value, rest: Scalar = 0.0) -> tuple[Value, Pair]:
    """Return n and ``exp(r) − 1`` of ``x + rest = n ln 2 + r``, for |x| < 1100."""
    n = rint(x * LOG2E)
    near = fma(-n, LN2, x)  # exact: a multiple of 2⁻⁵⁴, and below 1/2
    r, r_rest = quick_sum(near, fma(-n, LN2_REST, rest))
    high, low = quick_sum(r, (r * r) * fma(r, polynomial(r, _EXPM1), 0.5))
    return n, (high, low + fma(r_rest, r, r_rest))


def scaled(y: Value, n: Value) -> Value:
    """Return y·2ⁿ for |y| about 1 and |n| ≤ 2000, rounded once."""
    half = rint(n * 0.5)
    return (y * pow2(half)) * pow2(n - half)


def exp_of(x: Value, rest: Scalar = 0.0) -> Value:
    """Return exp(x + rest), for |x| < 1100."""
    n, (t, low) = reduced(x, rest)
    one = Value(x.graph, x.graph.const(1.0))
    high, error = quick_sum(one, t)
    return scaled(high + (error + low), n)


def exp(x: Value) -> Value:
    """Return e to the power of x."""
    return exp_of(limited(x, -746.0, 710.0))


def _quarter(x: Value) -> Pair:
    """Return (eˣ − 1)/4 as a pair, for x from −100 to 710.7: a quarter does not overflow where sinh and cosh do not."""
    n, (t, low) = reduced(x)
    s = pow2(n - 2.0)
    whole, lost = exact_sum(s, -0.25)
    high, error = exact_sum(whole, s * t)
    return quick_sum(high, fma(s, low, error + lost))


def expm1(x: Value) -> Value:
    """Return eˣ − 1, accurate near zero too."""
    high, low = _quarter(limited(x, -100.0, 710.0))
    return select(abs(x) < 2.0**-54, x, (high + low) * 4.0)


def sinh(x: Value) -> Value:
    """Return (eˣ − e⁻ˣ)/2, as (E + E/(E + 1))/2 with E = exp |x| − 1."""
    size = abs(x)
    e = _quarter(limited(size, 0.0, 710.6))
    below = e[0] < 2.0**60
    small = select(below, e[0], 2.0**60), select(below, e[1], 0.0)  # above, the quotient is 1
    high, low = exact_sum(small[0] * 4.0, 1.0)
    fraction = quotient(small, (high, low + small[1] * 4.0))
    total, error = quick_sum(e[0], fraction[0])
    half = total + (error + (e[1] + fraction[1]))
    return select(size < 2.0**-28, x, copysign(half * 2.0, x))


def cosh(x: Value) -> Value:
    """Return (eˣ + e⁻ˣ)/2."""
    n, (t, low) = reduced(limited(abs(x), 0.0, 710.6))
    s = pow2(n - 2.0)
    high, error = exact_sum(s, s * t)  # a quarter of exp |x|
    rest = fma(s, low, error)
    sixteen = limited(high, 0.0, 2.0**900) * 16.0
    inverse = 1.0 / sixteen
    inverse_rest = inverse * (fma(-inverse, sixteen, 1.0) - inverse * (rest * 16.0))
    total, error = quick_sum(high, inverse)
    return (total + (error + (rest + inverse_rest))) * 2.0


def tanh(x: Value) -> Value:
    """Return sinh x / cosh x, as E/(E + 2) with E = exp 2|x| − 1."""
    size = abs(x)
    e = _quarter(limited(size, 0.0, 25.0) * 2.0)
    high, low = exact_sum(e[0], 0.5)
    result, rest = quotient(e, (high, low + e[1]))
    return select(size < 2.0**-28, x, copysign(result + rest, x))
