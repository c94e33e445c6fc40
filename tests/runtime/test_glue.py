from __future__ import annotations

import gc
import pickle
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest
from synthetic import Counting, N, declare, reference, states

from kinetree.backends.llvm import compile
from kinetree.backends.llvm.glue import STACK_SCRATCH
from kinetree.backends.llvm.single import single_ir
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec, batch

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")

X, Y, Z = states()
WANTED = reference(X, Y, Z)


class Sub(np.ndarray):
    pass


def misaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    moved = raw[1:].view(a.dtype)
    moved[:] = a
    return moved


def frozen(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def strided(a):
    return np.repeat(a, 2)[::2]


@pytest.fixture(scope="module")
def f():
    function = Counting(declare())
    function.warmup(batch=False)
    return function


TAKEN = {
    "plain": (lambda f: f(X, Y, Z), WANTED),
    "one array three times": (lambda f: f(X, X, X), reference(X, X, X)),
    "with a dtype object of its own": (lambda f: f(*(pickle.loads(pickle.dumps(a)) for a in (X, Y, Z))), WANTED),
    "read-only": (lambda f: f(frozen(X), Y, Z), WANTED),
    "rows of a larger array": (lambda f: f(*np.array([X, Y, Z])), WANTED),
    "out": (lambda f: f(X, Y, Z, out=np.empty(N)), WANTED),
    "out from a dict": (lambda f: f(X, Y, Z, **{"out": np.empty(N)}), WANTED),
}

LEFT = {
    "a list": (lambda f: f(list(X), Y, Z), WANTED),
    "a tuple": (lambda f: f(X, tuple(Y), Z), WANTED),
    "integers": (lambda f: f(X, Y, np.arange(N)), reference(X, Y, np.arange(N))),
    "float32": (lambda f: f(X, Y, Z.astype(np.float32)), WANTED),
    "strided": (lambda f: f(strided(X), Y, Z), WANTED),
    "backwards": (lambda f: f(X[::-1].copy()[::-1], Y, Z), WANTED),
    "broadcast": (lambda f: f(np.broadcast_to(2.0, N), Y, Z), reference(np.full(N, 2.0), Y, Z)),
    "other byte order": (lambda f: f(X.astype(X.dtype.newbyteorder("S")), Y, Z), WANTED),
    "misaligned": (lambda f: f(misaligned(X), Y, Z), WANTED),
    "subclass": (lambda f: f(X.view(Sub), Y, Z), WANTED),
    "a batch": (lambda f: f(X[None], Y, Z), WANTED[None]),
    "names": (lambda f: f(X, z=Z, y=Y), WANTED),
    "a name and out": (lambda f: f(X, Y, z=Z, out=np.empty(N)), WANTED),
    "out is None": (lambda f: f(X, Y, Z, out=None), WANTED),
    "strided out": (lambda f: f(X, Y, Z, out=np.empty(2 * N)[::2]), WANTED),
    "misaligned out": (lambda f: f(X, Y, Z, out=misaligned(np.empty(N))), WANTED),
    "subclass out": (lambda f: f(X, Y, Z, out=np.empty(N).view(Sub)), WANTED),
    "an optional input": (lambda f: f(X, Y, Z, np.ones((2, 3))), reference(X, Y, Z, np.ones((2, 3)))),
}

WRONG = {
    "nothing": lambda f: f(),
    "too few": lambda f: f(X, Y),
    "too many": lambda f: f(X, Y, Z, None, Z),
    "short": lambda f: f(X[1:], Y, Z),
    "long": lambda f: f(X, Y, np.zeros(N + 1)),
    "column": lambda f: f(X[:, None], Y, Z),
    "no array": lambda f: f(None, Y, Z),
    "float16 out": lambda f: f(X, Y, Z, out=np.empty(N, np.float16)),
    "short out": lambda f: f(X, Y, Z, out=np.empty(N - 1)),
    "read-only out": lambda f: f(X, Y, Z, out=frozen(X)),
    "out is no array": lambda f: f(X, Y, Z, out=[0.0] * N),
    "unknown name": lambda f: f(X, Y, Z, into=np.empty(N)),
}


@pytest.mark.parametrize("case", TAKEN)
def test_the_glue_takes(f, case):
    call, wanted = TAKEN[case]
    before = f.general_calls
    assert np.array_equal(call(f), wanted)
    assert f.general_calls == before


@pytest.mark.parametrize("case", LEFT)
def test_the_glue_leaves_to_the_general_path(f, case):
    call, wanted = LEFT[case]
    before = f.general_calls
    assert np.array_equal(call(f), wanted)
    assert f.general_calls == before + 1


@pytest.mark.parametrize("case", WRONG)
def test_the_glue_leaves_to_the_general_path_to_refuse(f, case):
    before = f.general_calls
    with pytest.raises(ArgumentError):
        WRONG[case](f)
    assert f.general_calls == before + 1


def test_the_call_is_a_builtin_function(f):
    assert type(type(f).__dict__["__call__"].__func__).__name__ == "builtin_function_or_method"


def test_the_result_is_a_fresh_array_that_owns_its_memory(f):
    a, b = f(X, Y, Z), f(X, Y, Z)
    assert type(a) is np.ndarray
    assert a.flags.owndata
    assert a.flags.writeable
    assert a.dtype == np.float64
    assert not np.shares_memory(a, b)


def test_out_is_returned_itself(f):
    out = np.full(N, np.nan)
    assert f(X, Y, Z, out=out) is out
    assert np.array_equal(out, WANTED)


@pytest.mark.parametrize("shift", range(-N - 1, N + 2))
@pytest.mark.parametrize("which", range(3))
def test_out_may_overlap_any_input(f, which, shift):
    memory = np.zeros(5 * N)
    given = [X, Y, Z]
    given[which] = memory[2 * N : 3 * N]
    given[which][:] = (X, Y, Z)[which]
    out = memory[2 * N + shift : 3 * N + shift]
    before = f.general_calls
    assert f(*given, out=out) is out
    assert np.array_equal(out, WANTED)
    assert (f.general_calls > before) is (abs(shift) < N)


def test_no_reference_is_lost_or_kept(f):
    out, bad = np.empty(N), X[1:]
    held = (X, Y, Z, out, bad, f, type(f).__call__)
    f(X, Y, Z, out=out)
    before = [sys.getrefcount(x) for x in held]
    for _ in range(100):
        f(X, Y, Z)
        f(X, Y, Z, out=out)
        with pytest.raises(ArgumentError):
            f(bad, Y, Z)
    assert [sys.getrefcount(x) for x in held] == before
    assert sys.getrefcount(f(X, Y, Z)) <= 2


def test_other_variants_are_chained():
    f = Counting(declare())
    w = np.arange(6.0).reshape(2, 3)
    f(X, Y, Z)
    f(X, Y, Z, w)
    single = [a.astype(np.float32) for a in (X, Y, Z)]
    f(*single)
    before = f.general_calls
    assert np.array_equal(f(X, Y, Z), WANTED)
    assert np.array_equal(f(X, Y, Z, w), reference(X, Y, Z, w))
    assert f(*single).dtype == np.float32
    assert np.array_equal(f(*single), WANTED)
    assert f.general_calls == before
    f(X, Y, Z, w[:, ::-1])  # not contiguous
    assert f.general_calls == before + 1


def single_of(f):
    return f._kernels.single(f._default)


def owner(single):
    return single.kernel.keep[()]


def needing_scratch(monkeypatch, size):
    """Let code for one state ask for so much scratch."""
    monkeypatch.setattr(compile, "single_ir", lambda *args: (single_ir(*args)[0], size))


@pytest.mark.parametrize("size", [0, STACK_SCRATCH, STACK_SCRATCH + 1, 1 << 20])
def test_scratch_on_the_stack_and_on_the_heap(size, monkeypatch):
    needing_scratch(monkeypatch, size)
    f = Counting(declare())
    f.warmup(batch=False)
    assert np.array_equal(f(X, Y, Z), WANTED)
    assert f.general_calls == 0


def test_no_memory_for_scratch_is_a_memory_error(monkeypatch):
    needing_scratch(monkeypatch, 1 << 62)
    f = Counting(declare())
    f.warmup(batch=False)
    out = np.empty(N)
    before = sys.getrefcount(out)
    for _ in range(10):
        with pytest.raises(MemoryError):
            f(X, Y, Z, out=out)
    assert sys.getrefcount(out) == before


def test_without_a_known_layout_there_is_no_glue(monkeypatch):
    monkeypatch.setattr(layout, "find", lambda: None)
    monkeypatch.setattr(batch, "_DATA", None)
    f = Counting(declare())
    for case in (*TAKEN, *LEFT):
        call, wanted = (TAKEN | LEFT)[case]
        assert np.array_equal(call(f), wanted), case
    assert f.general_calls == len(TAKEN) + len(LEFT)
    for refuse in WRONG.values():
        with pytest.raises(ArgumentError):
            refuse(f)


def test_the_code_outlives_the_function():
    f = Counting(declare())
    f.warmup(batch=False)
    call = type(f).__call__
    loaded = weakref.ref(owner(single_of(f)))
    del f
    gc.collect()
    assert np.array_equal(call(X, Y, Z), WANTED)
    assert np.array_equal(call(list(X), Y, Z), WANTED)
    assert loaded() is not None


def test_the_code_is_freed_with_the_function():
    f = Counting(declare())
    f.warmup()
    loaded = [weakref.ref(owner(single_of(f))), weakref.ref(f._kernels.batch(f._default).keep[()])]
    del f
    gc.collect()
    assert [ref() for ref in loaded] == [None, None]


def test_a_finalizer_in_a_cycle_may_call_the_function():
    results = []

    class Last:
        def __init__(self, f):
            self.f, self.me = f, self
            f.last = self

        def __del__(self):
            results.append(self.f(X, Y, Z))
            results.append(self.f(list(X), Y, Z))
            results.append(self.f([X], Y, Z)[0])

    f = Counting(declare())
    f.warmup()
    Last(f)
    del f
    gc.collect()
    assert len(results) == 3
    assert all(np.array_equal(r, WANTED) for r in results)


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


def test_what_is_not_known_is_not_kept_on_disk(own_cache):
    f = Function(replace(declare(), identity=lambda: None))
    assert np.array_equal(f(X, Y, Z), WANTED)
    assert not own_cache.exists() or not list(own_cache.iterdir())
