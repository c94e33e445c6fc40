"""The inverse functions of sine, cosine and tangent."""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, exact_sum, quick_sum, quotient
from kinetree.graph.elementary.record import INF, Value, copysign, fma, polynomial, select, sqrt, where_equal

_PI_2 = float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54")
_PI_4 = float.fromhex("0x1.921fb54442800p-1"), float.fromhex("0x1.4611a62633146p-43")  # whole multiples are exact
_TAN_22_5 = 0.41421356237309503

# (arcsin x − x) / x³ in x² for x ≤ 1/2 and (arctan t − t) / t³ in t² for t ≤ tan 22.5°, to 2⁻⁵⁹ (tools/minimax.py)
_ASIN = (
    0.16666666666666763, 0.07499999999970282, 0.044642857175104675, 0.030381942684305944, 0.022372215642749323,
    0.01735160037988044, 0.013980958275485313, 0.011397800014508252, 0.010786403988328351, 0.003683482354281581,
    0.021762497002824236, -0.021075961945489007, 0.03267610747620181,
)  # fmt: skip
_ATAN = (
    -0.333333333333332, 0.1999999999995407, -0.1428571428024721, 0.11111110786067423, -0.09090897834317048,
    0.07692061597737244, -0.06663119921947874, 0.05848005456507348, -0.050398294820180926, 0.03807790235666999,
    -0.01792180820164449,
)  # fmt: skip


def _half_angle(size: Value) -> Pair:
    """Return arcsin s as a pair, where s is |x| up to 1/2 and ``√((1 − |x|)/2)`` above; NaN for |x| > 1."""
    large = size > 0.5
    half = (1.0 - size) * 0.5
    root = sqrt(half)
    s = select(large, root, size)
    rest = select(large, fma(-root, root, half) / (root * 2.0 + 2.0**-1000), 0.0)
    z = select(large, half, size * size)
    return s, fma(s * z, polynomial(z, _ASIN), rest)


def arcsin(x: Value) -> Value:
    """Return the angle from −π/2 to π/2 of this sine; beyond 45° or so from the cosine of its complement's half."""
    size = abs(x)
    s, rest = _half_angle(size)
    high, low = quick_sum(Value(x.graph, x.graph.const(_PI_2[0])), s * -2.0)
    complement = high + (low + fma(rest, -2.0, _PI_2[1]))
    return copysign(select(size > 0.5, complement, s + rest), x)


def arccos(x: Value) -> Value:
    """Return the angle from 0 to π of this cosine."""
    size = abs(x)
    s, rest = _half_angle(size)
    negative = copysign(1.0, x) < 0.0
    double, double_rest = s * 2.0, rest * 2.0
    high, low = quick_sum(Value(x.graph, x.graph.const(_PI_2[0] * 2.0)), -double)
    obtuse = high + (low + (_PI_2[1] * 2.0 - double_rest))
    signed, signed_rest = copysign(s, x), select(negative, -rest, rest)
    high, low = quick_sum(Value(x.graph, x.graph.const(_PI_2[0])), -signed)
    middle = high + (low + (_PI_2[1] - signed_rest))
    return select(size > 0.5, select(negative, obtuse, double + double_rest), middle)


def _angle(near: Value, far: Value, steep: Value, behind: Value) -> Value:
    """Return the angle whose tangent is near/far ≤ 1; from 90° downwards if steep is 1, from 180° if behind is.

    Above 22.5° it is measured from 45°, so that the angle is a multiple of 45° plus or minus a small one.
    """
    turned = far * _TAN_22_5 < near
    over, over_rest = exact_sum(near, -far)
    under, under_rest = exact_sum(near, far)
    tangent, rest = quotient(
        (select(turned, over, near), select(turned, over_rest, 0.0)),
        (select(turned, under, far), select(turned, under_rest, 0.0)),
    )
    z = tangent * tangent
    rest = fma(tangent * z, polynomial(z, _ATAN), rest)
    first = select(turned, Value(near.graph, near.graph.const(1.0)), 0.0)
    count = fma(steep, 2.0 - first * 2.0, first)  # of 45°
    count = fma(behind, 4.0 - count * 2.0, count)
    sign = (1.0 - steep * 2.0) * (1.0 - behind * 2.0)
    high, low = quick_sum(count * _PI_4[0], tangent * sign)
    return high + (low + fma(count, _PI_4[1], rest * sign))


def arctan(x: Value) -> Value:
    """Return the angle from −π/2 to π/2 of this tangent."""
    size = abs(x)
    one = Value(x.graph, x.graph.const(1.0))
    steep = size > 1.0
    size = select(size > 2.0**100, 2.0**100, size)
    angle = _angle(select(steep, one, size), select(steep, size, one), select(steep, one, 0.0), one * 0.0)
    return copysign(select(abs(x) < 2.0**-28, abs(x), angle), x)


def arctan2(y: Value, x: Value) -> Value:
    """Return the angle of the point (x, y) from −π to π, with the signs of zeros as C's atan2."""
    size_x, size_y = abs(x), abs(y)
    steep = size_x < size_y
    near, far = select(steep, size_x, size_y), select(steep, size_y, size_x)
    near = where_equal(far, INF, where_equal(near, INF, 1.0, 0.0), near)
    far = where_equal(far, INF, 1.0, far)
    scale = select(far > 2.0**900, 2.0**-110, select(far < 2.0**-900, 2.0**110, 1.0))
    near, far = near * scale, where_equal(far, 0.0, 1.0, far * scale)
    one = Value(x.graph, x.graph.const(1.0))
    first, second = select(steep, one, 0.0), select(copysign(one, x) < 0.0, one, 0.0)
    # a quotient near underflow keeps its rest if it is scaled; beside a multiple of 90° it is nothing in any scale
    tiny = near < far * 2.0**-300
    angle = _angle(near * select(tiny, 2.0**200, one), far, first, second)
    angle = angle * select(tiny, select(first + second <= 0.0, 2.0**-200, one), 1.0)
    return copysign(select(size_y <= INF, angle, y), y)
