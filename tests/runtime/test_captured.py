"""Values that a compiled function takes from around it: no two of its traces see different ones."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from controllers import scaled_position

import kinetree as kt

ROBOT = kt.load("ur5")
Q = np.full(6, 0.5)


def capturing():
    """Return a compiled function of all that can be captured, and what it captures."""
    around = SimpleNamespace(gain=2.0, offsets=np.zeros(1), inner=ROBOT.compile(lambda q: 3.0 * q, name="inner"))

    @ROBOT.compile
    def f(q, v=None, n: int = 1):
        return n * around.gain * around.inner(q) + around.offsets + (0.0 if v is None else ROBOT.gravity_forces(v))

    return f, around


CHANGES = {
    "attribute": lambda around: setattr(around, "gain", 4.0),
    "array": lambda around: around.offsets.fill(1.0),
    "another shape": lambda around: setattr(around, "offsets", np.zeros(3)),
    "gone": lambda around: delattr(around, "gain"),
    "compiled function": lambda around: setattr(around, "inner", ROBOT.compile(lambda q: 5.0 * q, name="inner")),
}

FURTHER = {
    "constant": lambda f: f(Q, n=2),
    "bound": lambda f: f.bind(n=2)(Q),
    "optional": lambda f: f(Q, v=Q),
    "as C": lambda f: f.to_c(n=2),
    "nested": lambda f: ROBOT.compile(lambda q: 2.0 * f(q), name="outer"),
    "with inputs": lambda f: kt.compile(ROBOT, f, inputs=[kt.gravity])(Q, Q[:3], v=Q),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_further_trace_after_a_change_is_an_error(change):
    f, around = capturing()
    CHANGES[change](around)
    which = r"a global, .*" if change == "compiled function" else "around"  # as it looks: functions look alike
    for further in FURTHER.values():
        with pytest.raises(kt.ArgumentError, match=rf"f: a value that it takes from around it \({which}\) has changed"):
            further(f)
    assert np.array_equal(f(Q), 6.0 * Q)  # as it was


@pytest.mark.parametrize("further", FURTHER)
def test_without_a_change_there_is_no_error(further):
    f, _ = capturing()
    FURTHER[further](f)
    FURTHER[further](f)


def test_a_change_that_makes_no_difference_is_none():
    f, around = capturing()
    around.offsets = np.zeros(1)
    around.gain = 2
    assert np.array_equal(f(Q, n=2), 12.0 * Q)


def test_what_changes_inside_a_function_within_is_found_too():
    f, around = capturing()

    @ROBOT.compile
    def outer(q, n: int = 1):
        return n * f(q)

    around.gain = 4.0
    with pytest.raises(kt.ArgumentError, match="outer: a value"):
        outer(Q, n=3)
    assert np.array_equal(outer(Q), 6.0 * Q)


def test_a_function_that_calls_itself():
    @ROBOT.compile
    def power(q, n: int):
        return q if n == 0 else 2.0 * power(q, n=n - 1)

    assert np.array_equal(power(Q, n=3), 8.0 * Q)
    assert np.array_equal(power(Q, n=5), 32.0 * Q)


def test_functions_inside_are_traced_again_once_in_a_trace():
    traces = []

    @ROBOT.compile
    def inner(q):
        traces.append("inner")
        return q + 1.0

    @ROBOT.compile
    def outer(q, n: int = 10):
        traces.append("outer")
        for _ in range(n):
            q = inner(q)
        return q

    assert (traces.count("outer"), traces.count("inner")) == (1, 1 + 1 + 10)
    assert np.array_equal(outer(Q, n=20), Q + 20)
    assert (traces.count("outer"), traces.count("inner")) == (3, 12 + 10 + 1 + 20)


def test_a_pickle_of_a_function_whose_globals_are_others_there(monkeypatch):
    f = ROBOT.compile(scaled_position)
    stored = pickle.dumps(f)
    assert np.array_equal(pickle.loads(stored)(Q), f(Q))
    monkeypatch.setitem(scaled_position.__globals__, "GAIN", 5.0)
    other = pickle.loads(stored)  # in the worker of a pool an error here would be a hang
    for call in (lambda: other(Q), lambda: other(np.tile(Q, (9, 1))), lambda: ROBOT.compile(lambda q: other(q))):
        with pytest.raises(kt.ArgumentError, match=r"scaled_position: a value .* or the order of a set, is not what"):
            call()
    again = pickle.loads(pickle.dumps(ROBOT.compile(scaled_position)))
    assert np.array_equal(again(Q), 5.0 * Q)
