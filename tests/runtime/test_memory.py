from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from synthetic import Function, N, declare, reference, states

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


def test_no_more_is_kept_than_allowed():
    results = [empty((ROWS, 4), F64) for _ in range(5)]
    results.clear()
    assert 0 < sum(block.nbytes for block in memory._spare) <= MOST_BYTES


@pytest.mark.parametrize("size", [8, LEAST_BYTES - 8, MOST_BYTES + 8])
def test_small_and_huge_results_are_ordinary_arrays(size):
    array = empty((size // 8,), F64)
    assert array.flags.owndata
    del array
    assert not memory._spare


def test_another_size_takes_other_memory():
    del_me = empty((ROWS, 4), F64)
    del del_me
    assert empty((ROWS + 1, 4), F64).nbytes == (ROWS + 1) * 32
    assert len(memory._spare) == 1  # what was there stays there while the other is in use, or makes room for it


def test_results_of_a_function_are_right_in_memory_used_again():
    n = LEAST_BYTES // 8 // N + 1
    f = Function(declare(identity=b"memory"))
    x, y, z = states(n)
    kept = f(x, y, z)
    places = set()
    for factor in (2.0, 3.0):
        result = f(factor * x, y, z)
        places.add(place(result))
        assert np.array_equal(result, reference(factor * x, y, z))
        assert not np.shares_memory(result, kept)
        del result
    assert len(places) == 1
    assert np.array_equal(kept, reference(x, y, z))


def test_threads_do_not_share_a_result():
    wrong = []

    def work(value: float) -> None:
        for _ in range(30):
            a = empty((ROWS, 4), F64)
            a[::997] = value
            if not (a[::997] == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_interpreter_that_ends_says_nothing(python):
    script = "from kinetree.runtime.memory import *\nx = empty((LEAST_BYTES // 8,), np.dtype(np.float64))\n"
    script += "class Late:\n    def __init__(self): self.kept = x\nimport sys\nsys.late = Late()\nprint('done')"
    assert python(script) == "done\n"
