"""Calls with and without the glue, of one state and of many: the same bits, and nothing kept or lost."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import inspect
import itertools
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from synthetic import Counting, N, at_once, declare, misaligned, reference, states, take_batches, two_outputs

import kinetree as kt
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.glue import descriptor
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")

X, Y, Z = states()
W = np.arange(6.0).reshape(2, 3)


@pytest.fixture(scope="module")
def f():
    function = Counting(declare())
    take_batches(function)
    take_batches(function, "float32")
    return function


def slowly(f, *args, **kwargs):
    return Function._general(f, *args, **kwargs)


def same(a, b):
    if isinstance(a, tuple):
        return type(a) is type(b) and all(map(same, a, b))
    return (type(a), a.dtype, a.shape, a.tobytes()) == (type(b), b.dtype, b.shape, b.tobytes())


def swapped(a):
    return a.astype(a.dtype.newbyteorder("S"))


# -- batches --------------------------------------------------------------------------------------------------------

LENGTHS = [1, 2, 3, 8, 20, 21, 64, 257]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batches(f, n, dtype):
    x, y, z = (a.astype(dtype) for a in states(n))
    out = np.empty((n, N), dtype)
    before = f.general_calls
    for got in (f(x, y, z), f(z=z, x=x, y=y), f(x, y, z, out=out), f(x, y, z=z, sign="plus")):
        assert got.dtype == dtype
        assert np.array_equal(got, reference(x, y, z))
        assert got.flags.owndata
    assert got is not out
    assert np.array_equal(out, reference(x, y, z))
    assert f.general_calls == before


@pytest.mark.parametrize("n", LENGTHS[1:])
def test_one_state_beside_many(f, n):
    x, y, z = states(n)
    before = f.general_calls
    assert np.array_equal(f(x, Y, z), reference(x, Y, z))
    assert np.array_equal(f(X.tolist(), y, tuple(Z)), reference(X, y, Z))
    assert np.array_equal(f(X, np.arange(N), z), reference(X, np.arange(N), z))
    assert np.array_equal(f(X.astype("f4"), y, z), reference(X, y, z))
    assert f.general_calls == before


def test_rows_as_they_lie(f):
    x, y, z = states(30)
    wide = np.full((30, 3 * N), np.nan)
    wide[:, 2 : N + 2] = x
    before = f.general_calls
    for given in (wide[:, 2 : N + 2], wide[::-1, 2 : N + 2], wide[::3, 2 : N + 2]):
        rows = len(given)
        assert np.array_equal(f(given, y[:rows], z[:rows]), reference(given, y[:rows], z[:rows]))
    repeated = np.broadcast_to(X, (30, N))
    assert np.array_equal(f(repeated, y, z), reference(repeated, y, z))
    assert f.general_calls == before
    out = np.empty((30, N))
    assert f(wide[::-1, 2 : N + 2], y, z, out=out) is out  # the general path looks where it lies
    assert np.array_equal(out, reference(x[::-1], y, z))


@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 7])
@pytest.mark.parametrize("which", range(3))
def test_out_of_a_batch_may_overlap_an_input(f, which, shift):
    n, memory = 9, np.zeros(60 * N)
    given = list(states(n))
    wanted = reference(*given)
    given[which], start = memory[20 * N : (20 + n) * N].reshape(n, N), 20 * N + shift
    given[which][:] = states(n)[which]
    out = memory[start : start + n * N].reshape(n, N)
    assert f(*given, out=out) is out
    assert np.array_equal(out, wanted)


def test_several_results_of_a_batch():
    f = Counting(two_outputs())
    take_batches(f)
    x = np.arange(12.0).reshape(4, 3)
    out = np.empty((4, 3)), np.empty(4)
    before = f.general_calls
    assert same(f(x), slowly(f, x))
    got = f(x, out=out)
    assert got.p is out[0]
    assert got.s is out[1]
    assert same(tuple(got), tuple(f(x=x)))
    assert same(f(x[0]), slowly(f, x[0]))
    assert type(f(x[0]).s) is np.float64
    assert f.general_calls == before
    memory = np.empty(12)
    wrong = (out[0], list(out), (out[0],), (out[0], out[0][:, 0]), (out[0], out[0]), (None, None), (out[1], out[0]))
    for bad in (*wrong, (memory.reshape(4, 3), memory[8:]), (memory.reshape(4, 3), memory[:4])):
        before = f.general_calls
        with contextlib.suppress(ArgumentError):
            f(x, out=bad)
        assert f.general_calls == before + 1


# -- what is kept, and what is lost ------------------------------------------------------------------------------------

ROWS = states(8)
CALLS = {
    "plain": lambda f: f(X, Y, Z),
    "names": lambda f: f(y=Y, x=X, z=Z),
    "lists": lambda f: f([1.5] * N, (2,) * N, [2**61, 1, 2, 3.5, 4]),
    "integers": lambda f: f(np.arange(N), Y, Z),
    "strided": lambda f: f(X[::-1], Y, Z),
    "float32": lambda f: f(X.astype("f4"), Y.astype("f4"), Z.astype("f4")),
    "batch": lambda f: f(*ROWS),
    "batch and state": lambda f: f(ROWS[0], [1.0] * N, Z),
    "optional": lambda f: f(X, Y, Z, w=W),
    "option": lambda f: f(X, Y, Z, sign="minus"),
    "wrong": lambda f: f(X, Y, Z[1:]),
    "wrong list": lambda f: f(X, Y, [1.0, 2.0, None, 4.0, 5.0]),
    "wrong option": lambda f: f(X, Y, Z, sign=("x",)),
    "too large": lambda f: f(X, Y, [10**400] * N),
}


@pytest.mark.parametrize("case", CALLS)
def test_no_memory_is_lost(f, case):
    gc.freeze()  # what other tests have built is not looked through

    def several(count):
        for _ in range(count):
            try:
                CALLS[case](f)
            except ArgumentError:
                assert "wrong" in case or case == "too large"

    count = 10_000 if "wrong" in case or case == "too large" else 20_000  # some 20 kB are held whatever the count
    several(50)
    gc.collect()
    tracemalloc.start()
    several(max(200, count // 10))
    gc.collect()
    held = [sys.getrefcount(a) for a in (X, Y, Z, W, np.dtype("f8"), np.dtype("f4"), None, *ROWS)]
    before = tracemalloc.get_traced_memory()[0]
    several(count)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    again = [sys.getrefcount(a) for a in (X, Y, Z, W, np.dtype("f8"), np.dtype("f4"), None, *ROWS)]
    assert after - before < 8 * count  # no object is as small
    assert all(abs(a - b) < 50 for a, b in zip(held, again, strict=True))


def test_calls_from_threads_while_variants_are_made():
    f = Counting(declare())
    take_batches(f, keeps_gil=0)
    rows = states(4000)
    wanted, done = reference(*rows), threading.Event()

    def work():
        while not done.is_set():
            assert np.array_equal(f(*rows), wanted)
            assert np.array_equal(f(X, z=list(Z), y=Y), reference(X, Y, Z))

    def make():
        try:
            for sign, dtype, optional in itertools.product(("plus", "minus"), ("float64", "float32"), ((), ("w",))):
                f.warmup(dtype=dtype, optional=optional, sign=sign)
                f._install(load=True)
                gc.collect()
        finally:
            done.set()

    at_once(work, work, work, make)


# -- sizes -------------------------------------------------------------------------------------------------------------


def total_of(ports):
    def evaluate(given, options):
        return [sum((given[p.name] if not p.shape else given[p.name][-1] for p in ports), 0.0)]

    return FunctionSpec("total", "", ports, (Port("r", ()),), evaluate, lambda: repr(ports).encode())


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_many_arguments(count):
    ports = tuple(Port(f"a{k}", ()) for k in range(count))
    f = Counting(total_of(ports))
    f.warmup()
    before = f.general_calls
    assert f(*[1] * count) == count
    assert f(**{p.name: 2.0 for p in ports}) == 2 * count
    assert f(*[np.ones(3)] * count).tolist() == [count] * 3
    assert (f.general_calls == before + 1) is (count <= descriptor.MOST_PORTS)  # the first batch


@pytest.mark.parametrize("size", [descriptor.MOST_CONVERTED // 8, descriptor.MOST_CONVERTED // 8 + 1, 50_000])
def test_long_arguments(size):
    f = Counting(total_of((Port("a", (size,)),)))
    f.warmup()
    a = np.arange(float(size))
    assert f(a) == size - 1
    assert f(a=a) == size - 1
    assert f.general_calls == 0
    assert f(a.tolist()) == f(a.astype(int)) == f(a[::-1].copy()[::-1]) == size - 1
    assert f.general_calls == (0 if 8 * size <= descriptor.MOST_CONVERTED else 3)


def test_no_arguments_and_empty_ones():
    f = Counting(total_of(()))
    f.warmup()
    assert f() == 0.0
    assert f.general_calls == 0
    empty = Port("e", (0, 3)), Port("x", ())
    g = Function(FunctionSpec("g", "", empty, (Port("r", ()),), lambda given, _: [given["x"] + 1.0], lambda: b"empty"))
    g.warmup()
    for e in (np.empty((0, 3)), [], np.empty((0, 3), int), np.empty((3, 0)).T):
        try:
            assert g(e, 2.0) == 3.0
        except ArgumentError:
            assert e == []  # NumPy makes shape (0,) of it


# -- the glue itself ---------------------------------------------------------------------------------------------------

SECOND = """
import numpy as np
from synthetic import *
from kinetree.backends.llvm import LLVM
from kinetree.runtime import kernels

compile_glue, compiled = LLVM.compile_glue, []
LLVM.compile_glue = lambda self: (compiled.append(1), compile_glue(self))[1]
x, y, z = states()
f, g = Counting(declare()), Counting(declare("other"))
for k in range(4):
    assert np.array_equal(f(x, y, z), reference(x, y, z))
    print(len(compiled), f.general_calls)
g(x, y, z)
g(x, y, z)
print(len(compiled), g.general_calls)
"""


def test_it_is_compiled_at_the_second_call_once_for_all_processes(python):
    assert python(SECOND).split("\n")[:5] == ["0 1", "1 2", "1 2", "1 2", "1 1"]
    assert python(SECOND).split("\n")[:5] == ["0 1", "0 2", "0 2", "0 2", "0 1"]


def test_without_its_source_calls_take_the_general_path(monkeypatch):
    from kinetree.glue import code
    from kinetree.runtime import kernels

    monkeypatch.setattr(code, "sources", lambda: None)
    monkeypatch.setattr(kernels, "_glues", {})
    f = Counting(declare())
    f.warmup()
    for k in range(3):
        assert np.array_equal(f(X, y=Y, z=list(Z)), reference(X, Y, Z))
        assert f.general_calls == k + 1


def test_calling_a_robot_is_calling_its_glue():
    robot = kt.load("panda")
    q, v, a = robot.random_state(0)
    robot.warmup("inverse_dynamics", "gravity_forces")
    wanted = robot.inverse_dynamics(q, v, a)
    assert same(robot.inverse_dynamics(a=a, v=v, q=q), wanted)
    assert same(robot.inverse_dynamics(q.tolist(), tuple(v), swapped(a)), wanted)
    assert same(robot.inverse_dynamics(q[::-1].copy()[::-1], misaligned(v), a), wanted)


def test_it_may_be_wrapped_as_any_function(f):
    wanted = f(X, Y, Z)
    g = Counting(declare())
    early = functools.partial(g, X)
    for _ in range(3):
        assert same(early(Y, Z), wanted)
        assert same(functools.partial(g, z=Z)(X, Y), wanted)
    assert early.func is g
    assert str(inspect.signature(functools.partial(g, X))) == "(y, z, w=None, *, sign='plus', out=None)"
    assert functools.wraps(g)(lambda *args: None).__name__ == "mix"
    assert copy.copy(g) is copy.deepcopy(g) is g
    assert next(map(g, [X], [Y], [Z])).tobytes() == wanted.tobytes()
    assert same(type(g)(g.spec)(X, Y, Z), wanted)  # of the class of another: its own code all the same
