"""`Column`: a list of scalars with the arithmetic of vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinetree.scalars.functions import Scalar


class Column(tuple[Any, ...]):
    """A column of scalars of any kind: sums with other columns, products with scalars, entry by entry."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's scalars leave the product with a column to the column

    @classmethod
    def zeros(cls, n: int) -> Column:
        """Return n zeros."""
        return cls([0.0] * n)

    def __add__(self, other: Iterable[Scalar]) -> Column:
        return Column(x + y for x, y in zip(self, other, strict=True))

    def __sub__(self, other: Iterable[Scalar]) -> Column:
        return Column(x - y for x, y in zip(self, other, strict=True))

    def __mul__(self, scale: Scalar) -> Column:
        return Column(x * scale for x in self)

    __rmul__ = __mul__
