"""The alternating direction method of multipliers (ADMM) for the contact problem."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.gauss_seidel import MOST, within
from kinetree.contacts.problem import Problem, going_on
from kinetree.scalars.factorization import ldl
from kinetree.scalars.functions import Scalar, select, select_less, sqrt
from kinetree.scalars.linalg import Matrix, Vector, dot, transposed
from kinetree.scalars.loops import recording, repeat

PROXIMAL = 1e-6
"""η, beside the mean eigenvalue of G: what keeps x near the last one where G is singular."""

PENALTY = 0.1
"""The first ρ, beside the norm of G."""

FACTOR = 3.0
"""By how much ρ is changed at once."""

RATIO = 10.0
"""ρ changes where one residual is so many times the other."""

ROUND = 10
"""Iterations with one ρ, and one factorisation."""

UNROLLED = 40
"""The number of rows up to which the factorisation is straight-line code."""


class Iterate(NamedTuple):
    """What the loops carry: the two copies of the forces, their multipliers, and how far it is.

    `force` is in the sets, `x` solves the equations; `z` goes to ``σ + shift``. `primal` and `dual` are the residuals
    of the splitting, in units of force and of ρ times force.
    """

    x: list[Scalar]
    force: list[Scalar]
    z: list[Scalar]
    primal: Scalar
    dual: Scalar
    rho: Scalar
    count: Scalar
    going: Scalar


def admm(
    problem: Problem, force: Vector, sigma: Vector, least: Scalar, count: Scalar, most: Scalar, going: Scalar
) -> Iterate:
    """Return forces after iterations until the residuals are below `least`; `count` of them have been done before.

    ``x = (G + (ρ + η))⁻¹ (ρ y + η x + z − g − s)``, y in the sets, and s De Saxcé's shift at the multipliers z. ρ is
    spectral, by the residuals of the splitting, and revised every ten iterations (Carpentier, Le Lidec and Montaut,
    From compliant to rigid contact simulation, arXiv 2405.17020).
    """
    n = len(problem.g)
    scale = _norm(problem.G)
    eta = PROXIMAL * (1.0 / n) * sum((problem.G[i][i] for i in range(n)), 0.0)
    z = [a + b for a, b in zip(sigma, problem.shift(sigma), strict=True)]
    first = Iterate(list(force), list(force), z, 0.0, 0.0, PENALTY * scale, count, going)
    like = recording(*problem.g, *force, scale)

    def some(s: Iterate) -> Iterate:
        rho = s.rho
        solve = _Solve([[x + (rho + eta) if i == j else x for j, x in enumerate(r)] for i, r in enumerate(problem.G)])
        end = s.count + ROUND

        def once(s: Iterate) -> Iterate:
            return _iteration(problem, solve, s, rho, eta, least, scale, most)

        s = repeat(once, s, until=lambda s: s.going * (end - s.count) < 0.5, most=ROUND, like=like)
        return s._replace(rho=_revised(s))

    return repeat(some, first, until=lambda s: s.going < 0.5, most=MOST, like=like)


def _iteration(
    problem: Problem, solve: _Solve, s: Iterate, rho: Scalar, eta: Scalar, least: Scalar, scale: Scalar, most: Scalar
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
    primal, dual = _largest_size(apart), rho * _largest_size(moved)
    going = going_on(problem, y, sigma, least)
    going = select_less(least, scale * primal, 1.0, going)
    count = s.count + 1.0
    return Iterate(x, y, z, primal, dual, rho, count, within(count, most, going))


def _revised(s: Iterate) -> Scalar:
    """Return the ρ of the next round: larger where the copies differ, smaller where they still move."""
    return select(
        s.primal * s.rho > RATIO * s.dual,
        s.rho * FACTOR,
        select(s.dual > RATIO * s.primal * s.rho, s.rho * (1.0 / FACTOR), s.rho),
    )


class _Solve:
    """Solutions ``A⁻¹ b`` by ``A = L D Lᵀ``."""

    def __init__(self, A: Matrix) -> None:
        self.L, D = ldl(A, UNROLLED)
        self.columns, self.inverse = transposed(self.L), [1.0 / d for d in D]

    def __call__(self, b: Vector) -> list[Scalar]:
        x, n = list(b), len(b)
        for i in range(n):
            x[i] = x[i] - dot(self.L[i][:i], x[:i])
        x = [y * d for y, d in zip(x, self.inverse, strict=True)]
        for i in reversed(range(n)):
            x[i] = x[i] - dot(self.columns[i][i + 1 :], x[i + 1 :])
        return x


def _norm(G: Matrix) -> Scalar:
    """Return Frobenius's norm."""
    return sqrt(sum((x * x for row in G for x in row), 0.0))


def _largest_size(values: Vector) -> Scalar:
    """Return the largest of the sizes of numbers."""
    found: Scalar = 0.0
    for x in values:
        size = abs(x)
        found = select_less(size, found, found, size)
    return found
