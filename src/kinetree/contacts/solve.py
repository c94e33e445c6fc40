"""The solution of the contact problem by the methods that there are."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.admm import admm
from kinetree.contacts.gauss_seidel import gauss_seidel, within
from kinetree.contacts.problem import Problem, going_on, residuals
from kinetree.contacts.sets import largest
from kinetree.scalars.functions import Scalar, select_less
from kinetree.scalars.linalg import Vector

METHODS = ("auto", "pgs", "admm")
"""Projected Gauss–Seidel sweeps, the method of multipliers, or some of the former and then the latter."""

SWEEPS = 20.0
"""Of "auto", before the method of multipliers takes over."""

TOLERANCE = 1e-6
"""Of the residuals, beside the size of g and of the largest force."""

MOST_ITERATIONS = 1000.0


class Solution(NamedTuple):
    """Forces in their sets, and how far they are from a solution.

    Attributes
    ----------
    force : (n,) scalars
        λ.
    sigma : (n,) scalars
        The motion ``(G + R) λ + g`` that they leave.
    iterations : scalar
        Sweeps and iterations, of both methods.
    primal, dual, complementarity : scalar
        The residuals (`Residuals`) of these forces.
    """

    force: list[Scalar]
    sigma: list[Scalar]
    iterations: Scalar
    primal: Scalar
    dual: Scalar
    complementarity: Scalar


def solve(
    problem: Problem,
    method: str = "auto",
    *,
    start: Vector | None = None,
    tolerance: Scalar = TOLERANCE,
    max_iterations: Scalar = MOST_ITERATIONS,
) -> Solution:
    """Return forces and motions that fulfil the laws of the sets, with Coulomb's cone as it is.

    It is done when the dual residual is at most `tolerance` times the largest entry of g, and the complementarity that
    times the largest force; or after `max_iterations`. Nothing is raised then: the residuals tell. They are computed
    from the final forces. A NaN makes all forces that it reaches NaN, and ends the iteration.

    Parameters
    ----------
    problem : Problem
    method : {"auto", "pgs", "admm"}
    start : (n,) scalars, optional
        Forces to begin with, brought into the sets; zero if not given.
    tolerance, max_iterations : scalar

    Examples
    --------
    A block of 1 kg whose weight is 9.81 N is pushed along by 2 N, where friction could hold 4.905 N:

    >>> from kinetree.contacts.sets import FrictionCone
    >>> G = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> found = solve(Problem(G, [2.0, 0.0, -9.81], [FrictionCone(0.5)]))
    >>> found.force, found.sigma
    ([-2.0, 0.0, 9.81], [0.0, 0.0, 0.0])
    """
    given, problem = problem, problem.prepared()
    none = [0.0] * len(problem.g)
    force = none if start is None else problem.project(start)
    least = tolerance * largest([abs(x) for x in problem.g])
    sigma, count = problem.motion(force), 0.0
    if method != "admm":
        swept = max_iterations if method == "pgs" else select_less(max_iterations, SWEEPS, max_iterations, SWEEPS)
        force, sigma, count, _ = gauss_seidel(problem, force, sigma, least, swept)
    if method != "pgs":
        going = within(count, max_iterations, going_on(problem, force, sigma, least))
        found = admm(problem, force, sigma, least, count, max_iterations, going)
        force, count = found.force, found.count
    sigma = given.motion(force)
    return Solution(force, sigma, count, *residuals(given, force, sigma))
