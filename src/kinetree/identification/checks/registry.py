"""The table of plausibility checks, and `diagnose`, which makes those that need no estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from kinetree.identification.checks import simple
from kinetree.identification.checks.columns import KINDS, Mistakes
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.checks.lacks import Lack, Wrenches
from kinetree.identification.equations import KnownMass, RegressionModel, loads_in
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.parameters.regressor import JointTerms
from kinetree.identification.samples import as_log
from kinetree.identification.triangle import on_one_thread
from kinetree.logs.findings import RECORDING_CHECKS, Check, Findings, Found, Stage, made
from kinetree.logs.samples import Filter
from kinetree.robot import Robot


def _named(kind: Callable[[Evidence], Mistakes | Lack | Wrenches], name: str, at: Evidence) -> Iterator[Found]:
    """Return what of a kind has a name."""
    return (found for own, found in at.of(kind).found if own == name)


BOTH: tuple[Stage, ...] = ("samples", "closed")

CHECKS = (
    *RECORDING_CHECKS,
    Check("twice", "error", BOTH, simple.twice),
    Check("degrees", "error", BOTH, simple.degrees),
    Check("rates", "error", BOTH, simple.rates),
    Check("still", "warning", BOTH, simple.still),
    Check("saturated", "error", BOTH, simple.saturated),
    Check("constant", "error", BOTH, simple.constant),
    Check("base_not_held", "error", ("samples",), simple.held),
    Check("loop_forces", "warning", ("samples",), simple.loop_forces),
    Check("open_loops", "warning", ("closed",), simple.open_loops),
    Check("few_samples", "warning", ("equations",), lambda at: simple.few(at.factors)),
    Check("few_moving", "error", ("equations",), simple.few_moving),
    *(Check(name, "error", ("equations",), partial(_named, Mistakes, name)) for name in KINDS),
    Check("wrenches_missing", "error", ("equations",), partial(_named, Wrenches, "wrenches_missing")),
    Check("wrench_bias", "warning", ("equations",), partial(_named, Wrenches, "wrench_bias")),
    Check("delay", "warning", ("equations",), partial(_named, Lack, "delay")),
    Check("lacking", "warning", ("equations",), partial(_named, Lack, "lacking")),
    Check("unexplained", "warning", ("estimate",), simple.unexplained),
    Check("far_bodies", "warning", ("bodies",), simple.far_bodies),
    Check("far_constants", "warning", ("bodies",), simple.far_constants),
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
    >>> diagnose(robot, (q, v, a, tau))
    ()
    >>> (found,) = diagnose(robot, (q, v, a, tau * [1, -1, 1, 1, 1, 1]))
    >>> found.name, found.severity, found.joints
    ('force_sign', 'error', ('shoulder_lift_joint',))
    """
    base = terms if isinstance(terms, BaseParameters) else base_parameters(robot, terms)
    at = Evidence(robot, as_log(log, filter), currents)
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
