"""Bodies that can exist, near the estimates by their covariance and near the robot before: what is minimised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import warn_user
from kinetree.identification import consistent as bodies
from kinetree.identification import semidefinite
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.bounds import inequalities
from kinetree.identification.equations import Factors
from kinetree.identification.least_squares import Prior, Solution
from kinetree.identification.suspicions import LogWarning, named
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SOLVERS = {"newton": bodies.newton, "clarabel": semidefinite.solve}
NOT_NEGATIVE = ("armature", "damping", "friction", "stiffness", "load_friction")
BARRIER = 0.01
"""How much a link's distance from its bounds counts, relative to the prior of a joint's parameter."""

KEPT = 1e-6
"""Of an offset or a column of the user's own that the data do not tell, the inverse of a standard deviation."""

NOTHING = 1e-9
"""What takes the place of zero where a parameter has to be positive."""

WORSE, EXPLAINED = 1.1, 10.0
"""Residuals so many times as large, and squares above so many a parameter, in units of the noise, are worth a word."""

UNITS = 30.0
"""Forces that differ by this factor from those that the robot before needs are in other units, or its masses are."""

UNEXPLAINED = 1.2
"""Residuals that are so many times the spread of the forces: a constant would explain more."""

LEAST_NOISE = 1e-6
"""Noise below this, relative to the forces, counts as this where bodies that can exist are sought."""


def information(factors: Factors, solution: Solution, prior: Prior) -> Array:
    """Return the rows that tell the estimate, in units of their noise, with what was known before among them."""
    limit = LEAST_NOISE * np.sqrt(factors.mean_squares.max())
    A = solution.information
    if (solution.noise[factors.counts > 0.0] < limit).any():
        A, _ = factors.stacked(np.maximum(solution.noise, limit) * np.sqrt(solution.times))
    return np.vstack([A, prior.rows(A)])


def consistent_with(
    base: BaseParameters,
    solution: Solution,
    spread: float,
    solver: str,
    bounds: Mapping[str, ArrayLike],
) -> bodies.Consistent:
    """Return parameters of bodies that can exist, near the estimates by their covariance and near the robot's.

    Friction is near the estimate only: who describes a robot seldom knows it.
    """
    count = 10 * base.robot.nb
    prior = base.all_parameters()
    n = base.dimension
    A, others = solution.information[:, :n], np.linalg.qr(solution.information[:, n:])[0]
    A = A - others @ (others.T @ A)  # motor constants take what values they like
    ten = prior[:count].reshape(-1, 10)
    masses = np.geomspace(1e-3, 1e3, 13) if (ten[:, 0] <= 0.0).any() else [1.0]
    tried = [np.append(bodies.repaired(ten, float(m)), prior[count:]) for m in masses]
    A, b = A @ base.projection, A @ solution.values[:n]
    prior = min(tried, key=lambda p: float(((A @ p - b) ** 2).sum()))
    rows, inside = inequalities(base.robot, bounds, prior[:count].reshape(-1, 10))
    prior[:count] = inside.ravel()
    bounded = np.zeros(len(prior), bool)
    std = np.sqrt(np.diag(solution.covariance))
    for (term, _), place in base.places.items():
        if term in NOT_NEGATIVE:
            bounded[place] = True
            if term != "armature" or not prior[place] > 0.0:
                prior[place] = _usual(base.projection[:, place], solution.values[:n], std[:n])
    free = np.flatnonzero(~bounded[count:]) + count  # by no prior: what the data do not tell of them stays
    free = free[np.abs(solution.untold[:, :n] @ base.projection[:, free]).max(axis=0, initial=0.0) > 0.0]
    A, b = np.vstack([A, KEPT * np.eye(len(prior))[free]]), np.append(b, KEPT * prior[free])
    C = np.vstack([np.eye(len(prior))[bounded], np.pad(rows, ((0, 0), (0, len(prior) - count)))])
    weights = min(spread**-2, 1.0) * np.repeat([1.0, BARRIER], [len(C) - len(rows), len(rows)])
    return SOLVERS[solver](bodies.Problem(A, b, base.robot.nb, C, weights, prior, spread**-2))


def _usual(factors: Array, values: Array, std: Array) -> float:
    """Return the size to expect of what is in the base parameters with these factors: estimated, or as it was."""
    rows = np.flatnonzero(factors)
    return float((np.maximum(np.abs(values), std)[rows] / np.abs(factors[rows])).max(initial=NOTHING))


def warn_of_bodies(base: BaseParameters, factors: Factors, solution: Solution, found: bodies.Consistent) -> None:
    """Warn where bodies that can exist leave residuals that are larger, and more than noise can explain."""
    free, bound = (factors.squares(x) for x in (solution.values, base.projection @ found.parameters))
    count = (bound - free) / (solution.noise**2 * solution.times)
    exact = bound <= LEAST_NOISE**2 * factors.count * factors.mean_squares.max()
    there = (bound > WORSE**2 * free) & (count > EXPLAINED * base.dimension) & ~exact
    if there.any():
        worst = float(np.sqrt((bound[there] / np.maximum(free[there], np.finfo(float).tiny)).max()))
        warn_user(
            f"bodies that can exist explain the forces of {named(base.robot, there)} less well than the estimates "
            f"alone: residuals are up to {worst:.2g} times as large. The robot before is far from the data, which a "
            "greater prior_spread allows; or no bodies move so, and signs, units or joint terms are wrong",
            LogWarning,
        )


def warn_of_few(factors: Factors) -> None:
    """Warn where a joint has no more equations than parameters: its residuals then say nothing of its noise."""
    most = max(map(len, factors.pattern))
    if factors.count <= most:
        warn_user(
            f"{factors.count} samples are few beside {most} parameters: noise and standard deviations are not told",
            LogWarning,
        )


def warn_of_sizes(base: BaseParameters, factors: Factors, solution: Solution) -> None:
    """Warn of forces that have another size than the robot before tells, or that nothing explains.

    The size is that of the joint of which this robot needs the greatest forces: there friction counts least.
    """
    robot, joints = base.robot, factors.counts > 0.0
    joints[Coordinates(robot.q_names, robot.v_names).of_base("v")] = False
    A, b = factors.stacked(np.ones(robot.nv))
    needed, there = factors.by_joint((A @ base.of()) ** 2) * joints, factors.by_joint(b * b)
    k = int(np.argmax(needed))
    ratio = float(np.sqrt(there[k] / needed[k])) if needed[k] > 0.0 else 1.0
    if there[k] > 0.0 and abs(np.log(ratio)) > np.log(UNITS):
        warn_user(
            f"the forces of {robot.v_names[k]} are {ratio:.2g} times as large as those that this robot, as it was, "
            "needs for the motion: are they in N·m (or N) at the joint, and are its masses in kg?",
            LogWarning,
        )
    left = np.sqrt(factors.squares(solution.values[: factors.dimension]) / np.maximum(factors.counts, 1.0))
    found = joints & (left > UNEXPLAINED * factors.spread) & (left > LEAST_NOISE * np.sqrt(factors.mean_squares.max()))
    if found.any():
        worst = float((left[found] / np.maximum(factors.spread[found], np.finfo(float).tiny)).max())
        warn_user(
            f"the estimates do not explain the forces of {named(robot, found)}: residuals are up to {worst:.2g} times "
            "their spread. Are they another joint's, or in another unit, or is an offset missing among the terms?",
            LogWarning,
        )
