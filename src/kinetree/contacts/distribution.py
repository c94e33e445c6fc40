"""The best distribution of forces over contacts that balance a given motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.contacts.admm import BLOCK, FACTOR, ROUND, largest_size, within_factor
from kinetree.contacts.problem import MOST
from kinetree.contacts.sets import ForceSet, or_nan, within
from kinetree.scalars.factorization import Factored
from kinetree.scalars.functions import Scalar, or_one, select, select_less
from kinetree.scalars.linalg import Matrix, Vector, dot, times, transposed
from kinetree.scalars.loops import recording, repeat

EXACT = 1e3
"""The penalty of the equations, beside ρ."""

RANGE = 1e3
"""How far ρ may go from where it begins."""


class Balance(NamedTuple):
    """Forces f with ``E f = c``, in their sets, and joint forces ``τ = d − D f`` within bounds.

    Attributes
    ----------
    E, D : matrices of m columns
    c, d : vectors
    sets : sequence of (ForceSet, sequence of int)
        With their entries of f; what is in none is free.
    weights : (m,) scalars
        R of the cost ``fᵀ R f + w τᵀτ``, positive.
    torque_weight : scalar
        w, 0 or more.
    bounds : vector, optional
        The largest size of each τ.
    """

    E: Matrix
    c: Vector
    D: Matrix
    d: Vector
    sets: Sequence[tuple[ForceSet, Sequence[int]]]
    weights: Vector
    torque_weight: Scalar
    bounds: Vector | None

    def project(self, x: Vector) -> list[Scalar]:
        """Return the nearest forces in their sets."""
        y = list(x)
        for each, rows in self.sets:
            for i, value in zip(rows, each.project([x[i] for i in rows]), strict=True):
                y[i] = value
        return y

    def limited(self, tau: Vector) -> list[Scalar]:
        """Return the nearest joint forces within the bounds."""
        return (
            list(tau) if self.bounds is None else [within(x, or_nan(b)) for x, b in zip(tau, self.bounds, strict=True)]
        )


class _Iterate(NamedTuple):
    """Forces in their sets, their multipliers, those of τ and of the equations; residuals, ρ, a count and a flag."""

    y: list[Scalar]
    tau: list[Scalar]
    z: list[Scalar]
    z_tau: list[Scalar]
    z_equal: list[Scalar]
    primal: Scalar
    moved: Scalar
    rho: Scalar
    count: Scalar
    going: Scalar


def distribute(problem: Balance, tolerance: Scalar, most: Scalar) -> tuple[list[Scalar], Scalar]:
    """Return the forces of least cost, in their sets, and the number of iterations.

    By the alternating direction method of multipliers: x balances the motion at the least cost, y is in the sets. It
    ends when they differ by at most `tolerance` times the largest of c and d, and move by no more. Where no forces in
    the sets balance it, y goes to those that are nearest to some that do.

    References: Boyd et al., Distributed optimization and statistical learning via ADMM (2011); Stellato et al., OSQP
    (2020), for the equations as stiff bounds; Bauschke and Moursi, On the Douglas–Rachford algorithm (2017), for what
    cannot be balanced.
    """
    m = len(problem.weights)
    if not m:
        return [], 0.0
    in_sets = {i for _, rows in problem.sets for i in rows}
    squares_E, squares_D = _gram(problem.E, m), _gram(problem.D, m)
    mean = or_one(dot(problem.weights, [1.0 / m] * m))
    least = tolerance * largest_size([*problem.c, *problem.d])
    boxed = float(problem.bounds is not None)
    like = recording(*problem.weights, *problem.c, *problem.d, problem.torque_weight)

    def some(s: _Iterate) -> _Iterate:
        rho = s.rho
        on_tau, on_E = problem.torque_weight + rho * boxed, rho * EXACT
        K = [
            [on_tau * a + on_E * b for a, b in zip(*rows, strict=True)]
            for rows in zip(squares_D, squares_E, strict=True)
        ]
        for i in range(m):
            K[i][i] = K[i][i] + problem.weights[i] + (rho if i in in_sets else 0.0)
        factors, end = Factored(K, BLOCK), select_less(s.count + ROUND, most, s.count + ROUND, most)

        def once(s: _Iterate) -> _Iterate:
            return _iteration(problem, in_sets, factors, s, rho, least, mean)

        s = repeat(once, s, until=lambda s: s.going * (end - s.count) < 0.5, most=ROUND, like=like)
        revised = rho * within_factor(s.primal, s.moved, FACTOR)
        revised = select_less(revised, mean * (1.0 / RANGE), mean * (1.0 / RANGE), revised)
        return s._replace(rho=select_less(mean * RANGE, revised, mean * RANGE, revised))

    nothing = [0.0] * m
    n, p = len(problem.d), len(problem.c)
    first = _Iterate(
        problem.project(nothing), problem.limited(problem.d), nothing, [0.0] * n, [0.0] * p, 0.0, 0.0, mean, 0.0, 1.0
    )
    s = repeat(some, first, until=lambda s: s.going * (most - s.count) < 0.5, most=MOST, like=like)
    return s.y, s.count


def _iteration(
    problem: Balance, in_sets: set[int], factors: Factored, s: _Iterate, rho: Scalar, least: Scalar, mean: Scalar
) -> _Iterate:
    """Return the next iterate."""
    E, D, on_E = problem.E, problem.D, rho * EXACT
    r = [rho * y - z if i in in_sets else 0.0 for i, (y, z) in enumerate(zip(s.y, s.z, strict=True))]
    pull = [problem.torque_weight * d for d in problem.d]
    if problem.bounds is not None:
        pull = [a + rho * (d - t) + z for a, d, t, z in zip(pull, problem.d, s.tau, s.z_tau, strict=True)]
    r = _plus(r, _back(D, pull))
    r = _plus(r, _back(E, [on_E * c + z for c, z in zip(problem.c, s.z_equal, strict=True)]))
    x = factors.solve(r)
    open_ = [c - b for c, b in zip(problem.c, times(E, x), strict=True)]
    wanted = [d - b for d, b in zip(problem.d, times(D, x), strict=True)]
    per_rho = 1.0 / rho
    y = problem.project([a + z * per_rho for a, z in zip(x, s.z, strict=True)])
    apart = [a - b if i in in_sets else 0.0 for i, (a, b) in enumerate(zip(x, y, strict=True))]
    y = [b if i in in_sets else a for i, (a, b) in enumerate(zip(x, y, strict=True))]
    tau, beyond = wanted, [0.0] * len(wanted)
    if problem.bounds is not None:
        tau = problem.limited([a + z * per_rho for a, z in zip(wanted, s.z_tau, strict=True)])
        beyond = [a - b for a, b in zip(wanted, tau, strict=True)]
    moved = largest_size([a - b for a, b in zip(y, s.y, strict=True)])
    primal = largest_size([*apart, *beyond, *open_])
    still = select(primal <= least, select(moved * (1.0 + rho / mean) <= least, 0.0, 1.0), 1.0)
    return _Iterate(
        y,
        tau,
        [z + rho * a for z, a in zip(s.z, apart, strict=True)],
        [z + rho * a for z, a in zip(s.z_tau, beyond, strict=True)],
        [z + on_E * a for z, a in zip(s.z_equal, open_, strict=True)],
        primal,
        moved,
        rho,
        s.count + 1.0,
        select(moved >= 0.0, still, 0.0),  # not for NaN
    )


def _gram(A: Matrix, m: int) -> list[list[Scalar]]:
    """Return ``AᵀA`` of a matrix of m columns."""
    columns = transposed(A) if A else [[] for _ in range(m)]
    G: list[list[Scalar]] = [[0.0] * m for _ in range(m)]
    for i, x in enumerate(columns):
        for j in range(i + 1):
            G[i][j] = G[j][i] = dot(x, columns[j])
    return G


def _back(A: Matrix, y: Vector) -> list[Scalar]:
    """Return ``Aᵀ y``; nothing for a matrix without rows."""
    return times(transposed(A), y) if A else []


def _plus(a: Vector, b: Vector) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)] if b else list(a)
