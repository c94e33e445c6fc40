"""Motions between two configurations, from rest to rest: quintic, trapezoidal, and in minimum time under limits.

All follow the geodesic of each joint's group (`Robot.interpolate`): ``q(t) = q0 ⊕ s(t) (q1 ⊖ q0)``, with a profile s
from 0 to 1. Joints of several degrees of freedom then turn about a fixed axis or follow a screw, and their velocity and
acceleration are those of s times the constant ``q1 ⊖ q0``. A joint of one degree of freedom moves one way only,
so that a motion between two configurations within the position limits stays within them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, LimitWarning, listed, warn_user
from kinetree.robot import Robot
from kinetree.robot.base import beyond_limits
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, positive, real_array

Profile = Callable[[Array], tuple[Array, Array, Array]]
"""s and its two derivatives (n, nv) at times (n, 1) within the duration, for each degree of freedom."""


class Sample(NamedTuple):
    """A path at some times: configurations (..., nq), velocities and accelerations (..., nv)."""

    q: Array
    v: Array
    a: Array


@dataclass(frozen=True, eq=False)
class Path:
    """A motion in time from rest to rest; called with times it returns a `Sample`, the arrays q, v and a.

    Attributes
    ----------
    robot : Robot
    q0 : (nq,) array
        Where it begins.
    step : (nv,) array
        ``q1 ⊖ q0``, what leads to its end.
    duration : float
        In s.
    profile : callable
        s, ds/dt and d²s/dt² of each degree of freedom, for times within the duration.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=2.0)
    >>> t = np.linspace(0, path.duration, 5)
    >>> path(t).q[:, 2].round(3)
    array([0.   , 0.104, 0.5  , 0.896, 1.   ])
    >>> robot.inverse_dynamics(*path(t)).shape
    (5, 6)
    """

    robot: Robot
    q0: Array
    step: Array
    duration: float
    profile: Profile

    def __call__(self, t: ArrayLike) -> Sample:
        """Return q, v and a at times t (...) in s; before the beginning and after the end the robot rests there."""
        times = real_array("t", t)
        if np.isnan(times).any():
            raise ArgumentError("t holds NaN, which is not a time")
        within = np.clip(times, 0.0, self.duration)
        s, ds, dds = self.profile(within.reshape(-1, 1))
        s, ds, dds = (x.reshape(*times.shape, self.robot.nv) * self.step for x in (s, ds, dds))
        moving = ((times >= 0.0) & (times <= self.duration))[..., None]
        return Sample(self.robot.integrate(self.q0, s), np.where(moving, ds, 0.0), np.where(moving, dds, 0.0))

    def __repr__(self) -> str:
        return f"<Path of {self.robot.name!r}: {self.duration:.4g} s>"


@friendly_call_errors
def quintic(robot: Robot, q0: ArrayLike, q1: ArrayLike, duration: float) -> Path:
    """Return the motion in this time with the polynomial ``s = 10 x³ − 15 x⁴ + 6 x⁵`` of ``x = t / duration``.

    Velocity and acceleration are zero at both ends and continuous between. Over the distance d the
    largest speed is ``15 d / (8 T)``, the largest acceleration ``10 d / (√3 T²)``.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (nq,) array-like
        Configurations to start from and to reach.
    duration : float
        T, in s.

    Raises
    ------
    ArgumentError
        If a configuration has the wrong shape or is not finite, or the duration is not positive.

    Warns
    -----
    LimitWarning
        If q1 is outside the position limits; q0 is where the robot is.

    References
    ----------
    Lynch and Park, *Modern Robotics*, section 9.2.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=2.0)
    >>> path(1.0).v.round(4)
    array([ 0.    , -0.9375,  0.9375,  0.    ,  0.    ,  0.    ])
    """
    T = positive("duration", duration)
    start, step = _ends(robot, q0, q1)

    def profile(t: Array) -> tuple[Array, Array, Array]:
        x = t / T + np.zeros(robot.nv)
        s = x**3 * (10.0 + x * (6.0 * x - 15.0))
        return s, 30.0 / T * (x * (1.0 - x)) ** 2, 60.0 / T / T * x * (1.0 - x) * (1.0 - 2.0 * x)

    return Path(robot, start, step, T, profile)


@friendly_call_errors
def trapezoid(
    robot: Robot, q0: ArrayLike, q1: ArrayLike, *, velocity: ArrayLike | None = None, acceleration: ArrayLike
) -> Path:
    """Return the fastest motion along the straight line (the geodesic) from q0 to q1 under these limits.

    All joints share one profile s(t): constant acceleration, then constant speed if the way is long enough, then
    constant deceleration. No motion along this line from rest to rest is faster. It stays on the line; `minimum_time`
    leaves it and may be faster still.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (nq,) array-like
        Configurations to start from and to reach.
    velocity : float or (nv,) array-like, optional
        Largest speeds (rad/s, m/s); ``robot.velocity_limits`` by default, where 0 is read as not given.
    acceleration : float or (nv,) array-like
        Largest accelerations (rad/s², m/s²).

    Raises
    ------
    ArgumentError
        If a configuration has the wrong shape or is not finite, or a joint that moves has no limit.

    Warns
    -----
    LimitWarning
        If q1 is outside the position limits; q0 is where the robot is.

    References
    ----------
    Lynch and Park, *Modern Robotics*, section 9.2.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.trapezoid(robot, robot.neutral(), [0, -1, 2, 0, 0, 0], velocity=1.0, acceleration=2.0)
    >>> path.duration, path(path.duration / 2).v.tolist()
    (2.5, [0.0, -0.5, 1.0, 0.0, 0.0, 0.0])
    """
    start, step, rate, ramp = _limited(robot, q0, q1, velocity, acceleration)
    return _with_ramps(robot, start, step, *(np.full(robot.nv, x.min(initial=np.inf)) for x in (rate, ramp)))


@friendly_call_errors
def minimum_time(
    robot: Robot, q0: ArrayLike, q1: ArrayLike, *, velocity: ArrayLike | None = None, acceleration: ArrayLike
) -> Path:
    """Return a motion from q0 to q1 in the least time under limits of each joint's velocity and acceleration.

    The least time of one joint over the distance d is ``d/v + v/a`` if it reaches its speed limit v, and
    ``2 √(d/a)`` if not (bang–coast–bang, bang–bang). The duration is that of the slowest joint: no motion from rest to
    rest within the limits is shorter. The others take as long, each with its own profile slowed down in time, which
    asks less of them. Limits of torque, and of the time derivative of acceleration, are not considered.

    For a joint of several degrees of freedom this is the least time along its geodesic, which is shared by them.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (nq,) array-like
        Configurations to start from and to reach.
    velocity : float or (nv,) array-like, optional
        Largest speeds (rad/s, m/s); ``robot.velocity_limits`` by default, where 0 is read as not given.
    acceleration : float or (nv,) array-like
        Largest accelerations (rad/s², m/s²).

    Raises
    ------
    ArgumentError
        If a configuration has the wrong shape or is not finite, or a joint that moves has no limit.

    Warns
    -----
    LimitWarning
        If q1 is outside the position limits; q0 is where the robot is.

    References
    ----------
    Siciliano et al., *Robotics: Modelling, Planning and Control*, section 4.2.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.minimum_time(robot, robot.neutral(), [0, -1, 2, 0, 0, 0], acceleration=8.0)
    >>> round(path.duration, 4)
    1.0287
    >>> bool(abs(path(path.duration / 2).v[2] - robot.velocity_limits[2]) < 1e-12)
    True
    """
    start, step, rate, ramp = _limited(robot, q0, q1, velocity, acceleration)
    for body in robot.model.leading:
        k = list(body.v_index)
        rate[k], ramp[k] = rate[k].min(initial=np.inf), ramp[k].min(initial=np.inf)
    return _with_ramps(robot, start, step, rate, ramp)


def _ends(robot: Robot, q0: ArrayLike, q1: ArrayLike) -> tuple[Array, Array]:
    """Return q0 and q1 ⊖ q0."""
    if not isinstance(robot, Robot):
        raise ArgumentError(f"a path takes the robot first, and then q0 and q1; {type(robot).__name__} was given")
    ends = []
    for name, q in (("q0", q0), ("q1", q1)):
        ends.append(real_array(name, q, robot.nq, batch=False))
        if not np.isfinite(ends[-1]).all():
            raise ArgumentError(f"{name} holds NaN or inf")
    if told := beyond_limits(robot.model.leading, ends[1]):
        warn_user(f"q1 is outside the limits, and so will the path be: {told}", LimitWarning)
    step = robot.difference(*ends)
    if not np.isfinite(step).all():
        raise ArgumentError("q0 or q1 holds a quaternion of norm zero")
    for body in robot.model.leading:
        own = step[list(body.v_index)]
        rounding = 1e-14 * (1.0 + np.abs([q[list(body.q_index)] for q in ends]).max())
        step[list(body.v_index)] = np.where(np.abs(own) > rounding, own, 0.0)
    return ends[0].copy(), step


def _limited(
    robot: Robot, q0: ArrayLike, q1: ArrayLike, velocity: ArrayLike | None, acceleration: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """Return q0, q1 ⊖ q0, and the largest ds/dt and d²s/dt² (nv,); both are inf where nothing moves."""
    start, step = _ends(robot, q0, q1)
    speeds = np.where(robot.velocity_limits > 0, robot.velocity_limits, np.inf) if velocity is None else velocity
    largest = []
    for name, limit in (("velocity", speeds), ("acceleration", acceleration)):
        values = real_array(name, limit)
        if values.shape not in ((), (robot.nv,)):
            raise ArgumentError(f"{name} has shape {values.shape}: give one number, or one each of the nv = {robot.nv}")
        values = np.broadcast_to(values, (robot.nv,))
        if not (values > 0.0).all():
            raise ArgumentError(f"{name} must be positive; {limit!r} was given")
        missing = [robot.v_names[k] for k in np.flatnonzero((step != 0.0) & np.isinf(values))]
        if missing:
            raise ArgumentError(f"there is no limit of {name} for {listed(missing, 10)}, which moves: give {name}=")
        with np.errstate(divide="ignore"):
            largest.append(np.where(step == 0.0, np.inf, values / np.abs(step)))
    return start, step, largest[0], largest[1]


def _with_ramps(robot: Robot, start: Array, step: Array, rate: Array, ramp: Array) -> Path:
    """Return the path whose profiles keep to ``ds/dt ≤ rate`` and ``|d²s/dt²| ≤ ramp``, slowed down to the slowest."""
    moving = np.isfinite(ramp)
    rise, alone = np.ones(robot.nv), np.zeros(robot.nv)  # how long each accelerates, and how long it takes in all
    rise[moving] = np.minimum(rate[moving] / ramp[moving], 1.0 / np.sqrt(ramp[moving]))
    alone[moving] = rise[moving] + 1.0 / (ramp[moving] * rise[moving])
    T = float(alone.max(initial=0.0))
    rise[moving] *= T / alone[moving]
    rise[~moving] = T / 2

    def profile(t: Array) -> tuple[Array, Array, Array]:
        if T == 0.0:  # q1 is q0
            return (zero := np.zeros((len(t), robot.nv))), zero, zero
        first = t <= T / 2
        left = np.where(first, t, T - t)  # the second half is the first one backwards
        rises, top = left < rise, 1.0 / (T - rise)
        half = top * np.where(rises, left**2 / (2.0 * rise), left - rise / 2.0)
        speed = top * np.where(rises, left / rise, 1.0)
        return np.where(first, half, 1.0 - half), speed, np.where(rises, np.where(first, 1.0, -1.0) * top / rise, 0.0)

    return Path(robot, start, step, T, profile)
