"""Paths between two configurations: ends, derivatives on the manifold, limits, and the least time."""

import math
import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.trees import toy
from kinetree.joints import Prismatic, Revolute, Spherical
from kinetree.motions import minimum_time, quintic, trapezoid

ROBOT = kt.Robot(
    toy(
        ("shoulder trunk ball", Spherical()),
        ("elbow ball arm", Revolute((0, 1, 0)), {"limits": kt.JointLimits(-2, 2, 3, 9)}),
        ("slide arm hand", Prismatic((1, 0, 0)), {"limits": kt.JointLimits(-1, 1, 0, 0)}),
        floating_base=True,
    )
)
RNG = np.random.default_rng(7)
Q0, Q1 = ROBOT.random_configuration(RNG, 2)
VELOCITY, ACCELERATION = RNG.uniform(0.5, 2.0, ROBOT.nv), RNG.uniform(1.0, 4.0, ROBOT.nv)
LIMITS = {"velocity": VELOCITY, "acceleration": ACCELERATION}

PATHS = {
    "quintic": lambda: quintic(ROBOT, Q0, Q1, 3.0),
    "trapezoid": lambda: trapezoid(ROBOT, Q0, Q1, **LIMITS),
    "minimum time": lambda: minimum_time(ROBOT, Q0, Q1, **LIMITS),
    "bang-bang": lambda: minimum_time(ROBOT, Q0, Q1, velocity=1e9, acceleration=ACCELERATION),
}


@pytest.mark.parametrize("make", PATHS.values(), ids=PATHS)
def test_from_rest_to_rest_along_the_manifold(make):
    path = make()
    t = np.linspace(0.0, path.duration, 2001)
    q, v, a = path(t)
    assert (q.shape, v.shape, a.shape) == ((2001, ROBOT.nq), (2001, ROBOT.nv), (2001, ROBOT.nv))
    assert_close(ROBOT.frame_placements(q[[0, -1]]), ROBOT.frame_placements([Q0, Q1]), ulps=100)
    assert not v[[0, -1]].any()
    h = t[1]
    # central differences: what the second derivative leaps by at a corner of the profile is averaged over one step
    leap = np.abs(np.diff(a, axis=0)).max()
    np.testing.assert_allclose(ROBOT.difference(q[:-2], q[2:]) / (2 * h), v[1:-1], atol=h * leap + 1e-5)
    np.testing.assert_allclose(np.median(np.diff(v, axis=0) / h - (a[1:] + a[:-1]) / 2, axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.trapezoid(v, dx=h, axis=0) if hasattr(np, "trapezoid") else np.trapz(v, dx=h, axis=0),
                               ROBOT.difference(Q0, Q1), atol=1e-4)  # fmt: skip


@pytest.mark.parametrize("make", PATHS.values(), ids=PATHS)
def test_at_rest_before_and_after(make):
    path = make()
    for t, there in ((-1.0, Q0), (path.duration + 1.0, Q1)):
        q, v, a = path(t)
        assert_close(ROBOT.frame_placements(q), ROBOT.frame_placements(there), ulps=100)
        assert not v.any()
        assert not a.any()
    assert path(np.zeros((2, 3))).q.shape == (2, 3, ROBOT.nq)
    assert ROBOT.inverse_dynamics(*path([0.1, 0.2])).shape == (2, ROBOT.nv)


def test_the_limits_are_reached_and_kept():
    for make in (trapezoid, minimum_time):
        path = make(ROBOT, Q0, Q1, **LIMITS)
        _, v, a = path(np.linspace(0.0, path.duration, 3001))
        used = (np.abs(v) / VELOCITY).max(), (np.abs(a) / ACCELERATION).max()
        assert max(used) <= 1 + 1e-12
        assert max(used) >= 1 - 1e-12


def test_the_least_time_is_that_of_the_slowest_joint():
    """Integrated backwards: with constant acceleration, cruise and deceleration, by the limits alone."""
    d = np.abs(ROBOT.difference(Q0, Q1))

    def alone(d: float, v: float, a: float) -> float:
        return d / v + v / a if d > v * v / a else 2 * math.sqrt(d / a)

    singles = [k for k, name in enumerate(ROBOT.v_names) if "." not in name]
    groups = [list(range(0, 6)), list(range(6, 9)), *([k] for k in singles)]
    least = max(alone(1.0, min(VELOCITY[g] / d[g]), min(ACCELERATION[g] / d[g])) for g in groups)
    assert minimum_time(ROBOT, Q0, Q1, **LIMITS).duration == pytest.approx(least, rel=1e-14)
    line = alone(1.0, min(VELOCITY / d), min(ACCELERATION / d))
    assert trapezoid(ROBOT, Q0, Q1, **LIMITS).duration == pytest.approx(line, rel=1e-14)
    assert line >= least


def test_off_the_straight_line_it_is_faster():
    """One joint with a long way and little acceleration, another with a slow one."""
    panda = kt.load("panda")
    q1 = np.array([2.0, 0.25, 0, -0.5, 0, 1.0, 0])
    velocity, acceleration = [2, 0.1, 2, 2, 2, 2, 2], [1, 50, 9, 9, 9, 9, 9]
    fast = minimum_time(panda, panda.neutral(), q1, velocity=velocity, acceleration=acceleration)
    straight = trapezoid(panda, panda.neutral(), q1, velocity=velocity, acceleration=acceleration)
    assert fast.duration < 0.9 * straight.duration
    middle = straight(straight.duration / 3).q
    assert_close(middle / middle[0] * q1[0], q1, ulps=10)


def test_speed_limits_of_the_file_are_the_default():
    panda = kt.load("panda")
    q1 = 0.05 * panda.lower_limits + 0.95 * panda.upper_limits
    path = minimum_time(panda, panda.neutral(), q1, acceleration=10.0)
    speeds = np.abs(path(np.linspace(0, path.duration, 500)).v)
    assert (speeds / panda.velocity_limits).max() == pytest.approx(1.0)


def test_only_joints_that_move_need_limits():
    q = np.array([*Q0[:11], 0.3, Q0[12]])  # the hinge alone, whose file has a limit of speed
    path = minimum_time(ROBOT, Q0, q, acceleration=2.0)
    assert path.duration > 0
    with pytest.raises(
        kt.ArgumentError, match=r"no limit of velocity for shoulder.wx, .*slide, which moves: give velo"
    ):
        minimum_time(ROBOT, Q0, [*Q0[:7], *Q1[7:]], acceleration=2.0)


def test_times_of_any_number():
    for make in PATHS.values():
        assert [x.shape for x in make()([])] == [(0, ROBOT.nq), (0, ROBOT.nv), (0, ROBOT.nv)]
        with pytest.raises(kt.ArgumentError, match="t holds NaN, which is not a time"):
            make()([0.1, math.nan])
    assert quintic(ROBOT, Q0, Q1, 1e200)(5e199).a.tolist() == [0.0] * ROBOT.nv


def test_a_small_step_beside_a_large_coordinate_is_made():
    far, near = Q0.copy(), Q0.copy()
    far[:2], near[:2], near[-1] = 1e9, 1e9, Q0[-1] + 1e-6
    assert quintic(ROBOT, far, near, 1.0)(1.0).q[-1] == near[-1]


def test_no_way_takes_no_time():
    for path in (minimum_time(ROBOT, Q0, Q0, acceleration=1.0), trapezoid(ROBOT, Q0, Q0, acceleration=1.0)):
        assert path.duration == 0.0
        q, v, a = path([0.0, 1.0])
        assert_close(q, [Q0, Q0], ulps=4)
        assert not v.any()
        assert not a.any()
        assert repr(path) == "<Path of 'toy': 0 s>"


@pytest.mark.parametrize(
    "make",
    [
        lambda robot, *ends: quintic(robot, *ends, 1.0),
        lambda robot, *ends: trapezoid(robot, *ends, acceleration=1.0),
        lambda robot, *ends: minimum_time(robot, *ends, acceleration=1.0),
    ],
)
def test_an_end_outside_the_position_limits_is_told(make):
    panda = kt.load("panda")
    with pytest.warns(kt.LimitWarning, match=r"q1 is outside the limits.*'panda_joint4' at 0, with limits -3") as told:
        make(panda, panda.lower_limits, panda.neutral())
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(panda, panda.neutral(), panda.lower_limits.astype(np.float32))


def test_ends_that_are_no_configurations_and_no_robot():
    with pytest.raises(kt.ArgumentError, match="a quaternion of norm zero"):
        quintic(ROBOT, Q0, 0.0 * Q1, 1.0)
    with pytest.raises(kt.ArgumentError, match="a path takes the robot first"):
        quintic(Q0, Q1, 1.0, 2.0)
