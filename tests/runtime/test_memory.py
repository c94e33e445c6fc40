from __future__ import annotations

import gc
import weakref
from functools import partial

import numpy as np
import pytest
from synthetic import Function, N, at_once, declare, reference, states

from kinetree.runtime import memory
from kinetree.runtime.memory import LEAST_BYTES, MOST_BYTES, empty

F64 = np.dtype(np.float64)
ROWS = LEAST_BYTES // 8 // 4 + 1


@pytest.fixture(autouse=True)
def nothing_spare():
    memory.clear()
    yield
    memory.clear()


def place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_the_memory_of_a_dropped_result_is_used_again():
    first = empty((ROWS, 4), F64)
    where = place(first)
    del first
    again = empty((2 * ROWS, 2), F64)
    assert place(again) == where
    assert again.shape == (2 * ROWS, 2)
    assert again.flags.writeable
    assert again.flags.c_contiguous
    assert again.flags.aligned


def test_not_while_any_view_of_it_is_alive():
    first = empty((ROWS, 4), F64)
    first[:] = 1.0
    view = first[5:, 1].reshape(-1, 1)[::2]
    del first
    gc.collect()
    other = empty((ROWS, 4), F64)
    other[:] = 2.0
    assert not np.shares_memory(view, other)
    assert (view == 1.0).all()


def test_results_that_are_kept_have_memory_of_their_own():
    results = [empty((ROWS, 4), F64) for _ in range(4)]
    assert len({place(r) for r in results}) == 4


def test_a_variable_that_is_set_again_and_again_has_two_blocks():
    places = set()
    for _ in range(6):
        result = empty((ROWS, 4), F64)
        places.add(place(result))
    assert len(places) == 2
    del result


def test_no_more_than_two_are_kept():
    results = [empty((ROWS, 4), F64) for _ in range(5)]
    gone = [weakref.ref(r.base) for r in results]
    results.clear()
    gc.collect()
    assert sum(block() is not None for block in gone) == 2


@pytest.mark.parametrize("size", [8, LEAST_BYTES - 8, MOST_BYTES + 8])
def test_small_and_huge_results_are_ordinary_arrays(size):
    array = empty((size // 8,), F64)
    assert array.flags.owndata
    del array
    assert not memory._blocks


def test_another_size_takes_other_memory():
    first = empty((ROWS, 4), F64)
    del first
    assert empty((ROWS + 1, 4), F64).nbytes == (ROWS + 1) * 32


def test_results_of_a_function_are_right_in_memory_used_again():
    n = LEAST_BYTES // 8 // N + 1
    f = Function(declare(identity=b"memory"))
    x, y, z = states(n)
    kept = f(x, y, z)
    places = set()
    for factor in (2.0, 3.0, 4.0):
        result = f(factor * x, y, z)
        places.add(place(result))
        assert np.array_equal(result, reference(factor * x, y, z))
        assert not np.shares_memory(result, kept)
        del result
    assert len(places) == 1
    assert np.array_equal(kept, reference(x, y, z))


def test_threads_do_not_share_a_result():
    def work(value: float) -> None:
        for _ in range(30):
            a = empty((ROWS, 4), F64)
            a[::997] = value
            assert (a[::997] == value).all()

    at_once(*(partial(work, float(k)) for k in range(4)))
