"""Inverse kinematics as users call it: arguments checked, and the solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.inverse_kinematics.goals import Goal
from kinetree.errors import ArgumentError
from kinetree.inverse_kinematics.compiled import solver
from kinetree.inverse_kinematics.functions import goals_of, joints_of, note_open_loops, remembered
from kinetree.inverse_kinematics.targets import Target, Wanted, bare_kind, finite, lead_of, wanted_of
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.tracing import context
from kinetree.validation import Array, Seed, as_generator, positive

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Counts = np.ndarray[Any, np.dtype[np.int64]]


SEEDS = 2**20
"""How many sequences of starts there are."""


class Solution(NamedTuple):
    """What inverse kinematics found, with the leading axes of the targets.

    Attributes
    ----------
    q : (..., nq) array
        The configuration, within the joint limits (but for fixed joints, which stay as in q0): where no descent reached
        the targets, the one with the least weighted sum of squared errors among all that were tried.
    converged : (...) array of bool
        Whether all errors that count are within the tolerances, and those of a
        mechanism's loops.
    position_error, orientation_error : (...) array
        Largest distance and angle of a frame from its target (m, rad); what has a weight of 0 does not count.
    iterations, attempts : (...) array of int
        Steps computed, over all starts, and how many starts there were.
    """

    q: Array
    converged: Flags | np.bool_
    position_error: Array | np.float64
    orientation_error: Array | np.float64
    iterations: Counts | int
    attempts: Counts | int


def inverse_kinematics(
    robot: Robot | Mechanism,
    target: Target | Mapping[str, Target],
    frame: str | None = None,
    *,
    q0: ArrayLike | str | None = None,
    position_tolerance: float = 1e-9,
    orientation_tolerance: float = 1e-9,
    max_iterations: int = 100,
    restarts: int | None = None,
    seed: Seed = 0,
    fixed: Sequence[str] = (),
    dt: float | None = None,
) -> Solution:
    """Find configurations, within the joint limits, that bring frames to where they are wanted.

    A target that cannot be reached is not an error: the solution says so, and has the best that was found. The whole
    search is compiled, once for each set of frames and kinds of targets; for that code itself see
    `inverse_kinematics_solver`, for one step of a controller `differential_inverse_kinematics`.

    Parameters
    ----------
    target : (..., 4, 4) or (..., 3) array, FrameTarget, LookAt, or dict of these by frame
        Poses, or points with the orientation free, in the world; `FrameTarget` has weights, and orientations alone;
        `LookAt` points an axis at a point. A list has several for one frame. Leading axes are a batch of problems,
        each of which is solved as it would be alone.
    frame : str, optional
        The frame for a target that is not in a dict.
    q0 : (..., nq) array or str, optional
        Where to start, or the name of one, brought within the limits (but for fixed joints); neutral if not given.
    position_tolerance, orientation_tolerance : float
        Largest errors of a solution (m, rad), and of the loops of a mechanism.
    max_iterations : int
        Of one start.
    restarts : int, optional
        How many other starts to try where the first fails: 100, or none where `dt` is given. Only joints that carry
        a frame not reached take new values, and an undriven base stays where it is.
    seed : int or Generator, optional
        Of the other starts, which are the same for all problems of a batch.
    fixed : sequence of str
        Joints that stay as in q0 (the floating base, say), outside their limits too.
    dt : float, optional
        The time for one iteration (s), in which no joint moves further than its velocity limit allows. It counts from
        where q0 is within the limits: what brings it there takes no time. For long ways in short times there is
        `Robot.differential_inverse_kinematics`: the search gives up where iterations gain less than a hundredth.

    Raises
    ------
    ArgumentError
        If a target is not a pose or point, an array has a wrong shape or is not finite, or an option is out of range.
    ModelError
        If there is no frame of a name.

    Notes
    -----
    Limits of position and velocity count those of mimic joints; joints of several degrees of freedom have none.
    Lengths count beside angles in 0.6 of the reach, the longest way along the tree to a joint, to a frame with a target
    or to where a constraint acts: the unit of length changes nothing but the unit.

    Each descent is Levenberg–Marquardt's method with limits held by an active set, and damping that vanishes with the
    error; it is given up after three steps that gain less than a hundredth. The starts are a Kronecker sequence.

    The loops of a mechanism are goals beside the others, found closed together with them; q0 need not close them. Where
    the targets are not reached they are closed by `Mechanism.assemble` from what came next to it, in which joint limits
    do not count.

    References
    ----------
    Yamashita and Fukushima 2001, Sugihara 2011 (damping by the error); Richtmyer 1951 (the sequence).

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> target = robot.frame_placement(robot.random_configuration(seed=3), frame="panda_hand")
    >>> solution = robot.inverse_kinematics(target, frame="panda_hand")
    >>> bool(solution.converged)
    True
    """
    note_open_loops(robot)
    try:
        solve, wanted = _problem(robot, target, frame, fixed)
        start = _start(robot, q0)
    except ArgumentError as error:
        if context.outermost() is None:
            raise
        raise ArgumentError(f"{error}. In functions that are compiled use robot.inverse_kinematics_solver") from None
    if start.ndim > 1 or len(wanted) > 1:
        lead_of(wanted, start.shape[:-1])
    found = solve(
        start,
        *[w.array for w in wanted],
        *[w.weights for w in wanted],
        positive("position_tolerance", position_tolerance),
        positive("orientation_tolerance", orientation_tolerance),
        _count("max_iterations", max_iterations),
        _count("restarts", restarts) if restarts is not None else 100.0 if dt is None else 0.0,
        _seed(seed),
        None if dt is None else positive("dt", dt),
    )
    q, converged, position, orientation, iterations, attempts = found
    if q.ndim == 1:
        return Solution(q, converged > 0.5, position, orientation, int(iterations), int(attempts))
    counts = iterations.astype(np.int64), attempts.astype(np.int64)
    return Solution(q, converged > 0.5, position, orientation, *counts)


def _problem(
    robot: Robot | Mechanism, target: Target | Mapping[str, Target], frame: str | None, fixed: Sequence[str]
) -> tuple[Function, list[Wanted]]:
    """Return the solver, and what it takes: at once for a pose or point in an array and no fixed joints."""
    if type(frame) is str and type(fixed) is tuple and not fixed and (kind := bare_kind(target)):
        array: Any = target
        solve, goal = remembered(robot, _for_one, frame, kind)
        return solve, [Wanted(goal, array, None)]
    wanted = wanted_of(robot.model, target, frame)
    return remembered(robot, solver, tuple([w.goal for w in wanted]), joints_of(robot.model, fixed)), wanted


def _for_one(robot: Robot | Mechanism, frame: str, kind: str) -> tuple[Function, Goal]:
    goals = goals_of(robot.model, {frame: kind})
    return remembered(robot, solver, goals, ()), goals[0]


def _count(name: str, value: Any) -> float:
    """Return an integer ≥ 0."""
    if type(value) is int and value >= 0:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ArgumentError(f"{name} is {value!r}, it must be an integer ≥ 0")
    return float(value)


def _seed(seed: Seed) -> float:
    """Return a number that float64 has exactly, also many times over."""
    if type(seed) is not int or seed < 0:
        seed = int(as_generator(seed).integers(SEEDS))
    return float(seed % SEEDS)


def _start(robot: Robot | Mechanism, q0: ArrayLike | str | None) -> Array:
    """Return q0 (..., nq), or neutral if it is None."""
    tree = robot if isinstance(robot, Robot) else robot.tree
    if q0 is None:
        return remembered(tree, Robot.neutral)
    model = robot.model
    start = finite("q0", tree.configuration(q0) if isinstance(q0, str) else q0, model.nq)
    if model.nq != model.nv:
        with np.errstate(all="ignore"):
            unit = tree.integrate(start, np.zeros(model.nv))
        if not np.isfinite(unit).all():
            raise ArgumentError("q0 holds a quaternion that is zero, or too large")
    return start
