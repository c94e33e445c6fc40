"""What `robot.simulate` keeps, robots that stop, and simulations that are interrupted."""

import os
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import kinetree as kt
from helpers.pendulum import pendulum
from kinetree.simulation import run

ROBOT = pendulum()
Q, V = ROBOT.random_state(seed=3, size=6)[:2]


@ROBOT.compile
def hold(q, v, t: float):
    return 20.0 * (np.sin(t) - q) - v


WHOLE = ROBOT.simulate(Q, V, steps=300, controller=hold, record=["a", "tau"])


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a.recorded)


@pytest.mark.parametrize("every", [1, 7, 100, 300])
@pytest.mark.parametrize("seconds", [1e-9, 1e-4, 1.0])  # how long a piece takes
def test_every_so_many_steps(every, seconds, monkeypatch):
    monkeypatch.setattr("kinetree.simulation.run.PIECE_SECONDS", seconds)
    kept = ROBOT.simulate(Q, V, steps=300, controller=hold, record=kt.Record("q, a, tau", every=every))
    assert kept.recorded == ("q", "v", "a", "tau")
    assert same(kept, WHOLE[::every])
    assert np.array_equal(kept.t, WHOLE.t[::every])


def test_accelerations_and_joint_forces_are_those_of_the_states_kept():
    tau = hold(WHOLE.q, WHOLE.v, WHOLE.t)
    assert np.allclose(WHOLE.tau, tau, rtol=1e-13, atol=1e-13)
    assert np.allclose(WHOLE.a, ROBOT.forward_dynamics(WHOLE.q, WHOLE.v, tau), rtol=1e-10, atol=1e-10)
    ahead = np.random.default_rng(0).normal(size=(50, 2))
    given = ROBOT.simulate(Q[0], forces=ahead, record=("tau", "a"))
    assert np.array_equal(given.tau, ahead[[*range(50), 49]])  # the last ones are held to the end
    linear = ROBOT.simulate(
        Q[0], forces=kt.Forces(ahead, interpolation="linear"), record=kt.Record(("tau", "a"), every=7)
    )
    assert np.array_equal(linear.tau, ahead[::7])  # the last one too, which is that of the end
    assert np.allclose(linear.a, ROBOT.forward_dynamics(linear.q, linear.v, linear.tau), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("interpolation", ["held", "linear"])
def test_joint_forces_of_a_robot_that_stopped_are_those_at_its_stop(interpolation):
    tau = np.linspace(0.0, 3.0, 101)[:, None] * [1.0, 0.5]
    stop = kt.Event(ROBOT.compile(lambda t: t - 0.0305, name="clock", shapes={"t": ()}), stop=True)
    given = tau if interpolation == "linear" else tau[:-1]
    motion = ROBOT.simulate(
        Q[0], V[0], forces=kt.Forces(given, interpolation=interpolation), record="tau a", events=[stop]
    )
    there = (tau[30] + tau[31]) / 2 if interpolation == "linear" else tau[30]
    assert np.array_equal(motion.tau[:31], tau[:31])
    assert np.allclose(motion.tau[31:], there, rtol=1e-9)
    assert np.allclose(motion.a[31:], ROBOT.forward_dynamics(motion.q[-1], motion.v[-1], there), rtol=1e-8)


@pytest.mark.parametrize("python", [False, True])
def test_it_ends_where_all_robots_have_stopped(python, monkeypatch):
    """A billion steps take no time, and the states that are kept are the last ones."""
    stop = kt.Event(ROBOT.compile(lambda t: t - 0.0305, name="clock", shapes={"t": ()}), stop=True)
    how = {"events": [stop], "controller": hold if python else None}
    short, done = ROBOT.simulate(Q[:2], steps=60, record="tau", **how), []
    many = ROBOT.simulate(
        Q[:2], steps=10**9, record=kt.Record("tau", every=10**7), progress=lambda *x: done.append(x), **how
    )
    assert np.array_equal(many.q[:, 1:], np.repeat(short.q[:, -1:], 100, axis=1))
    assert np.array_equal(many.tau[:, 1:], np.repeat(short.tau[:, -1:], 100, axis=1))
    assert done[-1] == (10**9, 10**9)
    assert many.stopped_at.tolist() == short.stopped_at.tolist()
    assert len(many.events) == 2


def test_memory_is_that_of_what_is_kept():
    q = np.tile(Q, (50, 1))
    ROBOT.simulate(q, steps=2000, record=kt.Record(every=1000))
    tracemalloc.start()
    ROBOT.simulate(q, steps=2000, record=kt.Record(every=1000))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100 * q.nbytes  # three records and Python's own objects; all steps would be 4000 times that


# -- robots that stop -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record_every", [1, 10])
def test_a_robot_that_diverges_stops_and_never_the_others(record_every):
    @ROBOT.compile
    def push(q, v, t: float, strength: float):
        return strength * np.exp(100.0 * t) * np.ones(2) * np.where(t > 0.1, 1.0, 0.0) - v

    strength = np.array([0.0, 0.0, 1e280, 0.0, 1e290, 0.0])
    how = {"steps": 400, "controller": push, "record": kt.Record(every=record_every)}
    motion = ROBOT.simulate(Q, V, inputs={"strength": strength}, **how)
    assert list(motion.reasons) == [None, None, "not finite", None, "not finite", None]
    assert (np.isnan(motion.stopped_at) == (strength == 0.0)).all()
    assert np.isfinite(motion.q).all()
    assert np.isfinite(motion.v).all()
    for k in range(6):
        alone = ROBOT.simulate(Q[k], V[k], inputs={"strength": strength[k]}, **how)
        assert same(alone, motion.robots[k])
        assert np.array_equal(alone.stopped_at, motion.stopped_at[k], equal_nan=True)
    stopped = motion.robots[2]
    assert 0.1 < stopped.stopped_at < 0.4
    after = stopped.t >= stopped.stopped_at
    assert np.ptp(stopped.q[after], axis=0).max() == np.ptp(stopped.v[after], axis=0).max() == 0.0
    exact = ROBOT.simulate(Q[2], V[2], inputs={"strength": strength[2]}, **{**how, "record": kt.Record(every=1)})
    last = np.flatnonzero(exact.t == stopped.stopped_at)
    assert len(last) == 1  # the time of its last finite state, which is another one than that before
    assert not np.array_equal(exact.v[last[0]], exact.v[last[0] - 1])


def test_a_python_controller_that_returns_nan_stops_its_robot():
    def broken(q, v, t):
        tau = hold(q, v, t)
        tau[2] = np.nan if t > 0.05 else tau[2]
        return tau

    motion = ROBOT.simulate(Q, V, steps=100, controller=broken)
    expected = ROBOT.simulate(Q, V, steps=100, controller=kt.Controller(hold, every=1))
    others = [0, 1, 3, 4, 5]
    assert np.array_equal(motion.q[others], expected.q[others])
    assert list(motion.reasons) == [None, None, kt.StopReason.CONTROLLER, None, None, None]
    assert motion.stopped_at[2] == pytest.approx(0.051)


# -- interrupted ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("python", [False, True])
def test_what_was_computed_is_kept_when_interrupted(python):
    def interrupt(done, total):
        if done > 100:
            raise KeyboardInterrupt

    def control(q, v, t):
        if t > 0.1:
            raise KeyboardInterrupt
        return hold(q, v, t)

    how = {"controller": control} if python else {"controller": kt.Controller(hold, every=1), "progress": interrupt}
    with pytest.raises(kt.SimulationInterrupted) as caught:
        ROBOT.simulate(Q, V, steps=10**6, record=kt.Record("tau", every=4), **how)
    assert isinstance(caught.value, KeyboardInterrupt)
    part = caught.value.trajectory
    assert 25 <= len(part) < 250_000
    assert f"t = {part.t[-1]:g} s" in str(caught.value)
    whole = ROBOT.simulate(
        Q, V, duration=part.t[-1], record=kt.Record("tau", every=4), controller=kt.Controller(hold, every=1)
    )
    assert np.array_equal(part.q, whole.q)
    assert np.array_equal(part.tau[:, :-1], whole.tau[:, :-1])


def test_nothing_is_lost_when_interrupted_after_the_last_step(monkeypatch):
    observe, calls = run.observe, []

    def once(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        observe(*arguments)

    monkeypatch.setattr(run, "observe", once)
    with pytest.raises(kt.SimulationInterrupted) as caught:
        ROBOT.simulate(Q, V, steps=300, controller=hold, record=["a", "tau"])
    assert same(caught.value.trajectory, WHOLE)


PROGRAM = """
import sys
import numpy as np
import kinetree as kt
from helpers.pendulum import pendulum
robot = pendulum()
q = np.zeros((200, 2))
robot.simulate(q, steps=200, record=kt.Record(every=100))
try:
    print("begins", flush=True)
    robot.simulate(q, steps=10**7, record=kt.Record(every=1000))
except kt.SimulationInterrupted as interrupted:
    trajectory = interrupted.trajectory
    expected = robot.simulate(q[0], duration=trajectory.t[-1], record=kt.Record(every=1000))
    print(len(trajectory), np.array_equal(trajectory.q[7], expected.q), flush=True)
"""


def test_ctrl_c():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2.0)  # under load a simulation takes most of a second until its first step
    process.send_signal(signal.SIGINT)
    length, right = process.communicate(timeout=60)[0].split()
    assert int(length) > 1
    assert right == "True"


def test_energies_count_the_numbers_that_were_given():
    robot = pendulum()
    q, v = robot.random_state(seed=4, size=3)[:2]
    loads = np.zeros((3, 10))
    loads[:, 0], loads[:, 3] = [0.0, 1.0, 2.0], [0.0, 0.1, 0.2]
    frame = robot.frame_names[-1]
    moved = robot.simulate(
        q, v, steps=200, integrator="rk4", inputs={kt.gravity: [0.0, 0.0, -3.0], kt.payload(frame): loads}
    )
    loads[:] = 0.0  # which are the caller's: energies are computed when first read
    assert moved.energy_drift.max() < 1e-9
    alone = moved.robots[2][::20]
    light = robot.with_gravity((0.0, 0.0, -3.0))
    assert np.allclose(alone.potential_energy, moved.potential_energy[2, ::20], rtol=1e-14)
    assert np.allclose(moved.robots[0].kinetic_energy, light.kinetic_energy(moved.q[0], moved.v[0]), rtol=1e-13)


def test_the_step_of_a_sampled_controller_is_its_period():
    robot = pendulum()

    @robot.compile(shapes={"clock": ()})
    def controller(v, dt, clock):
        return {"tau": -v, "clock": clock + dt}

    for every in (1, 5):
        motion = robot.simulate(
            robot.neutral(), steps=100, controller=kt.Controller(controller, every=every), inputs={"clock": 0.0}
        )
        assert abs(motion.end.controller["clock"] - 0.1) < 1e-12


def test_into_memory_of_the_callers_where_arguments_may_be():
    out = {"q": np.empty((6, 301, 2)), "a": np.empty((6, 301, 2))}
    motion = ROBOT.simulate(Q, V, steps=300, controller=hold, record=kt.Record(out=out))
    assert np.shares_memory(motion.q, out["q"])
    assert np.array_equal(out["q"], WHOLE.q)
    assert np.array_equal(out["a"], WHOLE.a)
    state = {"q": np.tile(Q[0], (301, 1)), "v": np.tile(V[0], (301, 1))}  # from the end of where it goes to
    again = ROBOT.simulate(state["q"][-1], state["v"][-1], steps=300, controller=hold, record=kt.Record("a", out=state))
    assert np.array_equal(again.q, WHOLE.q[0])
    assert np.array_equal(again.a, WHOLE.a[0])
    memory = np.random.default_rng(0).normal(size=(101, 2))
    tau = memory[:-1].copy()
    clock = {"controller": ROBOT.compile(lambda push: push, name="push", shapes={"push": 2})}
    expected = ROBOT.simulate(Q[0], forces=tau, inputs={"push": tau}, **clock)
    for given in ({"forces": memory[:-1], "inputs": {"push": tau}}, {"forces": tau, "inputs": {"push": memory[:-1]}}):
        memory[:-1] = tau
        assert same(ROBOT.simulate(Q[0], record=kt.Record(out={"q": memory}), **given, **clock), expected)


def test_progress(monkeypatch):
    told, seldom = [], kt.Record(every=20_000)
    ROBOT.simulate(Q, V, steps=20_000, record=seldom, progress=lambda *numbers: told.append(numbers))
    done, total = np.array(told).T
    assert (np.diff(done) > 0).all()
    assert done[-1] == 20_000
    assert (total == 20_000).all()
    monkeypatch.setattr("kinetree.simulation.run.PIECE_SECONDS", 1e9)
    told.clear()  # of a controller in Python, not at every step
    ROBOT.simulate(Q, V, steps=50, controller=lambda q, v, t: -q, progress=lambda *numbers: told.append(numbers))
    assert told == [(50, 50)]
