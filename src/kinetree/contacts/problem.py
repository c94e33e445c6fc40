"""The contact problem in its dual form, and how far forces are from solving it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.contacts.sets import ForceSet, in_pairs
from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import Matrix, Vector, dot
from kinetree.scalars.loops import map_columns, recording, repeat

UNROLLED = 24
"""The number of rows up to which products with G are straight-line code."""


class Problem(NamedTuple):
    """Forces λ in their sets, and the motion ``σ = G λ + g`` that they leave: velocities or accelerations.

    G is the Delassus matrix, g the motion without these forces. The sets are in the order of their rows.
    """

    G: Matrix
    g: Vector
    sets: Sequence[ForceSet]

    @property
    def blocks(self) -> Iterator[tuple[ForceSet, slice]]:
        """The sets, and their rows."""
        start = 0
        for each in self.sets:
            yield each, slice(start, start + each.size)
            start += each.size

    def compliant(self, R: Vector | None) -> Problem:
        """Return the problem of forces that give way, by R each: rigid if not given."""
        if R is None:
            return self
        return self._replace(G=[[x + R[i] if i == j else x for j, x in enumerate(row)] for i, row in enumerate(self.G)])

    def motion(self, force: Vector) -> list[Scalar]:
        """Return σ: by a loop over the rows where they are many."""
        if len(self.g) <= UNROLLED:
            return [dot(row, force) + x for row, x in zip(self.G, self.g, strict=True)]
        if all(map(is_zero, force)):
            return list(self.g)
        rows = [[x, *row] for row, x in zip(self.G, self.g, strict=True)]
        return [x for (x,) in map_columns(lambda row: [dot(row[1:], force) + row[0]], rows, recording(*force))]

    def shift(self, sigma: Vector) -> list[Scalar]:
        """Return the shift that the laws of the sets add to σ."""
        return [x for each, at in self.blocks for x in each.shift(sigma[at])]

    def project(self, x: Vector) -> list[Scalar]:
        """Return the nearest forces in the sets."""
        return [y for each, at in self.blocks for y in each.project(x[at])]

    def nearest(self, x: Vector, per_penalty: Scalar) -> list[Scalar]:
        """Return the forces whose laws hold for ``σ + shift = (λ − x) / per_penalty``."""
        return [y for each, at in self.blocks for y in each.nearest(x[at], per_penalty)]


def not_converged(problem: Problem, force: Vector, sigma: Vector, least: Scalar) -> Scalar:
    """Return 1 where the dual residual is above `least`, or the work above it times the largest force; 0 for NaN."""
    dual = in_pairs(_larger, [each.approach(sigma[at]) for each, at in problem.blocks])
    limit = least * in_pairs(_larger, [each.magnitude(force[at]) for each, at in problem.blocks])
    excess = in_pairs(_larger, [each.excess(force[at], sigma[at], limit) for each, at in problem.blocks])
    return select_less(least, dual, 1.0, select_less(0.0, excess, 1.0, 0.0))


def _larger(x: Scalar, y: Scalar) -> Scalar:
    """Return the larger of numbers in as few operations as possible."""
    return select_less(y, x, x, y)


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
        going = select_less(0.5, due, 1.0, not_converged(problem, force, sigma, least))
        k = aitken_factor(change, s.change, due)
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


def aitken_factor(change: Vector, last: Vector, due: Scalar) -> Scalar:
    """Return ``r/(1 − r)``, what is missing of a geometric series with the ratio r of the last two changes.

    It is 0 where it is not due: of one state compiled code then passes over the division, and no sweep waits for it.
    """
    a, b = dot(change, last), dot(last, last)
    rest = b - a
    due = select((a > 0.0) & (rest > 0.0), due, 0.0)
    near = a < rest * FARTHEST
    of, by = select(near, a, FARTHEST), select_less(0.5, due, select(near, rest, 1.0), 1.0)
    return select_less(0.5, due, of / by, 0.0)
