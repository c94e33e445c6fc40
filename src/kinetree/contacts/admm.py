"""The alternating direction method of multipliers: contact problems, and forces of least cost in inverse dynamics."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.contacts.problem import MOST, Problem, State, not_converged
from kinetree.contacts.sets import ForceSet, or_nan, within
from kinetree.scalars.factorization import Factored
from kinetree.scalars.functions import Scalar, larger, or_one, select, select_less, smaller, sqrt
from kinetree.scalars.linalg import Matrix, Vector, dot, minus, times, transposed
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
        return not_converged(given, force, [a * p for a, p in zip(sigma, per_unit, strict=True)], least)

    def some(s: Iterate) -> Iterate:
        rho = s.rho
        A = [[x + (rho + eta) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(G)]
        factors = Factored(A, BLOCK)
        end = smaller(s.count + ROUND, most)

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
    return State(force, sigma, s.count, not_converged(given, force, sigma, least))


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
    """Return the next iterate, its σ by ``(G + R) x + g = z − s − η Δx``, and how far its copies are apart."""
    per_rho = 1.0 / rho
    y = problem.nearest([x - z * per_rho for x, z in zip(s.x, s.z, strict=True)], per_rho)
    shift = problem.shift(s.z)
    x = factors.solve(
        [rho * b + eta * a + c - g - d for a, b, c, g, d in zip(s.x, y, s.z, problem.g, shift, strict=True)]
    )
    apart, moved = minus(x, y), minus(x, s.x)
    z = [a - rho * b for a, b in zip(s.z, apart, strict=True)]
    sigma = [a - b - eta * c for a, b, c in zip(z, shift, moved, strict=True)]
    iterate = Iterate(x, y, z, largest_size(apart), largest_size(moved), rho, s.count + 1.0, s.going)
    return iterate, sigma, apart


def within_factor(primal: Scalar, moved: Scalar, factor: Scalar) -> Scalar:
    """Return by what to multiply ρ: more where the copies differ more than they move, less where less."""
    change = sqrt(primal / or_one(moved))
    change = select_less(0.0, moved, change, factor)
    return smaller(factor, larger(change, 1.0 / factor))


def largest_size(values: Vector) -> Scalar:
    """Return the largest of the sizes of numbers."""
    return functools.reduce(lambda found, x: larger(abs(x), found), values, 0.0)


EXACT = 1e3
"""The penalty of the equations, beside ρ."""

RANGE = 1e3
"""How far ρ may go from where it begins."""


class Balance(NamedTuple):
    """Forces f with ``E f = c``, in their sets, and joint forces ``τ = d − D f`` within bounds, of the least cost.

    That is ``fᵀ R f + w τᵀτ``, of R the weights. What is in none of the sets, which come with their entries of f, is
    free; the bounds are the largest size of each τ.
    """

    E: Matrix
    c: Vector
    D: Matrix
    d: Vector
    sets: Sequence[tuple[ForceSet, Sequence[int]]]
    weights: Vector
    torque_weight: Scalar
    bounds: Vector | None

    def project(self, u: Vector) -> list[Scalar]:
        """Return what is nearest to forces of the sets and then, of joints with bounds, to ``D f``, within these."""
        y = list[Scalar]()
        for each, rows in self.sets:
            y += each.project(u[len(y) : len(y) + len(rows)])
        bounded = zip(u[len(y) :], self.d, self.bounds or (), strict=False)
        return y + [d - within(d - x, or_nan(b)) for x, d, b in bounded]


class _Balancing(NamedTuple):
    """Forces within sets, what is limited within its bounds, its multipliers, residuals, ρ, a count and a flag."""

    f: list[Scalar]
    y: list[Scalar]
    z: list[Scalar]
    primal: Scalar
    moved: Scalar
    rho: Scalar
    count: Scalar
    going: Scalar


def distribute(problem: Balance, tolerance: Scalar, most: Scalar) -> tuple[list[Scalar], Scalar]:
    """Return the forces of least cost, in their sets, and the number of iterations.

    By the alternating direction method of multipliers: x balances the motion at the least cost, y is in the sets. It
    ends when they differ by at most `tolerance` times the largest of c and d, and move by no more. Where no forces in
    the sets balance it, y goes to those that are nearest to some that do. What is limited is ``A x``: forces of sets,
    joint forces that have bounds, and the equations, which have more weight.

    References: Boyd et al., Distributed optimization and statistical learning via ADMM (2011); Stellato et al., OSQP
    (2020), for the equations as stiff bounds; Bauschke and Moursi, On the Douglas–Rachford algorithm (2017), for what
    cannot be balanced.
    """
    m = len(problem.weights)
    if not m:
        return [], 0.0
    limited = [i for _, rows in problem.sets for i in rows]
    A: list[Vector] = [[float(i == j) for j in range(m)] for i in limited]
    A += [] if problem.bounds is None else problem.D
    size = len(A)
    A += problem.E
    columns, of_torques, of_equations = (
        transposed(rows) if rows else [[] for _ in range(m)] for rows in (A, problem.D, problem.E)
    )
    squares = [[[dot(x, y) for y in each[: i + 1]] for i, x in enumerate(each)] for each in (of_torques, of_equations)]
    pull = [problem.torque_weight * dot(column, problem.d) for column in of_torques]
    mean = or_one(dot(problem.weights, [1.0 / m] * m))
    least = tolerance * largest_size([*problem.c, *problem.d])
    like = recording(*problem.weights, *problem.c, *problem.d, problem.torque_weight)

    def some(s: _Balancing) -> _Balancing:
        rho, per_rho, end = s.rho, 1.0 / s.rho, smaller(s.count + ROUND, most)
        stiff = [rho] * size + [rho * EXACT] * len(problem.E)
        on_torques = problem.torque_weight + (0.0 if problem.bounds is None else rho)
        K = [
            [on_torques * x + (rho * EXACT) * y for x, y in zip(*row, strict=True)]
            for row in zip(*squares, strict=True)
        ]
        for i, weight in enumerate(problem.weights):
            K[i][i] = K[i][i] + weight + (rho if i in limited else 0.0)
        factors = Factored([[K[max(i, j)][min(i, j)] for j in range(m)] for i in range(m)], BLOCK)

        def once(s: _Balancing) -> _Balancing:
            goal = [r * y - z for r, y, z in zip(stiff, (*s.y, *problem.c), s.z, strict=True)]
            x = factors.solve([a + dot(column, goal) for a, column in zip(pull, columns, strict=True)])
            u = times(A, x)
            y = problem.project([a + z * per_rho for a, z in zip(u[:size], s.z, strict=False)])
            apart = minus(u, [*y, *problem.c])
            f = _placed(x, limited, y)
            moved = largest_size(minus(f, s.f))
            primal, z = largest_size(apart), [z + r * a for r, z, a in zip(stiff, s.z, apart, strict=True)]
            still = select(primal <= least, select(moved * (1.0 + rho / mean) <= least, 0.0, 1.0), 1.0)
            going = select(moved >= 0.0, still, 0.0)  # not for NaN
            return _Balancing(f, y, z, primal, moved, rho, s.count + 1.0, going)

        s = repeat(once, s, until=lambda s: s.going * (end - s.count) < 0.5, most=ROUND, like=like)
        revised = larger(rho * within_factor(s.primal, s.moved, FACTOR), mean * (1.0 / RANGE))
        return s._replace(rho=smaller(mean * RANGE, revised))

    y = problem.project([0.0] * size)
    first = _Balancing(_placed([0.0] * m, limited, y), y, [0.0] * len(A), 0.0, 0.0, mean, 0.0, 1.0)
    s = repeat(some, first, until=lambda s: s.going * (most - s.count) < 0.5, most=MOST, like=like)
    return s.f, s.count


def _placed(x: Vector, rows: Sequence[int], values: Vector) -> list[Scalar]:
    """Return x with the first values in these rows."""
    found = list(x)
    for i, value in zip(rows, values, strict=False):
        found[i] = value
    return found
