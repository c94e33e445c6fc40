"""Projected Gauss–Seidel sweeps over contacts, with extrapolation."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.contacts.problem import Problem, going_on
from kinetree.scalars.functions import Scalar, select, select_less
from kinetree.scalars.linalg import Vector, dot
from kinetree.scalars.loops import recording, repeat

MOST = 10**7
"""Iterations, whatever is asked for: some seconds."""

EVERY = 5.0
"""Sweeps from one extrapolation to the next."""

FARTHEST = 100.0
"""The most that a change is extrapolated by."""


class State(NamedTuple):
    """Forces, the motion σ that they leave, the iterations so far, and 1 while they go on, else 0."""

    force: list[Scalar]
    sigma: list[Scalar]
    count: Scalar
    going: Scalar


class _Sweeps(NamedTuple):
    """What the loop carries: the state, the last change of the forces, and sweeps since the last extrapolation."""

    state: State
    change: list[Scalar]
    since: Scalar


def gauss_seidel(
    problem: Problem, start: State, least: Scalar, most: Scalar, captured: dict[int, int] | None = None
) -> State:
    """Return forces after sweeps until the residuals are below `least`, or there have been `most` in all.

    Of each contact the normal force takes a step of ``1/G_nn``, then the tangential pair one of ``1/λmax`` of its
    block, and what leaves its set is projected back; what each step changes is in σ at once. A fixed point solves the
    unrelaxed problem. (Steps as in Bullet; Jourdan, Alart and Jean 1998. The larger step ``1/min(G_11, G_22)`` that
    others take along the plane need not converge.)

    Where forces are hyperstatic or masses differ the sweeps come to shrink one direction by a constant factor. Every
    few sweeps the geometric series of such changes is added at once (Lyusternik 1947; Aitken's Δ² process): half as
    many sweeps for a humanoid on two feet, a tenth for stacks.

    `captured` is that of `repeat`.
    """
    G, n = problem.G, len(problem.g)
    contacts = [(each, at, each.steps([row[at] for row in G[at]])) for each, at in problem.blocks]

    def sweep(s: _Sweeps) -> _Sweeps:
        sigma, change = list(s.state.sigma), list[Scalar]()
        for each, at, steps in contacts:
            new = each.change(s.state.force[at], sigma[at], steps)
            change += new
            for i in range(n):
                for x, y in zip(reversed(G[i][at]), reversed(new), strict=True):  # the normal one is first
                    sigma[i] = sigma[i] + x * y
        force = [a + b for a, b in zip(s.state.force, change, strict=True)]
        count = s.state.count + 1.0
        due = select_less(s.since, EVERY - 1.5, 0.0, select_less(count + 0.5, most, 1.0, 0.0))
        going = select_less(0.5, due, 1.0, going_on(problem, force, sigma, least))
        k = _farther(change, s.change, due)
        force, sigma = (
            [a + k * (a - b) for a, b in zip(new, old, strict=True)]
            for new, old in ((force, s.state.force), (sigma, s.state.sigma))
        )
        since = select_less(s.since, EVERY - 1.5, s.since + 1.0, 0.0)
        return _Sweeps(State(force, sigma, count, going), change, since)

    like = recording(*problem.g, *start.force, *(x for row in G for x in row))
    first = _Sweeps(start, [0.0] * n, 0.0)
    return repeat(
        sweep,
        first,
        until=lambda s: s.state.going * (most - s.state.count) < 0.5,
        most=MOST,
        like=like,
        captured=captured,
    ).state


def _farther(change: Vector, last: Vector, due: Scalar) -> Scalar:
    """Return ``r/(1 − r)``, what is missing of a geometric series with the ratio r of the last two changes.

    It is 0 where it is not due: of one state compiled code then passes over the division, and no sweep waits for it.
    """
    a, b = dot(change, last), dot(last, last)
    rest = b - a
    due = select((a > 0.0) & (rest > 0.0), due, 0.0)
    near = a < rest * FARTHEST
    of, by = select(near, a, FARTHEST), select_less(0.5, due, select(near, rest, 1.0), 1.0)
    return select_less(0.5, due, of / by, 0.0)
