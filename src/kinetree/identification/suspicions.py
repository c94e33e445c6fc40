"""What is wrong with recorded motions, found before anything is estimated from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from kinetree.errors import listed
from kinetree.identification.regressor import positions
from kinetree.identification.samples import Piece, pieces
from kinetree.robot import Robot
from kinetree.validation import Array

LOOKED_AT = 128
"""Pieces of a log that are looked at."""

SATURATED = 0.02
"""The part of the samples at the greatest or the least force, from which on a sensor seems to be at its end."""

FLIPPED = -0.6
"""A correlation of measured and expected forces below this is no bad model, but the other sign."""

TURNS = 3.0
"""Positions of revolute joints with limits that are so many times beyond them are no radians."""


class LogWarning(UserWarning):
    """A recorded motion that tells little, or that no bodies explain."""


def suspicions(robot: Robot, log: Any) -> list[str]:
    """Return what seems to be wrong with recorded motions, in a sentence each; nothing if they seem right.

    Positions in degrees, joints that do not move, sensors at their end, forces of the other sign than this robot's; in
    the first 131072 samples.

    Parameters
    ----------
    robot : Robot
    log
        As in `Robot.identify`; read once.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> suspicions(robot, (q, v, a, tau)), suspicions(robot, (q, v, a, tau * [1, -1, 1, 1, 1, 1]))
    ([], ['the forces of shoulder_lift_joint have the other sign: the robot expects their opposite'])
    """
    parts = list(islice(pieces(robot, log), LOOKED_AT))
    if not parts:
        return []
    whole = Piece(*(None if x[0] is None else np.concatenate(x) for x in zip(*parts, strict=True)))  # type: ignore[arg-type]
    return [*_degrees(robot, whole), *_still(robot, whole), *saturated(robot, whole), *_flipped(robot, whole)]


def named(robot: Robot, there: Iterable[Any]) -> str:
    """Return the names of the entries of v that are there."""
    return listed([name for name, is_there in zip(robot.v_names, there, strict=True) if is_there])


def _degrees(robot: Robot, log: Piece) -> Iterator[str]:
    at = positions(robot.model)
    turning = np.array([bool(np.any(np.array(list(S.ang), dtype=float))) for S in _axes(robot)])
    reach = np.maximum(np.abs(robot.lower_limits), np.abs(robot.upper_limits))[at]
    reach = np.where(np.isfinite(reach), reach, 4.0 * math.pi)
    found = turning & (np.abs(log.q[:, at]).max(axis=0) > TURNS * np.maximum(reach, math.pi / 2.0))
    if found.any():
        yield f"the positions of {named(robot, found)} are far beyond the joints' limits: are they in degrees?"


def _axes(robot: Robot) -> list[Any]:
    model, axes = robot.model, [None] * robot.nv
    q = robot.neutral().tolist()
    for i in model.joint_order:
        for k, S in zip(model.bodies[i].v_index, model.jcalc(i, q).S, strict=True):
            axes[k] = S  # type: ignore[call-overload]
    return axes


def _still(robot: Robot, log: Piece) -> Iterator[str]:
    still = np.abs(log.v).max(axis=0) <= 1e-6 * np.abs(log.v).max()
    if still.any():
        yield f"{named(robot, still)} never moves: nothing tells its friction, and little its inertia"


def saturated(robot: Robot, log: Piece) -> Iterator[str]:
    """Yield which forces are often the same at an end."""
    low, high = log.tau.min(axis=0), log.tau.max(axis=0)
    ends = [np.count_nonzero(log.tau == x, axis=0) for x in (low, high)]
    found = (np.maximum(*ends) > SATURATED * len(log.tau)) & (high > low) & (np.maximum(*ends) > 2)
    if found.any():
        yield f"the forces of {named(robot, found)} stay at their greatest or least value: is a sensor at its end?"


def _flipped(robot: Robot, log: Piece) -> Iterator[str]:
    f_ext = [] if log.f_ext is None else [log.f_ext]
    expected = robot.inverse_dynamics(log.q, log.v, log.a, *f_ext)
    found = _correlation(expected, log.tau) < FLIPPED
    if found.any():
        yield f"the forces of {named(robot, found)} have the other sign: the robot expects their opposite"


def _correlation(a: Array, b: Array) -> Array:
    """Return the correlation of each column, zero where one of them does not change."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
    return np.asarray((a * b).sum(axis=0) / np.where(size > 0.0, size, 1.0))
