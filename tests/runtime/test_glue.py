"""The call glue: what it takes and what it leaves, with the bits of the general path, and nothing kept or lost."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import itertools
import platform
import sys
import threading
import tracemalloc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from synthetic import (
    Counting,
    N,
    at_once,
    both_ways,
    declare,
    line,
    make_all,
    outcome,
    reference,
    states,
    take_batches,
    target_of,
)

from kinetree.backends.llvm import compile
from kinetree.backends.llvm.module import single_ir
from kinetree.backends.llvm.polls import STACK_SCRATCH
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.glue import descriptor
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec, batch

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")

X, Y, Z = states()
W = np.ones((2, 3))
V = np.array([1.0, 2.0, 4.0])
VS = np.arange(30.0).reshape(10, 3)
WANTED = reference(X, Y, Z)
INTEGERS = np.arange(-2, N - 2)


def outs(*lead, dtype="float64"):
    """Return what several results may be written to."""
    return tuple(np.empty((*lead, *shape), dtype) for shape in ((3,), (), (3, 3)))


def into_itself(f, x):
    return f(x, out=(x, *outs()[1:]))


class MyFloat(float):
    pass


# -- what it takes -----------------------------------------------------------------------------------------------------

ONE_STATE = [
    lambda f: f(X, X, X),
    lambda f: f(*np.array([X, Y, Z])),
    lambda f: f(X, Y, Z, **{"out": np.empty(N)}),
    lambda f: f(X, Y, Z, out=None),
    lambda f: f(x=X, y=Y, z=Z, sign="plus", out=np.empty(N)),
    lambda f: f(y=Y, sign="plus", z=Z, out=np.empty(N), x=X),
    lambda f: f(X, INTEGERS.tolist(), Z),
    lambda f: f(X, [1, 2.0, -1, 2**40, 0.5], Z),
    lambda f: f(X, [2**62, -(2**62), 0, 1, 2**53 + 1], Z),
    lambda f: f(np.broadcast_to(2.0, N), Y, Z),
    lambda f: f(X, Y, Z, None),
    lambda f: f(X, Y, Z, np.arange(6.0).reshape(3, 2).T),
    lambda f: f([np.nan, np.inf, 1, 2, 3], Y, Z),
    lambda f: f(X, Y, np.full(N, 2**64 - 1, np.uint64)),
    lambda f: f(X, Y, np.full(N, -(2**63), np.int64)),
    lambda f: f(X, np.arange(2 * N)[::2], Z),
    *(
        lambda f, code=code: f(X, INTEGERS.astype(code), Z)
        for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", ">u8", *"lqLQ", "<f4")
    ),
]
"""Calls beside the usual ones, which are drawn in `test_any_call`."""


def batches(n, dtype):
    """Return calls of so many states."""
    x, y, z = (a.astype(dtype) for a in states(n))
    wide = np.full((n, 3 * N), np.nan, dtype)
    wide[:, 2 : N + 2] = x
    yield lambda f: f(x, y, z)
    yield lambda f: f(z=z, x=x, y=y)
    yield lambda f: f(x, y, z, out=np.empty((n, N), dtype))
    yield lambda f: f(x, y, z=z, sign="plus")
    if n > 1 and dtype == "float64":
        yield lambda f: f(x, Y, z)
        yield lambda f: f(X.tolist(), y, tuple(Z))
        yield lambda f: f(X, np.arange(N), z)
        yield lambda f: f(X.astype("f4"), y, z)
        yield lambda f: f(wide[:, 2 : N + 2], y, z)
        yield lambda f: f(wide[::-1, 2 : N + 2], y, z)
        yield lambda f: f(np.repeat(wide, 3, axis=0)[::3, 2 : N + 2], y, z)
        yield lambda f: f(np.broadcast_to(X, (n, N)), y, z)


MANY = [call for n in (1, 2, 3, 8, 20, 21, 64, 257) for dtype in ("float64", "float32") for call in batches(n, dtype)]
NUMBERS = [2.5, -1.0, float("inf"), 3, 0, -7, -1, 2**52, np.float64(2.5), np.float32(2.5), np.array(2.5), np.array(3)]
NUMBERS += [np.array(2.5, np.float32), np.array(2.5, ">f8"), np.array([1, 7])[1:].reshape(())]
OTHER_NUMBERS = [np.int64(3), MyFloat(2.5), np.float16(2.5), 2**63, 2**64 - 1]
NO_NUMBERS = [True, None, "2", 1j, 2**64, -(2**63) - 1, 10**400, [1.0, "x"]]


def lines(k):
    yield lambda f: f(k, V, 0.5)
    yield lambda f: f(2.0, V, k)
    yield lambda f: f(k, V, k, out=np.empty(3))


SEVERAL = [
    lambda f: f(V),
    lambda f: f(x=VS),
    lambda f: f(V, out=outs()),
    lambda f: f(VS, out=outs(10)),
    lambda f: f(V.astype("f4")),
    lambda f: f(VS.astype("f4"), out=outs(10, dtype="float32")),
]
SHARED = np.empty(40)
LEFT = [
    lambda f: f(V, out=list(outs())),
    lambda f: f(V, out=type(f(V))(*outs())),
    lambda f: f(V, out=(np.empty(6)[::2], *outs()[1:])),
    lambda f: into_itself(f, V.copy()),
    *(
        lambda f, out=out: f(VS, out=out)
        for out in (outs(10)[0], list(outs(10)), outs(10)[:1], outs(10)[:2], [None] * 3)
    ),
    lambda f: f(VS, out=(outs(10)[0], SHARED[:30].reshape(10, 3)[:, 0], outs(10)[2])),
    lambda f: f(VS, out=(SHARED[:30].reshape(10, 3), SHARED[20:30], outs(10)[2])),
    lambda f: f(VS, out=outs(10)[::-1]),
]
CALLS = [
    *((declare, call, True) for call in ONE_STATE + MANY),
    *((line, call, True) for k in NUMBERS for call in lines(k)),
    *((line, call, False) for k in OTHER_NUMBERS + NO_NUMBERS for call in lines(k)),
    *((make_all, call, True) for call in SEVERAL),
    *((make_all, call, False) for call in LEFT),
]


@pytest.mark.parametrize(("declared", "call", "taken"), CALLS)
def test_what_it_takes_and_what_it_leaves(declared, call, taken):
    fast, general = both_ways(declared)
    before = fast.general_calls
    if declared is declare:
        fast.warmup(batch=False, optional=("w",))
    got = outcome(call, fast)
    assert (fast.general_calls == before) is taken
    assert got == outcome(call, general)


def test_what_is_no_number_is_refused():
    for k in NO_NUMBERS:
        with pytest.raises(ArgumentError, match="line: k"):
            both_ways(line)[0](k, V, 1.0)


@pytest.mark.parametrize("which", range(3))
def test_out_may_overlap_any_input(which):
    f, _ = both_ways(declare)
    for lead, shifts in (((), range(-N - 1, N + 2)), ((9,), (-7, -1, 0, 1, 7))):
        for shift in shifts:
            given, memory = list(states(*lead)), np.zeros(60 * N)
            shape, size = given[which].shape, given[which].size
            wanted, values = reference(*given), given[which]
            given[which] = memory[20 * N : 20 * N + size].reshape(shape)
            given[which][...] = values
            out = memory[20 * N + shift : 20 * N + shift + size].reshape(shape)
            before = f.general_calls
            assert f(*given, out=out) is out
            assert np.array_equal(out, wanted), (lead, shift)
            assert (f.general_calls > before) is (abs(shift) < size)


def test_results_are_fresh_arrays_that_own_their_memory():
    for f in (Counting(declare()), Counting(make_all())):
        given = (X, Y, Z) if len(f.spec.required) == 3 else (V,)
        f(*given)
        assert type(target_of(f)).__name__ == "builtin_function_or_method"
        a, b = f(*given), f(*given)
        first, second = (a, b) if isinstance(a, np.ndarray) else (a.x, b.x)
        assert type(first) is np.ndarray
        assert first.flags.owndata
        assert first.flags.writeable
        assert not np.shares_memory(first, second)
        assert sys.getrefcount(f(*given)) <= 2
    del first, second
    assert [sys.getrefcount(x) for x in a] == [3, 3, 3]  # the tuple, x, the argument
    assert gc.is_tracked(a)
    assert repr(a).startswith("MakeAll(x=array([2., 4., 8.]), total=")


def test_other_variants_are_chained():
    f = Counting(declare())
    single = [a.astype(np.float32) for a in (X, Y, Z)]
    calls = [lambda: f(X, Y, Z), lambda: f(X, Y, Z, W), lambda: f(*single)]
    for call in calls:
        call()
    before = f.general_calls
    results = [call() for call in calls]
    assert all(map(np.array_equal, results, [WANTED, reference(X, Y, Z, W), WANTED]))
    assert results[2].dtype == np.float32
    assert f.general_calls == before


def test_an_argument_by_position_is_the_first_optional_one():
    """The glue of the variant with the second one only must not take it."""
    ports = Port("q", (2,)), Port("x", (2,)), Port("y", (2,))

    def evaluate(given, options):
        return [[a + 10.0 * b for a, b in zip(given.get("x", [0.0] * 2), given.get("y", [0.0] * 2), strict=True)]]

    f = Function(FunctionSpec("two", "", ports, (Port("r", (2,)),), evaluate, lambda: b"two", optional=("x", "y")))
    q, one = np.zeros(2), np.ones(2)
    for _ in range(2):
        assert f(q, y=one).tolist() == [10.0, 10.0]
        assert f(q, one).tolist() == [1.0, 1.0]
        assert f(q, one, one).tolist() == [11.0, 11.0]


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
    assert f(a) == f(a=a) == size - 1
    assert f.general_calls == 0
    assert f(a.tolist()) == f(a.astype(int)) == f(a[::-1].copy()[::-1]) == size - 1
    assert f.general_calls == (0 if 8 * size <= descriptor.MOST_CONVERTED else 3)


def test_no_arguments_and_empty_ones():
    f = Counting(total_of(()))
    f.warmup()
    assert f() == 0.0
    assert f.general_calls == 0
    outputs = Port("c", (2,)), Port("d", ())
    f = Function(FunctionSpec("nothing", "", (), outputs, lambda given, options: [[1.0, 2.0], 3.0], lambda: b"nothing"))
    for _ in range(2):
        assert (f().c.tolist(), f().d) == ([1.0, 2.0], 3.0)
    empty = Port("e", (0, 3)), Port("x", ())
    g = Function(FunctionSpec("g", "", empty, (Port("r", ()),), lambda given, _: [given["x"] + 1.0], lambda: b"empty"))
    g.warmup()
    for e in (np.empty((0, 3)), [], np.empty((0, 3), int), np.empty((3, 0)).T):
        assert g(e, 2.0) == 3.0


def test_it_may_be_wrapped_as_any_function():
    g = Counting(declare())
    early = functools.partial(g, X)
    for _ in range(3):
        assert np.array_equal(early(Y, Z), WANTED)
        assert np.array_equal(functools.partial(g, z=Z)(X, Y), WANTED)
    assert early.func is g
    assert str(inspect.signature(early)) == "(y, z, w=None, *, sign='plus', out=None)"
    assert functools.wraps(g)(lambda *args: None).__name__ == "mix"
    assert copy.copy(g) is copy.deepcopy(g) is g
    assert np.array_equal(next(map(g, [X], [Y], [Z])), WANTED)
    assert np.array_equal(type(g)(g.spec)(X, Y, Z), WANTED)  # of the class of another: its own code all the same


# -- what is kept, and what is lost ------------------------------------------------------------------------------------

ROWS = states(8)
OUT, OUTS, BAD, NUMBER, WHOLE = np.empty(N), outs(), X[1:], 123456.789, 10**18
KEPT = {
    "plain": (declare, lambda f: f(X, Y, Z)),
    "out": (declare, lambda f: f(X, Y, Z, out=OUT)),
    "names": (declare, lambda f: f(y=Y, x=X, z=Z)),
    "lists": (declare, lambda f: f([1.5] * N, (2,) * N, [2**61, 1, 2, 3.5, 4])),
    "integers": (declare, lambda f: f(np.arange(N), Y, Z)),
    "strided": (declare, lambda f: f(X[::-1], Y, Z)),
    "float32": (declare, lambda f: f(X.astype("f4"), Y.astype("f4"), Z.astype("f4"))),
    "batch": (declare, lambda f: f(*ROWS)),
    "batch and state": (declare, lambda f: f(ROWS[0], [1.0] * N, Z)),
    "optional": (declare, lambda f: f(X, Y, Z, w=W)),
    "option": (declare, lambda f: f(X, Y, Z, sign="minus")),
    "numbers": (line, lambda f: f(NUMBER, V, WHOLE)),
    "results": (make_all, lambda f: f(V)),
    "results, out": (make_all, lambda f: f(V, out=OUTS)),
    "wrong": (declare, lambda f: f(BAD, Y, Z)),
    "wrong list": (declare, lambda f: f(X, Y, [1.0, 2.0, None, 4.0, 5.0])),
    "wrong option": (declare, lambda f: f(X, Y, Z, sign=("x",))),
    "wrong, too large": (declare, lambda f: f(X, Y, [10**400] * N)),
}


@pytest.mark.parametrize("case", KEPT)
def test_no_memory_is_lost(case):
    declared, call = KEPT[case]
    f, _ = both_ways(declared)
    gc.freeze()  # what other tests have built is not looked through
    held = [X, Y, Z, W, V, *ROWS, OUT, *OUTS, OUTS, BAD, NUMBER, WHOLE, np.dtype("f8"), np.dtype("f4"), None]
    held += [f, target_of(f), type(both_ways(make_all)[0](V))]

    def several(count):
        for _ in range(count):
            try:
                call(f)
            except ArgumentError:
                assert "wrong" in case

    count = 10_000 if "wrong" in case else 20_000  # some 20 kB are held whatever the count
    several(50)
    gc.collect()
    tracemalloc.start()
    several(max(200, count // 10))
    gc.collect()
    references = [*map(sys.getrefcount, held)]
    before = tracemalloc.get_traced_memory()[0]
    several(count)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 8 * count  # no object is as small
    assert all(abs(a - b) < 50 for a, b in zip(references, map(sys.getrefcount, held), strict=True))


def test_calls_from_threads_while_variants_are_made():
    f = Counting(declare())
    take_batches(f, keeps_gil=0)
    rows = states(4000)
    wanted, done = reference(*rows), threading.Event()

    def work():
        while not done.is_set():
            assert np.array_equal(f(*rows), wanted)
            assert np.array_equal(f(X, z=list(Z), y=Y), WANTED)

    def make():
        try:
            for sign, dtype, optional in itertools.product(("plus", "minus"), ("float64", "float32"), ((), ("w",))):
                f.warmup(dtype=dtype, optional=optional, sign=sign)
                f._install(load=True)
                gc.collect()
        finally:
            done.set()

    at_once(work, work, work, make)


def needing_scratch(monkeypatch, size):
    """Return a function whose code for one state asks for so much scratch."""
    monkeypatch.setattr(compile, "single_ir", lambda *args: (single_ir(*args)[0], size))
    f = Counting(declare())
    f.warmup(batch=False)
    return f


@pytest.mark.parametrize("size", [0, STACK_SCRATCH, STACK_SCRATCH + 1, 1 << 20])
def test_scratch_on_the_stack_and_on_the_heap(size, monkeypatch):
    f = needing_scratch(monkeypatch, size)
    assert np.array_equal(f(X, Y, Z), WANTED)
    assert f.general_calls == 0


def test_no_memory_for_scratch_is_a_memory_error(monkeypatch):
    f, out = needing_scratch(monkeypatch, 1 << 62), np.empty(N)
    before = sys.getrefcount(out)
    for _ in range(10):
        with pytest.raises(MemoryError):
            f(X, Y, Z, out=out)
    assert sys.getrefcount(out) == before


def test_the_code_outlives_the_function_while_it_can_be_called():
    f = Counting(declare())
    f.warmup()
    call = target_of(f)
    kernels = f._kernels.single(f._default), f._kernels.batch(f._default)
    loaded = [weakref.ref(kernel.keep[()]) for kernel in kernels]
    del f, kernels
    gc.collect()
    assert np.array_equal(call(X, Y, Z), WANTED)
    assert np.array_equal(call(list(X), Y, Z), WANTED)
    assert loaded[0]() is not None
    del call
    gc.collect()
    assert [ref() for ref in loaded] == [None, None]


def test_a_finalizer_in_a_cycle_may_call_the_function():
    results = []

    class Last:
        def __init__(self, f):
            self.f, self.me = f, self
            f.last = self

        def __del__(self):
            results.extend([self.f(X, Y, Z), self.f(list(X), Y, Z), self.f([X], Y, Z)[0]])

    f = Counting(declare())
    f.warmup()
    Last(f)
    del f
    gc.collect()
    assert len(results) == 3
    assert all(np.array_equal(r, WANTED) for r in results)


# -- where it comes from -----------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("without", ["layout", "source"])
def test_without_it_calls_take_the_general_path(monkeypatch, without):
    from kinetree.glue import code
    from kinetree.runtime import kernels

    if without == "layout":
        monkeypatch.setattr(layout, "find", lambda: None)
        monkeypatch.setattr(batch, "_DATA", None)
    else:
        monkeypatch.setattr(code, "sources", lambda: None)
        monkeypatch.setattr(kernels, "_glues", {})
    f = Counting(declare())
    f.warmup()
    for k, call in enumerate(ONE_STATE):
        assert outcome(call, f) == outcome(call, both_ways(declare)[1])
        assert f.general_calls == k + 1


known = pytest.mark.skipif(
    sys.implementation.name != "cpython" or platform.architecture()[0] != "64bit", reason="no glue here"
)


@known
@pytest.mark.parametrize("field", layout.Layout._fields)
def test_a_wrong_offset_in_the_layout_is_noticed(field):
    right = layout.find()
    assert right is not None
    assert layout._holds(right)
    for shift in (-8, 4, 8):
        assert not layout._holds(right._replace(**{field: getattr(right, field) + shift}))


@pytest.mark.parametrize("unknown", ["_holds", "numpy_api"])
def test_another_python_or_numpy_gets_no_layout(monkeypatch, unknown):
    def fail(*_):
        if unknown == "numpy_api":
            raise RuntimeError

    monkeypatch.setattr(layout, unknown, fail)
    assert layout.find.__wrapped__() is None


def test_what_is_not_known_is_not_kept_on_disk(own_cache):
    f = Function(replace(declare(), identity=lambda: None))
    assert np.array_equal(f(X, Y, Z), WANTED)
    assert not own_cache.exists() or not list(own_cache.iterdir())
