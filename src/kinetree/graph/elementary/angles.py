"""The numbers that sine and cosine are made of, the same in every backend; `backends.llvm.kernels` has the method."""

from __future__ import annotations

LIMIT = 2.0**30
"""Largest angle for Cody and Waite's reduction, in radians: n·π/2 fits the three constants with room to spare."""

ROUND = 1.5 * 2.0**52  # x + ROUND has rint(x) in its low bits; minus ROUND it is rint(x)

PARTS = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
"""π/2 is the sum of these, each rounded to float64."""

# fdlibm, k_sin.c and k_cos.c: sin r = r + r³·S(r²), cos r = 1 − r²/2 + r⁴·C(r²)
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip

FRACTION_BITS = 1216
TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424d"
    "d2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639"
    "835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f46"
    "3f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab",
    16,
)
"""⌊2/π · 2¹²¹⁶⌋: reduction at the largest exponent needs 971 + 190 bits."""
