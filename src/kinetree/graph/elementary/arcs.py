"""The inverse functions of sine, cosine and tangent."""

from __future__ import annotations

from kinetree.graph.elementary.double import Pair, quick_sum
from kinetree.graph.elementary.record import INF, Test, Value, copysign, fma, polynomial, select, sqrt, where_equal

_PI_2 = float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54")

# (arcsin x − x) / x³ in x² for x ≤ 1/2 to 2⁻⁵⁹, and (arctan t − t) / t³ in t² − 1/2 for t ≤ 1 to 2⁻⁵⁷
# (tools/minimax.py)
_ASIN = (
    0.16666666666666763, 0.07499999999970282, 0.044642857175104675, 0.030381942684305944, 0.022372215642749323,
    0.01735160037988044, 0.013980958275485313, 0.011397800014508252, 0.010786403988328351, 0.003683482354281581,
    0.021762497002824236, -0.021075961945489007, 0.03267610747620181,
)  # fmt: skip
_ATAN = (
    -0.2591604972657936, 0.11081482513071447, -0.054814840604566296, 0.029135862645127186, -0.016172974901809318,
    0.009243096232492358, -0.005394792656981648, 0.003199174877157719, -0.0019209407426320256,
    0.0011650712752680893, -0.0007125067405515964, 0.0004386958333488959, -0.00027156255204825974,
    0.00016948260999163632, -0.00010713954810434103, 6.55773943971151e-05, -3.682148269733013e-05,
    2.697820755994137e-05, -2.664864200584286e-05, 1.3488939613588194e-05,
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


def _angle(near: Value, far: Value, base: Pair, sign: Value) -> Value:
    """Return an angle plus or minus the one whose tangent is near/far ≤ 1."""
    inverse = 1.0 / far
    t = near * inverse
    rest = fma(-t, far, near) * inverse
    z = t * t
    rest = fma(base[1], sign, fma(rest, z * -0.5, rest))  # the derivative 1/(1 + z), nearly
    high, low = quick_sum(base[0], t * sign)
    return high + fma(fma(t * z, polynomial(z - 0.5, _ATAN), rest), sign, low)


def arctan(x: Value) -> Value:
    """Return the angle from −π/2 to π/2 of this tangent."""
    size = abs(x)
    one = Value(x.graph, x.graph.const(1.0))
    steep = size > 1.0
    far = select(steep, select(size > 2.0**100, 2.0**100, size), one)
    base = select(steep, _PI_2[0], 0.0), select(steep, _PI_2[1], 0.0)
    angle = _angle(select(steep, one, size), far, base, select(steep, -1.0, 1.0))
    return copysign(select(size < 2.0**-28, size, angle), x)


def arctan2(y: Value, x: Value) -> tuple[Value, Value]:
    """Return the angle of the point (x, y) from −π to π, with the signs of zeros as C's atan2."""
    size_x, size_y = abs(x), abs(y)
    steep = size_x < size_y
    near, far = select(steep, size_x, size_y), select(steep, size_y, size_x)
    tiny = select(near < 2.0**-500, near, 0.0)
    special = select(tiny > 0.0, INF, select(far < 2.0**-500, INF, far * 2.0**-491))
    return _of_point(x, y, steep, near, far), special


def _of_point(x: Value, y: Value, steep: Test, near: Value, far: Value) -> Value:
    behind = copysign(1.0, x) < 0.0
    base, rest = (select(steep, part, select(behind, part * 2.0, 0.0)) for part in _PI_2)
    towards = select(behind, -1.0, 1.0)
    return copysign(_angle(near, far, (base, rest), select(steep, -towards, towards)), y)


def any_arctan2(y: Value, x: Value) -> Value:
    """Return the angle of the point (x, y), whatever the sizes are."""
    size_x, size_y = abs(x), abs(y)
    steep = size_x < size_y
    near, far = select(steep, size_x, size_y), select(steep, size_y, size_x)
    near = where_equal(far, INF, where_equal(near, INF, 1.0, 0.0), near)
    far = where_equal(far, INF, 1.0, far)
    scale = select(far > 2.0**900, 2.0**-110, select(far < 2.0**-900, 2.0**110, 1.0))
    near, far = near * scale, where_equal(far, 0.0, 1.0, far * scale)
    # a quotient near underflow keeps its rest if it is scaled; beside a multiple of 90° it is nothing in any scale
    tiny = near < far * 2.0**-300
    angle = _of_point(x, y, steep, near * select(tiny, 2.0**200, 1.0), far)
    first = select(steep, 1.0, select(copysign(1.0, x) < 0.0, 1.0, 0.0))
    angle = angle * select(tiny, select(first <= 0.0, 2.0**-200, 1.0), 1.0)
    return select(size_x <= INF, select(size_y <= INF, angle, y), x)
