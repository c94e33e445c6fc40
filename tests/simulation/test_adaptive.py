"""Tsitouras's pair with steps of its own: its coefficients, its errors, its dense output, and where it gives up."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from helpers.trees import random_tree
from kinetree.algorithms.kinematics.manifold import step_rate
from kinetree.integrators import System
from kinetree.integrators.adaptive import tsitouras
from kinetree.integrators.runge_kutta import DENSE, ERROR, TSITOURAS
from kinetree.joints import FreeFlyer, Planar, Revolute, Spherical
from kinetree.scalars.dual import Dual, rate_of

# -- coefficients ----------------------------------------------------------------------------------------------------

Tree = tuple["Tree", ...]
"""A rooted tree: the trees at its root."""


def trees(order):
    """Return the rooted trees with so many nodes."""

    def forests(nodes: int, largest: int) -> list[Tree]:
        if nodes == 0:
            return [()]
        return [
            (first, *rest)
            for n in range(1, min(nodes, largest) + 1)
            for first in trees(n)
            for rest in forests(nodes - n, n)
        ]

    return list({tuple(sorted(forest)) for forest in forests(order - 1, order - 1)})


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def density(tree):
    return nodes(tree) * int(np.prod([density(child) for child in tree]))


def inner(tree):
    """Return the elementary weights of the stages."""
    A = np.array([[*row, *[0.0] * (7 - len(row))] for row in TSITOURAS.A])
    result = np.ones(7)
    for child in tree:
        result = result * (A @ inner(child))
    return result


@pytest.mark.parametrize("order", range(1, 6))
def test_the_order_conditions(order):
    """Of Butcher, one for each rooted tree: weights up to order 5, embedded and dense ones up to 4."""
    assert len(trees(order)) == [1, 1, 2, 4, 9][order - 1]
    b, dense = np.array(TSITOURAS.b), np.array(DENSE)
    for tree in trees(order):
        weights, exact = inner(tree), 1 / density(tree)
        assert b @ weights == pytest.approx(exact, rel=0, abs=1e-13)  # of 16 digits, with entries of 88
        if order <= 4:
            assert np.array(ERROR) @ weights == pytest.approx(0.0, abs=1e-13)
            for theta in (0.1, 0.37, 0.8, 1.0):
                at = dense @ theta ** np.arange(1, 5)
                assert at @ weights == pytest.approx(exact * theta**order, rel=0, abs=1e-13)
    if order == 5:
        assert max(abs(np.array(ERROR) @ inner(tree)) for tree in trees(5)) > 1e-6  # so that there is an estimate


def test_dense_output_is_smooth_between_steps():
    """The weights' slopes are those of the first stage at the beginning, and of the last one at the end."""
    dense = np.array(DENSE)
    assert dense[:, 0] == pytest.approx([1, 0, 0, 0, 0, 0, 0], rel=0, abs=1e-15)
    assert dense @ [1, 2, 3, 4] == pytest.approx([0, 0, 0, 0, 0, 0, 1], rel=0, abs=1e-12)
    assert dense.sum(axis=1) == pytest.approx(TSITOURAS.b, rel=0, abs=1e-13)


# -- motions ---------------------------------------------------------------------------------------------------------


@cache
def robot(name):
    """Return Panda, or a floating robot with joints of several degrees of freedom."""
    if name == "panda":
        return kt.load(name)
    return kt.Robot(random_tree(3, n=4, joints=[FreeFlyer(), Spherical(), Planar((0, 1, 0)), Revolute((0, 0, 1))]))


def state(name):
    q, v, _ = robot(name).random_state(seed=5)
    return q, v


def exact(name, times, tau=0.0):
    """Return the states at these times, by SciPy's method of order eight, in coordinates around the first one."""
    r, (q, v) = robot(name), state(name)
    n = len(v)

    def rates(_: float, x):
        u, v = x[:n], x[n:]
        return np.concatenate([step_rate(r.model, u, v, 10), r.forward_dynamics(r.integrate(q, u), v, np.full(n, tau))])

    x = solve_ivp(
        rates, (0.0, times[-1]), [*np.zeros(n), *v], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13
    ).y.T
    return r.integrate(q, x[:, :n]), x[:, n:]


def motion(r, *start, rtol=1e-6, atol=1e-8, **how):
    return r.simulate(*start, integrator=kt.Tsitouras(rtol=rtol, atol=atol), joints="none", **how)


robots = pytest.mark.parametrize("name", ["panda", "floating"])


def error(name, moved, q, v):
    return float(max(np.abs(robot(name).difference(moved.q[1:], q)).max(), np.abs(moved.v[1:] - v).max()))


@robots
def test_errors_follow_the_tolerance_at_all_times(name):
    """Between the steps too, where the state is that of the dense output."""
    q, v = exact(name, np.linspace(0.01, 0.4, 40).tolist())
    tolerances = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
    moved = [motion(robot(name), *state(name), duration=0.4, dt=0.01, rtol=x, atol=x / 100) for x in tolerances]
    errors = [error(name, m, q, v) for m in moved]
    assert errors[-1] < 1e-9
    assert np.polyfit(np.log10(tolerances[:-1]), np.log10(errors[:-1]), 1)[0] == pytest.approx(1.0, abs=0.2)
    assert moved[1].counts["steps"] < 60 < moved[-1].counts["steps"]


@robots
def test_the_motion_does_not_depend_on_how_often_it_is_looked_at(name):
    often, seldom = (motion(robot(name), *state(name), duration=0.5, dt=dt) for dt in (0.005, 0.125))
    assert np.abs(often.q[::25] - seldom.q).max() < 1e-13
    assert np.abs(often.v[::25] - seldom.v).max() < 1e-13
    assert often.counts["steps"] == seldom.counts["steps"]


def test_tries_in_vain_are_counted():
    """Steps grow while nothing moves, and are too long when a motor starts."""
    arm = robot("panda").with_gravity((0.0, 0.0, 0.0))
    motor = np.zeros((10, 7))
    motor[-1] = 50.0
    moved = arm.simulate(arm.neutral(), np.zeros(7), dt=0.2, forces=motor, integrator=kt.Tsitouras(rtol=1e-10))
    assert moved.counts["rejected"] >= 2
    assert moved.counts["steps"] > moved.counts["rejected"]


# -- what acts on it -------------------------------------------------------------------------------------------------


def test_steps_end_where_joint_forces_change():
    """A polynomial through such a place would be wrong: here they jump at every step."""
    name = "panda"
    r, (q0, v0) = robot(name), state(name)
    tau = np.zeros((2, 7))
    tau[0] = 40.0
    tight = {"dt": 0.1, "rtol": 1e-10, "atol": 1e-12}
    moved = motion(r, q0, v0, forces=tau, **tight)
    q, v = exact(name, [0.1], 40.0)
    assert error(name, moved[:2], q, v) < 1e-7
    free = motion(r, moved.q[1], moved.v[1], steps=1, **tight)
    assert np.abs(free.q[1] - moved.q[2]).max() < 1e-8
    assert np.abs(exact(name, [0.1])[1] - v).max() > 1.0


def test_controllers_in_continuous_time():
    r = robot("panda")
    q0 = r.neutral()

    @r.compile(shapes={"t": ()})
    def push(q, v, t: float):
        return 30.0 * np.sin(8.0 * t) - 2.0 * v

    def rates(t: float, x):
        return np.concatenate([x[7:], r.forward_dynamics(x[:7], x[7:], push(x[:7], x[7:], t))])

    x = solve_ivp(rates, (0.0, 0.5), [*q0, *np.zeros(7)], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    how = {"duration": 0.5, "dt": 0.05, "rtol": 1e-11, "atol": 1e-12}
    assert motion(r, q0, controller=push, **how).q[-1] == pytest.approx(x[:7], rel=0, abs=1e-8)
    sampled = motion(r, q0, controller=kt.Controller(push, every=1), **how)
    assert np.abs(sampled.q[-1] - x[:7]).max() > 1e-3  # held for a twentieth of a second each


# -- where it ends ---------------------------------------------------------------------------------------------------


def test_a_robot_that_needs_too_many_steps_stops_and_others_go_on():
    r = robot("panda")

    @r.compile(shapes={"brake": ()})
    def stiff(v, brake: float):
        return -brake * v

    v = np.full(7, 0.5)
    how = {"duration": 1.0, "dt": 0.1, "controller": stiff}
    moved = motion(r, r.neutral(), np.tile(v, (3, 1)), inputs={"brake": [0.0, 1e9, 1.0]}, **how)
    assert moved.reasons.tolist() == [None, "too many steps", None]
    assert np.isfinite(moved.q).all()
    assert moved.stopped_at[1] < 1.0
    assert np.array_equal(moved.q[1, -1], moved.q[1, -2])
    alone = motion(r, r.neutral(), v, inputs={"brake": 1.0}, **how)
    assert np.array_equal(alone.q, moved.q[2])


# -- one step --------------------------------------------------------------------------------------------------------


def test_one_step_there_and_back():
    r, (q, v) = robot("floating"), state("floating")
    zero = np.zeros(r.nv)
    there = r.step(q, v, zero, 0.3, integrator="tsitouras")
    back = r.step(there.q, there.v, zero, -0.3, integrator="tsitouras")
    assert np.abs(r.difference(q, back.q)).max() < 1e-5
    assert np.abs(r.difference(q, there.q)).max() > 0.1
    nothing = r.step(q, v, zero, 0.0, integrator="tsitouras")
    assert np.array_equal(nothing.q, q)
    assert np.array_equal(nothing.v, v)


def test_rates_through_its_steps():
    """Of dual numbers, against differences of results."""
    r, (q, v) = robot("panda"), state("panda")
    system = System(r.model, lambda *_: [0.0] * r.nv)
    moved, _ = tsitouras(system, 0.0, [Dual(x, 1.0) for x in q.tolist()], v.tolist(), 0.05)
    h, zero = 1e-5, np.zeros(7)
    up, down = (r.step(q + x, v, zero, 0.05, integrator="tsitouras").q for x in (h, -h))
    assert [rate_of(x) for x in moved] == pytest.approx((up - down) / (2 * h), rel=0, abs=1e-9)


def test_at_rest_there_is_nothing_to_do():
    r = robot("panda").with_gravity([0.0, 0.0, 0.0])
    moved = motion(r, r.neutral(), duration=100.0, dt=10.0)
    assert np.array_equal(moved.q[-1], r.neutral())
    assert moved.counts["steps"] < 30
    system = System(r.model, lambda *_: [0.0] * r.nv)
    assert tsitouras(system, 0.0, [0.0] * 7, [0.0] * 7, 1.0) == ((0.0,) * 7, (0.0,) * 7)
