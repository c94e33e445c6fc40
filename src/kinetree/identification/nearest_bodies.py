"""Bodies that can exist, near the estimates by their covariance and near the robot before: what is minimised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.identification import consistent as bodies
from kinetree.identification import semidefinite
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.bounds import inequalities
from kinetree.identification.equations import Factors
from kinetree.identification.least_squares import LEAST_NOISE, Prior, Solution
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
