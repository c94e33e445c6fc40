"""Arguments of users' functions that have defaults, and those that are constants of the trace."""

from __future__ import annotations

import enum
import functools
import inspect
import pickle
import subprocess
import sys
from typing import Literal, NamedTuple

import numpy as np
import pytest
from synthetic import Counting

import kinetree as kt
from kinetree.errors import ArgumentError
from kinetree.glue import cpython as layout

glued = pytest.mark.skipif(layout.find() is None, reason="no glue for this Python")
robot = kt.load("ur5")
q, v, a = robot.random_state(seed=2)
Q, V, _ = robot.random_state(seed=3, size=5)
X = np.array([1.0, 2.0, 4.0])
three = functools.partial(robot.compile, shapes={"x": (3,), "w": (3,)})


def line(x, k: float = 2.0, w=(0.5, 0.25, 1e-3)):
    """Return k x + w."""
    return k * x + w


W = np.array([0.5, 0.25, 1e-3])
compiled_line = robot.compile(line, shapes={"x": (3,)})


class Law(enum.Enum):
    SPRING = 1
    DAMPER = 2


# -- defaults -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def f():
    function = Counting(compiled_line.spec)
    function.warmup()
    function.warmup(dtype="float32")
    return function


CALLS = {
    "none": (lambda f: f(X), 2 * X + W),
    "by position": (lambda f: f(X, 3.0), 3 * X + W),
    "all by position": (lambda f: f(X, 3.0, X), 3 * X + X),
    "the second by name": (lambda f: f(X, w=X), 2 * X + X),
    "all by name": (lambda f: f(w=X, x=X, k=3), 3 * X + X),
    "lists": (lambda f: f([1, 2, 4], w=[1, 2, 4]), 2 * X + X),
    "out": (lambda f: f(X, out=np.empty(3)), 2 * X + W),
    "a batch": (lambda f: f(np.array([X, 2 * X])), [2 * X + W, 4 * X + W]),
    "a batch by default": (lambda f: f(X, np.array([1.0, 3.0])), [X + W, 3 * X + W]),
    "a batch with out": (lambda f: f(np.array([X, 2 * X]), out=np.empty((2, 3))), [2 * X + W, 4 * X + W]),
}


@glued
@pytest.mark.parametrize("case", CALLS)
def test_the_glue_fills_in_defaults(f, case):
    call, wanted = CALLS[case]
    call(f)  # which tells how long a batch takes
    before = f.general_calls
    assert np.array_equal(call(f), wanted)
    assert f.general_calls == before
    assert np.array_equal(call(f._general), wanted)


@pytest.mark.parametrize("call", [lambda f: f, lambda f: f._general], ids=["glue", "general"])
def test_a_default_has_the_dtype_of_the_call(f, call):
    single = X.astype(np.float32)
    result = call(f)(single)
    assert result.dtype == np.float32
    assert np.array_equal(result, np.float32(2) * single + W.astype(np.float32))
    assert call(f)(single, np.float32(3)).dtype == np.float32
    assert call(f)(single, 3.0).dtype == np.float64
    assert call(f)(np.array([single, single])).dtype == np.float32


def test_a_default_of_the_wrong_shape_is_an_error():
    with pytest.raises(ArgumentError, match=r"f: the default of q_des is \[1\.0, 2\.0\], .* shape \(6,\)"):

        @robot.compile
        def f(q, q_des=[1.0, 2.0]):  # noqa: B006
            return q - q_des


def test_a_default_array_is_copied_and_a_number_is_for_all_joints():
    rest = np.zeros(6)
    f = robot.compile(lambda q, q_des=rest, v_des=1.5: q - q_des + v_des, name="error")
    rest[:] = 7.0
    assert np.array_equal(f(q), q + 1.5)


def test_parameters_by_keyword_only_and_in_any_order():
    @three
    def f(x, *, k: float = 2.0, w):
        return k * x + w

    for _ in range(3):
        assert np.array_equal(f(X, w=W), 2 * X + W)
        assert np.array_equal(f(X, w=W, k=3.0), 3 * X + W)
    assert str(inspect.signature(f)) == "(x, *, k: float = 2.0, w, out=None)"
    with pytest.raises(ArgumentError, match="f got 2 positional arguments"):
        f(X, 3.0, w=W)


# -- constants ----------------------------------------------------------------------------------------------------


def power(n: int, x, negative: bool = False, law: Literal["sum", "each"] = "each"):
    """Return the n-th power."""
    r = np.prod([x] * n, axis=0) if n else 0.0 * x + 1.0
    r = -r if negative else r
    return {"each": r, "half": r / 2} if law == "each" else np.sum(r)


@pytest.fixture(scope="module")
def p():
    return Counting(robot.compile(power, shapes={"x": (3,)}).spec)


def test_one_kernel_for_each_value(p):
    for n in (2, 3, 0):
        for _ in range(2):
            assert np.array_equal(p(n, X).each, X**n)
            assert np.array_equal(p(n=n, x=X).half, X**n / 2)
    assert len(p._kernels.singles) == 3
    assert np.array_equal(p(2, [X, X]).each, [X**2, X**2])


@glued
def test_the_glue_takes_constants_by_position_and_name_and_results_may_depend_on_them(p):
    def calls():
        assert np.array_equal(p(2, X, True).each, -(X**2))
        assert p(2, X, law="sum") == 21.0
        assert np.array_equal(p(x=X, n=1).each, X)
        assert np.array_equal(p(2, X, "".join(["F"]) == "F").each, -(X**2))

    calls()
    before = p.general_calls
    calls()
    assert p.general_calls == before


def test_true_is_not_one_to_the_glue(p):
    assert np.array_equal(p(1, X, True).each, -X)
    for _ in range(3):
        with pytest.raises(ArgumentError, match="power: negative is 1, it must be a bool"):
            p(1, X, 1)
    assert np.array_equal(p(True, X).each, X)  # True is an int
    assert np.array_equal(p(np.int64(1), X, np.True_).each, -X)


WRONG = {
    "missing": (lambda p: p(x=X), r"power needs n too: call it as power\(n, x, negative=False, law='each'"),
    "missing an array": (lambda p: p(2), "power needs x too"),
    "unknown": (lambda p: p(2, X, negativ=True), "power has no argument 'negativ', did you mean 'negative'"),
    "a float": (lambda p: p(2.0, X), r"power: n is 2\.0, it must be an int, a constant; .* annotate it, n: float"),
    "an array": (lambda p: p(X, X), "power: n is array.*, it must be an int"),
    "a word": (lambda p: p(2, X, law="al"), "power: law is 'al', it must be 'sum' or 'each', a constant"),
    "twice": (lambda p: p(2, X, n=3), "power got n twice"),
    "bind": (lambda p: p.bind(n="x"), "power: n is 'x', it must be an int"),
    "op_count": (lambda p: p.op_count, "power needs n=: an int"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_told(p, case):
    call, message = WRONG[case]
    with pytest.raises(ArgumentError, match=message):
        call(p)


def test_the_signature_is_that_of_the_function(p):
    f = robot.compile(power, shapes={"x": (3,)})
    own = dict(inspect.signature(power, eval_str=True).parameters)
    shown = dict(inspect.signature(f).parameters)
    assert shown.pop("out").kind is inspect.Parameter.KEYWORD_ONLY
    assert shown == own
    assert (f.__name__, f.__doc__, f.__wrapped__) == ("power", power.__doc__, power)
    assert repr(f) == "<kinetree function power(n, x, negative=False, law='each', *, out=None)>"
    assert repr(f.bind(n=3)) == "<kinetree function power(x, negative=False, law='each', *, out=None)>"


def test_other_constants():
    @robot.compile(shapes={"x": (3,)})
    def f(x, joints: tuple[int, ...], law: Law = Law.SPRING, scale: int | None = None, frame="tool0", shift=(1, 0)):
        r = np.stack([x[j] for j in joints]) if law is Law.SPRING else -x
        return r * (1 if scale is None else scale) + len(frame) + shift[0]

    for _ in range(3):
        assert np.array_equal(f(X, (0, 2)), [1.0 + 6, 4.0 + 6])
        assert np.array_equal(f(X, [1], scale=3), [6.0 + 6])
        assert np.array_equal(f(X, (0,), Law.DAMPER, frame=""), 1 - X)
        assert np.array_equal(f(X, (), law=Law.DAMPER, shift=[2, np.int64(3)]), 7 - X)
    with pytest.raises(ArgumentError, match="law is 1, it must be a Law"):
        f(X, (0,), 1)
    with pytest.raises(ArgumentError, match=r"scale is 1.5, it must be an int or None"):
        f(X, (0,), scale=1.5)
    with pytest.raises(ArgumentError, match=r"shift is \[0.5\], it must be tuple\[int, \.\.\.\]"):
        f(X, (0,), shift=[0.5])


class Word(enum.StrEnum):
    A = "a"


EQUAL = {
    "of a Literal": (Literal[1, True], [1, True]),
    "in a tuple": (tuple, [(1, "a"), (True, "a"), (1.0, "a"), (0.0, "a"), (-0.0, "a"), (0, ("a",))]),
    "deeper": (tuple, [(0, ("a",)), (False, ("a",)), (0, (Word.A,))]),
    "strings": (str, ["a", Word.A]),
    "tuples of strings": (tuple[str, ...], [("a",), (Word.A,)]),
}


@pytest.mark.parametrize("case", EQUAL)
def test_constants_that_are_equal_but_not_the_same_have_kernels_of_their_own(case):
    annotation, values = EQUAL[case]
    given = []

    def f(x, k):
        given.append(repr(k))
        return x + 1 + list(map(repr, values)).index(repr(k))

    f.__annotations__["k"] = annotation
    compiled = robot.compile(f, shapes={"x": (3,)})
    for _ in range(3):
        assert [compiled(X, k)[0] - X[0] for k in values] == list(range(1, len(values) + 1))
        assert [compiled.bind(k=k)(X)[0] - X[0] for k in values] == list(range(1, len(values) + 1))
    assert list(dict.fromkeys(given)) == list(map(repr, values))
    assert len(given) == 2 * len(values) - 1  # before each trace but the first, that one again
    assert repr(values[-1]) in compiled.to_c(k=values[-1]).source


def test_a_default_that_is_no_value_of_its_type_is_an_error():
    with pytest.raises(ArgumentError, match=r"f: the default of n is 2\.5, it must be an int"):

        @robot.compile
        def f(q, n: int = 2.5):
            return q


def test_defaults_of_numpys_scalars_and_empty_tuples_are_constants():
    two, two_letters = np.int8(2), np.str_("ab")
    f = three(lambda x, w, n=two, on=np.True_, word=two_letters, more=(): x * n * on + len(word) + len(more))
    for _ in range(3):
        assert np.array_equal(f(X, W), 2 * X + 2)
        assert np.array_equal(f(X, W, 3, False, "abc", (1, "a")), 0 * X + 5)


def test_a_constant_that_cannot_be_hashed_is_told_so():
    for default in ({"k": 2.0}, ([1], "a")):

        def f(x, table=default):
            return x

        f.__annotations__["table"] = type(default)
        with pytest.raises(ArgumentError, match=r"f: the default of table is .*, which cannot be hashed"):
            robot.compile(f, shapes={"x": (3,)})


def test_four_constants_are_called_without_the_glue():
    f = robot.compile(lambda q, i=1, j=2, k=3, m=4: q * (i + 10 * j + 100 * k + 1000 * m), name="many")
    for _ in range(3):
        assert np.array_equal(f(q, m=0, i=0), 320 * q)
        assert np.array_equal(f.bind(m=0)(q), 321 * q)


# -- arrays that may be missing -----------------------------------------------------------------------------------


def test_none_as_default_is_an_optional_input():
    @robot.compile
    def torque(q, v, tau=None, gain: float | None = None):
        r = robot.bias_forces(q, v)
        r = r if tau is None else {"r": r + tau, "tau": tau}
        return r if gain is None else gain * r

    bias = robot.bias_forces(q, v)
    for _ in range(3):
        assert np.array_equal(torque(q, v), bias)
        assert np.array_equal(torque(q, v, a).r, bias + a)
        assert np.array_equal(torque(q, v, gain=2.0), 2 * bias)
        assert np.array_equal(torque(q, v, None, 3.0), 3.0 * bias)
        assert np.array_equal(torque(q, V, tau=[0] * 6).tau, np.zeros((5, 6)))


class Command(NamedTuple):
    tau: kt.Array
    error: kt.Array

    @property
    def largest(self):
        return np.abs(self.tau).max()


class WithDict(Command):
    """A named tuple that has more memory than a tuple."""


def test_a_named_tuple_is_returned_as_it_is():
    @robot.compile
    def f(q, kp: float = 2.0, plain: bool = True):
        return (Command if plain else WithDict)(kp * q, -q)

    outer = robot.compile(lambda q: f(q, 3.0), name="outer")
    for _ in range(3):
        for result in (f(q), outer(q), f(Q)):
            assert type(result) is Command
        assert f(q).largest == np.abs(2 * q).max()
        assert type(f(q, plain=False)) is not WithDict
        assert np.array_equal(f(q, plain=False).error, -q)
    assert isinstance(pickle.loads(pickle.dumps(f(q))), Command)


# -- in everything that is made of functions ----------------------------------------------------------------------


@robot.compile
def servo(q, v, q_des=np.zeros(6), kp: float = 100.0, n: int = 1):  # noqa: B008
    """Return joint forces."""
    return {"tau": n * kp * (q_des - q) - 20.0 * v, "n": 1.0 * n}


def test_in_another_compiled_function():
    outer = robot.compile(lambda q, v: servo(q, v, kp=3.0).tau + servo(q, v, n=2).tau, name="outer")
    assert np.array_equal(outer(q, v), servo(q, v, kp=3.0).tau + servo(q, v, n=2).tau)
    with pytest.raises(ArgumentError, match="servo: n is"):
        robot.compile(lambda q, v: servo(q, v, n=q[0]).tau, name="wrong")


def test_in_a_scan():
    @robot.compile
    def step(q, v, dt: float = 1e-3, n: int = 1):
        v = v + dt * servo(q, v, n=n).tau
        return {"q": q + dt * v, "v": v}

    last, _ = kt.scan(step, {"q": "q", "v": "v"})(q, v, steps=10)
    twice, _ = kt.scan(step.bind(n=2), {"q": "q", "v": "v"})(q, v, dt=1e-4, steps=10)
    x, y, z, w = q, v, q, v
    for _ in range(10):
        x, y = step(x, y)
        z, w = step(z, w, 1e-4, 2)
    assert np.array_equal(last.q, x)
    assert np.array_equal(twice.v, w)
    single, _ = kt.scan(step, {"q": "q", "v": "v"})(q.astype("f4"), v.astype("f4"), steps=1)
    assert single.q.dtype == np.float32
    with pytest.raises(ArgumentError, match=r"power has options that must be chosen first: use power\.bind"):
        kt.scan(robot.compile(power, shapes={"x": (3,)}), {"x": "each"})


def test_as_c():
    signature = "const double q[6], const double v[6], const double q_des[6], const double kp[1]"
    code = servo.to_c(n=3)
    assert f"int servo({signature}, double tau[6], double n[1])" in code.header
    assert "n = 3" in code.source
    assert signature in servo.c_signature
    assert "double each[3]" in robot.compile(power, shapes={"x": (3,)}).bind(n=2).c_signature


def test_with_numbers_of_the_robot_as_inputs():
    @robot.compile(inputs=[kt.gravity])
    def f(q, kp: float = 2.0, n: int = 1):
        return np.concatenate([kp * robot.gravity_forces(q)] * n)

    down = [0.0, 0.0, -9.81]
    assert str(inspect.signature(f)) == "(q, gravity, kp: float = 2.0, n: int = 1, *, out=None)"
    again = kt.compile(robot, robot.compile(line_of_gravity), inputs=[kt.gravity])
    for _ in range(3):
        assert np.allclose(f(q, down), 2 * robot.gravity_forces(q))
        assert np.allclose(f(q, down, 3.0, n=2)[6:], 3 * robot.gravity_forces(q))
        assert np.allclose(again(q, down, n=2)[6:], 2 * robot.gravity_forces(q))


def line_of_gravity(q, kp: float = 2.0, n: int = 1):
    return np.concatenate([kp * robot.gravity_forces(q)] * n)


def test_pickled():
    for f in (servo, servo.bind(n=2), robot.compile(line_of_gravity)):
        g = pickle.loads(pickle.dumps(f))
        assert str(inspect.signature(g)) == str(inspect.signature(f))
    assert np.array_equal(pickle.loads(pickle.dumps(servo.bind(n=2)))(q, v).tau, servo(q, v, n=2).tau)


def test_two_functions_that_differ_for_some_values_only_share_no_code(own_cache):
    def made(factor):
        def f(x, n: int = 1, w=None):
            return x * n * (factor if n > 1 else 1.0) + (0.0 if w is None else factor * w)

        return three(f)

    for factor in (2.0, 3.0):
        f = made(factor)
        assert np.array_equal(f(X), X)
        assert np.array_equal(f(X, 2), X * 2 * factor)
        assert np.array_equal(f(X, w=W), X + factor * W)
    assert len(list(own_cache.glob("*.kto"))) == 5  # the first one is the same


def test_annotations_that_exist_for_type_checkers_only():
    source = """
from __future__ import annotations
import kinetree as kt
robot = kt.load("ur5")
def f(q: kt.Array, kp: float, n: int, other: Missing = 3) -> Missing:
    return kp * n * q
print(robot.compile(f)([1.0] * 6, 2.0, 3)[0])
"""
    answer = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert answer.stdout == "6.0\n", answer.stderr
