"""The solution of the contact problem by the methods that there are."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.admm import admm
from kinetree.contacts.gauss_seidel import MOST, State, gauss_seidel
from kinetree.contacts.problem import Problem, residuals
from kinetree.contacts.sets import largest
from kinetree.scalars.functions import Scalar, select_less
from kinetree.scalars.linalg import Vector
from kinetree.scalars.loops import recording, repeat

METHODS = ("auto", "pgs", "admm")
"""Projected Gauss–Seidel sweeps, the method of multipliers, or some of the former and then the latter."""

SWEEPS = 100.0
"""Of "auto", before the method of multipliers takes over."""

ITERATIONS = 250.0
"""Of that, before sweeps take over again."""

GROWTH = 3.0
"""So many times as many sweeps at the next turn."""

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
        State and iterations, of both methods.
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
    if not problem.sets:
        return Solution([], [], 0.0, 0.0, 0.0, 0.0)
    given, problem = problem, problem.prepared()
    none = [0.0] * len(problem.g)
    force = none if start is None else problem.project(start)
    least = tolerance * largest([abs(x) for x in problem.g])
    sigma = problem.motion(force)
    s = State(force, sigma, 0.0, 1.0)
    if method == "pgs":
        s = gauss_seidel(problem, s, least, max_iterations)
    elif method == "admm":
        s = admm(problem, s, least, max_iterations)
    else:
        s = _in_turns(problem, s, least, max_iterations)
    sigma = given.motion(s.force)
    return Solution(s.force, sigma, s.count, *residuals(given, s.force, sigma))


def _in_turns(problem: Problem, s: State, least: Scalar, most: Scalar) -> State:
    """Return forces after some sweeps, then some iterations of ADMM, then more sweeps and so on.

    Few sweeps are enough for most problems, ADMM solves many others, stacks of light and heavy bodies for instance, and
    where it goes in circles sweeps often arrive.
    """

    def turn(t: _Turn) -> _Turn:
        s = admm(problem, t.state, least, _smaller(most, t.state.count + ITERATIONS))
        return _Turn(gauss_seidel(problem, s, least, _smaller(most, s.count + t.sweeps)), t.sweeps * GROWTH)

    s = gauss_seidel(problem, s, least, _smaller(most, SWEEPS))
    like = recording(*problem.g, *s.force, least)
    turns = repeat(
        turn,
        _Turn(s, SWEEPS * GROWTH),
        until=lambda t: t.state.going * (most - t.state.count) < 0.5,
        most=MOST,
        like=like,
    )
    return turns.state


class _Turn(NamedTuple):
    """What the loop over turns carries: where it is, and how many sweeps are next."""

    state: State
    sweeps: Scalar


def _smaller(x: Scalar, y: Scalar) -> Scalar:
    return select_less(x, y, x, y)
