"""The cube root, and the length of the hypotenuse."""

from __future__ import annotations

from kinetree.graph.elementary.record import (
    INF,
    Value,
    copysign,
    exact_product,
    exact_sum,
    exponent,
    floor,
    fma,
    polynomial,
    pow2,
    select,
    significand,
    sqrt,
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
