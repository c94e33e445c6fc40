"""Checks that are comparisons: of samples with what joints can do, of the estimate with its own noise.

Units, joints that stand still, forces that never change, a base that falls; too few samples, forces that nothing
explains, bodies and constants far from the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.errors import listed
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.equations import QRFactors
from kinetree.identification.estimators.contract import LEAST_NOISE
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
OPEN = 0.01  # positions so far (rad, ℓ) from where a mechanism's loops are closed are worth a word
WORSE, EXPLAINED = 1.1, 10.0  # worth a word: how much larger residuals are, and their squares a parameter by the noise
UNEXPLAINED = 1.2  # residuals so many times the spread of the forces: a constant would explain more
FAR = 3.0  # standard deviations from an estimated motor constant to the one that goes with consistent bodies
TINY = float(np.finfo(float).tiny)


def twice(at: Evidence) -> Iterator[Found]:
    """Yield which motions of a list are there twice: they would count as new ones."""
    yield from (Found(f"motion {k} is motion {before} once more") for k, before in repeated(at.log))


def degrees(at: Evidence) -> Iterator[Found]:
    """Yield which positions are far beyond what radians can be."""
    robot, where = at.robot, positions(at.robot.model)
    reach = np.maximum(np.abs(robot.lower_limits), np.abs(robot.upper_limits))[where]
    reach = np.maximum(np.where(np.isfinite(reach), reach, 4.0 * math.pi), math.pi / 2.0)
    found = np.array(turning(robot.model)) & (np.abs(at.whole.q[:, where]).max(axis=0) > TURNS * reach)
    text = "the positions of {} are far beyond the joints' limits: are they in degrees?"
    yield from of_joints(robot.v_names, found, text)


def rates(at: Evidence) -> Iterator[Found]:
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


def still(at: Evidence) -> Iterator[Found]:
    """Yield which joints do not move."""
    found = at.speed <= STILL * at.speed.max(initial=0.0)
    text = "{} never moves: nothing tells its friction, and little its inertia"
    yield from of_joints(at.robot.v_names, found, text)


def saturated(at: Evidence) -> Iterator[Found]:
    """Yield which forces of samples that were not filtered stay at an end."""
    yield from findings.saturated(findings.Recorded(at.robot, None, at.whole.q, at.whole.tau))


def constant(at: Evidence) -> Iterator[Found]:
    """Yield which joints move, and have always the same force: no sensor, or one that is not connected."""
    tau = at.whole.tau
    found = (np.ptp(tau, axis=0) <= CONSTANT * np.abs(tau).max(axis=0)) & at.moves & at.driven & (len(tau) > 2)
    text = "the forces of {} never change: they are NaN where nothing measures them"
    yield from of_joints(at.robot.v_names, found, text)


def held(at: Evidence) -> Iterator[Found]:
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


def loop_forces(at: Evidence) -> Iterator[Found]:
    """Yield that the robot is the tree of a mechanism, and nothing measured the forces in its loops."""
    loops = at.robot.__dict__.get(OPEN_LOOPS, ())
    if loops and at.whole.f_ext is None and at.whole.load is None:
        yield Found(
            f"{at.robot.name!r} is the tree of a mechanism, and the forces of {listed(loops)} count as its bodies': "
            "write mech.identify, or give the measured wrenches (f_ext)"
        )


def open_loops(at: Evidence) -> Iterator[Found]:
    """Yield which joints were recorded where loops are open."""
    mech, apart = at.log.mech, at.log.apart
    units = np.where(mech.model.turning, 1.0, mech.length)
    text = (
        f"the positions of {{}} are up to {(apart / units).max():.2g} (rad, or times the mechanism's length) from "
        "where the loops are closed: is the zero of an encoder, or a length, another one?"
    )
    yield from of_joints(mech.tree.v_names, apart > OPEN * units, text, apart=apart)


def few(factors: QRFactors | None) -> Iterator[Found]:
    """Yield that a joint has no more equations than parameters: its residuals then say nothing of its noise."""
    if factors is not None and factors.count <= (most := max(map(len, factors.pattern))):
        yield Found(
            f"{factors.count} samples are too few for {most} parameters: noise and standard deviations are not known",
            (),
            {"samples": factors.count, "parameters": most},
        )


def few_moving(at: Evidence) -> Iterator[Found]:
    """Yield joints of which friction at rest leaves fewer equations than parameters: these fit them anyway."""
    if (factors := at.factors) is None:
        return
    for name, count, most in zip(at.robot.v_names, factors.counts, map(len, factors.pattern), strict=True):
        if 0 < count <= most < factors.count:
            yield Found(
                f"{name} moves faster than standing in {count:.0f} of {factors.count} samples, too few for the {most} "
                "parameters of its equation: give it a lower speed, one at which none is left, or a motion in which it "
                "moves more",
                (name,),
                {"samples": int(count), "of": factors.count, "parameters": most},
            )


def unexplained(at: Evidence) -> Iterator[Found]:
    """Yield which forces the estimates do not explain."""
    if at.fit.motor_constants is not None or (factors := at.factors) is None:
        return
    left = np.sqrt(factors.squares(at.fit.solution.values[: factors.dimension]) / np.maximum(factors.counts, 1.0))
    found = (factors.counts > 0.0) & at.driven & (left > UNEXPLAINED * factors.spread)
    found &= left > LEAST_NOISE * np.sqrt(factors.mean_squares.max())
    worst = float((left[found] / np.maximum(factors.spread[found], TINY)).max(initial=0.0))
    text = (
        f"the estimates do not explain the forces of {{}}: residuals are up to {worst:.2g} times their spread. Are "
        "they another joint's, or in another unit, or is an offset missing among the terms?"
    )
    yield from of_joints(at.robot.v_names, found, text, relative=worst)


def far_bodies(at: Evidence) -> Iterator[Found]:
    """Yield where physically consistent bodies leave residuals that are larger, and more than noise can explain."""
    if at.fit.motor_constants is not None or (factors := at.factors) is None:
        return
    solution, near = at.fit.solution, at.fit.consistent_values
    free, bound = (factors.squares(x) for x in (solution.values, np.append(near, solution.others(near))))
    count = (bound - free) / (solution.noise**2 * solution.times)
    exact = bound <= LEAST_NOISE**2 * factors.count * factors.mean_squares.max()
    found = (bound > WORSE**2 * free) & (count > EXPLAINED * at.fit.base.dimension) & ~exact
    worst = float(np.sqrt((bound[found] / np.maximum(free[found], TINY)).max(initial=0.0)))
    text = (
        "physically consistent bodies explain the forces of {} less well than the estimates alone: residuals are up to "
        f"{worst:.2g} times as large. The robot before is far from the data, which a greater spread (Bodies) allows; "
        "or no bodies move so, and signs, units or joint terms are wrong"
    )
    yield from of_joints(at.robot.v_names, found, text, residual_ratio=worst)


def far_constants(at: Evidence) -> Iterator[Found]:
    """Yield which motor constants are far from those that go with physically consistent bodies."""
    if (found := at.fit.motor_constants) is None:
        return
    far = np.abs(found.consistent - found.values) / np.maximum(found.std, TINY)
    there = (far > FAR) & (np.abs(found.consistent / found.values - 1.0) > LEAST_NOISE)
    text = (
        "the motor constants of {} that go with physically consistent bodies are up to "
        f"{far[there].max(initial=0.0):.2g} standard deviations from the estimated ones: a known load or a sign may be "
        "wrong, or the robot before is far from the data, which a greater spread (Bodies) allows"
    )
    yield from of_joints(found.joints, there, text, standard_deviations=far)
