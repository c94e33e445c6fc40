"""Estimates from motions of controlled robots that are simulated, and so have no noise in them.

References: Ljung, "System identification", 1999, chapters 7 and 10, for output error and Gauss–Newton steps; Janot,
Vandanjon and Gautier, "A generic instrumental variable approach for industrial robot identification", IEEE T-CST 22(1),
2014, for simulated instruments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.identification.base_parameters import OF_ROBOTS, BaseParameters, base_parameters
from kinetree.identification.equations import Rows
from kinetree.identification.fit import Fit, robot_with
from kinetree.identification.identify import identify, prior_of
from kinetree.identification.least_squares import estimate
from kinetree.identification.nearest_bodies import consistent_with, information
from kinetree.identification.samples import PIECE, Samples, measured, motion_of, parts, pieces
from kinetree.identification.terms import JointTerms
from kinetree.robot import Robot
from kinetree.validation import Array, positive

METHODS = ("output error", "instruments")
MOVED = 0.1
"""By how many standard deviations estimates may still move in the end."""

EXACT = 1e-6
"""Where the residuals are so small, relative to the forces, they may."""

PART = 1e-5
"""The effect of the differences by which derivatives are taken, relative to the forces."""

SHORTEST = 1 / 64
"""Of a step, where the whole one makes the residuals larger."""

Simulate = Callable[[Robot], Any]


def identify_closed_loop(
    robot: Robot,
    log: Any,
    simulate: Simulate,
    joint_terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    method: str = "output error",
    iterations: int = 15,
    smoothing: float | None = None,
    prior_spread: float = 1.0,
) -> Fit:
    """Estimate parameters from the joint forces of a controlled robot, with its motion simulated.

    The controller makes a simulated robot move nearly as the real one did. With each estimate the motion is simulated
    anew, until that changes the estimates no more. Noise in the recorded positions, velocities and accelerations
    does not bend them then.

    Parameters
    ----------
    robot : Robot
        The robot as it is known before: good enough to be simulated with its controller.
    log
        As in `Robot.identify`, which can be read again.
    simulate : callable
        From a robot to its motion at the times of the log, sample for sample: a `Trajectory` with "a" and "tau", or
        (q, v, a, tau), or a list of these if the log is one. It simulates robot and controller (`Robot.simulate`); a
        robot with other numbers is compiled anew unless these are `inputs`, as in the example.
    joint_terms : sequence of str, mapping, or BaseParameters
        As in `Robot.identify`, of what has a place in a robot: armature, damping, friction and stiffness.
    method : "output error" or "instruments"
        Output error compares the measured forces with those of the controller in simulation, and looks at nothing else
        of the log: it needs as many simulations as there are base parameters, and one, for each step of Gauss and
        Newton. Instruments are the simulated motion for the recorded one, see `Robot.identify`: one simulation for each
        step.
    iterations : int
        How many steps there may be.
    smoothing, prior_spread : float, optional
        As in `Robot.identify`.

    Returns
    -------
    Fit

    Raises
    ------
    ArgumentError
        If the log does not fit the robot, or the simulated motion the log, or a choice is not known.
    KinetreeError
        If the estimates still move after all iterations, or the simulated motion is not finite: the robot before is
        too poor, or the controller not stable.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> real = kt.load("ur5").lock(["shoulder_pan_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"])
    >>> real = real.with_joint_physics(damping=2.0).with_friction()
    >>> poor = real.with_inertial_parameters(1.3 * real.inertial_parameters).with_joint_physics(damping=0.0)
    >>> def simulate(robot):  # poor's simulation, compiled once, with the numbers of the robot
    ...     bodies = zip(poor.body_names, robot.inertial_parameters.reshape(-1, 10))
    ...     numbers = {kt.body_inertia(name): ten for name, ten in bodies} | {kt.joint_damping: robot.damping}
    ...     pd = lambda q, v, t: 4000.0 * (np.sin(np.array([2.0, 3.0]) * t) - q) - 100.0 * v
    ...     return poor.simulate(
    ...         poor.neutral(), duration=1.0, dt=2e-3, controller=pd, inputs=numbers, record="q v a tau"
    ...     )
    >>> recorded = simulate(real)
    >>> fit = kt.identification.identify_closed_loop(poor, recorded, simulate, ["damping"])
    >>> bool(np.abs(fit.values - fit.base.of(real)).max() < 1e-3)
    True
    """
    if method not in METHODS:
        raise ArgumentError(f"method is {method!r}, it must be one of {', '.join(map(repr, METHODS))}")
    if iterations < 1:
        raise ArgumentError(f"iterations is {iterations!r}, it must be at least 1")
    if isinstance(log, Iterator):
        raise ArgumentError("the log is read again with each estimate: give a list, no iterator")
    if isinstance(joint_terms, BaseParameters):
        base = joint_terms
    else:
        base = base_parameters(robot, joint_terms, smoothing=smoothing)
    homeless = [*(term for term in base.joint_terms if term not in OF_ROBOTS), *base.own_columns]
    if homeless:
        raise ArgumentError(f"{', '.join(map(repr, homeless))} cannot be simulated: no robot has them")
    recorded = [motion_of(part) for part in parts(log)]
    if not sum(len(piece.q) for piece in pieces(robot, recorded)):
        raise ArgumentError("the log has no samples")
    step = _output_error if method == "output error" else _instruments
    before, simulated = None, _simulated(simulate, robot, recorded)
    forces = np.sqrt(np.mean(np.concatenate([measured(np.asarray(own.tau)) for own in recorded]) ** 2, axis=0)).max()
    parameters = base.all_parameters()
    for _ in range(iterations):
        fit = step(base, parameters, recorded, simulated, simulate, positive("prior_spread", prior_spread))
        still = before is not None and (np.abs(fit.values - before) <= MOVED * fit.std).all()
        if still or not (fit.noise > EXACT * forces).any():
            return fit
        parameters, simulated = _moved(base, parameters, fit, recorded, simulated, simulate)
        before = fit.values
    raise KinetreeError(
        f"the estimates still move after {iterations} iterations: give a robot that is nearer to the real one, a "
        "stiffer controller, or more iterations"
    )


def _instruments(
    base: BaseParameters, _: Array, recorded: list[Samples], simulated: list[Samples], __: Simulate, spread: float
) -> Fit:
    """Return the estimate with the simulated motion as instruments."""
    return identify(base.robot, recorded, base, instruments=simulated, prior_spread=spread, check=False)


def _output_error(
    base: BaseParameters,
    parameters: Array,
    recorded: list[Samples],
    simulated: list[Samples],
    simulate: Simulate,
    spread: float,
) -> Fit:
    """Return where the simulated forces, taken as linear in the base parameters, are nearest to the measured ones."""
    rows, values = Rows(base), base.projection @ parameters
    q, v, a, tau = (np.concatenate([np.asarray(x[k]) for x in simulated]) for k in range(4))
    size = np.sqrt(np.mean(base.regressor(q, v, a) ** 2, axis=0)).max(axis=0)
    force = np.sqrt(np.mean(np.square(tau), axis=0)).max()
    J = [np.zeros((*np.shape(own.tau), base.dimension)) for own in recorded]
    for j, place in enumerate(base.independent):
        other = parameters.copy()
        other[place] += (delta := PART * force / size[j] if size[j] > 0.0 else 1.0)
        moved = _simulated(simulate, robot_with(base, other), recorded)
        for of_motion, there, here in zip(J, moved, simulated, strict=True):
            of_motion[..., j] = (np.asarray(there.tau) - np.asarray(here.tau)) / delta
    linear = [
        Linear(of_motion, np.asarray(own.tau) - np.asarray(now.tau) + of_motion @ values)
        for of_motion, own, now in zip(J, recorded, simulated, strict=True)
    ]
    rows.cutoffs |= {motion.cutoff for motion in recorded if motion.cutoff is not None}
    own = LinearRows(base)
    factors, prior = own.factors(linear), prior_of(base, {})
    solution = estimate(own, linear, factors, prior, "joints", None)
    solution = solution._replace(information=information(factors, solution, prior))
    near = consistent_with(base, solution, spread, "newton", {})
    solution = solution._replace(noise=np.where(factors.counts > 0.0, solution.noise, np.nan))
    return Fit(rows, factors.count, solution, near)


def _moved(
    base: BaseParameters,
    parameters: Array,
    fit: Fit,
    recorded: list[Samples],
    simulated: list[Samples],
    simulate: Simulate,
) -> tuple[Array, list[Samples]]:
    """Return the parameters a step further, and their simulated motion: a part of the step if all of it is worse."""
    before, length = _distance(recorded, simulated, fit.noise), 1.0
    while True:
        there = parameters + length * (fit.parameters - parameters)
        motion = _simulated(simulate, robot_with(base, there), recorded, finite=length <= SHORTEST)
        if length <= SHORTEST or _distance(recorded, motion, fit.noise) <= before * (1.0 + 1e-6):
            return there, motion
        length /= 2.0


def _distance(recorded: list[Samples], simulated: list[Samples], noise: Array) -> float:
    pairs = zip(recorded, simulated, strict=True)
    return float(sum(np.nansum(((np.asarray(a.tau) - np.asarray(b.tau)) / noise) ** 2) for a, b in pairs))


class Linear(NamedTuple):
    """Equations of one motion: columns (samples, nv, n) and what they add up to (samples, nv)."""

    columns: Array
    right: Array


class LinearRows(Rows):
    """Equations that are there already."""

    def __init__(self, base: BaseParameters) -> None:
        self.robot, self.dimension, self.rest = base.robot, base.dimension, None
        self.pattern = [np.arange(base.dimension)] * base.robot.nv

    def equations(self, log: Any) -> Iterator[tuple[list[Array], Array]]:
        """Yield the rows of each entry of v and what they add up to, piece by piece."""
        for motion in [log] if isinstance(log, Linear) else log:
            for i in range(0, len(motion.right), PIECE):
                columns, right = motion.columns[i : i + PIECE], motion.right[i : i + PIECE]
                there = ~np.isnan(right)
                yield list((columns * there[..., None]).swapaxes(0, 1)), np.where(there, right, 0.0)


def _simulated(simulate: Simulate, robot: Robot, recorded: list[Samples], finite: bool = True) -> list[Samples]:
    """Return simulated motions with their forces."""
    given = simulate(robot)
    one = hasattr(given, "v") or (isinstance(given, tuple) and len(given) == 4 and np.ndim(given[0]) == 2)
    motions = [given] if one or not isinstance(given, Iterable) else list(given)
    if len(motions) != len(recorded):
        raise ArgumentError(f"simulate returned {len(motions)} motions for the {len(recorded)} of the log")
    out = []
    for motion, own in zip(map(motion_of, motions), recorded, strict=True):
        if np.shape(motion.q) != np.shape(own.q):
            raise ArgumentError(f"simulate returned q of shape {np.shape(motion.q)}, the log has {np.shape(own.q)}")
        if finite and not all(np.isfinite(x).all() for x in (*motion[:3], measured(np.asarray(motion.tau)))):
            raise KinetreeError("the simulated motion is not finite: is the controller stable with this robot?")
        out.append(motion)
    return out
