"""What samples show by themselves: units, joints that stand still, forces that never change, a base that falls."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.errors import listed
from kinetree.identification.checks.evidence import Seen
from kinetree.identification.parameters.regressor import positions
from kinetree.identification.samples import repeated
from kinetree.logs import findings
from kinetree.logs.findings import Found, of_joints
from kinetree.logs.samples import measured
from kinetree.robot.base import OPEN_LOOPS
from kinetree.validation import Array

STILL = 1e-3  # the part of the fastest joint's speed below which one does not move: encoders are never quite at rest
APART = 10.0  # by which factor two times between samples differ, told by two derivatives, where these are wrong
ALIKE = 0.2  # how near to their median two of three such times are, where samples follow each other
IN_A_ROW = 4096  # samples of which these times are looked at
CONSTANT = 1e-12  # forces that change by less than this part of their size do so by the rounding of filters
HELD = 0.5  # the part of the force that a floating base needs, from which on it is missed
TURNS = 3.0  # positions of revolute joints so many times beyond their limits are no radians


def twice(at: Seen) -> Iterator[Found]:
    """Yield which motions of a list are there twice: they would count as new ones."""
    yield from (Found(f"motion {k} is motion {before} once more") for k, before in repeated(at.log))


def degrees(at: Seen) -> Iterator[Found]:
    """Yield which positions are far beyond what radians can be."""
    robot, where = at.robot, positions(at.robot.model)
    reach = np.maximum(np.abs(robot.lower_limits), np.abs(robot.upper_limits))[where]
    reach = np.maximum(np.where(np.isfinite(reach), reach, 4.0 * math.pi), math.pi / 2.0)
    found = np.array(turning(robot.model)) & (np.abs(at.whole.q[:, where]).max(axis=0) > TURNS * reach)
    text = "the positions of {} are far beyond the joints' limits: are they in degrees?"
    yield from of_joints(robot.v_names, found, text)


def rates(at: Seen) -> Iterator[Found]:
    """Yield which derivatives have other units, by the times between samples that they tell."""
    whole, single = at.whole, at.single & (at.speed > STILL * at.speed.max(initial=0.0))
    pairs = {
        "positions and velocities": (whole.q[:, positions(at.robot.model)], whole.v),
        "velocities and accelerations": (whole.v, whole.a),
    }
    steps = {what: np.where(single, _steps(*pair), np.nan) for what, pair in pairs.items()}
    told = np.concatenate([step[step > 0.0] for step in steps.values()])
    usual = float(np.median(told)) if len(told) else np.nan
    for what, step in steps.items():
        found = (step > APART * usual) | (step * APART < usual) | (step < 0.0)
        which = "of the other sign" if (step < 0.0).any() else "in degrees"
        yield from of_joints(at.robot.v_names, found, f"the {what} of {{}} do not go together: are some {which}?")


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
            if np.mean(np.abs(ratios - middle) < ALIKE * np.abs(middle)) > 2.0 / 3.0:
                out[k] = middle
    return out


def still(at: Seen) -> Iterator[Found]:
    """Yield which joints do not move."""
    found = at.speed <= STILL * at.speed.max(initial=0.0)
    text = "{} never moves: nothing tells its friction, and little its inertia"
    yield from of_joints(at.robot.v_names, found, text)


def saturated(at: Seen) -> Iterator[Found]:
    """Yield which forces of samples that were not filtered stay at an end."""
    yield from findings.saturated((at.robot, at.whole))


def constant(at: Seen) -> Iterator[Found]:
    """Yield which joints move, and have always the same force: no sensor, or one that is not connected."""
    tau = at.whole.tau
    found = (np.ptp(tau, axis=0) <= CONSTANT * np.abs(tau).max(axis=0)) & at.moves & at.driven & (len(tau) > 2)
    text = "the forces of {} never change: they are NaN where nothing measures them"
    yield from of_joints(at.robot.v_names, found, text)


def held(at: Seen) -> Iterator[Found]:
    """Yield that a floating base needs a force that nothing measured gives."""
    robot, whole = at.robot, at.whole
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    if not at.base or not weight > 0.0:
        return
    needed = robot.inverse_dynamics(whole.q, whole.v, whole.a)
    left = needed if whole.f_ext is None else robot.inverse_dynamics(whole.q, whole.v, whole.a, whole.f_ext)
    forces = needed[:, at.base[3:]], (left - measured(whole.tau))[:, at.base[3:]]
    needs, lacks = (float(np.sqrt((x**2).sum(axis=1).mean())) for x in forces)
    if lacks > HELD * max(needs, weight):
        why = "no wrenches are given" if whole.f_ext is None else "some are missing, or have another sign or other axes"
        yield Found(
            f"the floating base needs {needs:.3g} N, of which the measured wrenches leave {lacks:.3g} N: {why}",
            (),
            {"needed_N": needs, "missing_N": lacks},
        )


def loop_forces(at: Seen) -> Iterator[Found]:
    """Yield that the robot is the tree of a mechanism, and nothing measured the forces in its loops."""
    loops = at.robot.__dict__.get(OPEN_LOOPS, ())
    if loops and at.whole.f_ext is None and at.whole.load is None:
        yield Found(
            f"{at.robot.name!r} is the tree of a mechanism, and the forces of {listed(loops)} count as its bodies': "
            "write mech.identify, or give the measured wrenches (f_ext)"
        )
