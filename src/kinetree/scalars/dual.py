"""Dual numbers: a value with its rate, so that any formula written over any scalar is differentiated exactly."""

from __future__ import annotations

from numbers import Real
from typing import Any

from kinetree.derivatives import PARTIALS
from kinetree.scalars import functions
from kinetree.scalars.functions import Scalar, apply, select, sqrt


class Dual:
    """A scalar that is changing: its value, and its rate; both of any scalar type.

    Examples
    --------
    >>> x = Dual(3.0, 1.0)
    >>> (x * x + 9.0 / x).rate
    5.0
    """

    __slots__ = ("rate", "value")
    __array_ufunc__ = None  # NumPy scalars and arrays on the left defer to us

    def __init__(self, value: Scalar, rate: Scalar) -> None:
        self.value, self.rate = value, rate

    def __add__(self, b: Scalar) -> Dual:
        return Dual(self.value + value_of(b), self.rate + rate_of(b))

    __radd__ = __add__

    def __sub__(self, b: Scalar) -> Dual:
        return Dual(self.value - value_of(b), self.rate - rate_of(b))

    def __rsub__(self, b: Scalar) -> Dual:
        return Dual(b - self.value, -self.rate)

    def __mul__(self, b: Scalar) -> Dual:
        return Dual(self.value * value_of(b), self.rate * value_of(b) + self.value * rate_of(b))

    __rmul__ = __mul__

    def __truediv__(self, b: Scalar) -> Dual:
        quotient = self.value / value_of(b)
        return Dual(quotient, (self.rate - quotient * rate_of(b)) / value_of(b))

    def __rtruediv__(self, b: Scalar) -> Dual:
        return Dual(b, 0.0) / self

    def __pow__(self, n: Scalar) -> Dual:
        if isinstance(n, Dual):
            return self.apply_function("power", self, n)
        if n == 0.5:  # the one power that is not a product which a traced scalar has
            return self.sqrt()
        return Dual(self.value**n, self.rate * (n * self.value ** (n - 1))) if n != 0 else Dual(self.value**n, 0.0)

    def __rpow__(self, base: Scalar) -> Dual:
        return self.apply_function("power", base, self)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def __pos__(self) -> Dual:
        return self

    def __lt__(self, b: Scalar) -> Any:
        return self.value < value_of(b)

    def __gt__(self, b: Scalar) -> Any:
        return self.value > value_of(b)

    def __le__(self, b: Scalar) -> Any:
        return self.value <= value_of(b)

    def __ge__(self, b: Scalar) -> Any:
        return self.value >= value_of(b)

    def sqrt(self) -> Dual:
        """Return the square root."""
        root = sqrt(self.value)
        return Dual(root, self.rate / (2.0 * root))

    def apply_function(self, name: str, *operands: Scalar) -> Dual:
        """Return an elementary function; its rate is the sum of its partial derivatives times those of operands."""
        values = [value_of(x) for x in operands]
        y = apply(name, *values)
        rate: Scalar = 0.0
        for partial, x in zip(PARTIALS[name](functions, y, *values), operands, strict=True):
            if isinstance(x, Dual):
                rate = rate + partial * x.rate
        return Dual(y, rate)

    @staticmethod
    def selected(condition: Any, chosen: Scalar, otherwise: Scalar) -> Dual:
        """Return the choice between dual numbers: of their values and of their rates (see `select`)."""
        return Dual(
            select(condition, value_of(chosen), value_of(otherwise)),
            select(condition, rate_of(chosen), rate_of(otherwise)),
        )

    @property
    def constant(self) -> Any:
        """The value, where it is known and does not change: what `is_zero` asks for."""
        return self.value if isinstance(self.rate, Real) and self.rate == 0 else None

    def __repr__(self) -> str:
        return f"Dual({self.value}, {self.rate})"


def value_of(x: Scalar) -> Scalar:
    """Return the value of a dual number, or the scalar itself."""
    return x.value if isinstance(x, Dual) else x


def rate_of(x: Scalar) -> Scalar:
    """Return the rate of a dual number, zero for any other scalar."""
    return x.rate if isinstance(x, Dual) else 0.0
