"""The cube root, the length of the hypotenuse, and the remainder of a division, exact whatever the quotient is."""

from __future__ import annotations

from kinetree.graph.elementary.double import exact_product, exact_sum
from kinetree.graph.elementary.exponential import scaled
from kinetree.graph.elementary.record import (
    INF,
    Scalar,
    Value,
    copysign,
    exponent,
    floor,
    fma,
    polynomial,
    pow2,
    select,
    significand,
    sqrt,
    trunc,
    where_equal,
)

# m^(−1/3) for √½ ≤ m ≤ √32, to 2⁻⁸ (tools/minimax.py)
_CBRT = (
    1.599388862445931, -0.9471390169007692, 0.457557415700739, -0.12257589753263666, 0.01659345516751289,
    -0.0008850819571496273,
)  # fmt: skip


def cbrt(x: Value) -> Value:
    """Return the cube root: of m from √½ to √32, times a power of two; the inverse root by two steps of third order."""
    size = abs(x)
    subnormal = size < 2.0**-1022
    normal = select(subnormal, size * 2.0**54, size)
    n = exponent(normal)
    third = floor((n + 0.5) * (1.0 / 3.0))
    m = significand(normal) * pow2(fma(third, -3.0, n))
    r = polynomial(m, _CBRT)
    for _ in range(2):
        h = fma(-(m * r), r * r, 1.0)
        r = fma(r * h, fma(h, 2.0 / 9.0, 1.0 / 3.0), r)
    c = (m * r) * r
    square, error = exact_product(c, c)
    root = fma(fma(-square, c, m) - error * c, (r * r) * (1.0 / 3.0), c)
    root = root * pow2(select(subnormal, third - 18.0, third))
    return select(size > 0.0, select(size < INF, copysign(root, x), x), x)


def hypot(x: Value, y: Value) -> Value:
    """Return √(x² + y²), without overflow or underflow on the way; infinite if one is, even beside NaN."""
    size_x, size_y = abs(x), abs(y)
    steep = size_x < size_y
    near, far = select(steep, size_x, size_y), select(steep, size_y, size_x)
    large, small = far > 2.0**500, far < 2.0**-450
    scale = select(large, 2.0**-600, select(small, 2.0**600, 1.0))
    back = select(large, 2.0**600, select(small, 2.0**-600, 1.0))
    a, a_rest = exact_product(far * scale, far * scale)
    b, b_rest = exact_product(near * scale, near * scale)
    total, error = exact_sum(a, b)
    root = sqrt(total)
    rest = fma(-root, root, total) + (error + (a_rest + b_rest))
    root = root + rest / (root * 2.0 + 2.0**-1000)
    finite = root * back
    return where_equal(size_x, INF, INF, where_equal(size_y, INF, INF, finite))


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
