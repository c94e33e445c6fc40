"""Sine and cosine of an angle, computed together.

With n the nearest whole number to ``x · 2/π``, three fused multiply-adds take ``n·π/2`` off x (Cody and Waite). The
first is exact: both terms are multiples of 2⁻⁵² and the difference is below 2. So r, up to 45°, has two roundings,
whatever cancels. Its sine and cosine are fdlibm's minimax polynomials, turned by n right angles.

The fused operations of the reduction alone must be exact, and are the only ones written `fnma`: where a processor has
none, C takes exact products in their place, and rounds the others twice.

Beyond `LIMIT` only those 265 bits of ``1/2π`` are multiplied by the angle that whole turns do not swallow (Payne and
Hanek). A float64 is never nearer than about 2⁻⁶⁴ turns to a multiple of a right angle, so the error of what is left
out, 2⁻¹⁶⁰ turns, is nothing beside the rest.
"""

from __future__ import annotations

import math

from kinetree.graph.elementary.double import exact_product, exact_sum, quick_sum
from kinetree.graph.elementary.record import (
    Value,
    copysign,
    exponent,
    floor,
    fma,
    fnma,
    polynomial,
    pow2,
    rint,
    select,
    significand,
)

LIMIT = 2.0**30
"""Largest angle for Cody and Waite's reduction, in radians: n·π/2 fits the three constants with room to spare."""

_ROUND = 1.5 * 2.0**52  # a sum with it is whole

_RIGHT_ANGLE = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
"""π/2 is the sum of these, each rounded to float64."""

# fdlibm, k_sin.c and k_cos.c: sin r = r + r³·S(r²), cos r = 1 − r²/2 + r⁴·C(r²)
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip

TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424d"
    "d2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639"
    "835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f46"
    "3f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab",
    16,
)
"""⌊2/π · 2¹²¹⁶⌋."""

_BITS, _LAST = 53, 22  # of a piece, and the number of the last piece that the largest numbers need
_PIECES = (0.0, *((2 * TWO_OVER_PI >> 1219 - _BITS * k) % 2**_BITS * 2.0**-_BITS for k in range(1, _LAST + 2)))
"""``1/2π`` is the sum of ``_PIECES[k + 1] · 2⁻⁵³ᵏ``."""


def sincos(x: Value) -> tuple[Value, Value, Value]:
    """Return the sine and the cosine of an angle in radians."""
    n = fma(x, 2.0 / math.pi, _ROUND) - _ROUND
    r = x
    for part in _RIGHT_ANGLE:
        r = fnma(n, part, r)
    return *_turned(r, n), abs(x) * (708.0 / LIMIT)


def _turned(r: Value, n: Value) -> tuple[Value, Value]:
    """Return the sine and the cosine of r, up to 45°, and n right angles."""
    z = r * r
    sine = fma(z * r, polynomial(z, _SINE), r)
    cosine = fma(z * z, polynomial(z, _COSINE), fma(z, -0.5, 1.0))
    turns = fma(n, 0.25, _ROUND) - _ROUND
    k = fma(turns, -4.0, n)  # -1, 0, 1 or ±2 right angles: c and s are their cosine and sine, to the bit
    c = 1.0 - abs(k)
    s = fma(k, c, k)
    return fma(cosine, s, sine * c), fma(sine, -s, cosine * c)


def far_sincos(x: Value) -> tuple[Value, Value]:
    """Return the sine and the cosine of an angle far from zero; NaN of infinity and NaN."""
    size = abs(x)
    e, m = exponent(size), significand(size)
    first = floor((e + 0.5) * (1.0 / _BITS))
    m = m * pow2(fma(first, -float(_BITS), e))
    products = [exact_product(m * 2.0 ** (_BITS * (1 - k)), piece) for k, piece in enumerate(_window(first))]
    (high, low), (next_high, next_low), (third, third_rest), (fourth, fourth_rest), (fifth, _) = products
    total = (high - rint(high)) + (low - rint(low))  # turns: exact, a multiple of 2⁻⁵³
    rests = []
    for part in (next_high - rint(next_high), next_low, third):
        total, rest = exact_sum(total, part)
        rests.append(rest)
    n = rint(total * 4.0)
    near = fma(n, -0.25, total)  # exact
    rest, small = rests[0], fourth_rest + fifth
    for part in (*rests[1:], third_rest, fourth):
        rest, lost = exact_sum(rest, part)
        small = small + lost
    near, rest = exact_sum(near, rest)
    rest = rest + small
    near, rest = quick_sum(near, rest)
    right, right_rest, _ = (4.0 * part for part in _RIGHT_ANGLE)
    r = fma(near, right, fma(near, right_rest, rest * right))
    sign = copysign(1.0, x)
    return _turned(r * sign + (x - x), n * sign)


def _window(first: Value) -> list[Value]:
    """Return five pieces of ``1/2π`` from this one on: moved by 16, 8, 4, 2 and 1, as its number has them."""
    pieces: list[Value | float] = list(_PIECES)
    for step in (16.0, 8.0, 4.0, 2.0, 1.0):
        far, by = first >= step, int(step)
        kept = range(min(len(pieces), by + 4))
        pieces = [select(far, pieces[k + by], pieces[k]) if k + by < len(pieces) else pieces[k] for k in kept]
        first = select(far, first - step, first)
    return [piece for piece in pieces if isinstance(piece, Value)]
