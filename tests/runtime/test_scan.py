"""kt.scan: many steps in one loop, with the bits of the function called once a step."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import four_bar
from helpers.told import told
from kinetree.errors import ArgumentError

ROBOT = kt.load("ur5")


def euler(q, v, tau, dt):
    v = v + dt * ROBOT.forward_dynamics(q, v, tau)
    q = q + dt * v
    return {"q": q, "v": v, "energy": ROBOT.kinetic_energy(q, v), "one": 1.0}


STEP = kt.compile(ROBOT, euler, shapes={"dt": ()})
CARRIED = {"q": "q", "v": "v"}
RECORD = ["energy", "q", "one"]


def loop(q, v, tau, dt, every):
    """The same in Python, one state."""
    recorded = []
    for k, tau_k in enumerate(tau, start=1):
        out = STEP(q, v, tau_k, dt)
        q, v = out.q, out.v
        if k % every == 0:
            recorded.append((out.energy, out.q, out.one))
    return q, v, recorded


@pytest.fixture(params=[1, 2])
def threads(request):
    kt.set_num_threads(request.param)
    yield
    kt.set_num_threads(None)


@pytest.mark.parametrize("n", [1, 3, 8, 21])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_are_those_of_single_steps(n, dtype, threads):
    rng = np.random.default_rng(n)
    q, v = rng.normal(size=(2, n, 6)).astype(dtype)
    tau, dt = rng.normal(size=(n, 17, 6)).astype(dtype), rng.uniform(1e-4, 1e-2, n).astype(dtype)
    rollout = kt.scan(STEP, CARRIED, per_step=["tau"], record=RECORD)
    last, recorded = rollout(q, v, tau, dt, every=3)
    assert last.q.dtype == recorded.energy.dtype == dtype
    assert recorded.q.shape == (n, 5, 6)
    for i in range(n):
        wanted_q, wanted_v, wanted = loop(q[i], v[i], tau[i], dt[i], 3)
        assert np.array_equal(last.q[i], wanted_q)
        assert np.array_equal(last.v[i], wanted_v)
        for k, (energy, at, one) in enumerate(wanted):
            assert recorded.energy[i, k] == energy
            assert np.array_equal(recorded.q[i, k], at)
            assert recorded.one[i, k] == one
        alone, _ = rollout(q[i], v[i], tau[i], dt[i])
        assert np.array_equal(alone.q, last.q[i])


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_bits_do_not_depend_on_lanes_threads_or_how_steps_are_split(lanes, monkeypatch, threads):
    monkeypatch.setenv("KINETREE_LANES", str(lanes))
    step = kt.compile(ROBOT, euler, shapes={"dt": ()})
    monkeypatch.delenv("KINETREE_LANES")
    q, v, tau = ROBOT.random_state(seed=3, size=600)
    wanted = kt.scan(STEP, CARRIED)(q, v, tau, 1e-3, steps=60)[0]
    rollout = kt.scan(step, CARRIED)
    once, _ = rollout(q, v, tau, 1e-3, steps=60)
    half, _ = rollout(q, v, tau, 1e-3, steps=30)
    twice, _ = rollout(half.q, half.v, tau, 1e-3, steps=30)
    for got in (once, twice):
        assert np.array_equal(got.q, wanted.q)
        assert np.array_equal(got.v, wanted.v)


def test_leading_axes_broadcast():
    rng = np.random.default_rng(5)
    q, tau = rng.normal(size=(4, 1, 6)), rng.normal(size=(3, 10, 6))
    rollout = kt.scan(STEP, CARRIED, per_step=["tau"], record=["q"])
    last, recorded = rollout(q, np.zeros(6), tau[:, :, ::-1], dt=1e-3)
    assert last.q.shape == (4, 3, 6)
    assert recorded.q.shape == (4, 3, 10, 6)
    assert np.array_equal(recorded.q[..., -1, :], last.q)
    one, _ = rollout(q[2, 0], np.zeros(6), tau[1, :, ::-1].copy(), 1e-3)
    assert np.array_equal(one.q, last.q[2, 1])


def test_no_step_and_no_state():
    rollout = kt.scan(STEP, CARRIED, record=["q"])
    last, recorded = rollout(np.ones(6), np.zeros(6), np.zeros(6), 1e-3, steps=0)
    assert last.q.tolist() == [1.0] * 6
    assert recorded.q.shape == (0, 6)
    _, recorded = rollout(np.ones(6), np.zeros(6), np.zeros(6), 1e-3, steps=5, every=20)
    assert recorded.q.shape == (0, 6)
    last, recorded = rollout(np.ones((0, 6)), np.zeros(6), np.zeros(6), 1e-3, steps=5, every=2)
    assert last.q.shape == (0, 6)
    assert recorded.q.shape == (0, 2, 6)


def test_a_state_that_is_nan_leaves_the_others_alone():
    q, v, tau = ROBOT.random_state(seed=4, size=8)
    wanted, _ = kt.scan(STEP, CARRIED)(q, v, tau, 1e-3, steps=50)
    q[3] = np.nan
    last, _ = kt.scan(STEP, CARRIED)(q, v, tau, 1e-3, steps=50)
    assert np.isnan(last.q[3]).all()
    others = np.arange(8) != 3
    assert np.array_equal(last.q[others], wanted.q[others])


def test_loops_inside_a_step():
    def step(x, c):
        return {"x": kt.repeat(lambda y: y * 0.5 + c, x, until=lambda y: y < 1.0 + c, most=20), "s": np.sin(x)}

    f = kt.compile(ROBOT, step, shapes={"x": (), "c": ()})
    x, c = np.linspace(0.0, 50.0, 13), np.linspace(0.0, 2.0, 13)
    last, recorded = kt.scan(f, {"x": "x"}, record=["s"])(x, c, steps=4)
    for i in range(13):
        y = x[i]
        for k in range(4):
            y, s = f(y, c[i])
            assert recorded.s[i, k] == s
        assert last.x[i] == y


def test_it_records_fewer_steps_than_are_done_in_one_call_and_more(monkeypatch):
    q, v, tau = ROBOT.random_state(seed=7, size=40)  # not all of them in one call, either
    rollout = kt.scan(STEP, CARRIED, record=["q"])
    every_step = rollout(q, v, tau, 1e-3, steps=23)[1].q
    for seconds in (1e-9, 2e-3, 1.0):  # how long a call may last
        monkeypatch.setattr("kinetree.runtime.steps.CHUNK_SECONDS", seconds)
        for every in (1, 4, 23, 24, 2**64):
            last, recorded = rollout(q, v, tau, 1e-3, steps=23, every=every)
            assert np.array_equal(recorded.q, every_step[:, every - 1 :: every])
            assert np.array_equal(last.q, every_step[:, -1])


def test_a_step_without_inputs():
    rollout = kt.scan(kt.compile(ROBOT, lambda: np.ones(2)), {}, record=["result"])
    assert rollout(steps=3)[1].result.tolist() == [[1.0, 1.0]] * 3


def test_inputs_whose_default_is_none():
    @kt.compile(ROBOT, shapes={"dt": ()})
    def step(q, v, dt, tau=None, v_bias=None, gain: float = 2.0):
        v = v + dt * gain * (tau if tau is not None else -q)
        return {"q": q + dt * v, "v": v if v_bias is None else v + v_bias}

    q, v, tau = np.random.default_rng(7).normal(size=(3, 4, 6))
    plain, pushed = kt.scan(step, CARRIED, record=["q"]), kt.scan(step, CARRIED, per_step=["tau"])
    for given in ({}, {"tau": tau[0]}, {"tau": None, "v_bias": tau[1]}, {"tau": tau[0], "v_bias": tau[1], "gain": 3.0}):
        last, recorded = plain(q, v, 1e-2, steps=2, **given)
        once = step(q, v, 1e-2, **given)
        twice = step(once.q, once.v, 1e-2, **given)
        assert np.array_equal(last.q, twice.q)
        assert np.array_equal(last.v, twice.v)
        assert np.array_equal(recorded.q, np.stack([once.q, twice.q], axis=1))
    once = step(q, v, 1e-2, tau=tau[0])
    twice = step(once.q, once.v, 1e-2, tau=tau[1])
    assert np.array_equal(pushed(q, v, 1e-2, tau=tau[:2])[0].v, twice.v)
    assert np.array_equal(pushed(q, v, 1e-2, steps=1)[0].v, step(q, v, 1e-2).v)  # left out as in a call
    with pytest.raises(ArgumentError, match="tau missing"):
        kt.scan(step, {"q": "q", "tau": "v"})(q, v, 1e-2, steps=2)


def test_pickled():
    rollout = pickle.loads(pickle.dumps(kt.scan(STEP, CARRIED, record=["energy"])))
    last, recorded = rollout(*[np.ones(6)] * 3, 1e-3, steps=2)
    assert last.q.shape == (6,)
    assert recorded.energy.shape == (2,)


def test_it_is_no_part_of_a_function_that_is_being_compiled():
    rollout = kt.scan(STEP, CARRIED)

    def of_traced(q):
        return rollout(q, q, q, 1e-3, steps=2)[0].q

    def of_numbers(q):
        return q + rollout(*[np.ones(6)] * 3, 1e-3, steps=2)[0].q

    with pytest.raises(ArgumentError, match="cannot be part of a function that is being compiled"):
        kt.compile(ROBOT, of_traced)
    with pytest.raises(ArgumentError, match="cannot be part of a function that is being compiled"):
        kt.compile(ROBOT, of_numbers, inputs=[kt.gravity])  # it would have the robot's own gravity
    once = rollout(*[np.ones(6)] * 3, 1e-3, steps=2)[0].q
    assert np.array_equal(kt.compile(ROBOT, of_numbers)(np.zeros(6)), once)


@pytest.mark.parametrize("every", [1, 10**9])
def test_interrupted(every):
    rollout = kt.scan(STEP, CARRIED)
    q, v, tau = ROBOT.random_state(seed=6, size=64)
    rollout(q, v, tau, 1e-3, steps=10)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rollout(q, v, tau, 1e-9, steps=10**9, every=every)
    assert time.monotonic() - begin < 5.0


test_mistakes_are_explained = told(
    ArgumentError,
    (lambda: kt.scan(euler, CARRIED), "compiled function"),
    (lambda: kt.scan(STEP, {"p": "q"}), "no input 'p'"),
    (lambda: kt.scan(STEP, {"q": "p"}), "no output 'p'"),
    (lambda: kt.scan(STEP, {"q": "energy"}), r"q has shape \(6,\), its next value energy has shape \(\)"),
    (lambda: kt.scan(STEP, CARRIED, per_step=["q"]), "both carried and given per step"),
    (lambda: kt.scan(STEP, CARRIED, record="q"), "record takes a list of names"),
    (lambda: kt.scan(STEP, CARRIED, record=["q", "q"]), "record has a name twice"),
    (lambda: kt.scan(STEP, ["q"]), "carried takes a dict"),
    (lambda: kt.scan(ROBOT.jacobian, {}), "options that must be chosen first"),
    (lambda: kt.scan(STEP, CARRIED)(*[np.zeros(6)] * 3, 1e-3), "say how many: steps=1000"),
    (lambda: kt.scan(STEP, CARRIED)(*[np.zeros(6)] * 3, 1e-3, steps=-1), "steps is a whole number"),
    (lambda: kt.scan(STEP, CARRIED)(*[np.zeros(6)] * 3, 1e-3, steps=5, every=0), "every is a whole number"),
    (lambda: kt.scan(STEP, CARRIED)(*[np.zeros(6)] * 3, dt=1e-3, q=0, steps=5), "got q twice"),
    (lambda: kt.scan(STEP, CARRIED)(*[np.zeros(6)] * 3, 1e-3, steps=5, out=0), "has no argument out"),
    (
        lambda: kt.scan(STEP, CARRIED, per_step=["tau"])(*[np.zeros(6)] * 3, 1e-3, steps=5),
        r"tau has one value, it takes \(..., steps, 6\)",
    ),
    (
        lambda: kt.scan(STEP, CARRIED)(np.zeros((2, 6)), np.zeros((3, 6)), np.zeros(6), 1e-3, steps=5),
        "do not fit together",
    ),
    (
        lambda: kt.scan(STEP, CARRIED, per_step=["tau"])(*[np.zeros(6)] * 2, np.zeros((9, 6)), 1e-3, steps=5),
        "numbers of steps differ",
    ),
)


def test_arrays_in_any_form_are_read_right():
    x, tau = np.linspace(-1.0, 1.0, 6), np.ones((3, 6))
    rollout = kt.scan(STEP, CARRIED, per_step=["tau"])
    wanted, _ = rollout(x, x, tau, 1e-3)
    bytes_ = np.zeros(x.nbytes + 1, np.uint8)
    misaligned = bytes_[1:].view(float)
    misaligned[:] = x
    for other in (misaligned, x.view(x.dtype.newbyteorder("<")), x.astype(">f8"), np.repeat(x, 2)[::2]):
        assert np.array_equal(rollout(other, other, tau, 1e-3)[0].q, wanted.q)
    with pytest.raises(ArgumentError, match="v has masked entries"):
        rollout(x, np.ma.masked_less(x, 0.0), tau, 1e-3)


def test_numbers_that_an_input_may_not_hold_are_refused():
    mech = four_bar().mech
    rollout = kt.scan(mech.step, {"q": "q", "v": "v"})
    with pytest.raises(ArgumentError, match="active holds 2"):
        rollout(
            np.zeros(mech.nv), *[np.zeros(mech.nv)] * 2, 1e-3, steps=2, active=np.full(len(mech.constraint_names), 2.0)
        )
