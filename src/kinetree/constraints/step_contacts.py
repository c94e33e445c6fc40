"""The contact problem of a step in time: impulses, the velocity after them, and what has penetrated moved back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kinetree.constraints.contact_problem import Eliminated, Unilateral, nearer
from kinetree.constraints.delassus import switched
from kinetree.constraints.free_step import FreeStep
from kinetree.constraints.restitution import mixed, without_gain
from kinetree.contacts import NotNegative, Problem, Solution, solve
from kinetree.contacts.sets import largest, positive_part
from kinetree.glossary.symbols import Vector
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import dot, times

TOLERANCE = 1e-6
"""Of velocities, beside the largest along a row; of the work, beside that times the largest force."""

MOST_ITERATIONS = 500.0

FASTEST = 1e6
"""Velocities (m/s, rad/s) beyond this one allow no larger residual: rounding alone would be one."""

SLACK = 1.1
"""By how much residuals may exceed the tolerance afterwards: sweeps add σ up with rounding of their own."""

NEARBY = 10.0
"""What is so many times farther from touching than the deepest has penetrated is as far as that, in moving back."""

MOST_PUSHES = 50.0
"""Iterations in which what has penetrated is moved back; the next step goes on."""


def parts(meeting: Sequence[Unilateral], values: Vector) -> Iterator[tuple[Unilateral, list[Scalar]]]:
    """Yield each with its part of what is given for all rows."""
    rest = list(values)
    for each in meeting:
        yield each, rest[: len(each.J)]
        rest = rest[len(each.J) :]


def _last_rows(meeting: Sequence[Unilateral]) -> Iterator[tuple[Unilateral, int]]:
    """Yield what keeps apart, with the number of the row along which it does."""
    end = 0
    for each in meeting:
        end += len(each.J)
        if each.gap is not None:
            yield each, end - 1


class StepContacts:
    """The contact problem of a step, beside the free one.

    Attributes
    ----------
    free : list of scalars
        How fast rows move against their anchors without these impulses.
    near : list of scalars
        For each row that keeps apart, how fast it may come nearer in this step; 0 for others.
    """

    def __init__(
        self,
        meeting: Sequence[Unilateral],
        free: FreeStep,
        dt: Scalar,
        settings: Mapping[str, Scalar],
        method: str = "auto",
    ) -> None:
        self.meeting, self.alone, self.dt, self.settings, self.method = meeting, free, dt, settings, method
        self.J = [row for each in meeting for row in each.J]
        self.rows = Eliminated(free.factor, self.J, free.bilateral, [len(each.J) for each in meeting])
        self.anchor = [x for each in meeting for x in each.anchor or [0.0] * len(each.J)]
        moving = zip(self.J, self.rows.CD, self.anchor, strict=True)
        self.free = [dot(row, free.v) + dot(push, free.y) - x for row, push, x in moving]
        self.near: list[Scalar] = [0.0] * len(self.J)
        for each, last in _last_rows(meeting):
            self.near[last] = positive_part(each.gap) / dt

    def solved(self, b: Vector, start: Vector) -> Solution:
        """Return the impulses for which ``σ = J v⁺ + b``. How far away something is does not count in what is small."""
        g = [x + y for x, y in zip(self.free, b, strict=True)]
        scale = largest([abs(x) for x in g])
        part = largest([abs(x) for x in self.free]) / select_less(0.0, scale, scale, 1.0)
        return solve(
            Problem(self.rows.G, g, [each.force_set for each in self.meeting]),
            self.method,
            start=self.acting([x for each in self.meeting for x in start[each.at]]),
            tolerance=self.settings.get("tolerance", TOLERANCE) * part,
            max_iterations=self.settings.get("max_iterations", MOST_ITERATIONS),
        )

    def arrived(self, found: Solution) -> Scalar:
        """Return 1 where the residuals of a solution are within the tolerance, else 0."""
        part = SLACK * self.settings.get("tolerance", TOLERANCE)
        speed = largest([abs(x) for x in self.free])
        dual = part * select_less(speed, FASTEST, speed, FASTEST)
        size = largest([each.force_set.magnitude(part) for each, part in parts(self.meeting, found.force)])
        return select((found.dual <= dual) & (found.complementarity <= part * speed * size), 1.0, 0.0)

    def rebounding(self, begin: Column, force: Vector) -> list[Scalar]:
        """Return b where what met under these impulses, approaching with the velocity `begin`, rebounds."""
        b = list(self.near)
        for each, last in _last_rows(self.meeting):
            if not is_zero(each.restitution):
                before = dot(self.J[last], begin) - self.anchor[last]
                b[last] = select((force[last] > 0.0) & (before < 0.0), each.restitution * before, b[last])
        return b

    def without_gain(self, met: Vector, rebound: Vector) -> list[Scalar]:
        """Return the impulses of a rebound, less where they would add energy (see `restitution`)."""
        met, rebound = self.acting(met), self.acting(rebound)
        s = without_gain(self.free, met, times(self.rows.G, met), rebound, times(self.rows.G, rebound))
        return mixed(s, met, rebound)

    def acting(self, force: Vector) -> list[Scalar]:
        """Return impulses, 0 where none may act."""
        return [x for each, part in parts(self.meeting, force) for x in switched(each.on, part)]

    def velocity(self, force: Vector) -> Column:
        """Return the velocity after these impulses."""
        pushed = self.rows.joint_forces(self.acting(force))
        y = [x + z for x, z in zip(self.alone.y, pushed, strict=True)]
        return self.alone.v + Column(self.alone.factor.solve_L(y, self.alone.factor.D))

    def held_by(self, force: Vector) -> list[Scalar]:
        """Return the impulses of the bilateral constraints beside these."""
        answers = self.rows.answers(self.acting(force))
        return [x + z for x, z in zip(self.alone.impulses, answers, strict=True)]

    def moved_back(self, sigma: Vector) -> Column:
        """Return by how much positions change, beside the step with this σ, so that nothing has penetrated after it."""
        pushes: list[Scalar] = [0.0] * len(self.J)
        apart = [*self._apart(sigma)]
        deepest = largest([positive_part(-gap) for *_, gap in apart])
        G = [[self.rows.G[i][j] * (a * b) for j, b, _ in apart] for i, a, _ in apart]
        gaps = [select_less(gap, NEARBY * deepest, gap, NEARBY * deepest) for *_, gap in apart]
        found = solve(Problem(G, gaps, [NotNegative()] * len(apart)), "pgs", max_iterations=MOST_PUSHES)
        for (i, sign, _), push in zip(apart, found.force, strict=True):
            pushes[i] = push * sign
        factor = self.alone.factor
        return Column(factor.solve_L(self.rows.joint_forces(pushes), factor.D))

    def _apart(self, sigma: Vector) -> Iterator[tuple[int, Scalar, Scalar]]:
        """Yield the rows along which things keep apart, with a sign, and how far they are after the step."""
        end = 0
        for each in self.meeting:
            end += len(each.J)
            sign, gap, moved = 1.0, each.gap, sigma[end - 1]
            if each.between is not None:
                sign, gap = nearer(*each.between, self.dt * moved)
                moved = moved * sign + positive_part(gap) / self.dt
            if gap is not None:
                yield end - 1, sign, self.dt * positive_part(moved) + select_less(gap, 0.0, gap, 0.0)

    def placed(self, force: Vector, start: Vector) -> list[Scalar]:
        """Return all impulses with these in their places."""
        found = list(start)
        for each, part in parts(self.meeting, force):
            found[each.at] = part
        return found
