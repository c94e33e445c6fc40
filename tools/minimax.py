"""Fit the polynomials of the elementary functions, and print their coefficients: ``python tools/minimax.py``.

Remez' algorithm in 50 digits (mpmath): the polynomial of which the weighted error alternates between equal extremes.
The weight makes the error one of the function, relative to its leading term. Coefficients are rounded to float64.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 50

Function = Callable[[mp.mpf], mp.mpf]


def minimax(f: Function, weight: Function, low: float, high: float, degree: int) -> tuple[list[float], float]:
    """Return the coefficients, lowest first, and the binary logarithm of the largest weighted error."""
    n, a, b = degree + 2, mp.mpf(low), mp.mpf(high)
    points = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / n) for k in range(n)]
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * k / (24 * n)) for k in range(24 * n + 1)]
    values = [(x, f(x), weight(x)) for x in grid]
    coefficients: list[mp.mpf] = []
    for _ in range(12):
        A = mp.matrix(n, n)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                A[i, j] = x**j
            A[i, degree + 1] = (-1) ** i / weight(x)
        solution = mp.lu_solve(A, mp.matrix([f(x) for x in points]))
        coefficients = [solution[j] for j in range(degree + 1)]
        errors = [(w * (y - mp.polyval(coefficients[::-1], x)), x) for x, y, w in values]
        runs: list[tuple[mp.mpf, mp.mpf]] = []  # the extreme of every run of errors of one sign
        for error, x in errors:
            if runs and error * runs[-1][0] > 0:
                runs[-1] = max(runs[-1], (error, x), key=lambda run: abs(run[0]))
            else:
                runs.append((error, x))
        while len(runs) > n:
            runs.pop(0 if abs(runs[0][0]) < abs(runs[-1][0]) else -1)
        if len(runs) < n:
            break
        points = [x for _, x in runs]
    worst = max(abs(error) for error, _ in errors)
    return [float(c) for c in coefficients], float(mp.log(worst, 2))


def _near(f: Function, coefficients: Callable[[int], mp.mpf]) -> Function:
    """Return f, by its power series where |x| is small."""
    return lambda x: f(x) if abs(x) > 1e-3 else mp.nsum(lambda k: coefficients(int(k)) * x ** int(k), [0, 16])


def _sqrt_of(f: Function) -> Function:
    return lambda z: f(mp.sqrt(z))


def _asin_term(k: int) -> mp.mpf:
    k += 1
    return mp.binomial(2 * k, k) / (mp.mpf(4) ** k * (2 * k + 1))


_LN2_2 = 0.34658
_ARTANH = _near(_sqrt_of(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), lambda k: mp.mpf(2) / (2 * k + 3))
_ATAN = _near(_sqrt_of(lambda t: (mp.atan(t) - t) / t**3), lambda k: mp.mpf(-1) ** (k + 1) / (2 * k + 3))
_EXP = _near(lambda r: (mp.expm1(r) - r) / r**2, lambda k: 1 / mp.factorial(k + 2))

FITS: dict[str, tuple[Function, Function, float, float, int]] = {
    "EXP: (exp r - 1 - r) / r², |r| <= ln(2)/2, for 1 + r": (
        _EXP, lambda r: r * r + mp.mpf(10) ** -4, -_LN2_2, _LN2_2, 9,
    ),
    "EXPM1: the same for r": (_EXP, lambda r: abs(r) + mp.mpf(10) ** -3, -_LN2_2, _LN2_2, 10),
    "SINH: (sinh r - r) / r³ in z = r², |r| <= ln(2)/2": (
        _near(_sqrt_of(lambda r: (mp.sinh(r) - r) / r**3), lambda k: 1 / mp.factorial(2 * k + 3)),
        lambda z: z + mp.mpf(10) ** -6, 0.0, _LN2_2**2, 4,
    ),
    "COSH: (cosh r - 1) / r² in z": (
        _near(_sqrt_of(lambda r: (mp.cosh(r) - 1) / r**2), lambda k: 1 / mp.factorial(2 * k + 2)),
        lambda z: z + mp.mpf(10) ** -6, 0.0, _LN2_2**2, 4,
    ),
    "LOG: (2 artanh s - 2 s) / s³ in z = s², |s| <= 3 - sqrt(8)": (
        _ARTANH, lambda z: z + mp.mpf(10) ** -8, 0.0, 0.029438, 6,
    ),
    "LOG_NEAR: the same, |s| <= 0.0408": (_ARTANH, lambda z: z + mp.mpf(10) ** -8, 0.0, 0.0408**2, 4),
    "EIGHTHS: 8/m, 1/sqrt(2) <= m <= sqrt(2)": (lambda m: 8 / m, lambda m: mp.mpf(1), 2**-0.5, 2**0.5, 3),
    "ASIN: (arcsin x - x) / x³ in z = x², x <= 1/2": (
        _near(_sqrt_of(lambda x: (mp.asin(x) - x) / x**3), _asin_term),
        lambda z: z + mp.mpf(10) ** -6, 0.0, 0.25, 12,
    ),
    "ATAN: (arctan t - t) / t³ in w = t² - 1/2, t <= 1": (
        lambda w: _ATAN(w + 0.5), lambda w: w + 0.5 + mp.mpf(10) ** -6, -0.5, 0.5, 19,
    ),
    "CBRT: m^(-1/3), 1/sqrt(2) <= m <= sqrt(32)": (
        lambda m: m ** (-mp.mpf(1) / 3), lambda m: m ** (mp.mpf(1) / 3), 2**-0.5, 2**2.5, 5,
    ),
}  # fmt: skip


_CONSTANTS = {"LN2": mp.log(2), "PI/2": mp.pi / 2, "LOG2E": 1 / mp.log(2)}
_CONSTANTS |= {f"-LOG({j}/8)": -mp.log(mp.mpf(j) / 8) for j in range(6, 12)}

if __name__ == "__main__":
    for title, fit in FITS.items():
        coefficients, error = minimax(*fit)
        print(f"# {title}; error 2^{error:.1f}\n    " + ",\n    ".join(map(repr, coefficients)))
    for name, x in _CONSTANTS.items():
        for unit in (mp.mpf(2) ** -53, mp.mpf(2) ** -42):  # all digits, and so few that small multiples are exact
            high = float(x) if unit < 1e-15 else float(mp.nint(x / unit) * unit)
            print(f"# {name} = {high.hex()} + {float(x - high).hex()}")
