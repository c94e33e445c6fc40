"""The table of plausibility checks, and `diagnose`, which makes those that need no estimate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kinetree.identification import mechanisms
from kinetree.identification.checks import columns, estimate, model, samples, wrenches
from kinetree.identification.checks.evidence import Examined, seen
from kinetree.identification.equations import KnownMass, RegressionModel, loads_in
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.samples import as_log
from kinetree.identification.triangle import on_one_thread
from kinetree.logs.findings import RECORDING_CHECKS, Check, Findings, Stage, made
from kinetree.logs.samples import Filter

if TYPE_CHECKING:
    from kinetree.identification.parameters.regressor import JointTerms
    from kinetree.robot import Robot


CHECKS = (
    *RECORDING_CHECKS,
    Check("twice", "error", ("samples", "closed"), samples.twice),
    Check("degrees", "error", ("samples", "closed"), samples.degrees),
    Check("rates", "error", ("samples", "closed"), samples.rates),
    Check("still", "warning", ("samples", "closed"), samples.still),
    Check("saturated", "error", ("samples", "closed"), samples.saturated),
    Check("constant", "error", ("samples", "closed"), samples.constant),
    Check("base_not_held", "error", ("samples",), samples.held),
    Check("loop_forces", "warning", ("samples",), samples.loop_forces),
    Check("open_loops", "warning", ("closed",), mechanisms.open_loops),
    Check("few_samples", "warning", ("equations",), lambda at: estimate.few(at.factors)),
    Check("few_moving", "error", ("equations",), estimate.few_moving),
    *(Check(name, "error", ("equations",), partial(columns.mistaken, name)) for name in columns.KINDS),
    Check("wrenches_missing", "error", ("equations",), wrenches.missing),
    Check("wrench_bias", "warning", ("equations",), wrenches.biased),
    Check("delay", "warning", ("equations",), model.delayed),
    Check("lacking", "warning", ("equations",), model.lacking),
    Check("unexplained", "warning", ("estimate",), estimate.unexplained),
    Check("far_bodies", "warning", ("bodies",), estimate.far_bodies),
    Check("far_constants", "warning", ("bodies",), estimate.far_constants),
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
    first = seen(robot, as_log(log, filter), currents)
    found = run_checks("samples", first)
    if found.errors or not first.pieces:
        return found
    return found + run_checks("equations", Examined(first, rows_of(base, loads_in(robot, first.pieces))))


def rows_of(base: BaseParameters, loads: Sequence[KnownMass] = ()) -> RegressionModel:
    """Return the equations of base parameters; of Stribeck's friction, whose speeds are not known, without it."""
    if "stribeck" not in base.joint_terms:
        return RegressionModel(base, loads=loads)
    terms = {term: joints for term, joints in base.joint_terms.items() if term != "stribeck"}
    return RegressionModel(base_parameters(base.robot, terms), loads=loads)
