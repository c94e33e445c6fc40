from __future__ import annotations

import gc
import io
import pickle
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
from synthetic import Counting, N, declare, line, misaligned, reference, states, target_of

from kinetree.backends.llvm import compile
from kinetree.backends.llvm.module import single_ir
from kinetree.backends.llvm.polls import STACK_SCRATCH
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec, batch

pytestmark = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")

X, Y, Z = states()
WANTED = reference(X, Y, Z)


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
    function.warmup(batch=False, optional=("w",))
    return function


def general(call):
    """Return what a call gives without the glue."""
    return call(lambda *args, **kwargs: Function._general(CALLED_SLOWLY, *args, **kwargs))


CALLED_SLOWLY = Function(declare())


def swapped(a):
    return a.astype(a.dtype.newbyteorder("S"))


def spelled(a):
    """Return the same numbers in a dtype whose byte order is this processor's, by its own letter."""
    return a.view(a.dtype.newbyteorder("<" if sys.byteorder == "little" else ">"))


def from_matlab(*arrays):
    """Return arrays as they come out of a file of Matlab's."""
    file = io.BytesIO()
    scipy.io.savemat(file, {f"a{k}": a for k, a in enumerate(arrays)})
    read = scipy.io.loadmat(file)
    return [read[f"a{k}"][0] for k in range(len(arrays))]


W = np.ones((2, 3))
INTEGERS = np.arange(-2, N - 2)

TAKEN = {
    "plain": (lambda f: f(X, Y, Z), WANTED),
    "one array three times": (lambda f: f(X, X, X), reference(X, X, X)),
    "with a dtype object of its own": (lambda f: f(*(pickle.loads(pickle.dumps(a)) for a in (X, Y, Z))), WANTED),
    "read-only": (lambda f: f(frozen(X), Y, Z), WANTED),
    "rows of a larger array": (lambda f: f(*np.array([X, Y, Z])), WANTED),
    "out": (lambda f: f(X, Y, Z, out=np.empty(N)), WANTED),
    "out from a dict": (lambda f: f(X, Y, Z, **{"out": np.empty(N)}), WANTED),
    "out is None": (lambda f: f(X, Y, Z, out=None), WANTED),
    "names": (lambda f: f(X, z=Z, y=Y), WANTED),
    "all by name, in any order": (lambda f: f(z=Z, x=X, y=Y), WANTED),
    "names in order": (lambda f: f(X, y=Y, z=Z), WANTED),
    "all names in order, an option and out": (lambda f: f(x=X, y=Y, z=Z, sign="plus", out=np.empty(N)), WANTED),
    "names in order around an option": (lambda f: f(X, y=Y, sign="plus", z=Z), WANTED),
    "all by name, in order, and an optional one": (lambda f: f(x=X, y=Y, z=Z, w=W), reference(X, Y, Z, W)),
    "names that are not interned": (lambda f: f(X, **{"".join(["", k]): a for k, a in (("y", Y), ("z", Z))}), WANTED),
    "a name and out": (lambda f: f(X, Y, z=Z, out=np.empty(N)), WANTED),
    "names, an option and out": (lambda f: f(y=Y, sign="plus", z=Z, out=np.empty(N), x=X), WANTED),
    "a list": (lambda f: f(list(X), Y, Z), WANTED),
    "a list of Python's floats": (lambda f: f(X.tolist(), Y, Z), WANTED),
    "a tuple": (lambda f: f(X, tuple(Y), Z), WANTED),
    "a list of integers": (lambda f: f(X, INTEGERS.tolist(), Z), reference(X, INTEGERS, Z)),
    "integers and floats": (lambda f: f(X, [1, 2.0, -1, 2**40, 0.5], Z), reference(X, [1, 2, -1, 2**40, 0.5], Z)),
    "large integers": (lambda f: f(X, [2**62, -(2**62), 0, 1, 2**53 + 1], Z), None),
    "strided": (lambda f: f(strided(X), Y, Z), WANTED),
    "backwards": (lambda f: f(X[::-1].copy()[::-1], Y, Z), WANTED),
    "broadcast": (lambda f: f(np.broadcast_to(2.0, N), Y, Z), reference(np.full(N, 2.0), Y, Z)),
    "other byte order": (lambda f: f(swapped(X), swapped(Y), swapped(Z)), WANTED),
    "other byte order, strided": (lambda f: f(strided(swapped(X)), Y, swapped(Z)[::-1]), reference(X, Y, Z[::-1])),
    "byte order spelled '<' or '>'": (lambda f: f(spelled(X), Y, spelled(Z), out=spelled(np.empty(N))), WANTED),
    "byte order swapped twice": (lambda f: f(swapped(swapped(X)), swapped(Y).byteswap().view(Y.dtype), Z), WANTED),
    "of scipy.io.loadmat": (lambda f: f(*from_matlab(X, Y, Z)), WANTED),
    "misaligned": (lambda f: f(misaligned(X), misaligned(Y), misaligned(Z)), WANTED),
    "misaligned, other byte order": (lambda f: f(X, Y, misaligned(swapped(Z))), WANTED),
    "float32 and float64": (lambda f: f(X, Y, Z.astype(np.float32)), WANTED),
    "an optional input": (lambda f: f(X, Y, Z, W), reference(X, Y, Z, W)),
    "an optional input by name": (lambda f: f(X, Y, w=W, z=Z), reference(X, Y, Z, W)),
    "an optional input that is None": (lambda f: f(X, Y, Z, None), WANTED),
    "transposed": (lambda f: f(X, Y, Z, np.arange(6.0).reshape(3, 2).T), None),
    "nested lists": (lambda f: f(X, Y, Z, [[1, 2, 3], (4.0, 5, 6)]), reference(X, Y, Z, [[1, 2, 3], [4, 5, 6]])),
    "NaN and inf": (lambda f: f([np.nan, np.inf, 1, 2, 3], Y, Z), None),
    "largest unsigned": (lambda f: f(X, Y, np.full(N, 2**64 - 1, np.uint64)), None),
    "smallest signed": (lambda f: f(X, Y, np.full(N, -(2**63), np.int64)), None),
    **{
        f"{code}": (lambda f, code=code: f(X, INTEGERS.astype(code), Z), None)
        for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", ">u8", *"lqLQ", "<f4")
    },
    "strided integers": (lambda f: f(X, np.arange(2 * N)[::2], Z), reference(X, np.arange(2 * N)[::2], Z)),
}


@pytest.mark.parametrize("case", TAKEN)
def test_the_glue_takes(f, case):
    call, wanted = TAKEN[case]
    before = f.general_calls
    got = call(f)
    assert f.general_calls == before
    slow = general(call)
    assert (got.tobytes(), got.dtype, got.shape) == (slow.tobytes(), slow.dtype, slow.shape)
    assert wanted is None or np.array_equal(got, wanted)


def test_the_call_is_a_builtin_function(f):
    assert type(target_of(f)).__name__ == "builtin_function_or_method"


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
    held = (X, Y, Z, out, bad, f, target_of(f))
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
    assert f(*map(strided, single)).dtype == np.float32
    assert f(*map(swapped, single)).dtype == np.float32
    assert f.general_calls == before


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scaled():
    function = Counting(line())
    function(2.0, V, 1.0)
    return function


class MyFloat(float):
    pass


V = np.array([1.0, 2.0, 4.0])
NUMBERS = [2.5, -1.0, float("inf"), 3, 0, -7, -1, 2**52, np.float64(2.5), np.float32(2.5), np.array(2.5), np.array(3)]
NUMBERS += [np.array(2.5, np.float32), np.array(2.5, ">f8"), np.array([1, 7])[1:].reshape(())]
OTHERS = [np.int64(3), MyFloat(2.5), np.float16(2.5), 2**63, 2**64 - 1]


@pytest.mark.parametrize("k", NUMBERS + OTHERS, ids=repr)
def test_the_glue_takes_numbers(scaled, k):
    before = scaled.general_calls
    assert np.array_equal(scaled(k, V, 0.5), V * float(k) + 0.5)
    assert np.array_equal(scaled(2.0, V, k), V * 2.0 + float(k))
    assert np.array_equal(scaled(k, V, k, out=np.empty(3)), V * float(k) + float(k))
    assert scaled.general_calls == before + 3 * any(k is other for other in OTHERS)


@pytest.mark.parametrize("k", [True, None, "2", 1j, 2**64, -(2**63) - 1, 10**400, [1.0, "x"]], ids=lambda k: str(k)[:9])
def test_what_is_no_number_is_refused(scaled, k):
    with pytest.raises(ArgumentError, match="line: k"):
        scaled(k, V, 1.0)


def test_no_reference_to_a_number_is_lost_or_kept(scaled):
    k, d = 123456.789, 10**18
    before = sys.getrefcount(k), sys.getrefcount(d)
    for _ in range(100):
        scaled(k, V, d)
    assert (sys.getrefcount(k), sys.getrefcount(d)) == before


# -- memory ----------------------------------------------------------------------------------------------------------


def single_of(f):
    return f._kernels.single(f._default)


def owner(single):
    return single.keep[()]


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
    for call, wanted in TAKEN.values():
        assert wanted is None or np.array_equal(call(f), wanted)
    assert f.general_calls == sum(wanted is not None for _, wanted in TAKEN.values())


def test_the_code_outlives_the_function():
    f = Counting(declare())
    f.warmup(batch=False)
    call = target_of(f)
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
