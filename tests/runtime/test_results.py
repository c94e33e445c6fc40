from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading

import numpy as np
import pytest
from synthetic import Counting

from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout
from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec
from kinetree.runtime import spec as results
from kinetree.runtime.spec import result_type

glued = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")
X = np.array([1.0, 2.0, 4.0])
XS = np.arange(30.0).reshape(10, 3)
SHARED = np.empty(12)
DTYPES = ["float64", "float32"]


def declaration(*names: str) -> FunctionSpec:
    """Return 2 x (which has the name of the input), the sum, and the outer product."""
    x = Port("x", (3,))
    shapes = {"x": (3,), "total": (), "outer": (3, 3)}

    def evaluate(given, options):
        e = given["x"]
        results = {"x": [2.0 * k for k in e], "total": e[0] + e[1] + e[2], "outer": [[a * b for b in e] for a in e]}
        return [results[name] for name in names]

    ports = tuple(Port(name, shapes[name]) for name in names)
    return FunctionSpec("make_all", "", (x,), ports, evaluate, lambda: repr(names).encode())


def wanted(x):
    return {"x": 2 * x, "total": x.sum(-1), "outer": x[..., :, None] * x[..., None, :]}


@pytest.fixture(scope="module")
def f():
    return Counting(declaration("x", "total", "outer"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given", [X, XS, XS.reshape(5, 2, 3), XS[:0], XS[::2], [1, 2, 4]], ids=str)
def test_several_results_are_a_named_tuple(f, given, dtype):
    given = np.asarray(given, dtype)
    for _ in range(3):
        result = f(given)
        assert type(result) is result_type("make_all", ("x", "total", "outer"))
        for name, entries in wanted(given).items():
            assert np.array_equal(getattr(result, name), entries)
            assert getattr(result, name).dtype == dtype
        x, total, outer = result
        assert x is result.x
        assert result[2] is outer is result.outer
        assert total.shape == given.shape[:-1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_scalar_of_one_state_is_a_numpy_scalar(dtype):
    f = Counting(declaration("total"))
    given = X.astype(dtype)
    for _ in range(3):
        assert type(f(given)) is np.dtype(dtype).type
        assert f(given) == 7.0
        out = np.empty((), dtype)
        assert f(given, out=out) is out
        assert out == 7.0
    assert isinstance(f(X), float)
    assert type(f(XS)) is np.ndarray
    assert f(XS).shape == (10,)
    assert f(XS, out=np.empty(10)).shape == (10,)


@glued
def test_the_glue_makes_them():
    f = Counting(declaration("x", "total", "outer"))
    f(X)
    before = f.general_calls
    first, second = f(X), f(X)
    assert f.general_calls == before
    assert first.x.flags.owndata
    assert not np.shares_memory(first.x, second.x)
    assert repr(first).startswith("MakeAll(x=array([2., 4., 8.]), total=")


def test_results_are_tuples_that_copy_and_pickle(f):
    result = f(X)
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert np.array_equal(again.outer, result.outer)
    assert isinstance(result, tuple)
    assert result._fields == ("x", "total", "outer")
    assert result._replace(total=0.0).total == 0.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def outs(dtype="float64", *lead):
    return tuple(np.empty((*lead, *shape), dtype) for shape in ((3,), (), (3, 3)))


@glued
def test_out_takes_a_tuple(f):
    f(X)
    before = f.general_calls
    out = outs()
    result = f(X, out=out)
    assert f.general_calls == before
    assert all(a is b for a, b in zip(result, out, strict=True))
    assert type(result) is type(f(X))
    assert np.array_equal(result.outer, np.outer(X, X))
    assert result.total == 7.0


LEFT = {
    "a list": lambda: list(outs()),
    "the results": lambda: result_type("make_all", ("x", "total", "outer"))(*outs()),
    "a strided one": lambda: (np.empty(6)[::2], *outs()[1:]),
    "one in the input": lambda: (X, *outs()[1:]),
}


@pytest.mark.parametrize("case", LEFT)
def test_other_outs_take_the_general_path(f, case):
    f(X)
    before, x = f.general_calls, X.copy()
    out = LEFT[case]()
    result = f(X, out=out)
    assert f.general_calls == before + 1
    assert all(a is b for a, b in zip(result, out, strict=True))
    assert np.array_equal(result.outer, np.outer(x, x))
    X[:] = x


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(3), "out must be a tuple of 3 arrays, for x, total, outer"),
        (outs()[:2], "out must be a tuple of 3 arrays"),
        ((*outs()[:2], np.empty(3)), r"out for outer has shape \(3,\)"),
        ((SHARED[:3], np.empty(()), SHARED[2:11].reshape(3, 3)), "the arrays of out overlap"),
        ((None, *outs()[1:]), "out for x is a NoneType"),
    ],
)
def test_a_wrong_out_is_refused(f, out, message):
    with pytest.raises(ArgumentError, match=message):
        f(X, out=out)


@glued
def test_no_reference_is_lost_or_kept(f):
    out = outs()
    held = (X, *out, out, type(f(X)), np.dtype("float64"))
    f(X, out=out)
    for _ in range(10):  # what is cached on the way is cached now
        f(X)
    gc.collect()
    before = [sys.getrefcount(x) for x in held]
    for _ in range(1000):
        f(X)
        f(X, out=out)
    gc.collect()
    after = [sys.getrefcount(x) for x in held]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) <= 2
    result = f(X)
    assert [sys.getrefcount(x) for x in result] == [3, 3, 3]  # the tuple, x, the argument
    assert gc.is_tracked(result)


def test_outputs_need_names_that_a_tuple_can_have():
    with pytest.raises(ValueError, match="named tuple"):
        FunctionSpec("bad", "", (), (Port("lambda", ()), Port("x", ())), lambda o, p: None, lambda: b"")


@glued
def test_a_function_of_nothing():
    outputs = Port("c", (2,)), Port("d", ())
    f = Function(FunctionSpec("nothing", "", (), outputs, lambda given, options: [[1.0, 2.0], 3.0], lambda: b"nothing"))
    for _ in range(2):
        c, d = f()
        assert c.tolist() == [1.0, 2.0]
        assert d == 3.0


def test_a_function_without_a_proper_name_has_results_too():
    for name in ("<lambda>", "", "class", "2nd"):
        result = result_type(name, ("x", "y"))(x=1, y=2)
        assert result == (1, 2)
        assert pickle.loads(pickle.dumps(result)).y == 2


def test_two_threads_get_the_same_type(monkeypatch):
    """The call glue keeps its address: a second one would be freed."""
    inside, leave = threading.Event(), threading.Event()
    plain = results.namedtuple

    def slow(*args):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            leave.wait(10)
        return plain(*args)

    monkeypatch.setattr(results, "namedtuple", slow)
    got = []
    other = threading.Thread(target=lambda: got.append(results.result_type("raced", ("a", "b"))))
    other.start()
    assert inside.wait(10)
    ours = results.result_type("raced", ("a", "b"))
    leave.set()
    other.join()
    assert got == [ours]
    assert results.result_type("raced", ("a", "b")) is ours
