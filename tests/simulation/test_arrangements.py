"""The same bits in every arrangement, for every kind of simulation: alone, on lanes and threads, in parts, bound."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import five_bar_leg, four_bar
from helpers.pendulum import pendulum
from helpers.trees import random_tree
from kinetree.joints import FreeFlyer, Planar, Revolute, Spherical

N, STEPS = 19, 40
RNG = np.random.default_rng(3)


class Kind(NamedTuple):
    """A system, where robots begin, arguments of `simulate`, inputs by robot, and which of these are memory."""

    system: Any
    q: Any
    v: Any
    how: dict
    inputs: dict = {}  # noqa: RUF012
    memory: tuple = ()


def law(q, v, dt, integral, ki):
    error = 0.5 - q
    return {"tau": 10.0 * error - v + ki * integral, "integral": integral + dt * error}


def hold(q, v, t, kp):
    return kp * (np.sin(t) - q) - v


def low(q):
    return q[0] + 0.1


def damped(q, v, t):
    return -2.0 * q - v


def on_pendulums(inputs=None, memory=(), **how):
    robot = pendulum()
    q, v, _ = robot.random_state(seed=3, size=N)
    return Kind(robot, q, v, {"dt": 0.02, **how}, inputs or {}, memory)


def adaptive():
    tree = random_tree(3, n=4, joints=[FreeFlyer(), Spherical(), Planar((0, 1, 0)), Revolute((0, 0, 1))])
    q, v, _ = kt.Robot(tree).random_state(seed=2, size=N)
    how = {"dt": 0.01, "integrator": kt.Tsitouras(rtol=1e-5, atol=1e-8), "joints": "none"}
    return Kind(kt.Robot(tree), q, v * np.linspace(0.1, 3.0, N)[:, None], how)


def landing():
    mech, q = five_bar_leg(floating=True)
    touching = [kt.Contact("front_foot", radius=0.01, friction=0.6), *kt.capsule_contacts("body", 0.1, 0.04)]
    starts, v = np.tile(q, (N, 1)), np.zeros((N, mech.nv))
    starts[:, 2], v[:, 3] = np.linspace(0.0, 0.1, N), np.linspace(-1.0, 1.0, N)
    return Kind(kt.Mechanism(mech.tree, [*mech.constraints, *touching]), starts, v, {"record": "f"})


def linkage():
    starts = np.array([four_bar(motor=x).q for x in np.linspace(-2.0, -0.5, N)])
    return Kind(four_bar().mech, starts, np.zeros((N, 3)), {"record": "f"})


HOLD = pendulum().compile(hold, shapes={"t": (), "kp": ()})
LAW = pendulum().compile(law, shapes={"integral": 2, "ki": (), "dt": ()})
LOW = kt.Event(pendulum().compile(low), most=5)
STATE = {"integral": RNG.normal(size=(N, 2)), "ki": np.linspace(1.0, 5.0, N)}
PUSH = kt.Forces({"upper_joint": 1.0}, f_ext={"lower": np.ones(6)})
KINDS = {
    "controller": lambda: on_pendulums({"kp": np.arange(1.0 * N)}, controller=HOLD, record="a tau", events=[LOW]),
    "memory": lambda: on_pendulums(STATE, ("integral",), controller=LAW, integrator="tsitouras"),
    "called": lambda: on_pendulums(controller=damped, record=kt.Record("tau", every=5)),
    "forces": lambda: on_pendulums(forces=PUSH, integrator="rk4"),
    "adaptive": adaptive,
    "linkage": linkage,
    "landing": landing,
}
kind = cache(lambda name: KINDS[name]())
kinds = pytest.mark.parametrize("name", KINDS)


def run(k, select=slice(None), steps=STEPS):
    return k.system.simulate(k.q[select], k.v[select], steps=steps, **given(k, select))


def given(k, select=slice(None), without=()):
    inputs = {name: x[select] for name, x in k.inputs.items() if name not in without}
    return {**k.how, "inputs": inputs}


whole = cache(lambda name: run(kind(name)))


def same(a, b):
    for x in ("t", *a.recorded):
        assert np.array_equal(getattr(a, x), getattr(b, x)), x
    for of in (lambda x: x.counts, lambda x: {"reasons": x.reasons}):
        assert {x: n.tolist() for x, n in of(a).items()} == {x: n.tolist() for x, n in of(b).items()}
    assert [(e.time, e.name, e.robot, *e.q, *e.v) for e in a.events] == [
        (e.time, e.name, e.robot, *e.q, *e.v) for e in b.events
    ]


@kinds
def test_alone_or_among_others(name):
    for k in (0, 7, N - 1):
        same(run(kind(name), k), whole(name).robots[k])


def test_each_has_its_own():
    """So that equal numbers say something."""
    assert len(set(whole("adaptive").counts["steps"].tolist())) > 5
    assert len(set(whole("landing").counts["iterations"].tolist())) > 5
    assert len(whole("controller").events) > 5


@pytest.mark.parametrize("lanes", [1, 4, 16])
@kinds
def test_on_any_lanes_and_threads_and_from_a_pickle(name, lanes, monkeypatch):
    if name == "landing" and lanes != 4:
        lanes = 4  # it is slow to compile
    expected, before = whole(name), kt.get_num_threads()
    monkeypatch.setenv("KINETREE_LANES", str(lanes))
    monkeypatch.setattr("kinetree.runtime.steps.SHARED_SECONDS", 0.0)
    fresh = kind(name)._replace(system=pickle.loads(pickle.dumps(kind(name).system)))
    try:
        for count in (1, 3):
            kt.set_num_threads(count)
            same(run(fresh), expected)
    finally:
        kt.set_num_threads(before)


@kinds
def test_it_goes_on_from_a_trajectory(name):
    k = kind(name)
    part = pickle.loads(pickle.dumps(run(k, steps=15)))
    rest = k.system.simulate(part, steps=STEPS - 15, **given(k, without=k.memory))
    for x in ("q", "v"):
        assert np.array_equal(getattr(rest, x)[:, -1], getattr(whole(name), x)[:, -1])
    assert rest.t[-1] == pytest.approx(whole(name).t[-1], abs=1e-15)
    for x in k.memory:
        assert np.array_equal(rest.end.controller[x], whole(name).end.controller[x])


@kinds
def test_bound_it_is_the_same_however_often_and_wherever_it_is_called(name):
    k, expected = kind(name), whole(name)
    bound = k.system.simulation(k.q, k.v, steps=STEPS, **given(k))
    arrays = {x: array.copy() for x, array in bound.arrays.items()}
    same(bound.run(), expected)
    assert all(np.array_equal(array, arrays[x]) for x, array in bound.arrays.items())
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: bound.run(), range(4)):
            same(found, expected)
    first, flipped = bound(k.q, k.v), bound(k.q[::-1], k.v[::-1])
    same(flipped, k.system.simulate(k.q[::-1], k.v[::-1], steps=STEPS, **given(k)))
    same(first, expected)  # results stay as they are
    assert np.array_equal(first.end.memory, expected.end.memory)
    assert not any(n.flags.writeable for n in first.counts.values())
    same(pickle.loads(pickle.dumps(bound))(k.q, k.v), expected)
    same(pickle.loads(pickle.dumps(first)), expected)
