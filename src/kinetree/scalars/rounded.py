"""Numbers that know their rounding, so that what is zero but for rounding can be told from what is small."""

from __future__ import annotations

import math
from numbers import Real

from kinetree.scalars.functions import Scalar

UNIT = 2.0**-53
"""The largest relative error of one rounding."""


class Rounded:
    """A number, and how far it is from what exact arithmetic would have given: the standard error.

    Every operation adds one rounding, as independent errors add: the squares. (Bounds that always hold would grow with
    each rotation of a vector, by a factor of up to √3.)
    """

    __slots__ = ("error", "value")
    __array_ufunc__ = None  # NumPy scalars on the left defer to us

    def __init__(self, value: float, error: float) -> None:
        self.value, self.error = value, error

    def __add__(self, b: Scalar) -> Rounded:
        y, error = parts(b)
        return _rounded(self.value + y, self.error, error)

    __radd__ = __add__

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __sub__(self, b: Scalar) -> Rounded:
        return self.__add__(-b)

    def __rsub__(self, b: Scalar) -> Rounded:
        return (-self).__add__(b)

    def __mul__(self, b: Scalar) -> Scalar:
        y, error = parts(b)
        if y == 0 and error == 0:
            return 0.0
        return _rounded(self.value * y, self.value * error, self.error * y)

    __rmul__ = __mul__

    def __truediv__(self, b: Scalar) -> Rounded:
        y, error = parts(b)
        quotient = self.value / y
        return _rounded(quotient, self.error / y, quotient * error / y)

    def __rtruediv__(self, b: Scalar) -> Rounded:
        return Rounded(b, 0.0) / self

    def __pow__(self, n: float) -> Rounded:
        return _rounded(self.value**n, n * self.value ** (n - 1) * self.error)

    def __float__(self) -> float:
        return self.value

    def __abs__(self) -> Rounded:
        return Rounded(abs(self.value), self.error)

    def __lt__(self, b: Scalar) -> bool:
        return self.value < parts(b)[0]

    def __gt__(self, b: Scalar) -> bool:
        return self.value > parts(b)[0]

    def sin(self) -> Rounded:
        """Return the sine."""
        return _rounded(math.sin(self.value), self.error)

    def cos(self) -> Rounded:
        """Return the cosine."""
        return _rounded(math.cos(self.value), self.error)

    def sqrt(self) -> Rounded:
        """Return the square root."""
        return self**0.5

    def __repr__(self) -> str:
        return f"Rounded({self.value}, {self.error})"


def parts(x: Scalar) -> tuple[float, float]:
    """Return the value and the error of a number."""
    return (x.value, x.error) if isinstance(x, Rounded) else (x, 0.0)


def _rounded(value: float, *errors: float) -> Rounded:
    return Rounded(value, math.hypot(UNIT * value, *errors))


def as_rounded(x: Scalar, unknown: float) -> Scalar:
    """Return a number with the rounding that it has had, −1, 0 and 1 as they are; `unknown` for any other scalar."""
    if isinstance(x, Real) and x in (-1, 0, 1):
        return float(x)
    value = float(x) if isinstance(x, Real) else unknown
    return Rounded(value, UNIT * abs(value))
