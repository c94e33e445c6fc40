"""Projected Gauss–Seidel sweeps over contacts."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.problem import Problem, going_on
from kinetree.scalars.functions import Scalar, select_less
from kinetree.scalars.linalg import Vector
from kinetree.scalars.loops import recording, repeat

MOST = 10**7
"""Iterations, whatever is asked for: some seconds."""


class Sweeps(NamedTuple):
    """What the loop carries: forces, the motion that they leave, a count, and 1 while it goes on, else 0."""

    force: list[Scalar]
    sigma: list[Scalar]
    count: Scalar
    going: Scalar


def gauss_seidel(problem: Problem, force: Vector, sigma: Vector, least: Scalar, most: Scalar) -> Sweeps:
    """Return forces after sweeps until the residuals are below `least`; `sigma` is what the first ones leave.

    Of each contact the normal force takes a step of ``1/G_nn``, then the tangential pair one of ``1/λmax`` of its
    block, and what leaves its set is projected back; what each step changes is in σ at once. A fixed point solves the
    unrelaxed problem. (Steps as in Bullet; Jourdan, Alart and Jean 1998. The larger step ``1/min(G_11, G_22)`` that
    others take along the plane need not converge.)
    """
    G, n = problem.G, len(problem.g)
    blocks = [(each, at, [row[at] for row in G[at]]) for each, at in problem.blocks]
    steps = [each.steps(block) for each, _, block in blocks]

    def sweep(s: Sweeps) -> Sweeps:
        force, sigma = list(s.force), list(s.sigma)
        for (each, at, block), step in zip(blocks, steps, strict=True):
            new = each.relaxed(force[at], sigma[at], block, step)
            changes = [a - b for a, b in zip(new, force[at], strict=True)]
            force[at] = new
            for i in range(n):
                for x, change in zip(reversed(G[i][at]), reversed(changes), strict=True):  # the normal one is first
                    sigma[i] = sigma[i] + x * change
        count = s.count + 1.0
        return Sweeps(force, sigma, count, within(count, most, going_on(problem, force, sigma, least)))

    start = Sweeps(list(force), list(sigma), 0.0, within(0.0, most, going_on(problem, force, sigma, least)))
    like = recording(*problem.g, *force, *(x for row in G for x in row))
    return repeat(sweep, start, until=lambda s: s.going < 0.5, most=MOST, like=like)


def within(count: Scalar, most: Scalar, going: Scalar) -> Scalar:
    """Return `going` while the count is below its limit, then 0."""
    return select_less(count, most, going, 0.0)
