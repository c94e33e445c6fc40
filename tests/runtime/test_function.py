from __future__ import annotations

import copy
import functools
import inspect
import os
import pickle
import pydoc
import threading
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from synthetic import at_once, both_ways, declare, make_all, reference, states

import kinetree as kt
from kinetree.graph import Port
from kinetree.runtime import Function, spec
from kinetree.runtime.spec import result_type

X, Y, Z = states()
XS, YS, ZS = states(30)


@pytest.fixture
def traced():
    """Return how many programs were traced since the start of the test."""
    before = len(synthetic.traces)
    return lambda: len(synthetic.traces) - before


def again() -> Function:
    return Function(declare(reduce=lambda: (again, ())))


def test_it_looks_like_a_function():
    f = Function(declare())
    for _ in range(2):
        assert f.__name__ == "mix"
        assert f.__doc__ == inspect.getdoc(f) == "Mix three vectors."
        assert str(inspect.signature(f)) == "(x, y, z, w=None, *, sign='plus', out=None)"
        assert "mix(x, y, z" in repr(f)
        f(X, Y, Z)
    _, *lines = pydoc.render_doc(f, renderer=pydoc.plaintext).split("\n\n")
    assert "\n".join(lines) == "mix(x, y, z, w=None, *, sign='plus', out=None)\n    Mix three vectors.\n"
    count = f.op_count
    assert set(count) <= {"mul", "add", "fma"}
    assert count.get("mul", 0) + count.get("fma", 0) == 2 * synthetic.N
    assert len(f.listing().splitlines()) >= sum(count.values())


def test_only_what_is_used_is_compiled():
    f = Function(declare())
    assert (len(f._kernels.singles), len(f._kernels.batches)) == (0, 0)
    f(X, Y, Z)
    assert (len(f._kernels.singles), len(f._kernels.batches)) == (1, 0)
    f(XS, YS, ZS)
    assert (len(f._kernels.singles), len(f._kernels.batches)) == (1, 1)
    f(X, Y, Z, sign="minus")
    f(X, Y, Z, w=np.ones((2, 3)))
    f(*(a.astype("f4") for a in (X, Y, Z)))
    assert (len(f._kernels.singles), len(f._kernels.batches)) == (4, 1)
    g = Function(declare())
    g(XS, YS, ZS)
    assert (len(g._kernels.singles), len(g._kernels.batches)) == (0, 1)


def test_warmup_compiles_what_a_call_needs(traced):
    f = Function(declare())
    f.warmup()
    f.warmup(dtype="float32", optional=("w",), batch=False, sign="minus")
    count = traced()
    made = len(f._kernels.singles), len(f._kernels.batches)
    assert made == (2, 1)
    f(X, Y, Z)
    f(XS, YS, ZS)
    f(*(a.astype("f4") for a in (X, Y, Z)), w=np.ones((2, 3), "f4"), sign="minus")
    assert traced() == count
    assert (len(f._kernels.singles), len(f._kernels.batches)) == made


def test_it_pickles_by_where_it_comes_from():
    f = again()
    f(X, Y, Z)
    g = pickle.loads(pickle.dumps(f))
    assert np.array_equal(g(X, Y, Z), reference(X, Y, Z))
    assert copy.copy(f) is f
    assert copy.deepcopy([f])[0] is f
    with pytest.raises(TypeError, match="mix cannot be pickled"):
        pickle.dumps(Function(declare()))


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": (Port("x", (3,)), Port("x", (3,))), "optional": ()},
        {"inputs": (Port("out", (3,)),), "optional": ()},
        {"optional": ("x",)},
        {"outputs": ()},
        {"outputs": (Port("lambda", ()), Port("x", ()))},
    ],
)
def test_a_declaration_that_cannot_be(changes):
    with pytest.raises(ValueError, match="named tuple" if len(changes.get("outputs", ())) == 2 else "mix"):
        replace(declare(), **changes)


def test_a_trace_that_does_not_fit_its_declaration():
    f = Function(replace(declare(), outputs=(Port("r", (4,)),), identity=lambda: b"wrong"))
    with pytest.raises(ValueError, match=r"output 'r' of shape \(4,\) has 5 entries"):
        f(X, Y, Z)


def test_threads_that_call_for_the_first_time_at_once(traced):
    for k in range(5):
        f = Function(declare(identity=b"race %d" % k))
        start = threading.Barrier(8)
        results = []

        def call(f=f, start=start, results=results):
            start.wait()
            results.append((f(X, Y, Z), f(XS, YS, ZS)))

        at_once(*[call] * 8)
        assert all(np.array_equal(one, reference(X, Y, Z)) for one, _ in results)
        assert all(np.array_equal(many, reference(XS, YS, ZS)) for _, many in results)
        assert traced() == k + 1
        assert (len(f._kernels.singles), len(f._kernels.batches)) == (1, 1)


def test_a_failed_compilation_can_be_tried_again():
    good = declare().evaluate
    tries = []

    def evaluate(given, options):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not today")
        return good(given, options)

    f = Function(replace(declare(), evaluate=evaluate, identity=lambda: b"second try"))
    with pytest.raises(RuntimeError, match="not today"):
        f(X, Y, Z)
    assert np.array_equal(f(X, Y, Z), reference(X, Y, Z))


# -- several results ---------------------------------------------------------------------------------------------------

V = np.array([1.0, 2.0, 4.0])
VS = np.arange(30.0).reshape(10, 3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("given", [V, VS, VS.reshape(5, 2, 3), VS[:0], VS[::2], [1, 2, 4]], ids=str)
def test_several_results_are_a_named_tuple(given, dtype):
    f, x = both_ways(make_all)[0], np.asarray(given, dtype)
    result = f(x)
    assert type(result) is result_type("make_all", ("x", "total", "outer"))
    wanted = {"x": 2 * x, "total": x.sum(-1), "outer": x[..., :, None] * x[..., None, :]}
    for k, (name, entries) in enumerate(wanted.items()):
        assert np.array_equal(result[k], entries)
        assert result[k] is getattr(result, name)
        assert result[k].dtype == dtype
        assert result[k].shape == entries.shape


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_scalar_of_one_state_is_a_numpy_scalar(dtype):
    f, x = Function(make_all("total")), V.astype(dtype)
    for _ in range(3):
        assert type(f(x)) is np.dtype(dtype).type
        assert f(x) == 7.0
        out = np.empty((), dtype)
        assert f(x, out=out) is out
        assert out == 7.0
    assert isinstance(f(V), float)
    assert type(f(VS)) is np.ndarray
    assert f(VS).shape == f(VS, out=np.empty(10)).shape == (10,)


def test_results_are_tuples_that_copy_and_pickle():
    result = both_ways(make_all)[0](V)
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert np.array_equal(again.outer, result.outer)
    assert isinstance(result, tuple)
    assert result._fields == ("x", "total", "outer")
    assert result._replace(total=0.0).total == 0.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    for name in ("<lambda>", "", "class", "2nd"):
        result = result_type(name, ("x", "y"))(x=1, y=2)
        assert result == (1, 2)
        assert pickle.loads(pickle.dumps(result)).y == 2


def test_two_threads_get_the_same_type_of_results(monkeypatch):
    """The call glue keeps its address: a second one would be freed."""
    inside, leave = threading.Event(), threading.Event()
    plain = spec.namedtuple

    def slow(*args):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            leave.wait(10)
        return plain(*args)

    monkeypatch.setattr(spec, "namedtuple", slow)
    got = []
    other = threading.Thread(target=lambda: got.append(result_type("raced", ("a", "b"))))
    other.start()
    assert inside.wait(10)
    ours = result_type("raced", ("a", "b"))
    leave.set()
    other.join()
    assert got == [ours]
    assert result_type("raced", ("a", "b")) is ours


# -- forks, and the end of Python --------------------------------------------------------------------------------------

WHILE_ANOTHER_THREAD_COMPILES = """
import faulthandler, os, threading, time
import numpy as np
from synthetic import *
from kinetree.runtime import batch, set_num_threads
batch.SHARED_SECONDS = 0.0
set_num_threads(2)
x, y, z = states(5000)

def check(f):
    assert np.array_equal(f(x, y, z), reference(x, y, z))
    assert np.array_equal(f(x[0], y[0], z[0]), reference(x[0], y[0], z[0]))

used = Function(declare())
check(used)  # the pool of the parent is at work
stop = threading.Event()

def compile_on_and_on():
    k = 0
    while not stop.is_set():
        check(Function(declare(identity=b"%d %d" % (os.getpid(), k := k + 1))))

other = threading.Thread(target=compile_on_and_on)
other.start()
for k in range(12):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(20, exit=True)  # a deadlock shows itself
        try:
            check(used)
            check(Function(declare(identity=b"child %d" % k)))
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        break
    time.sleep(0.003 * k)
stop.set()
other.join()
check(used)
assert status == 0, status
print(0)
"""


WHILE_ANOTHER_THREAD_COMPUTES_A_PROPERTY = """
import faulthandler, os, threading
from synthetic import *
inside, leave = threading.Event(), threading.Event()
plain = FunctionSpec.chosen

def chosen(self, given):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        leave.wait()
    return plain(self, given)

FunctionSpec.chosen = chosen
x, y, z = states(3)
other = threading.Thread(target=lambda: Function(declare(identity=b"other"))._default)
other.start()
inside.wait()
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(20, exit=True)
    Function(declare())(x, y, z)
    os._exit(0)
status = os.waitpid(child, 0)[1]
leave.set()
other.join()
print(status)
"""


LOCKS_ARE_FREE_AND_THREADS_NEW = """
import os
from kinetree import locks
from kinetree.runtime import threads
done = []
run = lambda: lambda start, count: done.append(count)
threads.pool.share(threads.Job(run, 100, largest=1), 3)
child = os.fork()
if child == 0:
    lock = locks.compiling.acquire(blocking=False)
    os._exit(0 if lock and threads.pool._threads == 0 and threads.pool._lock.acquire(blocking=False) else 1)
assert threads.pool._threads == 2
print(os.waitpid(child, 0)[1] or 1 - locks.compiling.acquire(blocking=False))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(
    "script",
    [WHILE_ANOTHER_THREAD_COMPILES, WHILE_ANOTHER_THREAD_COMPUTES_A_PROPERTY, LOCKS_ARE_FREE_AND_THREADS_NEW],
    ids=["compiling", "property", "locks"],
)
def test_a_child_can_do_all(python, script):
    assert python(script).endswith("0\n")


EXIT = """
import atexit
import numpy as np
from synthetic import *

class Late:
    def __del__(self):
        print("late", np.array_equal(call(x[0], y[0], z[0]), wanted))

x, y, z = states(3)
wanted = reference(x[0], y[0], z[0])
f = Function(declare())
call = type(f)(f.spec)
call(x[0], y[0], z[0])
late = Late()
atexit.register(lambda: print("atexit", np.array_equal(f(x, y, z), reference(x, y, z))))
f(np.repeat(x, 90_000, axis=0), y[0], z[0])  # threads are waiting for work at exit
"""


def test_functions_may_be_called_while_python_ends(python):
    assert python(EXIT).splitlines() == ["atexit True", "late True"]


def test_names_of_tasks_are_those_of_what_is_computed():
    """Dask names a task by the parts of a partial: they must be the same in every process, and tell robots apart."""

    def token(function):
        return function.func.__dask_tokenize__(), function.args, function.keywords

    def doubled(q, k=2.0):
        return k * robot.gravity_forces(q)

    robot = kt.load("ur5")
    again, upward = pickle.loads(pickle.dumps(robot)), robot.with_gravity([0.0, 0.0, 9.81])
    robot.gravity_forces(np.zeros(6))
    copied = pickle.loads(pickle.dumps(robot.gravity_forces))
    assert token(robot.gravity_forces) == token(again.gravity_forces) == token(copied)
    others = [robot.gravity_forces, upward.gravity_forces, robot.mass_matrix, robot.jacobian]
    others += [kt.compile(robot, doubled)]
    others += [robot.jacobian.bind(frame=frame) for frame in ("tool0", "base")]
    others += [kt.compile(robot, functools.partial(doubled, k=k)) for k in (2.0, 3.0)]
    mech = kt.Mechanism(robot, [kt.Weld("tool0")])
    others += [mech.forward_dynamics, robot.forward_dynamics]
    assert len({repr(token(function)) for function in others}) == len(others)
    assert np.array_equal(robot.gravity_forces.func(np.ones(6)), robot.gravity_forces(np.ones(6)))
