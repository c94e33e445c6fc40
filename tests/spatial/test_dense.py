"""Small dense linear algebra."""

from __future__ import annotations

import numpy as np

from helpers.dense import assert_close
from kinetree.scalars.linalg import dot, orthogonal_rows, solve_lower, times, transposed


def test_orthogonal_rows() -> None:
    B = np.random.default_rng(1).normal(size=(4, 7))
    C, Q, E = (np.array(x) for x in orthogonal_rows(B.tolist()))
    assert_close(C @ Q, B, ulps=16)
    assert_close(Q @ Q.T, np.diag(E), ulps=100)
    np.testing.assert_array_equal(np.triu(C), np.eye(4))


def test_orthogonal_rows_keep_the_digits_that_the_product_loses() -> None:
    """Läuchli's matrix: B Bᵀ is singular to working precision, though B has rank two."""
    tiny = 1e-9
    C, _, E = orthogonal_rows([[1.0, tiny, 0.0], [1.0, 0.0, tiny]])
    assert C[1][0] == 1.0 / (1.0 + tiny * tiny)
    assert_close(E[1], 2.0 * tiny * tiny, ulps=16)


def test_solve_lower() -> None:
    rng = np.random.default_rng(2)
    L, b = np.tril(rng.normal(size=(5, 5)), -1) + np.eye(5), rng.normal(size=5)
    assert_close(L @ np.array(solve_lower(L.tolist(), b.tolist())), b, ulps=16)


def test_products() -> None:
    A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert times(A, [1.0, 0.0, -1.0]) == [-2.0, -2.0]
    assert transposed(A) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert dot([], []) == 0.0
