"""What is wrong with recorded motions, found before anything is estimated from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from kinetree.errors import listed
from kinetree.identification.equations import Factors
from kinetree.identification.regressor import positions
from kinetree.identification.samples import Piece, measured, pieces
from kinetree.identification.signs import contradicting, opposite
from kinetree.robot import Robot
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array

LOOKED_AT = 128
"""Pieces of a log that are looked at."""

SATURATED = 0.02
"""The part of the samples at the greatest or the least force, from which on a sensor seems to be at its end."""

STILL = 1e-3
"""A joint whose speed is this part of the fastest one's or less does not move: encoders are never quite at rest."""

APART, ALIKE, IN_A_ROW = 10.0, 0.2, 4096
"""By which factor the times between samples differ that two derivatives tell, where they are wrong; how near to their
median two of three are, where samples follow each other; and how many samples are looked at."""

CONSTANT = 1e-12
"""Forces that change by less than this part of their size do so by the rounding of filters."""

HELD = 0.5
"""The part of the force that a floating base needs, from which on it is missed."""

TURNS = 3.0
"""Positions of revolute joints with limits that are so many times beyond them are no radians."""


class LogWarning(UserWarning):
    """A recorded motion that tells little, or that no bodies explain."""


def suspicions(robot: Robot, log: Any, currents: Sequence[str] = ()) -> list[str]:
    """Return what seems to be wrong with recorded motions, in a sentence each; nothing if they seem right.

    Positions, velocities or accelerations in degrees, joints that do not move, sensors at their end, forces that never
    change or have the other sign, a floating base that is held by no measured wrench; in the first 131072 samples.

    Parameters
    ----------
    robot : Robot
    log
        As in `Robot.identify`; read once.
    currents : sequence of str, optional
        Entries of v whose forces are currents with a constant that is not known: nor is its sign.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> suspicions(robot, (q, v, a, tau)), suspicions(robot, (q, v, a, tau * [1, -1, 1, 1, 1, 1]))
    ([], ['the forces of shoulder_lift_joint have the other sign: inertias and friction explain their opposite'])
    """
    parts = list(islice(pieces(robot, log), LOOKED_AT))
    if not parts:
        return []
    whole = _together(robot, parts)
    checks = (_degrees, _rates, _still, saturated, _constant, partial(_flipped, currents), _held)
    return [text for check in checks for text in check(robot, whole)]


def _together(robot: Robot, parts: list[Piece]) -> Piece:
    """Return several pieces as one: without wrenches or a load there are none, without directions the velocities'."""
    arrays = {x: np.concatenate([getattr(part, x) for part in parts]) for x in ("q", "v", "a", "tau")}
    for name, shape in (("f_ext", (robot.nb, 6)), ("load", (robot.nv,))):
        every = [getattr(part, name) for part in parts]
        if any(x is not None for x in every):
            pairs = zip(every, parts, strict=True)
            arrays[name] = np.concatenate([np.zeros((len(part.q), *shape)) if x is None else x for x, part in pairs])
    directions = [part.direction for part in parts if part.direction is not None]
    if len(directions) == len(parts):
        arrays["direction"] = np.concatenate(directions)
    return Piece(**arrays)


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


def _rates(robot: Robot, log: Piece) -> Iterator[str]:
    """Yield which derivatives have other units, by the times between samples that they tell."""
    at = positions(robot.model)
    single = np.zeros(robot.nv, dtype=bool)
    single[[k for body in robot.model.leading if body.has_one_coordinate for k in body.v_index]] = True
    pairs = {"positions and velocities": (log.q[:, at], log.v), "velocities and accelerations": (log.v, log.a)}
    steps = {what: np.where(single, _steps(*pair), np.nan) for what, pair in pairs.items()}
    told = np.concatenate([step[np.isfinite(step)] for step in steps.values()])
    usual = float(np.median(told)) if len(told) else np.nan
    for what, step in steps.items():
        found = (step > APART * usual) | (step * APART < usual)
        if found.any():
            yield f"the {what} of {named(robot, found)} do not go together: are some in degrees?"


def _steps(x: Array, rate: Array) -> Array:
    """Return the time between samples (nv,) by what changes and its rate; NaN where they do not follow each other."""
    rate = rate[:IN_A_ROW]
    change, mean = np.diff(x[:IN_A_ROW], axis=0), 0.5 * (rate[:-1] + rate[1:])
    out = np.full(x.shape[1], np.nan)
    for k, size in enumerate(np.sqrt((mean * mean).mean(axis=0)) if len(mean) else ()):
        moves = np.abs(mean[:, k]) > 0.3 * size
        if moves.sum() >= 10:
            ratios = change[moves, k] / mean[moves, k]
            middle = np.median(ratios)
            if middle > 0.0 and np.mean(np.abs(ratios - middle) < ALIKE * middle) > 2.0 / 3.0:
                out[k] = middle
    return out


def _still(robot: Robot, log: Piece) -> Iterator[str]:
    speed = np.sqrt((log.v * log.v).mean(axis=0))
    still = speed <= STILL * speed.max()
    if still.any():
        yield f"{named(robot, still)} never moves: nothing tells its friction, and little its inertia"


def saturated(robot: Robot, log: Piece) -> Iterator[str]:
    """Yield which forces are often the same at an end."""
    low, high = log.tau.min(axis=0), log.tau.max(axis=0)
    ends = [np.count_nonzero(log.tau == x, axis=0) for x in (low, high)]
    found = (np.maximum(*ends) > SATURATED * len(log.tau)) & (high > low) & (np.maximum(*ends) > 2)
    if found.any():
        yield f"the forces of {named(robot, found)} stay at their greatest or least value: is a sensor at its end?"


def _constant(robot: Robot, log: Piece) -> Iterator[str]:
    """Yield which joints move, and have always the same force: no sensor, or one that is not connected."""
    tau = log.tau
    found = np.ptp(tau, axis=0) <= CONSTANT * np.abs(tau).max(axis=0)
    found &= np.sqrt((log.v * log.v).mean(axis=0)) > STILL * np.abs(log.v).max()
    found[Coordinates(robot.q_names, robot.v_names).of_base("v")] = False
    if found.any() and len(tau) > 2:
        yield f"the forces of {named(robot, found)} never change: they are NaN where nothing measures them"


def _flipped(currents: Sequence[str], robot: Robot, log: Piece) -> Iterator[str]:
    f_ext = [] if log.f_ext is None else [log.f_ext]
    expected = robot.inverse_dynamics(log.q, log.v, log.a, *f_ext) + (0.0 if log.load is None else log.load)
    found = opposite(expected, log.v, log.a, np.nan_to_num(log.tau), log.direction)
    found = np.logical_and(found, ~np.isin(robot.v_names, currents))
    if found.any():
        yield f"the forces of {named(robot, found)} have the other sign: inertias and friction explain their opposite"


def contradictions(robot: Robot, factors: Factors) -> Iterator[str]:
    """Yield which forces have another sign than others, by the parameters that they share."""
    found = contradicting(factors)
    if found.any():
        yield (
            f"the forces of {named(robot, found)} have the other sign: no masses explain them together with "
            "the forces of other joints, and some explain their opposite"
        )


def _held(robot: Robot, log: Piece) -> Iterator[str]:
    """Yield that a floating base needs a force that nothing measured gives."""
    base = Coordinates(robot.q_names, robot.v_names).of_base("v")
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    if not base or not weight > 0.0:
        return
    needed = robot.inverse_dynamics(log.q, log.v, log.a)
    left = needed if log.f_ext is None else robot.inverse_dynamics(log.q, log.v, log.a, log.f_ext)
    needs, lacks = (
        float(np.sqrt((x[:, base[3:]] ** 2).sum(axis=1).mean())) for x in (needed, left - measured(log.tau))
    )
    if lacks > HELD * max(needs, weight):
        which = "no wrenches are given" if log.f_ext is None else "some are missing, or have another sign or other axes"
        yield f"the floating base needs {needs:.3g} N, of which the measured wrenches leave {lacks:.3g} N: {which}"
