"""Compiling can be interrupted at any moment, and delays nobody who needs nothing compiled."""

from __future__ import annotations

import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from synthetic import at_once, target_of

import kinetree as kt
from kinetree import locks
from kinetree.backends.llvm import compile as llvm_compile
from kinetree.backends.llvm.compile import pieces
from kinetree.runtime import kernels
from kinetree.runtime.function import Function
from kinetree.tracing import context


def slow(operations: int, name: str = "slow") -> Function:
    """A function that takes the code generator long: some 0.05 ms an operation, of which half store their results."""

    def run(q):
        values, total = [q[k % 6] * (k + 1.5) for k in range(operations // 2)], 0.0
        for value in reversed(values):
            total = total * value + 1.0
        return total

    return kt.load("ur5").compile(run, name=name)


Q = np.full(6, 1e-6)


@pytest.fixture
def no_cache(monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", "")


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut modules into pieces of 20,000 characters."""
    monkeypatch.setattr(llvm_compile, "pieces", partial(pieces, size=20_000))


def test_code_in_pieces_gives_the_same_bits(no_cache, monkeypatch, small_pieces):
    """Of every kind of function: regions, array kernels, loops over columns, deferred outputs, keywords of a call."""
    cut, whole = kt.load("panda"), kt.load("panda")
    q, v, a = cut.random_state(0, size=19)
    counted = []
    monkeypatch.setattr(locks, "let_loads_pass", lambda: counted.append(1))
    calls = {"inverse_dynamics": (q, v, a), "mass_matrix_inverse": (q,), "joint_torque_regressor": (q, v, a)}
    for name, arguments in calls.items():
        first = [x[0] for x in arguments]
        results = []
        for robot in (cut, whole):
            function = getattr(robot, name)
            counted.clear()
            results.append([function(*arguments), function(*first), np.float64(function.address)])
            assert (len(counted) > 2) == (robot is cut)
            if robot is cut:
                monkeypatch.setattr(llvm_compile, "pieces", partial(pieces, size=10**9))
        monkeypatch.setattr(llvm_compile, "pieces", partial(pieces, size=20_000))
        for one, other in zip(*[r[:2] for r in results], strict=True):
            assert np.array_equal(one, other)


def test_code_in_pieces_is_cached(own_cache, small_pieces):
    q = np.linspace(0.1, 0.6, 6)
    results = [kt.load("ur5").mass_matrix_inverse(q) for _ in range(2)]
    assert np.array_equal(*results)


@pytest.fixture
def interrupt_after(monkeypatch):
    """Return what raises KeyboardInterrupt in the main thread after so many seconds; 0 takes that back."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers here")


@needs_timer
def test_the_code_generator_can_be_interrupted(no_cache, monkeypatch, interrupt_after):
    """The whole takes the code generator more than 4 s."""
    f, took = slow(80_000), []

    def cut(ir):
        interrupt_after(1.2)  # after a whole module would have been parsed
        took.append(time.process_time())  # of the processor: other programs may have it too
        return pieces(ir)

    monkeypatch.setattr(llvm_compile, "pieces", cut)
    with pytest.raises(KeyboardInterrupt):
        f(Q)
    assert time.process_time() - took[0] < 1.2 + 5.0
    assert not f._kernels.singles


@needs_timer
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python drops one in a __del__
def test_an_interrupt_leaves_nothing_half_made(no_cache, small_pieces, interrupt_after):
    """Interrupt tracing, passes, code generation and loading, at moments closer together than these take."""
    robot = kt.load("g1")
    q, v, a = robot.random_state(0)
    robot.compile("inverse_dynamics", inputs=[kt.gravity])(q, v, a, robot.gravity)  # imports what it needs
    start = time.perf_counter()
    wanted = robot.compile("inverse_dynamics", inputs=[kt.gravity])(q, v, a, robot.gravity)
    whole = time.perf_counter() - start
    stopped = 0
    for fraction in np.linspace(0.02, 0.98, 13):
        made = []
        end = time.perf_counter() + fraction * whole
        interrupt_after(fraction * whole)
        try:
            made.append(robot.compile("inverse_dynamics", inputs=[kt.gravity]))
            made[0](q, v, a, robot.gravity)
            interrupt_after(0)
        except KeyboardInterrupt:
            stopped += 1
            assert time.perf_counter() - end < 10.0
        assert context.current() is None
        assert context.substituting_flag.value == 0
        f = made[0] if made else robot.compile("inverse_dynamics", inputs=[kt.gravity])
        assert np.array_equal(f(q, v, a, robot.gravity), wanted)
        f(q, v, a, robot.gravity)
        assert type(target_of(f)).__name__ == "builtin_function_or_method", "calls go through the general path for ever"
    assert stopped


class Compiling(threading.Thread):
    """A thread that compiles, with the lock, until it is told to come to an end.

    It tells when it has begun, when it is in the code generator, and when it has only one piece left.
    """

    def __init__(self, monkeypatch):
        super().__init__()
        self.begun, self.generating, self.nearly_done = (threading.Event() for _ in range(3))
        self.finish = threading.Event()
        self._f = slow(8_000, "other")

        def cut(ir):
            *first, last = pieces(ir)
            if threading.current_thread() is self:
                assert len(first) >= 2
                self.generating.set()
                yield from first
                self.nearly_done.set()
                self.finish.wait(10)
                yield last
            else:
                yield from (*first, last)

        monkeypatch.setattr(llvm_compile, "pieces", cut)

    def run(self):
        self.begun.set()
        self._f(Q)


def test_calls_of_compiled_functions_do_not_wait(monkeypatch):
    """In all forms: one state, many, general path, keywords, the address, the operations."""
    robot = kt.load("ur5")
    q = robot.random_state(0, size=40)[0]
    f = robot.gravity_forces
    calls = [
        lambda: f(q[0]),
        lambda: f(q=q[0].tolist()),
        lambda: f(q),
        lambda: f(q[:, ::-1]),
        lambda: f(q.astype(np.float32)[0]),
        lambda: f.address,
        lambda: f.op_count,
        lambda: f.warmup(),
        lambda: robot.jacobian(q[0], frame="tool0"),
    ]
    for call in calls:
        call()
    other = Compiling(monkeypatch)
    other.start()
    other.begun.wait()
    worst: list[float] = []
    while other.is_alive() and not (other.nearly_done.is_set() and len(worst) > 2000):
        for call in calls:
            start = time.perf_counter()
            call()
            worst.append(time.perf_counter() - start)
        time.sleep(0.0005)
    assert other.is_alive()
    other.finish.set()
    other.join()
    # Waiting for the GIL takes 5 ms; a call that waited for the other thread would take its 10 s.
    assert max(worst) < 5.0


def test_what_is_in_the_disk_cache_is_loaded_while_another_thread_compiles(own_cache, monkeypatch):
    q = np.linspace(0.1, 0.6, 6)
    wanted = kt.load("ur5").mass_matrix(q), kt.load("ur5").mass_matrix([q, q])
    other = Compiling(monkeypatch)
    other.start()
    for moment in (other.begun, other.generating, other.nearly_done):
        assert moment.wait(60)
        robot = kt.load("ur5")
        start = time.perf_counter()
        results = robot.mass_matrix(q), robot.mass_matrix([q, q])
        assert time.perf_counter() - start < 5.0  # waiting for the other thread takes 10 s
        assert all(map(np.array_equal, results, wanted))
    assert other.is_alive()
    other.finish.set()
    other.join()


def test_a_compiling_thread_gives_way_to_loads_but_not_for_ever():
    start = time.perf_counter()
    locks.let_loads_pass()
    assert time.perf_counter() - start < 0.5
    with locks.loading():
        locks.let_loads_pass(0.1)
    assert time.perf_counter() - start >= 0.1
    locks.let_loads_pass()
    assert time.perf_counter() - start < 5.0


def test_threads_that_load_the_same_function(own_cache):
    q = np.linspace(0.1, 0.6, 6)
    wanted = kt.load("ur5").mass_matrix(q)
    robot, results, start = kt.load("ur5"), [], threading.Barrier(4)

    def load():
        start.wait()
        results.append(robot.mass_matrix(q))

    at_once(*[load] * 4)
    assert all(np.array_equal(result, wanted) for result in results)
    assert type(target_of(robot.mass_matrix)).__name__ == "builtin_function_or_method"


def test_an_observer_is_told_what_is_compiled(own_cache, monkeypatch):
    seen = []
    monkeypatch.setattr(kernels, "observer", lambda name: seen.append(name) or threading.Lock())
    q = np.zeros(6)
    kt.load("ur5").mass_matrix(q)
    kt.load("ur5").mass_matrix(q)  # from the disk cache
    kt.load("ur5").mass_matrix([q])
    assert seen == ["mass_matrix", "mass_matrix"]
