"""`robot.identify`: from recorded motions to estimated parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.identification import consistent as bodies
from kinetree.identification import motors
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.blas import on_one_thread
from kinetree.identification.checks import samples as of_samples
from kinetree.identification.checks.equations import JointEquations
from kinetree.identification.checks.estimate import Estimated
from kinetree.identification.checks.findings import Findings
from kinetree.identification.checks.registry import Examined, run_checks
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.fit import Fit
from kinetree.identification.held_loads import NINE, loads_of
from kinetree.identification.instruments import instrumental
from kinetree.identification.least_squares import LOSSES, Prior, Solution, estimate
from kinetree.identification.mechanisms import ClosedLog, MechanismRows, check_constraints
from kinetree.identification.nearest_bodies import (
    SOLVERS,
    consistent_with,
    information,
)
from kinetree.identification.samples import of_joints, once_and_again
from kinetree.identification.shared_noise import generalized
from kinetree.identification.stribeck import WithSpeeds, as_uncertain_with_speeds, estimated_speeds
from kinetree.identification.terms import JointTerms
from kinetree.robot import Robot
from kinetree.validation import Array, positive

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

WEIGHTS = ("joints", "covariance", None)


@on_one_thread
def identify(
    robot: Robot | Mechanism,
    log: Any,
    joint_terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    weights: str | None = "joints",
    loss: str | None = None,
    instruments: Any = None,
    known: Mapping[str, float] | None = None,
    motor_constants: motors.Given = (),
    smoothing: float | None = None,
    stribeck_speed: ArrayLike | None = None,
    consistent: bool = True,
    prior_spread: float = 1.0,
    solver: str = "newton",
    bounds: Mapping[str, ArrayLike] | None = None,
    tolerance: float = 1e-6,
    check: bool = True,
) -> Fit:
    """Estimate the parameters of this robot from recorded motions.

    The base parameters are estimated by least squares, from as many samples as there are in bounded memory, and then
    all parameters: of bodies that can exist, as near to this robot's as the data let them be.

    Of a mechanism with closed loops the parameters are those of its tree, `Mechanism.tree`, and so is `Fit.robot`. The
    forces in the loops need not be measured: there is one equation for each independent velocity, in which they do not
    occur. Its noise is that of one joint where the independent velocities are those of the driven joints.

    Parameters
    ----------
    log : (q, v, a, tau), Trajectory, an iterable of these, or a function that returns one
        Recorded motions, the joint forces included: arrays (n, nq) and (n, nv), or `kinetree.identification.Samples`,
        which may have measured wrenches too. On a floating base the forces of the base are zero, and tell the most;
        forces that no sensor measures are NaN in all samples. Of a mechanism, positions of joints that were not
        measured are NaN in all samples too, and velocities and accelerations only count where they are independent.
        A function without arguments that returns an iterator of motions, or of parts of one, is called for every pass
        through the data: more samples than memory holds. An iterator, which can be read only once, is enough if nothing
        reads the log again: a loss, instruments, the covariance of the joints' noise, unknown Stribeck speeds.
    joint_terms : sequence of str, mapping, or BaseParameters
        What is estimated of the joints, see `Robot.base_parameters`. What is not counts as this robot has it: armature
        and springs, and friction that is turned on. This robot's base parameters themselves save many calls' time.
    weights : "joints", "covariance" or None
        Whether the equations of each joint count by its noise, which is estimated with the parameters; or by that and
        how the joints' noise goes together, which takes a few times as long; or all alike.
    loss : None, "huber" or "cauchy"
        How outliers count: like all others, less, or hardly at all. The equations are weighted by joints then.
    instruments : log, optional
        The commanded motion, with a sample for each one of the log, whose forces are not read: where velocities and
        accelerations are noisy, least squares are biased, and instrumental variables are not.
    known : mapping of str to float, optional
        By names of base parameters (`BaseParameters.names`), standard deviations of this robot's values: 0 of what
        is not estimated. Others are not known before.
    motor_constants : "all", sequence of str, or mapping from str to (float, float) or None
        Joints whose recorded forces are currents, or forces up to a factor, which is estimated too. A mapping has what
        is known of it before, as a value and its standard deviation: ``{"elbow": (11.2, 0.5)}``. Something has to tell
        the scale: motions with a known load, or one of known mass (`kinetree.identification.holding`), `known`
        parameters, joints with known forces that move together with these.
    smoothing : float, optional
        The speed around which Coulomb friction changes sign (rad/s, m/s); this robot's if not given.
    stribeck_speed : (nv,) array-like, optional
        The speeds at which friction of the term "stribeck" has fallen to half; estimated if not given.
    consistent : bool
        Whether to look for bodies that can exist.
    prior_spread : float
        How far, relative to its size, a parameter of this robot may be from the truth: what the data leave open is near
        to this robot's, by the entropic divergence of Lee, Wensing and Park.
    solver : "newton" or "clarabel"
        What finds those bodies: both find the same. Clarabel (``pip install clarabel``) is a solver
        of cone programmes that knows nothing of bodies.
    bounds : mapping of str to (2, 3) or (4, 4) array-like, optional
        By names of links where their mass is, in the axes of the link's frame (m): in a box, given by its lower and its
        upper corner; or in an ellipsoid, ``[x y z 1] Q [x y z 1]ᵀ >= 0``.
    tolerance : float
        See `Robot.base_parameters`.
    check : bool
        Whether to refuse a log in which `kinetree.identification.diagnose` finds errors, and to warn of the rest.

    Returns
    -------
    Fit

    Warns
    -----
    LogWarning
        Of what the checks find that is no reason to refuse the log; `Fit.checks` has all of it.

    Raises
    ------
    ArgumentError
        If a choice is not known, arrays do not fit the robot, hold numbers that are not finite, there are fewer
        equations than parameters, nothing tells the motor constants, or the log seems to be wrong. If a mechanism has
        contacts, or is given what it is not estimated with: motor constants, instruments, unknown Stribeck speeds.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=500)
    >>> fit = robot.identify((q, v, a, robot.inverse_dynamics(q, v, a)), ["armature"])
    >>> bool(abs(fit.values - fit.base.of()).max() < 1e-9)
    True
    """
    mech, robot = (None, robot) if isinstance(robot, Robot) else (robot, robot.tree)
    if robot.nv == 0:
        raise ArgumentError(f"{robot.name} has no joint that moves: there is nothing to identify")
    _check_choices(weights, loss, instruments, motor_constants, bounds, consistent, solver)
    spread = positive("prior_spread", prior_spread)
    if isinstance(joint_terms, BaseParameters):
        base = joint_terms
        if base.robot != robot or smoothing is not None:
            raise ArgumentError("these base parameters are another robot's, or smoothing is given with them")
    else:
        base = base_parameters(robot, joint_terms, smoothing=smoothing, tolerance=tolerance)
    unknown = motors.checked(robot, motor_constants) if motor_constants else None
    speeds_unknown = "stribeck" in base.joint_terms and stribeck_speed is None
    read_again = loss is not None or weights == "covariance" or instruments is not None or speeds_unknown
    if isinstance(log, Iterator) and read_again:
        raise ArgumentError(
            "an iterator can be read only once, and a loss, instruments, the covariance of the joints' noise and "
            "unknown Stribeck speeds read the log again: give a list, or a function that returns an iterator"
        )
    if stribeck_speed is not None and "stribeck" not in base.joint_terms:
        raise ArgumentError('stribeck_speed is given without "stribeck" among the joint terms')
    if mech is not None:
        check_constraints(mech)
        if unknown is not None or instruments is not None or speeds_unknown or loads_of(robot, log):
            raise ArgumentError(
                "a mechanism is identified without motor constants, instruments, unknown speeds of friction and loads "
                "that are known by their mass alone"
            )
    log, again = once_and_again(log)
    loads = loads_of(robot, log)
    if speeds_unknown and (unknown is not None or loads):
        raise ArgumentError(
            "speeds of friction are not estimated together with motor constants, or loads known by their mass alone: "
            "give stribeck_speed"
        )
    found, currents = Findings(), [] if unknown is None else [robot.v_names[k] for k in unknown.places]
    if check:
        seen = of_samples.seen(robot, again if mech is None else ClosedLog(mech, again), currents)
        found = run_checks("samples" if mech is None else "closed", seen).enforce()
    speeds = None if stribeck_speed is None else of_joints(robot, "stribeck_speed", stribeck_speed)
    if speeds_unknown:
        speeds = estimated_speeds(base, log)
    rows = Rows(base, speeds, loads) if mech is None else MechanismRows(mech, base, speeds)
    rows = rows if unknown is None else motors.MotorRows(base, speeds, unknown, loads)
    factors = rows.factors(log)
    if (left := factors.counts.sum()) < rows.dimension:
        still = ((factors.counts > 0) & (factors.counts < factors.count)).any()
        way = ", or a lower speed of standing, above which more of them are" if still else ""
        raise ArgumentError(
            f"{factors.count} samples are {left:.0f} equations for {rows.dimension} parameters: more samples are "
            f"needed{way}"
        )
    if check and mech is None:
        examined = Examined(JointEquations(seen, Rows(base, speeds, loads)), factors, instruments is None)
        found += run_checks("equations", examined).enforce()

    def estimated(rows: Rows, factors: Factors, prior: Prior) -> Solution:
        if instruments is not None:
            return instrumental(rows, again, instruments, factors, prior)
        if weights == "covariance":
            return generalized(rows, again, factors, prior)
        return estimate(rows, again, factors, prior, weights, loss)

    prior = prior_of(base, known or {}).wider(NINE * len(loads))
    if isinstance(rows, motors.MotorRows):
        factors, solution, prior = rows.estimated(factors, prior, estimated)
    else:
        solution = estimated(rows, factors, prior)
    if speeds_unknown:
        wider = WithSpeeds(rows, solution.values)
        added = np.zeros(wider.dimension - rows.dimension)
        whole = estimated(wider, wider.factors(again), Prior(*map(np.append, prior, (added, added + np.inf))))
        solution = as_uncertain_with_speeds(solution, whole)
    solution = solution._replace(information=information(factors, solution, prior))
    near = bodies.Consistent(base.representative(solution.values[: base.dimension]), np.nan)
    if consistent:
        near = consistent_with(base, solution, spread, solver, bounds or {})
    fit = Fit(rows, factors.count, solution._replace(noise=_where_measured(factors, solution)), near)
    if check:
        result = Estimated(base, factors, solution, near.parameters, fit.motor_constants)
        found += run_checks("estimate", result).enforce() if instruments is None else ()
        found += run_checks("bodies", result).enforce() if consistent else ()
    fit.checks = found
    return fit


def _where_measured(factors: Factors, solution: Solution) -> Array:
    """Return the noise (nv,), NaN where no force was measured."""
    return np.where(factors.counts > 0.0, solution.noise, np.nan)


def _check_choices(
    weights: str | None,
    loss: str | None,
    instruments: Any,
    motor_constants: Any,
    bounds: Any,
    consistent: bool,
    solver: str,
) -> None:
    """Raise `ArgumentError` for choices that are not known, or do not go together."""
    if weights not in WEIGHTS:
        raise ArgumentError(f"weights is {weights!r}, it must be 'joints', 'covariance' or None")
    if loss is not None and loss not in LOSSES:
        raise ArgumentError(f"loss is {loss!r}, it must be one of {', '.join(map(repr, LOSSES))}, or None")
    if loss is not None and weights != "joints":
        raise ArgumentError("a loss needs the noise of each joint: leave weights as it is")
    if instruments is not None and (loss is not None or weights != "joints"):
        raise ArgumentError("instruments go with weights by joints, and without a loss")
    if motor_constants and instruments is not None:
        raise ArgumentError("motor constants are not estimated with instruments: leave out one of them")
    if bounds and not consistent:
        raise ArgumentError("bounds are for bodies that can exist: leave consistent as it is")
    if solver not in SOLVERS:
        raise ArgumentError(f"solver is {solver!r}, it must be one of {', '.join(map(repr, SOLVERS))}")


def _not_known(base: BaseParameters, name: str) -> str:
    """Return why nothing can be known of a parameter of this name."""
    if name not in base.all_names:
        return unknown_name("base parameter", name, base.names)
    parts = [repr(base.names[k]) for k in np.flatnonzero(base.projection[:, base.all_names.index(name)])]
    if not parts:
        return f"no motion tells {name!r}: it stays as this robot has it"
    return (
        f"motions tell {name!r} only together with others, in {listed(parts, 3)}: give what is known of these; by "
        "itself it stays near this robot's, as prior_spread says"
    )


def prior_of(base: BaseParameters, known: Mapping[str, float]) -> Prior:
    """Return what is known before, by the names of base parameters."""
    deviations = np.full(base.dimension, np.inf)
    if not isinstance(known, Mapping):
        raise ArgumentError(f"known is {known!r}: give standard deviations by names, {{'damping of joint1': 0.1}}")
    for name, s in known.items():
        if name not in base.names:
            raise ArgumentError(_not_known(base, name))
        if not (isinstance(s, Real) and s >= 0.0):
            raise ArgumentError(f"known[{name!r}] is {s!r}: a standard deviation is a number, and cannot be negative")
        deviations[base.names.index(name)] = s
    return Prior(base.of(), deviations)
