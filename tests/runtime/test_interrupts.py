"""Ctrl-C in compiled loops that would take days, from the first call on, and what is left as it is."""

import ctypes
import os
import signal
import threading
import time

import numpy as np
import pytest

import kinetree as kt

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")

SCRIPT = """
import numpy as np
import kinetree as kt

kt.set_num_threads(2)

def inner(x, n):
    return kt.repeat(lambda x, k: (x * 0.5 + 1.0, k + 1.0), (x, 0.0 * n), until=lambda x, k: k >= n, most=10**15)[0]

def outer(x, n):  # 20 carried values: a loop in memory
    return kt.repeat(lambda x: x + inner(0.0 * n, n), x + np.zeros(20), most=10**15)

robot = kt.load("ur5")
inner_ = kt.compile(robot, inner, shapes={"x": (), "n": ()})
outer_ = kt.compile(robot, outer, shapes={"x": (), "n": ()})
steps = kt.scan(kt.compile(robot, lambda x, n: {"x": inner(x, n)}, shapes={"x": (), "n": ()}), {"x": "x"})
many = np.full((20_000, 2), [0.0, 1e15]).T
few = many[:, :9]

def in_a_thread():  # which holds the GIL
    import threading
    thread = threading.Thread(target=inner_, args=(0.0, 3e8))
    thread.start()
    thread.join()

calls = [
    lambda: inner_(0.0, 1e15),  # before there is any code
    lambda: inner_(0.0, 1e15),  # by the call glue
    lambda: inner_(x=0.0, n=1e15),
    lambda: inner_(*many), lambda: inner_(*few), lambda: inner_(*many),
    lambda: outer_(0.0, 2.0), lambda: outer_(0.0, 1e15), lambda: outer_(*few),
    lambda: steps(*few, steps=2), lambda: steps(0.0, 1e15, steps=3),
    in_a_thread,
]
for call in calls:
    print("go", flush=True)
    try:
        call()
        print("not interrupted", flush=True)
    except KeyboardInterrupt:
        sound = [inner_(0.0, 10.0), *inner_(few[0], 10.0), *inner_(many[0], 10.0)[:3], steps(0.0, 10.0, steps=1)[0].x]
        print(set(map(float, sound)), flush=True)
"""


def test_ctrl_c_ends_loops_in_any_form_of_call(python):
    process = python.start(SCRIPT)
    waited = []
    while process.stdout.readline() == "go\n":
        time.sleep(0.15)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "{1.998046875}\n"
        waited.append(time.monotonic() - sent)
    assert process.wait(timeout=10) == 0
    assert len(waited) == SCRIPT.count("lambda: inner_") + SCRIPT.count("lambda: outer_") + 3
    assert max(waited) < 2.0


def count(n):
    return kt.repeat(lambda k: k + 1.0, 0.0 * n, until=lambda k: k >= n, most=10**15)


@pytest.fixture(scope="module")
def counting():
    function = kt.compile(kt.load("ur5"), count, shapes={"n": ()})
    function.warmup()
    return function


@pytest.mark.parametrize("n", [np.float64(1e7), np.full(3, 1e7)], ids=["one state", "batch"])
def test_a_handler_may_run_loops_too_and_let_the_first_go_on(counting, n):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append((counting(100.0), *counting(np.full(3, 1e6)))))
    try:
        for _ in range(3):  # the first of a batch has not been measured
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            assert np.array_equal(counting(n), n)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert seen == [(100.0, 1e6, 1e6, 1e6)] * 3


def test_callers_from_c_are_not_disturbed(counting):
    run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(counting.address)
    n, out = np.array(3e7), np.zeros(())

    def interrupted():
        threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        run(n.ctypes.data, out.ctypes.data)
        time.sleep(10.0)  # until the handler runs

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out == n
