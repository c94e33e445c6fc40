"""Orthogonal rows of matrices of any rank, against NumPy's singular values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers.trees import Array
from kinetree.scalars.loops import repeat_while_positive
from kinetree.scalars.orthogonal import _is_something, _pairs, orthogonal_rows, volume


def matrix(values: list[float], n: int, seed: int = 0) -> Array:
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
    B = matrix(values, n)
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
    B, unit = matrix(values, 4), 2.0**-60
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
    each = [matrix(values, 4, seed) for seed, values in enumerate(VALUES.values()) if len(values) == 4]
    together = orthogonal_rows(list(map(list, np.moveaxis(each, 0, -1))))
    for k, B in enumerate(each):
        alone = orthogonal_rows([[np.array([x]) for x in row] for row in B])
        for x, y in zip(together, alone, strict=True):
            np.testing.assert_array_equal(np.array(x)[..., k], np.array(y)[..., 0])


def test_volume() -> None:
    for values in VALUES.values():
        assert volume(matrix(values, 4).tolist()) == pytest.approx(np.prod(values), rel=1e-9, abs=1e-12)
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
