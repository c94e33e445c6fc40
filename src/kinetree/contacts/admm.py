"""The alternating direction method of multipliers (ADMM) for the contact problem."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.gauss_seidel import MOST, State
from kinetree.contacts.problem import Problem, going_on
from kinetree.scalars.factorization import ldl
from kinetree.scalars.functions import Scalar, select_less, sqrt
from kinetree.scalars.linalg import Matrix, Vector, dot, transposed
from kinetree.scalars.loops import recording, repeat

PROXIMAL = 1e-6
"""η, beside the mean eigenvalue of G: what keeps x near the last one where G is singular."""

PENALTY = 0.5
"""The first ρ, beside the mean eigenvalue of G."""

FACTOR = 10.0
"""By how much ρ changes at once, at most."""

ROUND = 10
"""Iterations with one ρ, and one factorisation."""

BLOCK = 12
"""Columns of the factorisation's blocks, which are straight-line code."""


class Iterate(NamedTuple):
    """What the loops carry: the two copies of the forces, their multipliers, and how far it is.

    `force` is in the sets, `x` solves the equations; `z` goes to ``σ + shift``. `primal` is by how much the copies
    differ, `moved` by how much x has moved.
    """

    x: list[Scalar]
    force: list[Scalar]
    z: list[Scalar]
    primal: Scalar
    moved: Scalar
    rho: Scalar
    count: Scalar
    going: Scalar


def admm(problem: Problem, start: State, least: Scalar, most: Scalar) -> State:
    """Return forces after iterations until the residuals are below `least`, or there have been `most` in all.

    ``x = (G + (ρ + η))⁻¹ (ρ y + η x + z − g − s)``, y in the sets, and s De Saxcé's shift at the multipliers z. ρ is
    spectral, by the residuals of the splitting, and revised every ten iterations (Carpentier, Le Lidec and Montaut,
    From compliant to rigid contact simulation, arXiv 2405.17020).
    """
    G, n = problem.G, len(problem.g)
    scale = or_one(dot([G[i][i] for i in range(n)], [1.0 / n] * n))
    eta = PROXIMAL * scale
    z = [a + b for a, b in zip(start.sigma, problem.shift(start.sigma), strict=True)]
    first = Iterate(start.force, start.force, z, 0.0, 0.0, PENALTY * scale, start.count, start.going)
    like = recording(*problem.g, *start.force, scale)

    def some(s: Iterate) -> Iterate:
        rho = s.rho
        solve = Solve([[x + (rho + eta) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(G)], BLOCK)
        end = select_less(s.count + ROUND, most, s.count + ROUND, most)

        def once(s: Iterate) -> Iterate:
            return _iteration(problem, solve, s, rho, eta, least, scale)

        s = repeat(once, s, until=lambda s: s.going * (end - s.count) < 0.5, most=ROUND, like=like)
        true = going_on(problem, s.force, problem.motion(s.force), least)  # that of x was seen until here
        going = select_less(s.going, 0.5, true, s.going)
        return s._replace(rho=rho * within_factor(s.primal, s.moved, FACTOR), going=going)

    s = repeat(some, first, until=lambda s: s.going * (most - s.count) < 0.5, most=MOST, like=like)
    sigma = problem.motion(s.force)
    return State(s.force, sigma, s.count, going_on(problem, s.force, sigma, least))


def _iteration(
    problem: Problem, solve: Solve, s: Iterate, rho: Scalar, eta: Scalar, least: Scalar, scale: Scalar
) -> Iterate:
    """Return the next iterate.

    With it the equations give σ of x without a product: ``(G + R) x + g = z − s − η Δx``.
    """
    per_rho = 1.0 / rho
    y = problem.project([x - z * per_rho for x, z in zip(s.x, s.z, strict=True)])
    shift = problem.shift(s.z)
    x = solve([rho * b + eta * a + c - g - d for a, b, c, g, d in zip(s.x, y, s.z, problem.g, shift, strict=True)])
    apart = [a - b for a, b in zip(x, y, strict=True)]
    moved = [a - b for a, b in zip(x, s.x, strict=True)]
    z = [a - rho * b for a, b in zip(s.z, apart, strict=True)]
    sigma = [a - b - eta * c for a, b, c in zip(z, shift, moved, strict=True)]
    primal, largest_move = largest_size(apart), largest_size(moved)
    going = going_on(problem, y, sigma, least)
    going = select_less(least, scale * primal, 1.0, going)
    return Iterate(x, y, z, primal, largest_move, rho, s.count + 1.0, going)


def within_factor(primal: Scalar, moved: Scalar, factor: Scalar) -> Scalar:
    """Return by what to multiply ρ: more where the copies differ more than they move, less where less."""
    change = sqrt(primal / or_one(moved))
    change = select_less(0.0, moved, change, factor)
    change = select_less(change, 1.0 / factor, 1.0 / factor, change)
    return select_less(factor, change, factor, change)


class Solve:
    """Solutions ``A⁻¹ b`` by ``A = L D Lᵀ``."""

    def __init__(self, A: Matrix, block: int) -> None:
        self.L, D = ldl(A, block)
        self.columns, self.inverse = transposed(self.L), [1.0 / d for d in D]

    def __call__(self, b: Vector) -> list[Scalar]:
        """Return ``A⁻¹ b``."""
        x, n = list(b), len(b)
        for i in range(n):
            x[i] = x[i] - dot(self.L[i][:i], x[:i])
        x = [y * d for y, d in zip(x, self.inverse, strict=True)]
        for i in reversed(range(n)):
            x[i] = x[i] - dot(self.columns[i][i + 1 :], x[i + 1 :])
        return x


def or_one(x: Scalar) -> Scalar:
    """Return x, 1 where it is not positive: a divisor."""
    return select_less(0.0, x, x, 1.0)


def largest_size(values: Vector) -> Scalar:
    """Return the largest of the sizes of numbers."""
    found: Scalar = 0.0
    for x in values:
        size = abs(x)
        found = select_less(size, found, found, size)
    return found
