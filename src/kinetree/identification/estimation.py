"""`robot.identify`: from recorded motions to estimated parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.identification.bodies import Bodies
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.checks.registry import run_checks
from kinetree.identification.equations import NINE, KnownMass, RegressionModel, loads_in
from kinetree.identification.estimators.contract import Equations, Estimator, Prior, Solution
from kinetree.identification.estimators.least_squares import LeastSquares
from kinetree.identification.fit import Fit
from kinetree.identification.mechanisms import MechanismModel, check_constraints
from kinetree.identification.newton import Consistent
from kinetree.identification.nonlinear import Given, Motors, Nonlinear, motors_of
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.parameters.terms import JointTerms
from kinetree.identification.triangle import on_one_thread
from kinetree.logs.findings import Findings
from kinetree.logs.samples import Filter
from kinetree.robot import Robot
from kinetree.validation import of_joints

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


@on_one_thread
def identify(
    robot: Robot | Mechanism,
    log: Any,
    terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    by: Estimator = LeastSquares(),
    filter: Filter | None = None,
    known: Mapping[str, float] | None = None,
    motor_constants: Given = (),
    stribeck_speed: ArrayLike | None = None,
    smoothing: float | None = None,
    bodies: Bodies | None = Bodies(),
    tolerance: float = 1e-6,
    check: bool = True,
) -> Fit:
    """Estimate the parameters of this robot from recorded motions.

    The base parameters are estimated by least squares, from as many samples as there are in bounded memory, and then
    all parameters: of physically consistent bodies, as near to this robot's as the data let them be.

    Of a mechanism with closed loops the parameters are those of its tree, `Mechanism.tree`, and so is `Fit.robot`. The
    forces in the loops need not be measured: there is one equation for each independent velocity, in which they do not
    occur. Its noise is that of one joint where the independent velocities are those of the driven joints.

    Parameters
    ----------
    log : (q, v, a, tau), Trajectory, an iterable of these, or a function that returns one
        Recorded motions, the joint forces included: arrays (n, nq) and (n, nv), or `kinetree.identification.Samples`,
        which may have measured wrenches too. On a floating base the forces of the base are zero, and informative;
        forces that no sensor measures are NaN in all samples. Of a mechanism, positions of joints that were not
        measured are NaN in all samples too, and velocities and accelerations only count where they are independent.
        A `Recording` (`kinetree.identification.read_log`), or a list of these, is filtered first.
        A function without arguments that returns an iterator of motions, or of parts of one, is called for every pass
        through the data: more samples than memory holds. An iterator, which can be read only once, is enough for
        `LeastSquares` where Stribeck speeds are given.
    terms : sequence of str, mapping, or BaseParameters
        What is estimated of the joints, see `Robot.base_parameters`. What is not counts as this robot has it: armature
        and springs, and friction that is turned on. This robot's base parameters themselves save many calls' time.
    by : Estimator
        How: one of `kinetree.identification.LeastSquares` (weighted by the noise of each joint, or not), `Robust`
        (outliers count less), `Generalised` (the joints' noise is correlated), `Instrumental` (noisy velocities and
        accelerations, a commanded motion), `OutputError` (a simulated controller).
    filter : Filter, optional
        How recordings are filtered, see `Recording.filtered`.
    known : mapping of str to float, optional
        By names of base parameters (`BaseParameters.names`), standard deviations of this robot's values: 0 of what
        is not estimated. Others are not known before.
    motor_constants : "all", sequence of str, or mapping from str to (float, float) or None
        Joints whose recorded forces are currents, or forces up to a factor, which is estimated too. A mapping has what
        is known of it before, as a value and its standard deviation: ``{"elbow": (11.2, 0.5)}``. Something has to
        determine the scale: motions with a known load, or one of known mass (`identification.with_known_load`), `known`
        parameters, joints with known forces that move together with these.
    stribeck_speed : (nv,) array-like, optional
        The speeds at which friction of the term "stribeck" has fallen to half; estimated if not given.
    smoothing : float, optional
        The speed around which Coulomb friction changes sign (rad/s, m/s); this robot's if not given.
    bodies : Bodies or None
        How physically consistent bodies are found, see `kinetree.identification.Bodies`; None if they are not wanted.
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
        equations than parameters, nothing determines the motor constants, or the log seems to be wrong. If a mechanism
        has contacts, or is given what it is not estimated with: motor constants, unknown Stribeck speeds.

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
    if not hasattr(by, "fit") or isinstance(by, type):
        raise ArgumentError(f"by is {by!r}, it must be an estimator, such as Robust()")
    if not isinstance(bodies, Bodies | None):
        raise ArgumentError(f"bodies is {bodies!r}, it must be Bodies(…), or None")
    base = _base(robot, terms, smoothing, tolerance)
    motors = motors_of(robot, motor_constants) if motor_constants else {}
    speeds = None if stribeck_speed is None else of_joints(robot, "stribeck_speed", stribeck_speed)
    if isinstance(log, Iterator) and (by.reads_again or ("stribeck" in base.joint_terms and speeds is None)):
        raise ArgumentError(
            f"an iterator can be read only once, and {type(by).__name__} or unknown Stribeck speeds read the log "
            "again: give a list, or a function that returns an iterator"
        )
    model = _model(mech, base, speeds, motors, loads_in(robot, log))
    log, prior = model.log(log, filter, check=check), _prior(base, known or {}, NINE * len(model.loads))
    found = Findings()
    if check:
        currents = [robot.v_names[k] for k in motors]
        at = Evidence(robot, log, currents)
        found = run_checks("samples" if mech is None else "closed", at).enforce()
    factors = model.factors(log)
    if (left := factors.counts.sum()) < model.dimension:
        still = ((factors.counts > 0) & (factors.counts < factors.count)).any()
        way = ", or a lower speed of standing, above which more of them are" if still else ""
        raise ArgumentError(
            f"{factors.count} samples are {left:.0f} equations for {model.dimension} parameters: more samples are "
            f"needed{way}"
        )
    if check and mech is None:
        at.rows, at.factors = RegressionModel(base, model.stribeck_speed, model.loads), factors
        at.motion_is_exact = by.exact_motion
        found += run_checks("equations", at).enforce()

    def nearest(solution: Solution) -> Consistent:
        if bodies is None:
            return Consistent(base.representative(solution.values[: base.dimension]), np.nan)
        return bodies.nearest(base, solution)

    equations = Equations(model, log, factors, nearest)
    if isinstance(model, Nonlinear):
        equations, solution = model.fitted(by, equations, prior)
    else:
        solution = by.fit(equations, prior)
    fit = Fit(equations, solution, nearest(solution))
    if check:
        at.fit, at.factors = fit, equations.factors
        found += run_checks("estimate", at).enforce() if by.exact_motion else ()
        found += run_checks("bodies", at).enforce() if bodies is not None else ()
    fit.checks = found
    return fit


def _base(
    robot: Robot, terms: JointTerms | BaseParameters, smoothing: float | None, tolerance: float
) -> BaseParameters:
    if not isinstance(terms, BaseParameters):
        return base_parameters(robot, terms, smoothing=smoothing, tolerance=tolerance)
    if terms.robot != robot or smoothing is not None:
        raise ArgumentError("these base parameters are another robot's, or smoothing is given with them")
    return terms


def _model(
    mech: Mechanism | None, base: BaseParameters, speeds: Any, motors: Motors, loads: Sequence[KnownMass]
) -> RegressionModel:
    """Return the model that makes equations of samples."""
    sliding = "stribeck" in base.joint_terms
    if speeds is not None and not sliding:
        raise ArgumentError('stribeck_speed is given without "stribeck" among the joint terms')
    nonlinear = bool(motors) or (sliding and speeds is None)
    if mech is None:
        return Nonlinear(base, speeds, loads, motors) if nonlinear else RegressionModel(base, speeds, loads)
    check_constraints(mech)
    if nonlinear or loads:
        raise ArgumentError(
            "a mechanism is identified without motor constants, unknown speeds of friction and loads that are known by "
            "their mass alone"
        )
    return MechanismModel(mech, base, speeds)


def _prior(base: BaseParameters, known: Mapping[str, float], further: int) -> Prior:
    """Return the prior knowledge, by the names of base parameters; none of so many further ones."""
    values, deviations = np.append(base.of(), np.zeros(further)), np.full(base.dimension + further, np.inf)
    if not isinstance(known, Mapping):
        raise ArgumentError(f"known is {known!r}: give standard deviations by names, {{'damping of joint1': 0.1}}")
    for name, s in known.items():
        if name not in base.names:
            raise ArgumentError(_not_known(base, name))
        if not (isinstance(s, Real) and s >= 0.0):
            raise ArgumentError(f"known[{name!r}] is {s!r}: a standard deviation is a number, and cannot be negative")
        deviations[base.names.index(name)] = s
    return Prior(values, deviations)


def _not_known(base: BaseParameters, name: str) -> str:
    """Return why nothing can be known of a parameter of this name."""
    if name not in base.all_names:
        return unknown_name("base parameter", name, base.names)
    parts = [repr(base.names[k]) for k in np.flatnonzero(base.projection[:, base.all_names.index(name)])]
    if not parts:
        return f"{name!r} is not identifiable from any motion: it stays as this robot has it"
    return (
        f"{name!r} is identifiable only together with others, in {listed(parts, 3)}: give what is known of these; by "
        "itself it stays near this robot's, as the spread of Bodies says"
    )
