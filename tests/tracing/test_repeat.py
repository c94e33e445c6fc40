"""kt.repeat in compiled functions and on plain arrays: the same values as Python's own loop."""

from typing import NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError

ROBOT = kt.load("ur5")


def compiled(function, **shapes):
    return kt.compile(ROBOT, function, shapes=shapes)


def collatz(n):
    """Steps of n → n/2 or 3n + 1 until 1; the parity by what is left of n/2 · 2 after rounding to whole numbers."""

    def body(n, steps):
        half = n / 2.0
        whole = (half + 6755399441055744.0) - 6755399441055744.0
        return kt.where(whole == half, half, 3.0 * n + 1.0), steps + 1.0

    return kt.repeat(body, (n, 0.0), until=lambda n, steps: n <= 1.0, most=300)[1]


def newton(a):
    return kt.repeat(lambda x: (x + a / x) / 2.0, a, until=lambda x: kt.abs(x * x - a) < 1e-12 * a, most=50)


class State(NamedTuple):
    x: np.ndarray
    info: dict


def test_each_state_ends_by_itself_with_the_bits_that_it_has_alone():
    f = compiled(newton, a=())
    a = np.concatenate([np.random.default_rng(0).uniform(0.1, 1e6, 1001), [0.0, np.nan, np.inf, -1.0]])
    together = f(a)
    assert np.array_equal(together, [f(x) for x in a], equal_nan=True)
    assert np.allclose(together[:1001], np.sqrt(a[:1001]), rtol=1e-12)
    assert np.isnan(together[-3])


def test_plain_numbers_run_the_same_loop():
    assert newton(9.0) == 3.0
    assert collatz(27.0) == 111.0
    x = kt.repeat(lambda x: x * 2.0, np.ones(3), until=lambda x: x.sum() > 10.0, most=9)
    assert x.tolist() == [4.0, 4.0, 4.0]
    assert np.isnan(kt.repeat(lambda x: x, np.nan, until=lambda x: False, most=10**9))


def test_many_values_that_are_only_passed_on():
    """Inputs that a loop captures, carries on or returns as they are: more than are brought one by one."""

    def shifted(x, y):
        return kt.repeat(lambda k, z: (k + 1.0, np.concatenate([z[1:], x[:1] * z[0]])), (0.0, y), most=3)[1]

    f = compiled(shifted, x=(240,), y=(240,))
    x, y = np.random.default_rng(1).standard_normal((2, 9, 240))
    together = f(x, y)
    assert np.array_equal(together, np.concatenate([y[:, 3:], x[:, :1] * y[:, :3]], axis=1))
    assert np.array_equal(together[4], f(x[4], y[4]))


@pytest.mark.parametrize("most", [0, 1, 3, 10**6, 2**64])
def test_the_bound(most):
    f = compiled(lambda a: kt.repeat(lambda k: k + 1.0, a * 0.0, until=lambda k: k >= 1000.0, most=most), a=())
    assert f(1.0) == min(most, 1000)


@pytest.mark.parametrize("most", [0, 1, 7])
def test_without_a_condition_it_always_repeats_as_often(most):
    def f(x, n):
        return kt.repeat(lambda x, n: (x * 3.0 - 0.1, kt.where(n > 2.0, np.nan, n + 1.0)), (x, n), most=most)

    def loop(x, n):
        for _ in range(most):
            x, n = x * 3.0 - 0.1, np.nan if n > 2.0 else n + 1.0
        return x, n

    X, N = np.random.default_rng(0).normal(size=(21, 3)), np.arange(21.0) % 5
    X[4, 1], N[3] = np.nan, np.nan
    with np.errstate(invalid="ignore"):
        g = compiled(f, x=(3,), n=())
    together = g(X, N)
    for x, n, *results in zip(X, N, *together, strict=True):
        for given in (results, g(x, n), f(x, n)):
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(given, loop(x, n), strict=True))


def test_structures_come_back_as_they_were():
    def f(a, b):
        def body(s):
            return State(s.x * 2.0, {"n": s.info["n"] + b, "parts": [s.x[0], s.x[:2]]})

        first = State(a, {"n": 0.0, "parts": [a[0], a[:2]]})
        last = kt.repeat(body, first, until=lambda s: s.info["n"] > 5.0, most=20)
        return {"x": last.x, "n": last.info["n"], "first": last.info["parts"][0], "two": last.info["parts"][1]}

    result, plain = compiled(f, a=(3,), b=())([1.0, 2.0, 3.0], 2.0), f(np.array([1.0, 2.0, 3.0]), 2.0)
    for name, value in plain.items():
        assert np.array_equal(getattr(result, name), value), name
    assert plain["x"].tolist() == [8.0, 16.0, 24.0]


def test_conditions_and_values_of_the_function_around_it():
    def f(a, n):
        ready = (a[0] > 2.0) & (n > 0.0)

        def outer(x, k):
            y, _ = kt.repeat(
                lambda y, j: (kt.where(ready & (y > 0.0), y + a * x.sum(), y - 1.0), j + 1.0),
                (x, 0.0),
                until=lambda y, j: (j >= n) | ~(y[0] < 1e6),
                most=4,
            )
            return y * 0.125, k + 1.0

        return kt.repeat(outer, (a, 0.0), until=lambda x, k: (k >= n) | (x[0] > 100.0), most=7)

    g = compiled(f, a=(3,), n=())
    A = np.random.default_rng(1).normal(2.0, 1.0, (37, 3))
    N = np.arange(37.0) % 6
    together = g(A, N)
    for a, n, x, k in zip(A, N, *together, strict=True):
        alone, plain = g(a, n), f(a, n)
        assert np.array_equal(alone[0], x)
        assert alone[1] == k == plain[1]
        assert np.allclose(x, plain[0], rtol=1e-13)


def test_a_condition_of_the_function_around_it_that_is_known():
    def f(a):
        never, big = a < a, a > 2.0
        return kt.repeat(
            lambda x: kt.where((never | big) & ~never, x + 2.0, x + 3.0), a, until=lambda x: never ^ (x > 5.0), most=9
        )

    for fuse in (False, True):
        g = kt.compile(ROBOT, f, shapes={"a": ()}, fuse=fuse)
        assert g([1.0, 2.5]).tolist() == [7.0, 6.5]


def test_robot_functions_in_the_body_with_run_time_inputs():
    q0, target = np.full(6, 0.4), ROBOT.gravity_forces(np.full(6, 0.5))

    def f(q, target):
        """Gauss–Seidel towards the torques of another configuration, a few steps."""

        def body(q, k):
            return q + 0.001 * (target - ROBOT.gravity_forces(q)), k + 1.0

        return kt.repeat(body, (q, 0.0), until=lambda q, k: k >= 5.0, most=9)[0]

    g = kt.compile(ROBOT, f, shapes={"target": (6,)}, inputs=[kt.gravity])
    for gravity in ((0.0, 0.0, -9.81), (1.0, 2.0, 3.0)):
        robot, q = ROBOT.with_gravity(gravity), q0
        for _ in range(5):
            q = q + 0.001 * (target - robot.gravity_forces(q))
        assert np.allclose(g(q0, target, gravity), q, rtol=1e-12)


def test_a_branch_that_no_state_needs_is_not_run():
    def f(x, needed):
        heavy = kt.repeat(
            lambda x, done: (ROBOT.forward_dynamics(x, x, x), 1.0),
            (x, 1.0 - needed),
            until=lambda x, d: d > 0.5,
            most=1,
        )
        return heavy[0]

    g = compiled(f, x=(6,), needed=())
    x = np.random.default_rng(2).normal(size=(8, 6))
    assert np.array_equal(g(x, np.zeros(8)), x)
    assert np.allclose(g(x, np.ones(8)), ROBOT.forward_dynamics(x, x, x), rtol=1e-13)


@pytest.mark.parametrize(
    ("body", "init", "until", "most", "message"),
    [
        (lambda x: (x, x), 1.0, lambda x: x < 0, 3, r"given: number; it returned tuple\(number, number\)"),
        (lambda x: x[:2], np.ones(3), lambda x: False, 3, r"given: array \(3,\); it returned array \(2,\)"),
        (lambda x: x, {"a": 1.0}, lambda x: x["a"], 3, "until must return a condition, .* is: number"),
        (lambda x: x, np.ones(3), lambda x: x > 2, 3, r"of several: np.all or np.any\); what it returned is: array"),
        (lambda x: x, 1.0, lambda x: False, -1, "most is the largest number of iterations"),
        (lambda x: x, 1.0, lambda x: False, 2.0, "most is the largest number of iterations"),
        (lambda x: x, 1.0, lambda x: False, True, "most is the largest number of iterations"),
    ],
)
def test_mistakes_are_explained(body, init, until, most, message):
    with pytest.raises(ArgumentError, match=message):
        kt.repeat(body, init, until=until, most=most)

    def f(a):
        return kt.repeat(body, init * a if not isinstance(init, dict) else {"a": a}, until=until, most=most)

    with pytest.raises(ArgumentError, match=message):
        compiled(f, a=())


def test_values_of_a_body_cannot_leave_it():
    kept = []

    def f(a):
        kt.repeat(lambda x: kept.append(x) or x, a, until=lambda x: x < 0.0, most=2)
        return kept[0] + a

    with pytest.raises(ValueError, match="another trace"):
        compiled(f, a=())
