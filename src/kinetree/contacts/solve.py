"""The solution of the contact problem by the methods that there are, and contact solvers as values."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Complex
from typing import Any, ClassVar, NamedTuple

from kinetree.contacts.admm import admm
from kinetree.contacts.problem import MOST, UNROLLED, Problem, State, gauss_seidel
from kinetree.contacts.sets import largest
from kinetree.errors import ArgumentError
from kinetree.options import Check, count, option, positive, value
from kinetree.scalars.functions import Scalar, is_zero, select_less, smaller
from kinetree.scalars.linalg import Vector
from kinetree.scalars.loops import recording, repeat
from kinetree.validation import real_array

SWEEPS = 100.0
"""Of both in turns, before the method of multipliers takes over."""

ITERATIONS = 250.0
"""Of that, before sweeps take over again."""

GROWTH = 3.0
"""So many times as many sweeps at the next turn."""

TOLERANCE = 1e-6
"""Of the residuals, beside the size of g and of the largest force."""

MOST_ITERATIONS = 1000.0

NUMBERS = ("tolerance", "max_iterations")
"""What a solver has beside its method."""


class Solution(NamedTuple):
    """Forces λ in their sets, the motion ``σ = G λ + g`` that they leave, and how far that is from a solution.

    `primal` is by how much a force is outside its set (the unit of λ), `dual` how fast something goes where nothing may
    (the unit of σ), `complementarity` ``λ · (σ + shift)``: the force on what separates, and what friction does not take
    of a sliding contact. Each is the largest over the sets.
    """

    force: list[Scalar]
    sigma: list[Scalar]
    iterations: Scalar
    primal: Scalar
    dual: Scalar
    complementarity: Scalar


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    start: Vector | None = None,
    tolerance: Scalar = TOLERANCE,
    max_iterations: Scalar = MOST_ITERATIONS,
    size: Scalar | None = None,
) -> Solution:
    """Return forces and motions that fulfil the laws of the sets, with Coulomb's cone as it is.

    It is done when the dual residual is at most `tolerance` times the `size` of motions, the largest entry of g if not
    given, and the complementarity that times the largest force; or after `max_iterations`. Nothing is raised then: the
    residuals tell. They are computed from the final forces. A NaN makes all forces that it reaches NaN, and ends the
    iteration.

    Forces to begin with, `start`, are brought into the sets.

    A block of 1 kg whose weight is 9.81 N is pushed along by 2 N, where friction could hold 4.905 N:

    >>> from kinetree.contacts.sets import FrictionCone
    >>> G = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> found = solve(Problem(G, [2.0, 0.0, -9.81], [FrictionCone(0.5)]))
    >>> found.force, found.sigma
    ([-2.0, 0.0, 9.81], [0.0, 0.0, 0.0])
    """
    if not problem.sets:
        return Solution([], [], 0.0, 0.0, 0.0, 0.0)
    given, G = problem, problem.G
    g = [0.0 if is_zero(G[i][i]) else select_less(0.0, G[i][i], x, 0.0) for i, x in enumerate(given.g)]
    problem = given._replace(g=g)  # rows on which no force acts have no motion either
    force = [0.0] * len(g) if start is None else problem.project(start)
    least = tolerance * (largest([abs(x) for x in problem.g]) if size is None else size)
    sigma = problem.motion(force)
    method = {"pgs": gauss_seidel, "admm": admm}.get(solver, _in_turns)
    s = method(problem, State(force, sigma, 0.0, 1.0), least, max_iterations)
    sigma = given.motion(s.force)
    residuals = (each.residuals(s.force[at], sigma[at]) for each, at in given.blocks)
    return Solution(s.force, sigma, s.count, *map(largest, zip(*residuals, strict=True)))


def _in_turns(problem: Problem, s: State, least: Scalar, most: Scalar) -> State:
    """Return forces after some sweeps, then some iterations of ADMM, then more sweeps and so on.

    Few sweeps are enough for most problems, ADMM solves many others, stacks of light and heavy bodies for instance, and
    where it goes in circles sweeps often arrive.
    """
    like = recording(*problem.g, *s.force, *(x for row in problem.G for x in row))
    captured = dict[int, int]()

    def sweeps(t: _Turn, captured: dict[int, int] | None = None) -> State:
        return gauss_seidel(problem, t.state, least, smaller(most, t.state.count + t.sweeps), captured)

    def iterations(s: State) -> State:
        return admm(problem, s, least, smaller(most, s.count + ITERATIONS))

    def turn(t: _Turn) -> _Turn:
        return _Turn(sweeps(t._replace(state=iterations(t.state))), t.sweeps * GROWTH)

    def large_turn(t: _Turn) -> _Turn:
        s = repeat(iterations, sweeps(t), until=arrived, most=1, like=like)
        return _Turn(s, t.sweeps * GROWTH)

    def arrived(s: State) -> Any:
        return s.going * (most - s.count) < 0.5

    t = _Turn(s, SWEEPS)
    if len(problem.g) <= UNROLLED:
        turn_of, t = turn, _Turn(sweeps(t, captured), SWEEPS * GROWTH)
    else:
        turn_of = large_turn  # code for sweeps is there once
    return repeat(turn_of, t, until=lambda t: arrived(t.state), most=MOST, like=like, captured=captured).state


class _Turn(NamedTuple):
    """What the loop over turns carries: where it is, and how many sweeps are next."""

    state: State
    sweeps: Scalar


def _if_known(check: Check) -> Check:
    """Return a check that passes over arrays, of states, and arguments of functions that are being compiled."""

    def checked(name: str, given: Any) -> Any:
        if isinstance(given, list | tuple):
            real_array(name, given)
        return check(name, given) if isinstance(given, Complex | str | Mapping) else given

    return checked


@value
class ContactSolver:
    """How contact problems are solved: by Gauss–Seidel sweeps, and what they do not solve by ADMM, in turns.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.ContactSolver(tolerance=1e-9)
    ContactSolver(tolerance=1e-09)
    """

    tolerance: float | None = option(
        default=None,
        help="of the residuals: dual beside the largest motion of a contact that there would be without its forces, "
        "and complementarity beside that and the largest force; 1e-6 if not given",
        check=_if_known(positive),
    )
    max_iterations: int | None = option(
        default=None, help="sweeps and iterations; 1000 if not given", check=_if_known(count)
    )

    method: ClassVar[str] = "auto"

    @property
    def arguments(self) -> dict[str, Any]:
        """What `kinetree.contacts.solve` takes of it, by name."""
        return {"solver": self.method} | {name: x for name, x in vars(self).items() if x is not None}


@value
class GaussSeidel(ContactSolver):
    """Projected Gauss–Seidel sweeps alone."""

    method: ClassVar[str] = "pgs"


@value
class ADMM(ContactSolver):
    """The alternating direction method of multipliers alone."""

    method: ClassVar[str] = "admm"


SOLVERS = {kind.method: kind for kind in (ContactSolver, GaussSeidel, ADMM)}


def solver_of(parts: Mapping[str, Any]) -> ContactSolver:
    """Return the solver of which these are the `arguments`, unchecked: of a program they are no numbers yet."""
    solver = object.__new__(SOLVERS[parts.get("solver", ContactSolver.method)])
    solver.__dict__.update({name: parts.get(name) for name in NUMBERS})
    return solver


def checked_solver(name: str, given: Any) -> ContactSolver:
    """Return a solver as it was given; `ArgumentError` where it is not one."""
    if not isinstance(given, ContactSolver):
        raise ArgumentError(f"{name} is {given!r}: write kinetree.GaussSeidel(…), ADMM(…) or ContactSolver(…)")
    return given
