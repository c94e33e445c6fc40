"""Orthogonal rows and pseudo-inverses of matrices of any shape and rank, against NumPy's singular values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers.trees import Array
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.loops import repeat_while_positive
from kinetree.scalars.orthogonal import _is_something, _pairs, orthogonal_rows, volume


def of_values(values: list[float], n: int, seed: int = 0) -> Array:
    """Return a matrix of these singular values and n columns."""
    rng, m = np.random.default_rng(seed), len(values)
    U, V = (np.linalg.qr(rng.normal(size=(k, m)))[0] for k in (m, max(n, m)))
    return (U * values @ V.T)[:, :n]


VALUES = {
    "well conditioned": [5.0, 3.0, 2.0, 1.0],
    "graded": [1e3, 1.0, 1e-2, 1e-4],
    "equal": [2.0, 2.0, 2.0, 1e-7],
    "two vanish": [3.0, 1.0, 1e-12, 0.0],
    "all but one vanish": [1.0, 1e-14, 1e-15, 0.0],
    "one row": [2.0],
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
@pytest.mark.parametrize("n", [4, 7])
def test_pseudo_inverse_and_projector(values: list[float], n: int) -> None:
    B = of_values(values, n)
    K, Q, E_plus = map(np.array, orthogonal_rows(B.tolist()))
    np.testing.assert_allclose(K @ B, Q, rtol=0, atol=1e-15 * np.abs(K).max() * np.abs(B).max())
    right = np.linalg.pinv(B, rcond=1e-8)
    smallest = min(s for s in values if s > 1e-8 * values[0]) / values[0]
    np.testing.assert_allclose(Q.T * E_plus @ K, right, rtol=0, atol=1e-14 / smallest * np.abs(right).max())
    P = Q.T * E_plus @ Q
    np.testing.assert_allclose(P @ P, P, rtol=0, atol=1e-11)
    assert round(np.trace(P)) == sum(s > 1e-8 * values[0] for s in values)


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_units_make_no_difference(values: list[float]) -> None:
    B, unit = of_values(values, 4), 2.0**-60
    K, Q, E_plus = map(np.array, orthogonal_rows(B.tolist()))
    small = orthogonal_rows((unit * B).tolist())
    for one, other in zip((K, unit * Q, E_plus / unit**2), small, strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_rows_than_columns_and_rows_and_columns_of_zeros() -> None:
    B = np.zeros((5, 6))
    B[[0, 2, 3, 4], :4:3] = np.random.default_rng(1).normal(size=(4, 2))
    K, Q, E_plus = map(np.array, orthogonal_rows(B.tolist()))
    np.testing.assert_allclose(Q.T * E_plus @ K, np.linalg.pinv(B), rtol=0, atol=1e-15)
    assert not K[1].any()
    assert not Q[:, [1, 2, 4, 5]].any()
    for rows in orthogonal_rows([[0.0, 0.0]]):
        assert not np.any(rows)


def test_many_matrices_each_by_itself() -> None:
    each = [of_values(values, 4, seed) for seed, values in enumerate(VALUES.values()) if len(values) == 4]
    together = orthogonal_rows(list(map(list, np.moveaxis(each, 0, -1))))
    for k, B in enumerate(each):
        alone = orthogonal_rows([[np.array([x]) for x in row] for row in B])
        for x, y in zip(together, alone, strict=True):
            np.testing.assert_array_equal(np.array(x)[..., k], np.array(y)[..., 0])


def test_volume() -> None:
    for values in VALUES.values():
        assert volume(of_values(values, 4).tolist()) == pytest.approx(np.prod(values), rel=1e-9, abs=1e-12)
    assert volume([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) == volume([[0.0], [0.0]]) == 0.0


def test_a_loop_over_arrays_stops_entry_by_entry() -> None:
    x = repeat_while_positive(lambda x: [x[0] / 2.0], [np.array([12.0, np.nan, 0.5])], lambda x: x[0] - 1.0, 50)
    np.testing.assert_array_equal(x[0], [0.75, np.nan, 0.5])
    assert repeat_while_positive(lambda x: [x[0] + 1.0], [1.0], lambda x: x[0], 5) == [6.0]


def test_what_is_something_beside_one_depends_on_the_precision() -> None:
    """Sweeps end where nothing is left: were nothing taken for something, all would be done."""
    assert [_is_something(x) for x in (1.0, 1e-15, 1e-17, 0.0, -1.0, np.nan)] == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    single = np.array([1.0, 1e-6, 1e-8, 0.0, np.nan], np.float32)
    np.testing.assert_array_equal(_is_something(single), [1.0, 1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("m", range(1, 10))
def test_a_sweep_has_every_pair_of_rows_once(m: int) -> None:
    assert sorted(_pairs(m)) == list(itertools.combinations(range(m), 2))


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
