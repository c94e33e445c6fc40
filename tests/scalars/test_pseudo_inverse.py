"""Least squares of least norm, for every shape and rank, against NumPy's singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinetree.scalars.factorization import PseudoInverse

Array = np.ndarray[Any, Any]


def matrix(rows: int, columns: int, rank: int, condition: float, seed: int) -> Array:
    """Return a matrix whose singular values fall from 1 to the inverse of the condition, and then are zero."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (rows, columns))
    return (U[:, :rank] * np.geomspace(1.0, 1.0 / condition, rank)) @ V[:rank]


@pytest.mark.parametrize("shape", [(6, 12), (9, 9), (12, 6), (1, 4), (4, 1)])
@pytest.mark.parametrize("condition", [1e1, 1e3])
@pytest.mark.parametrize(("missing", "accuracy"), [(0, 2e-12), (1, 5e-10)])
def test_the_least_solution_of_least_squares(
    shape: tuple[int, int], condition: float, missing: int, accuracy: float
) -> None:
    rank = max(min(shape) - missing, 1)
    for seed in range(5):
        A = matrix(*shape, rank, condition, seed)
        b = A @ np.random.default_rng(seed).normal(size=shape[1]) + np.random.default_rng(seed + 9).normal(
            size=shape[0]
        )
        expected = np.linalg.lstsq(A, b, rcond=0.1 / condition)[0]
        got = PseudoInverse(A.tolist(), shape[1]).times(b.tolist())
        # measured of full rank 4e-14 (median) and 2e-13 (worst of forty), otherwise 7e-12 and 1e-10
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=accuracy * np.abs(expected).max())


def test_rows_and_columns_that_are_zero() -> None:
    A = [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    assert PseudoInverse(A, 3).times([5.0, 4.0, 7.0]) == [0.0, pytest.approx(2.0, rel=1e-15), 0.0]
    assert PseudoInverse([], 2).times([]) == [0.0, 0.0]
    assert PseudoInverse([[0.0, 0.0]], 2).times([1.0]) == [0.0, 0.0]


def test_a_matrix_that_is_zero_in_one_state_only() -> None:
    columns = [[np.array([1.0, 0.0]), np.array([2.0, 0.0])]]  # two states of a row
    x, y = PseudoInverse(columns, 2).times([np.array([5.0, 5.0])])
    np.testing.assert_allclose(x, [1.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(y, [2.0, 0.0], rtol=1e-15)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_many_right_hand_sides(shape: tuple[int, int]) -> None:
    A = matrix(*shape, 2, 10.0, 0)
    inverse = np.array(PseudoInverse(A.tolist(), shape[1]).times_columns(np.eye(shape[0]).tolist())).T
    np.testing.assert_allclose(inverse, np.linalg.pinv(A), atol=1e-14)


def test_the_wide_matrix_reaches_what_it_can_of_contradicting_rows() -> None:
    """The part of b that nothing reaches, over μ, would leave 1e-6 of itself in x."""
    A = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])
    np.testing.assert_allclose(PseudoInverse(A.tolist(), 3).times([0.0, 10.0]), [1.0, 2.0, 0.0], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
@pytest.mark.parametrize("rank", [2, 3])
def test_weights_of_equations_and_unknowns(shape: tuple[int, int], rank: int) -> None:
    """That of ``√V A √U⁻¹``, and back."""
    rng = np.random.default_rng(rank)
    A = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    v, u = (np.where(rng.random(n) < 0.5, 1.0, 1e-2) for n in shape)
    b = rng.normal(size=shape[0])
    scaled = np.sqrt(v)[:, None] * A / np.sqrt(u)
    expected = np.linalg.pinv(scaled, rcond=1e-9) @ (np.sqrt(v) * b) / np.sqrt(u)
    got = PseudoInverse(A.tolist(), shape[1], equations=v.tolist(), unknowns=u.tolist()).times(b.tolist())
    error = np.abs(np.array(got) - expected).max()
    assert error < 1e-7 * np.abs(expected).max()  # measured: 1e-15 to 1e-8 (of condition 7e3), as without weights
