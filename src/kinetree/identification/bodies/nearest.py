"""Physically consistent bodies near the estimates, by their covariance, and near the robot before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.bodies.bounds import inequalities
from kinetree.identification.bodies.newton import Consistent, Problem, newton
from kinetree.identification.bodies.pseudo_inertia import THIN, repaired
from kinetree.identification.estimators.contract import Solution
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.terms import TERMS
from kinetree.options import option, positive, read_box, value
from kinetree.spatial import Inertia
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BARRIER = 0.01
"""How much a link's distance from its bounds counts, relative to the prior of a joint's parameter."""

KEPT = 1e-6
"""Of an unidentifiable offset or column of the user's own, the inverse of a standard deviation."""

NOTHING = 1e-9
"""What takes the place of zero where a parameter has to be positive."""

VAGUE = 1e-2
"""Strength of the prior by which a payload is a body: a hundredth of a standard deviation squared."""


def _bounds(name: str, given: Any) -> Any:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name} are {given!r}: boxes or ellipsoids by names of links are needed")
    return given


@value
class Bodies:
    """How physically consistent bodies are found: near the estimates, near the robot before, mass where it can be.

    Reference: Lee, Wensing and Park, "Geometric robot dynamic identification: a convex programming approach", IEEE T-RO
    36(2), 2020.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [], bodies=Bodies(spread=0.2))
    >>> bool(fit.gap < 1e-8)
    True
    """

    spread: float = option(
        default=1.0,
        help="how far, relative to its size, a parameter of this robot may be from the truth: what the data leave open "
        "is near to this robot's, by the entropic divergence",
        check=positive,
        read=float,
    )
    bounds: Mapping[str, ArrayLike] = option(
        default_factory=dict,
        help="by names of links where their mass is, in the axes of the link's frame (m): in a box (2, 3), given by "
        "its lower and its upper corner; or in an ellipsoid (4, 4), ``[x y z 1] Q [x y z 1]ᵀ >= 0``",
        check=_bounds,
        read=read_box,
        metavar="LINK=X0,X1,Y0,Y1,Z0,Z1",
    )

    def nearest(self, base: BaseParameters, solution: Solution) -> Consistent:
        """Return all parameters of these bodies, and how far they are from the best ones at most."""
        return newton(self.problem(base, solution))

    def problem(self, base: BaseParameters, solution: Solution) -> Problem:
        """Return what is to be least.

        Friction is near the estimate only: who describes a robot seldom knows it.
        """
        count, n, strength = 10 * base.robot.nb, base.dimension, float(self.spread) ** -2
        prior = base.all_parameters()
        A, others = solution.information[:, :n], np.linalg.qr(solution.information[:, n:])[0]
        A = A - others @ (others.T @ A)  # motor constants and speeds of friction take what values they like
        ten = prior[:count].reshape(-1, 10)
        masses = np.geomspace(1e-3, 1e3, 13) if (ten[:, 0] <= 0.0).any() else [1.0]
        tried = [np.append(repaired(ten, float(m)), prior[count:]) for m in masses]
        A, b = A @ base.projection, A @ solution.values[:n]
        prior = min(tried, key=lambda p: float(((A @ p - b) ** 2).sum()))
        rows, inside = inequalities(base.robot, self.bounds, prior[:count].reshape(-1, 10))
        prior[:count] = inside.ravel()
        bounded = np.zeros(len(prior), bool)
        std = np.sqrt(np.diag(solution.covariance))
        for (term, _), place in base.places.items():
            if TERMS[term].not_negative:
                bounded[place] = True
                if term != "armature" or not prior[place] > 0.0:
                    prior[place] = _usual(base.projection[:, place], solution.values[:n], std[:n])
        free = np.flatnonzero(~bounded[count:]) + count  # without a prior: unidentifiable ones stay
        null = solution.unidentifiable[:, :n] @ base.projection[:, free]
        free = free[np.abs(null).max(axis=0, initial=0.0) > 0.0]
        A, b = np.vstack([A, KEPT * np.eye(len(prior))[free]]), np.append(b, KEPT * prior[free])
        C = np.vstack([np.eye(len(prior))[bounded], np.pad(rows, ((0, 0), (0, len(prior) - count)))])
        weights = min(strength, 1.0) * np.repeat([1.0, BARRIER], [len(C) - len(rows), len(rows)])
        return Problem(A, b, base.robot.nb, C, weights, prior, strength)


def _usual(factors: Array, values: Array, std: Array) -> float:
    """Return the size to expect of what is in the base parameters with these factors: estimated, or as it was."""
    rows = np.flatnonzero(factors)
    return float((np.maximum(np.abs(values), std)[rows] / np.abs(factors[rows])).max(initial=NOTHING))


def nearest_body(A: Array, values: Array) -> Inertia:
    """Return the physically consistent inertia near ten estimates with the information ``AᵀA``, and no other prior."""
    prior = repaired(values[None], 1e-3, THIN)[0]
    problem = Problem(A, A @ values, 1, np.zeros((0, 10)), np.zeros(0), prior, VAGUE)
    return Inertia.from_parameters(newton(problem).parameters.tolist())
