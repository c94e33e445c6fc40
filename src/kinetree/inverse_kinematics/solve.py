"""Inverse kinematics: arguments, random restarts, and the solution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetree.inverse_kinematics.descent import Descent, Method, descend
from kinetree.inverse_kinematics.options import count, joints_of, method_of, start_of
from kinetree.inverse_kinematics.problem import Problem
from kinetree.inverse_kinematics.rotations import Counts, Flags
from kinetree.inverse_kinematics.targets import Target, goals_of
from kinetree.robot import Robot
from kinetree.validation import Array, Seed, as_generator, positive

CANDIDATES = 8
"""How many random configurations are drawn for a start: the one that is nearest to the targets is taken."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What inverse kinematics found, with the leading axes of the targets.

    Attributes
    ----------
    q : (..., nq) array
        The configuration, within the joint limits: where no descent reached the targets, the one with the least
        weighted sum of squared errors among all that were tried.
    converged : (...) array of bool
        Whether all errors that count are within the tolerances.
    position_error, orientation_error : (...) array
        The largest over the frames (m, rad), of those that count.
    iterations, attempts : (...) array of int
        Steps computed, over all starts, and how many starts there were.
    """

    q: Array
    converged: Flags
    position_error: Array
    orientation_error: Array
    iterations: Counts
    attempts: Counts


def inverse_kinematics(
    robot: Robot,
    target: Target | Mapping[str, Target],
    frame: str | None = None,
    *,
    q0: ArrayLike | None = None,
    method: str = "lm",
    position_tolerance: float = 1e-9,
    orientation_tolerance: float = 1e-9,
    max_iterations: int = 100,
    restarts: int | None = None,
    seed: Seed = 0,
    fixed: Sequence[str] = (),
    damping: float | None = None,
    dt: float | None = None,
) -> Solution:
    """Find configurations, within the joint limits, that bring frames to where they are wanted.

    A target that cannot be reached is no error: the solution says so, and has the best that was found.

    Parameters
    ----------
    target : (..., 4, 4) or (..., 3) array, FrameTarget, or dict of these by frame
        Poses, or points with the orientation free, in the world; `FrameTarget` has weights. Leading axes are a batch
        of problems, which are solved together and each as it would be alone.
    frame : str, optional
        The frame for a target that is not in a dict.
    q0 : (..., nq) array, optional
        Where to start, brought within the limits; neutral if not given.
    method : {"lm", "dls", "qp"}
        Levenberg–Marquardt, with damping that vanishes with the error (quadratic convergence); damped least squares,
        with constant damping (linear, and every step is taken); or the first with each step an exact quadratic
        program within the bounds, which needs ``pip install kinetree[qp]`` and solves the batch one by one.
    position_tolerance, orientation_tolerance : float
        Largest errors of a solution (m, rad).
    max_iterations : int
        Of one start.
    restarts : int, optional
        How many random starts to try where the first fails: 30, or none where `dt` is given. Each is the nearest to
        the targets of eight configurations; only joints that carry a frame not reached take new values, and an
        undriven base stays where it is.
    seed : int or Generator, optional
        Of the random configurations, which are the same for all problems of a batch.
    fixed : sequence of str
        Joints that stay as in q0 (the floating base, say).
    damping : float, optional
        Of "dls": what is added to ``J Jᵀ`` (3e-4). Of the others: the first ratio of that to the squared error (1).
    dt : float, optional
        The time for one iteration (s), in which no joint moves further than its velocity limit allows. With
        ``max_iterations=1`` it is a step of a controller.

    Raises
    ------
    ArgumentError
        If a target is no pose or point, an array has a wrong shape or is not finite, or an option is out of its range.
    ModelError
        If there is no frame of a name.

    Notes
    -----
    A limit is that of the joint itself, not of joints that mimic it; joints of several degrees of freedom have none.

    References
    ----------
    Wampler 1986 and Nakamura and Hanafusa 1986 (damped least squares); Sugihara 2011 (damping by the error).

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> target = robot.frame_placement(robot.random_configuration(seed=3), frame="panda_hand")
    >>> solution = robot.inverse_kinematics(target, frame="panda_hand")
    >>> bool(solution.converged)
    True
    """
    chosen = method_of(method, damping)
    tolerances = (
        positive("position_tolerance", position_tolerance),
        positive("orientation_tolerance", orientation_tolerance),
    )
    tries = count("restarts", restarts) if restarts is not None else 30 if dt is None else 0
    start = start_of(robot, q0)
    goals, lead = goals_of(robot.model, target, frame, start.shape[:-1])
    duration = None if dt is None else positive("dt", dt)
    problem = Problem(robot, goals, joints_of(robot, fixed), tolerances, duration)
    nq = start.shape[-1]
    starts = problem.within(np.broadcast_to(start, (*lead, nq)).reshape(math.prod(lead), nq))
    rng = as_generator(seed)
    random = (robot.random_configuration(rng, CANDIDATES) for _ in range(tries))
    best, attempts = _with_restarts(problem, starts, random, chosen, count("max_iterations", max_iterations))
    return _solution(problem, best, attempts, lead)


def _with_restarts(
    problem: Problem, starts: Array, random: Iterable[Array], method: Method, max_iterations: int
) -> tuple[Descent, Counts]:
    """Return the best of the descents from the starts and, for those that failed, from random ones after another."""
    rows = np.arange(len(starts))
    last = best = descend(problem, starts, rows, method, max_iterations)
    attempts = np.ones(len(starts), np.int64)
    for candidates in random:
        new = problem.to_restart(last.errors)
        left = new.any(axis=1)
        if not left.any():
            break
        rows = rows[left]
        start = _nearest(problem, candidates, new[left], last.q[left], rows)
        last = descend(problem, start, rows, method, max_iterations)
        attempts[rows] += 1
        best.iterations[rows] += last.iterations
        better = problem.cost(last.errors) < problem.cost(best.errors[rows])
        better |= problem.reached(last.errors)
        best.q[rows[better]], best.errors[rows[better]] = last.q[better], last.errors[better]
    return best, attempts


def _nearest(problem: Problem, candidates: Array, new: Flags, q: Array, rows: Counts) -> Array:
    """Return q with the coordinates that are new from the candidate (k, nq) that leaves the least cost."""
    starts = np.where(new[:, None], candidates, q[:, None])
    each = np.repeat(rows, len(candidates))
    cost = problem.cost(problem.errors(starts.reshape(-1, q.shape[-1]), each)).reshape(len(q), -1)
    nearest: Array = np.take_along_axis(starts, cost.argmin(axis=1)[:, None, None], axis=1)[:, 0]
    return nearest


def _solution(problem: Problem, best: Descent, attempts: Counts, lead: tuple[int, ...]) -> Solution:
    position, orientation = problem.sizes(best.errors)
    return Solution(
        q=best.q.reshape(*lead, best.q.shape[-1]),
        converged=problem.reached(best.errors).reshape(lead)[()],
        position_error=position.reshape(lead)[()],
        orientation_error=orientation.reshape(lead)[()],
        iterations=best.iterations.reshape(lead)[()],
        attempts=attempts.reshape(lead)[()],
    )
