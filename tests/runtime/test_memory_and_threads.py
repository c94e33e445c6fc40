"""Memory of results that is used again, and threads that share work."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from synthetic import Function, N, at_once, declare, reference, states

from kinetree.errors import ArgumentError
from kinetree.glue import interrupts
from kinetree.runtime import get_num_threads, outputs, set_num_threads, threads
from kinetree.runtime.outputs import LEAST_BYTES, MOST_BYTES, RETAINED_BYTES, empty

F64 = np.dtype(np.float64)
ROWS = LEAST_BYTES // 8 // 4 + 1


@pytest.fixture(autouse=True)
def nothing_spare():
    outputs.release_memory()
    yield
    outputs.release_memory()


def place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


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


def test_a_variable_that_is_set_again_and_again_has_two_blocks():
    places = set()
    for _ in range(6):
        result = empty((ROWS, 4), F64)
        places.add(place(result))
    assert len(places) == 2
    del result


def test_three_results_of_every_call_are_in_the_same_blocks():
    calls = [{place(x) for x in [empty((ROWS, 4), F64) for _ in range(3)]} for _ in range(4)]
    assert all(len(places) == 3 and places == calls[0] for places in calls)


def test_no_more_than_so_many_bytes_are_kept():
    results = [empty((MOST_BYTES // 2 // 8,), F64) for _ in range(6)]
    gone = [weakref.ref(r.base) for r in results]
    results.clear()
    gc.collect()
    assert sum(block() is not None for block in gone) == RETAINED_BYTES // (MOST_BYTES // 2)


@pytest.mark.parametrize("size", [8, LEAST_BYTES - 8, MOST_BYTES + 8])
def test_small_and_huge_results_are_ordinary_arrays(size):
    array = empty((size // 8,), F64)
    assert array.flags.owndata
    del array
    assert not outputs._blocks


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


# -- threads ---------------------------------------------------------------------------------------------------------


def test_the_default_is_what_the_process_may_use():
    expected = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert get_num_threads() == expected


def test_the_environment_and_then_the_program_decide(monkeypatch):
    monkeypatch.setenv("KINETREE_NUM_THREADS", "3")
    assert get_num_threads() == 3
    set_num_threads(2)
    assert get_num_threads() == 2
    set_num_threads(None)
    assert get_num_threads() == 3


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_that_is_none(wrong):
    with pytest.raises(ArgumentError, match="number of threads is"):
        set_num_threads(wrong)


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_an_environment_variable_that_is_none(wrong, monkeypatch):
    monkeypatch.setenv("KINETREE_NUM_THREADS", wrong)
    with pytest.raises(ArgumentError, match=f"KINETREE_NUM_THREADS is .*{wrong}"):
        get_num_threads()


class Record:
    """What is run, by whom; `chunk` may be told to fail."""

    def __init__(self, fail=None, pause=0.0):
        self.done = []
        self.workers = set()
        self.running = 0
        self._fail, self._pause = fail, pause

    def __call__(self):
        me = threading.get_ident()
        self.workers.add(me)

        def chunk(start, count):
            self.running += 1
            try:
                time.sleep(self._pause)
                if self._fail is not None:
                    self._fail(me, start)
                self.done.extend(range(start, start + count))
            finally:
                self.running -= 1

        return chunk


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("n", "chunk"), [(1, 8), (8, 8), (9, 8), (100, 7)])
def test_every_state_is_run_once(count, n, chunk):
    record = Record(pause=0.001)
    threads.Pool().share(threads.Job(record, n, largest=chunk), count)
    assert sorted(record.done) == list(range(n))


@pytest.mark.parametrize("unit", [1, 8, 16])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000, 12_345])
def test_chunks_become_smaller_towards_the_end(n, unit):
    job = threads.Job(Record(), n, largest=2000, unit=unit, part=4)
    taken = []
    while (chunk := job._take()) is not None:
        taken.append(chunk)
    starts, counts = zip(*taken, strict=True)
    assert [sum(counts[:k]) for k in range(len(counts))] == list(starts)
    assert sum(counts) == n
    assert all(count % unit == 0 for count in counts[:-1])
    assert list(counts) == sorted(counts, reverse=True)
    assert counts[0] <= 2000 + unit
    assert len(counts) < 40 or unit == 1


def test_several_threads_take_part():
    record = Record(pause=0.005)
    threads.Pool().share(threads.Job(record, 40, largest=1), 3)
    assert len(record.workers) == 3


def test_a_pool_is_used_again_and_keeps_no_job():
    pool = threads.Pool()
    for _ in range(20):
        record = Record()
        pool.share(threads.Job(record, 50, largest=5), 2)
        assert sorted(record.done) == list(range(50))
    assert pool._threads == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("where", ["caller", "helper"])
def test_an_error_stops_all_threads_and_is_raised_after_that(error, where):
    caller = threading.get_ident()
    count = 0

    def fail(me, start):
        nonlocal count
        if (me == caller) is (where == "caller"):
            count += 1
            if count == 3:
                raise error

    record = Record(fail, pause=0.002)
    with pytest.raises(error):
        threads.Pool().share(threads.Job(record, 10_000, largest=1), 3)
    assert record.running == 0
    assert 0 < len(record.done) < 100


def test_a_second_interrupt_does_not_leave_the_helpers_alone():
    class Impatient(threads.SimpleQueue):
        left = 2

        def get(self, timeout=None):
            if self.left:
                self.left -= 1
                raise KeyboardInterrupt
            return super().get(timeout=timeout)

    record = Record(pause=0.02)
    caller = threading.get_ident()
    job = threads.Job(record, 100, largest=1)
    job._left = Impatient()

    def fail(me, start):
        if me == caller and start > 4:
            raise KeyboardInterrupt

    record._fail = fail
    with pytest.raises(KeyboardInterrupt):
        threads.Pool().share(job, 3)
    assert record.running == 0
    assert job._left.left == 0


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("receiver", ["caller", "another thread"])
def test_an_interrupt_while_only_helpers_are_at_work_ends_their_loops(receiver):
    both, caller, ended = threading.Barrier(2, timeout=10), threading.get_ident(), []

    def interrupt():
        signal.pthread_kill(caller if receiver == "caller" else threading.get_ident(), signal.SIGINT)

    def chunk(start, count):
        both.wait()
        if threading.get_ident() != caller:  # a loop that takes long
            threading.Timer(0.1, interrupt).start()
            begin = time.monotonic()
            while not interrupts.is_stopped() and time.monotonic() - begin < 5:
                time.sleep(1e-3)
            ended.append(interrupts.is_stopped())

    with pytest.raises(KeyboardInterrupt):
        threads.Pool().share(threads.Job(lambda: chunk, 2, largest=1), 2)
    assert ended == [True]
    assert interrupts.stopped.value == 0


@pytest.mark.parametrize("own", [True, False])
def test_a_helper_takes_back_its_own_interrupt_alone(own):
    interrupts.stopped.value = stopped = threading.get_ident() if own else 1
    try:
        threads.Job(Record(), 1, largest=1).help()
        assert interrupts.stopped.value == (0 if own else stopped)
    finally:
        interrupts.stopped.value = 0


def test_where_no_thread_can_be_started_the_caller_works_alone(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    record = Record()
    threads.Pool().share(threads.Job(record, 100, largest=10), 4)
    assert sorted(record.done) == list(range(100))
    assert record.workers == {threading.get_ident()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_loops_of_a_child_do_not_end_because_a_thread_of_the_parent_was_to_stop():
    interrupts.stopped.value = threading.get_ident()  # that of a thread of the child may be the same
    try:
        child = os.fork()
        if child == 0:
            os._exit(interrupts.is_stopped())
    finally:
        interrupts.stopped.value = 0
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_in_the_child_of_a_fork_in_a_call_there_is_an_error():
    both, caller, forked, children = threading.Barrier(2, timeout=10), threading.get_ident(), threading.Event(), []

    def chunk(start, count):
        both.wait()
        if threading.get_ident() != caller:
            assert forked.wait(10)
            return
        children.append(os.fork())  # as a signal's handler may do
        if children[0] == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(5)  # so that the child ends
        forked.set()

    try:
        threads.Pool().share(threads.Job(lambda: chunk, 2, largest=1), 2)
    except RuntimeError as error:
        if children == [0]:
            os._exit("was forked" not in str(error))
        raise
    if children == [0]:
        os._exit(1)
    assert os.waitpid(children[0], 0)[1] == 0
