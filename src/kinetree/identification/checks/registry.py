"""The table of plausibility checks, those that are comparisons, and `diagnose`, which makes what needs no estimate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.identification.checks.columns import KINDS, Mistakes
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.checks.lacks import Lack, Wrenches
from kinetree.identification.equations import KnownMass, RegressionModel, loads_in
from kinetree.identification.estimators.contract import LEAST_NOISE
from kinetree.identification.log import Log, motion_of
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.parameters.regressor import positions
from kinetree.identification.parameters.terms import JointTerms
from kinetree.identification.triangle import QRFactors, on_one_thread
from kinetree.logs import findings
from kinetree.logs.findings import RECORDING_CHECKS, Check, Findings, Found, Severity, Stage, made, of_joints
from kinetree.logs.samples import Filter, measured
from kinetree.options import names_of
from kinetree.robot import Robot
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


def _in_degrees(at: Evidence) -> Any:
    """Return which positions (nv,) are far beyond what radians can be."""
    robot, where = at.robot, positions(at.robot.model)
    reach = np.maximum(np.abs(robot.lower_limits), np.abs(robot.upper_limits))[where]
    reach = np.maximum(np.where(np.isfinite(reach), reach, 4.0 * math.pi), math.pi / 2.0)
    return np.array(turning(robot.model)) & (np.abs(at.whole.q[:, where]).max(axis=0) > TURNS * reach)


def _constant(at: Evidence) -> Any:
    """Return which joints (nv,) move under always the same force: no sensor, or one that is not connected."""
    tau = at.whole.tau
    return (np.ptp(tau, axis=0) <= CONSTANT * np.abs(tau).max(axis=0)) & at.moves & at.driven & (len(tau) > 2)


def _rates(at: Evidence) -> Iterator[Found]:
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


def _held(at: Evidence) -> Iterator[Found]:
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


def _loop_forces(at: Evidence) -> Iterator[Found]:
    """Yield that the robot is the tree of a mechanism, and nothing measured the forces in its loops."""
    loops = at.robot.__dict__.get(OPEN_LOOPS, ())
    if loops and at.whole.f_ext is None and at.whole.load is None:
        yield Found(
            f"{at.robot.name!r} is the tree of a mechanism, and the forces of {listed(loops)} count as its bodies': "
            "write mech.identify, or give the measured wrenches (f_ext)"
        )


def _open_loops(at: Evidence) -> Iterator[Found]:
    """Yield which joints were recorded where loops are open."""
    log: Any = at.log
    mech, apart = log.mech, log.apart
    units = np.where(mech.model.turning, 1.0, mech.length)
    text = (
        f"the positions of {{}} are up to {(apart / units).max():.2g} (rad, or times the mechanism's length) from "
        "where the loops are closed: is the zero of an encoder, or a length, another one?"
    )
    yield from of_joints(mech.tree.v_names, apart > OPEN * units, text, apart=apart)


def repeated(log: Any) -> list[tuple[int, int]]:
    """Return which motions of a list are there twice, counted from 1, each with the one that it is once more."""
    first: dict[bytes, int] = {}
    found = []
    for k, part in enumerate(log if isinstance(log, list | tuple) and motion_of(log) is None else (), start=1):
        if (motion := motion_of(part)) is not None:  # not what makes motions when it is read
            q, tau = (np.ascontiguousarray(x) for x in (motion.q, motion.tau))
            before = first.setdefault(blake2b(q.tobytes() + tau.tobytes()).digest(), k)
            if before != k and np.nan_to_num(tau).any():
                found.append((k, before))
    return found


def few(factors: QRFactors | None) -> Iterator[Found]:
    """Yield that a joint has no more equations than parameters: its residuals then say nothing of its noise."""
    if factors is not None and factors.count <= (most := max(map(len, factors.pattern))):
        yield Found(
            f"{factors.count} samples are too few for {most} parameters: noise and standard deviations are not known",
            (),
            {"samples": factors.count, "parameters": most},
        )


def _few_moving(at: Evidence) -> Iterator[Found]:
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


def _unexplained(at: Evidence) -> Iterator[Found]:
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


def _far_bodies(at: Evidence) -> Iterator[Found]:
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


def _far_constants(at: Evidence) -> Iterator[Found]:
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


def _named(kind: Callable[[Evidence], Mistakes | Lack | Wrenches], name: str, at: Evidence) -> Iterator[Found]:
    """Return what of a kind has a name."""
    return (found for own, found in at.of(kind).found if own == name)


BOTH: tuple[Stage, ...] = ("samples", "closed")


def _joints(name: str, severity: Severity, text: str, mask: Callable[[Evidence], Any]) -> Check:
    """Return the check of samples that finds joints by a mask (nv,)."""
    return Check(name, severity, BOTH, lambda at: of_joints(at.robot.v_names, mask(at), text))


CHECKS = (
    *RECORDING_CHECKS,
    Check(
        "twice",
        "error",
        BOTH,
        lambda at: (Found(f"motion {k} is motion {i} once more") for k, i in repeated(at.log.given)),
    ),
    _joints(
        "degrees",
        "error",
        "the positions of {} are far beyond the joints' limits: are they in degrees, or those of motors "
        "(Sensors(motor_positions=True), or --motor-positions)?",
        _in_degrees,
    ),
    Check("rates", "error", BOTH, _rates),
    _joints(
        "still",
        "warning",
        "{} never moves: nothing tells its friction, and little its inertia",
        lambda at: at.speed <= STILL * at.speed.max(initial=0.0),
    ),
    Check("saturated", "error", BOTH, lambda at: findings.saturated((at.robot, at.whole))),
    _joints("constant", "error", "the forces of {} never change: they are NaN where nothing measures them", _constant),
    Check("base_not_held", "error", ("samples",), _held),
    Check("loop_forces", "warning", ("samples",), _loop_forces),
    Check("open_loops", "warning", ("closed",), _open_loops),
    Check("few_samples", "warning", ("equations",), lambda at: few(at.factors)),
    Check("few_moving", "error", ("equations",), _few_moving),
    *(Check(name, "error", ("equations",), partial(_named, Mistakes, name)) for name in KINDS),
    Check("wrenches_missing", "error", ("equations",), partial(_named, Wrenches, "wrenches_missing")),
    Check("wrench_bias", "warning", ("equations",), partial(_named, Wrenches, "wrench_bias")),
    Check("delay", "warning", ("equations",), partial(_named, Lack, "delay")),
    Check("lacking", "warning", ("equations",), partial(_named, Lack, "lacking")),
    Check("unexplained", "warning", ("estimate",), _unexplained),
    Check("far_bodies", "warning", ("bodies",), _far_bodies),
    Check("far_constants", "warning", ("bodies",), _far_constants),
)
"""All checks, in the order in which they are made."""


def run_checks(stage: Stage, evidence: Any) -> Findings:
    """Return the findings of a stage's checks."""
    return made(CHECKS, stage, evidence)


@on_one_thread
def diagnose(
    robot: Robot,
    log: Any,
    terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    filter: Filter | None = None,
    currents: Sequence[str] = (),
) -> Findings:
    """Return faults that recorded motions seem to have, or terms that the model lacks, before anything is estimated.

    Positions, velocities or accelerations in degrees; joints that do not move; sensors at their end; forces that never
    change; positions or forces of the other sign, or of another joint; forces that are late; a floating base that is
    held by wrenches that nobody measured; joint terms that would explain much of the residuals. The first 131072
    samples are looked at.

    Parameters
    ----------
    robot : Robot
    log
        As in `Robot.identify`; read once.
    terms : sequence of str, mapping, or BaseParameters
        As in `Robot.identify`.
    filter : Filter, optional
        How recordings are filtered, see `Recording.filtered`.
    currents : sequence of str, optional
        Entries of v whose forces are currents with a constant that is not known: nor is its sign.

    Returns
    -------
    Findings
        A tuple: each `Finding` has a name, a severity ("error": `Robot.identify` refuses the log), a message, the
        joints that it is about, and figures.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> kt.identification.diagnose(robot, (q, v, a, tau))
    ()
    >>> (found,) = kt.identification.diagnose(robot, (q, v, a, tau * [1, -1, 1, 1, 1, 1]))
    >>> found.name, found.severity, found.joints
    ('force_sign', 'error', ('shoulder_lift_joint',))
    """
    base = terms if isinstance(terms, BaseParameters) else base_parameters(robot, terms)
    currents = names_of("currents", currents)
    for name in currents:
        if name not in robot.v_names:
            raise ArgumentError(f"currents: {unknown_name('joint', name, robot.v_names)}")
    at = Evidence(robot, Log(log, filter), currents)
    if (found := run_checks("samples", at)).errors:
        return found
    at.rows = rows_of(base, loads_in(robot, at.pieces))
    return found + run_checks("equations", at)


def rows_of(base: BaseParameters, loads: Sequence[KnownMass] = ()) -> RegressionModel:
    """Return the equations of base parameters; of Stribeck's friction, whose speeds are not known, without it."""
    if "stribeck" not in base.joint_terms:
        return RegressionModel(base, loads=loads)
    terms = {term: joints for term, joints in base.joint_terms.items() if term != "stribeck"}
    return RegressionModel(base_parameters(base.robot, terms), loads=loads)
