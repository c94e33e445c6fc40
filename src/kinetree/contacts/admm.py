"""The alternating direction method of multipliers (ADMM) for the contact problem."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.problem import MOST, Problem, State, going_on
from kinetree.scalars.factorization import Factored
from kinetree.scalars.functions import Scalar, or_one, select_less, sqrt
from kinetree.scalars.linalg import Vector, dot
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
    From compliant to rigid contact simulation, arXiv 2405.17020). What the loops carry is of the `balanced` problem;
    the residuals are those of the problem itself.
    """
    given, (problem, units) = problem, balanced(problem)
    G, n, per_unit = problem.G, len(problem.g), [1.0 / u for u in units]
    scale = or_one(dot([G[i][i] for i in range(n)], [1.0 / n] * n))
    eta = PROXIMAL * scale
    z = [(a + b) * u for a, b, u in zip(start.sigma, given.shift(start.sigma), units, strict=True)]
    x = [f * p for f, p in zip(start.force, per_unit, strict=True)]
    first = Iterate(x, x, z, 0.0, 0.0, PENALTY * scale, start.count, start.going)
    like = recording(*problem.g, *start.force, scale)

    def going(y: Vector, sigma: Vector) -> Scalar:
        force = [a * u for a, u in zip(y, units, strict=True)]
        return going_on(given, force, [a * p for a, p in zip(sigma, per_unit, strict=True)], least)

    def some(s: Iterate) -> Iterate:
        rho = s.rho
        A = [[x + (rho + eta) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(G)]
        factors = Factored(A, BLOCK)
        end = select_less(s.count + ROUND, most, s.count + ROUND, most)

        def once(s: Iterate) -> Iterate:
            s, sigma, apart = _iteration(problem, factors, s, rho, eta)
            far = select_less(least, largest_size([a * p for a, p in zip(apart, per_unit, strict=True)]), 1.0, 0.0)
            return s._replace(going=select_less(0.5, far, 1.0, going(s.force, sigma)))

        s = repeat(once, s, until=lambda s: s.going * (end - s.count) < 0.5, most=ROUND, like=like)
        true = going(s.force, problem.motion(s.force))  # that of x was seen until here
        on = select_less(s.going, 0.5, true, s.going)
        return s._replace(rho=rho * within_factor(s.primal, s.moved, FACTOR), going=on)

    s = repeat(some, first, until=lambda s: s.going * (most - s.count) < 0.5, most=MOST, like=like)
    force = [y * u for y, u in zip(s.force, units, strict=True)]
    sigma = given.motion(force)
    return State(force, sigma, s.count, going_on(given, force, sigma, least))


def balanced(problem: Problem) -> tuple[Problem, list[Scalar]]:
    """Return the problem of forces in other units, and the unit of each row, of which each set has one.

    In these units all sets have the same mobility: light joints at their stops, beside a heavy body on its feet, take a
    tenth of the iterations.
    """
    units: list[Scalar] = []
    for each, at in problem.blocks:
        mobility = dot([problem.G[i][i] for i in range(at.start, at.stop)], [1.0 / each.size] * each.size)
        units += [1.0 / sqrt(or_one(mobility))] * each.size
    G = [[x * (a * b) for x, b in zip(row, units, strict=True)] for row, a in zip(problem.G, units, strict=True)]
    sets = [each.in_units(units[at.start]) for each, at in problem.blocks]
    return Problem(G, [x * u for x, u in zip(problem.g, units, strict=True)], sets), units


def _iteration(
    problem: Problem, factors: Factored, s: Iterate, rho: Scalar, eta: Scalar
) -> tuple[Iterate, list[Scalar], list[Scalar]]:
    """Return the next iterate, its σ, and how far its copies are apart.

    With it the equations give σ of x without a product: ``(G + R) x + g = z − s − η Δx``.
    """
    per_rho = 1.0 / rho
    y = problem.nearest([x - z * per_rho for x, z in zip(s.x, s.z, strict=True)], per_rho)
    shift = problem.shift(s.z)
    x = factors.solve(
        [rho * b + eta * a + c - g - d for a, b, c, g, d in zip(s.x, y, s.z, problem.g, shift, strict=True)]
    )
    apart = [a - b for a, b in zip(x, y, strict=True)]
    moved = [a - b for a, b in zip(x, s.x, strict=True)]
    z = [a - rho * b for a, b in zip(s.z, apart, strict=True)]
    sigma = [a - b - eta * c for a, b, c in zip(z, shift, moved, strict=True)]
    iterate = Iterate(x, y, z, largest_size(apart), largest_size(moved), rho, s.count + 1.0, s.going)
    return iterate, sigma, apart


def within_factor(primal: Scalar, moved: Scalar, factor: Scalar) -> Scalar:
    """Return by what to multiply ρ: more where the copies differ more than they move, less where less."""
    change = sqrt(primal / or_one(moved))
    change = select_less(0.0, moved, change, factor)
    change = select_less(change, 1.0 / factor, 1.0 / factor, change)
    return select_less(factor, change, factor, change)


def largest_size(values: Vector) -> Scalar:
    """Return the largest of the sizes of numbers."""
    found: Scalar = 0.0
    for x in values:
        size = abs(x)
        found = select_less(size, found, found, size)
    return found
