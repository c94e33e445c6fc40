"""Small dense linear algebra."""

from __future__ import annotations

from kinetree.scalars.linalg import dot, times, transposed


def test_products() -> None:
    A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert times(A, [1.0, 0.0, -1.0]) == [-2.0, -2.0]
    assert transposed(A) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert dot([], []) == 0.0
