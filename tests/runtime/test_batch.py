from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from synthetic import N, declare, reference, states

from kinetree.errors import ArgumentError
from kinetree.runtime import Function, batch, set_num_threads

f = Function(declare())


@pytest.fixture
def small_chunks(monkeypatch):
    """Make a batch of any size go to the threads, in many chunks."""
    monkeypatch.setattr(batch, "SHARED_SECONDS", 0.0)
    monkeypatch.setattr(batch, "CHUNK_SECONDS", 1e-6)
    monkeypatch.setattr(batch, "_FIRST_BLOCKS", 1)


@pytest.mark.parametrize("lanes", batch.LANES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_bits_do_not_depend_on_lanes_threads_or_size(lanes, threads, small_chunks):
    rng = np.random.default_rng(lanes)
    args = rng.standard_normal((3, 1111, N))
    wanted = np.array([f(*(np.ascontiguousarray(a[k]) for a in args)) for k in range(1111)])
    g = Function(declare(), lanes=lanes)
    set_num_threads(threads)
    for n in (1, 2, 3, 7, 8, 9, 16, 17, 33, 1111):
        assert g(*args[:, :n]).tobytes() == wanted[:n].tobytes(), n


@pytest.mark.parametrize("lanes", batch.LANES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 9, 12, 17, 20, 63, 64, 65, 512, 600])
def test_rows_of_any_length_are_written_at_any_alignment(size, lanes, small_chunks):
    """Rows of 600 entries are copied from cells, others leave in tiles; memory around and between them stays."""
    g = Function(declare(n=size), lanes=lanes)
    set_num_threads(1 + size % 2)
    for n, gap, shift in ((1, 0, 1), (3, 1, 0), (13, 0, 3), (33, 3, 5)):
        args = np.random.default_rng(n).integers(-99, 99, (3, n, size)).astype(float)  # exact with or without fma
        memory = np.full((n + 2) * (size + gap) + 8, 7.0)
        rows = memory[shift : shift + (n + 2) * (size + gap)].reshape(n + 2, size + gap)
        wanted = memory.copy()
        wanted[shift : shift + rows.size].reshape(rows.shape)[1:-1, :size] = reference(*args)
        g(*args, out=rows[1:-1, :size])
        assert memory.tobytes() == wanted.tobytes(), n
        backwards = g(*args, out=np.full_like(rows, 7.0)[-2:0:-1, :size])
        assert backwards.tobytes() == reference(*args).tobytes()


def test_states_that_share_memory_in_out_are_computed_apart():
    memory = np.zeros(40 + N)
    sliding = np.lib.stride_tricks.sliding_window_view(memory, N, writeable=True)[:40]
    f(*states(40), out=sliding)
    assert np.array_equal(sliding[-1], reference(*states(40))[-1])


def test_inputs_are_not_copied_where_they_can_be_read_as_they_lie():
    wide = np.zeros((50, 2 * N))
    port = f.spec.inputs[0]
    for array, stride in [
        (wide[:, :N], 16 * N),
        (wide[::-1, N:], -16 * N),
        (np.broadcast_to(wide[0, :N], (50, N)), 0),
        (wide[0, :N], 0),
    ]:
        laid = batch.lay_out([array], [port], (50,), 1)
        assert laid.arrays[0] is array
        assert laid.strides == [stride]
        assert laid.addresses == [array.ctypes.data]
    copied = batch.lay_out([wide[:, ::2]], [port], (50,), 1)
    assert not np.shares_memory(copied.arrays[0], wide)
    assert copied.strides == [8 * N]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seconds", [1e-8, 3e-7, 1e-4])
def test_chunks_are_multiples_of_the_lanes_of_at_most_about_a_millisecond(threads, seconds, monkeypatch):
    g = Function(declare())
    g(*states(3))
    kernel = g._kernels.batch(g._default)
    seen = []
    monkeypatch.setattr(
        kernel, "_runner", lambda laid, first=0: lambda start, count: seen.append((first + start, count))
    )
    kernel._seconds = seconds
    set_num_threads(threads)
    n = 100_003
    kernel.run(batch.KernelArguments([], [], [], 0), n)
    starts, counts = zip(*sorted(seen), strict=True)
    assert [sum(counts[:k]) for k in range(len(counts))] == list(starts)
    assert sum(counts) == n
    assert all(count % kernel.lanes == 0 for count in counts[:-1])
    assert max(counts) * seconds <= batch.CHUNK_SECONDS + batch.SMALLEST_SECONDS + kernel.lanes * seconds
    if threads == 2 and n * seconds > batch.SHARED_SECONDS:
        assert counts[-1] * seconds <= batch.SMALLEST_SECONDS + kernel.lanes * seconds


def test_the_environment_forces_the_lanes(monkeypatch):
    x, y, z = states(9)
    for lanes in batch.LANES:
        monkeypatch.setenv("KINETREE_LANES", str(lanes))
        g = Function(declare())
        assert g._kernels.batch(g._default).lanes == lanes
        assert np.array_equal(g(x, y, z), reference(x, y, z))


@pytest.mark.parametrize("wrong", ["0", "3", "32", "-1", "many", "2.0"])
def test_lanes_that_there_are_not(wrong, monkeypatch):
    monkeypatch.setenv("KINETREE_LANES", wrong)
    with pytest.raises(ArgumentError, match=r"KINETREE_LANES is .*one of 1, 2, 4, 8, 16"):
        Function(declare())
    with pytest.raises(ArgumentError, match="one of 1, 2, 4, 8, 16"):
        Function(declare(), lanes=wrong)


def test_the_gil_is_released():
    x, y, z = (np.broadcast_to(a, (3_000_000, N)) for a in states())
    out = np.empty((3_000_000, N))
    f(x[:1000], y[:1000], z[:1000])
    set_num_threads(1)
    spins, done = 0, threading.Event()

    def spin():
        nonlocal spins
        while not done.is_set():
            spins += 1
            time.sleep(0)

    other = threading.Thread(target=spin)
    other.start()
    try:
        kernel = f._kernels.batch(f._default)
        ports = (*f.spec.required, *f.spec.outputs)
        step = kernel._runner(batch.lay_out([x, y, z, out], ports, (3_000_000,), 3))
        before = spins
        step(0, 3_000_000)  # one call of the kernel
        during = spins - before
    finally:
        done.set()
        other.join()
    assert during > 2


LONG = """
import numpy as np, sys, time
from synthetic import *
from kinetree.runtime import set_num_threads
set_num_threads({threads})
f = Function(declare())
n = 1 << 40
x, y, z = (np.broadcast_to(a, (n, N)) for a in states())
kernel = f._kernels.batch(f._default)
from kinetree.runtime import batch
row = np.empty((1, N))
addresses = [a.ctypes.data for a in (x, y, z, row)]
laid = batch.KernelArguments([x, y, z, row], addresses, [0, 0, 0, 0], 3)
print("go", flush=True)
begin = time.perf_counter()
try:
    kernel.run(laid, n)  # hours
except KeyboardInterrupt:
    print("interrupted", np.array_equal(row[0], reference(*states())))
print(np.array_equal(f(*states(1000)), reference(*states(1000))))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_long_batch(python, threads):
    process = python.start(LONG.format(threads=threads))
    assert process.stdout.readline() == "go\n"
    time.sleep(0.3)
    sent = time.perf_counter()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert time.perf_counter() - sent < 5.0
    assert output.split() == ["interrupted", "True", "True"]
    assert process.returncode == 0
