"""Ctrl-C at any line of a simulation: what is left is the beginning of the whole."""

import itertools
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.pendulum import pendulum
from kinetree.simulation import events, result, run

ROBOT = pendulum()
Q = np.array([[0.3, -0.5], [0.1, 0.2]])


@ROBOT.compile
def ticks(t: float):
    return np.sin(np.pi * t / 0.0016 - 0.1)


@ROBOT.compile
def late(q, t: float):
    return t + q[1] - 0.2022  # of one robot only


FILES = [module.__file__ for module in (events, result, run)]
EVENTS = [kt.Event(ticks, most=3), kt.Event(late, stop=True)]


def hold(q, v, t):
    return -2.0 * q


def interrupted_at(line, call):
    """Return whether Ctrl-C came, at this line of all that are executed once it moves, and what is left."""
    left = line

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace if frame.f_code.co_filename in FILES else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return False, call()
    except kt.SimulationInterrupted as interrupted:
        return True, interrupted.trajectory
    except KeyboardInterrupt:
        return True, None  # before all steps, or after them
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("python", [True, False])
def test_what_is_left_fits_together(python, monkeypatch):
    monkeypatch.setattr("kinetree.simulation.run.PIECE_SECONDS", 1e-9)
    steps = 3 if python else 67
    how = {"steps": steps, "events": EVENTS, "controller": hold if python else None}
    whole, seen = ROBOT.simulate(Q, **how), set()
    for line in itertools.count(1, 1 if python else 3):
        came, left = interrupted_at(line, lambda: ROBOT.simulate(Q, record=kt.Record(every=2), **how))
        if not came:
            break
        if left is not None:
            done = round(left.end.t / 1e-3)
            assert np.array_equal(left.q, whole.q[:, ::2][:, : len(left)])
            assert np.array_equal(left.end.q, whole.q[:, done])
            assert np.array_equal(left.end.v, whole.v[:, done])
            expected = [(e.time, e.name, e.robot) for e in whole.events if e.time <= left.end.t]
            assert [(e.time, e.name, e.robot) for e in left.events] == expected
            seen.add(done)
    assert seen == ({*range(steps + 1)} if python else {0, 64, 65, 66, 67})


def test_it_pickles():
    interrupted = kt.SimulationInterrupted(ROBOT.simulate(Q, steps=2))
    again = pickle.loads(pickle.dumps(interrupted))
    assert str(again) == str(interrupted)
    assert np.array_equal(again.trajectory.q, interrupted.trajectory.q)
