"""Contacts in one step in time: what may touch, slide or stop, and its impulses after bilateral constraints have acted.

With friction, Newton's law of restitution can add energy to a linkage: it asks for normal velocities, and what friction
does meanwhile may be worth more than what is lost along the normals (Kane and Levinson, Dynamics, 1985). Impulses
without rebound, with e = 0, never add any, and kinetic energy is a convex quadratic function of the impulses. So there
is a most that the rebound's impulses can be mixed into these: where energy neither comes nor goes (`without_gain`).
Both lie within the friction cones and part bodies, and so does any mixture. Cf. Glocker, Energetic consistency
conditions for standard impacts (2014); Leine and van de Wouw, Stability and Convergence of Mechanical Systems with
Unilateral Constraints (2008), section 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.delassus import Delassus, Eliminated
from kinetree.constraints.inputs import ContactInputs, masked
from kinetree.constraints.model import ConstrainedModel
from kinetree.contacts import ForceSet, Interval, NotNegative, Problem, Solution, solve
from kinetree.contacts.sets import StoppedFriction, largest, positive_part
from kinetree.glossary.symbols import Vector
from kinetree.scalars.functions import Scalar, is_zero, select, select_less, sqrt
from kinetree.scalars.linalg import Column, dot, minus, plus, times

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


class Unilateral(NamedTuple):
    """A set of impulses that may act in a step, and its rows, of which the last one keeps apart."""

    J: Sequence[Vector]
    force_set: ForceSet

    gap: Scalar | None
    """How far it is from touching (m, rad); None where there is nothing to touch."""

    restitution: Scalar
    """The part of its speed with which it rebounds."""

    at: slice
    """Where its impulses are among all (`count`)."""

    on: Scalar = 1.0
    """1 where it may act, else 0."""

    anchor: Vector | None = None
    """How fast its anchor moves along the rows; at rest if not given."""

    between: tuple[Scalar | None, Scalar | None] | None = None
    """Of a joint, how far it is from its lower and its upper stop, None where there is none."""


def count(model: ConstrainedModel) -> int:
    """Return how many impulses there may be: along the mechanism's rows, and in the joints."""
    return model.nrows + model.nv


def contacts(
    model: ConstrainedModel, q: Vector, given: ContactInputs, anchors: tuple[Vector, Vector, Vector] | None
) -> Iterator[Unilateral]:
    """Yield the constraints whose forces are limited; the rows and the gap of one that is not active are zero.

    Of `anchors` that move there are the positions at the beginning of the step, and the velocities in its middle and at
    its end. That of what keeps apart is the one in the middle, with which the anchor gets where it will be. What is
    active is given as 1 or 0.
    """
    for i, (constraint, at) in enumerate(model.blocks):
        on = 1.0 if given.active is None else given.active[i]
        force_set = constraint.force_set(None if given.friction is None else masked(on, [given.friction[i]])[0])
        if force_set is not None:
            rows, inside = constraint.rows(model, q, [0.0] * model.nv), constraint.inside(model, q)
            on = on if inside is None else on * inside
            J, (gap,) = [masked(on, row.J) for row in rows], masked(on, [constraint.gap(rows)])
            e = constraint.rebound if given.restitution is None else given.restitution[i]
            anchor = None
            if anchors is not None:
                d, middle, end = (masked(on, values[at]) for values in anchors)
                anchor = [*end[:-1], middle[-1]]
                if rows[-1].phi is not None:
                    gap = gap - d[-1]
            yield Unilateral(J, force_set, gap, e, at, on, anchor)


def in_joints(model: ConstrainedModel, q: Vector, dq: Vector, dt: Scalar, limited: bool) -> Iterator[Unilateral]:
    """Yield the Coulomb friction of the joints, if it is turned on, and their stops, if they are `limited`.

    At rest friction is as large as it needs to be. A joint that has both has them along one row. Of one that has stops
    only, it is the stop that is nearer after the motion dq. Along a row all motions are lengths: angles times ℓ.

    Friction comes from the last joint to the first: sweeps from the tips to the root need a third of the number.
    """
    most, arm = _frictions(model), model.arms(model.turning)
    ranges = _ranges(model, q, arm) if limited else {}

    def along(k: int, x: Scalar) -> list[list[Scalar]]:
        return [[x if j == k else 0.0 for j in range(model.nv)]]

    def place(k: int) -> slice:
        return slice(model.nrows + k, model.nrows + k + 1)

    for k in sorted(most, reverse=True):
        bound = most[k] * dt / arm[k]
        if k in ranges:
            near = (None if x is None else positive_part(x) / dt for x in ranges[k])
            friction = StoppedFriction(bound, *near)
            yield Unilateral(along(k, arm[k]), friction, None, 0.0, place(k), between=ranges[k])
        else:
            yield Unilateral(along(k, arm[k]), Interval(bound), None, 0.0, place(k))
    for k, (below, above) in ranges.items():
        if k not in most:
            sign, gap = nearer(below, above, dq[k] * arm[k])
            yield Unilateral(along(k, sign * arm[k]), NotNegative(), gap, 0.0, place(k))


def nearer(below: Scalar | None, above: Scalar | None, dq: Scalar) -> tuple[Scalar, Scalar]:
    """Return the direction away from the stop that is nearer after a motion, and how far it is before."""
    if above is None:
        return 1.0, below
    if below is None:
        return -1.0, above
    after = below + dq, above - dq
    return select_less(*after, 1.0, -1.0), select_less(*after, below, above)


def _ranges(model: ConstrainedModel, q: Vector, arm: Vector) -> dict[int, tuple[Scalar | None, Scalar | None]]:
    """Return how far joints are from their lower and upper stops (m, angles times ℓ), None where there is none."""
    found = {}
    for body in model.leading:
        lower, upper = body.limits.lower, body.limits.upper
        if body.has_one_coordinate and not (math.isinf(lower) and math.isinf(upper)):
            (k,), (i,) = body.v_index, body.q_index
            below = None if math.isinf(lower) else (q[i] - lower) * arm[k]
            found[k] = below, None if math.isinf(upper) else (upper - q[i]) * arm[k]
    return found


def _frictions(model: ConstrainedModel) -> dict[int, Scalar]:
    """Return the Coulomb friction along each velocity that has some."""
    found: dict[int, Scalar] = {}
    if model.friction.coulomb:
        for body in model.bodies:
            for k, size in zip(body.v_index, body.friction, strict=True):
                if not is_zero(size):
                    found[k] = found.get(k, 0.0) + size
    return found


class FreeStep(NamedTuple):
    """A step without contacts, in which bilateral constraints hold: from v to ``v + L⁻¹ D⁻¹ y``, by their impulses."""

    factor: Factor
    v: Column
    y: list[Scalar]
    bilateral: Delassus
    impulses: list[Scalar]

    def end(self, y: Vector | None = None) -> Column:
        """Return the velocity at the end, with all joint impulses, multiplied by L⁻ᵀ, or its own."""
        return self.v + Column(self.factor.solve_L(self.y if y is None else y, self.factor.D))


class StepContacts:
    """The contact problem of a step, beside the free one.

    `free` is how fast rows move against their anchors without these impulses; `near`, for each row that keeps apart,
    how fast it may come nearer in this step, 0 for others.
    """

    def __init__(
        self,
        meeting: Sequence[Unilateral],
        alone: FreeStep,
        dt: Scalar,
        settings: Mapping[str, Scalar],
        method: str = "auto",
    ) -> None:
        self.meeting, self.alone, self.dt, self.method = meeting, alone, dt, method
        self.tolerance = settings.get("tolerance", TOLERANCE)
        self.max_iterations = settings.get("max_iterations", MOST_ITERATIONS)
        self.J, self.blocks = list[Vector](), list[tuple[Unilateral, slice]]()
        for each in meeting:
            self.blocks.append((each, slice(len(self.J), len(self.J) + len(each.J))))
            self.J += each.J
        self.rows = Eliminated(alone.factor, self.J, alone.bilateral, [len(each.J) for each in meeting])
        self.anchor = [x for each in meeting for x in each.anchor or [0.0] * len(each.J)]
        moving = zip(self.J, self.rows.CD, self.anchor, strict=True)
        self.free = [dot(row, alone.v) + dot(push, alone.y) - x for row, push, x in moving]
        self.near: list[Scalar] = [0.0] * len(self.J)
        for each, rows in self.blocks:
            if each.gap is not None:
                self.near[rows.stop - 1] = positive_part(each.gap) / dt

    def solved(self, b: Vector, start: Vector) -> Solution:
        """Return the impulses for which ``σ = J v⁺ + b``. How far away something is does not count in what is small."""
        g = plus(self.free, b)
        scale = largest([abs(x) for x in g])
        part = largest([abs(x) for x in self.free]) / select_less(0.0, scale, scale, 1.0)
        return solve(
            Problem(self.rows.G, g, [each.force_set for each in self.meeting]),
            self.method,
            start=self.acting([x for each in self.meeting for x in start[each.at]]),
            tolerance=self.tolerance * part,
            max_iterations=self.max_iterations,
        )

    def arrived(self, found: Solution) -> Scalar:
        """Return 1 where the residuals of a solution are within the tolerance, else 0."""
        part = SLACK * self.tolerance
        speed = largest([abs(x) for x in self.free])
        dual = part * select_less(speed, FASTEST, speed, FASTEST)
        size = largest([each.force_set.magnitude(found.force[rows]) for each, rows in self.blocks])
        return select((found.dual <= dual) & (found.complementarity <= part * speed * size), 1.0, 0.0)

    def rebounding(self, begin: Column, force: Vector) -> list[Scalar]:
        """Return b where what met under these impulses, approaching with the velocity `begin`, rebounds."""
        b = list(self.near)
        for each, rows in self.blocks:
            if each.gap is not None and not is_zero(each.restitution):
                last = rows.stop - 1
                before = dot(self.J[last], begin) - self.anchor[last]
                b[last] = select((force[last] > 0.0) & (before < 0.0), each.restitution * before, b[last])
        return b

    def without_gain(self, met: Vector, rebound: Vector) -> list[Scalar]:
        """Return the impulses of a rebound, less where they would add energy."""
        met, rebound = self.acting(met), self.acting(rebound)
        s = without_gain(self.free, met, times(self.rows.G, met), rebound, times(self.rows.G, rebound))
        return mixed(s, met, rebound)

    def acting(self, force: Vector) -> list[Scalar]:
        """Return impulses, 0 where none may act."""
        return [x for each, rows in self.blocks for x in masked(each.on, force[rows])]

    def velocity(self, force: Vector) -> Column:
        """Return the velocity after these impulses."""
        return self.alone.end(plus(self.alone.y, self.rows.joint_forces(self.acting(force))))

    def held_by(self, force: Vector) -> list[Scalar]:
        """Return the impulses of the bilateral constraints beside these."""
        return plus(self.alone.impulses, self.rows.answers(self.acting(force)))

    def placed(self, force: Vector, start: Vector) -> list[Scalar]:
        """Return all impulses with these in their places."""
        found = list(start)
        for each, rows in self.blocks:
            found[each.at] = force[rows]
        return found

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
        for each, rows in self.blocks:
            sign, gap, moved = 1.0, each.gap, sigma[rows.stop - 1]
            if each.between is not None:
                sign, gap = nearer(*each.between, self.dt * moved)
                moved = moved * sign + positive_part(gap) / self.dt
            if gap is not None:
                yield rows.stop - 1, sign, self.dt * positive_part(moved) + select_less(gap, 0.0, gap, 0.0)


def without_gain(g: Vector, met: Vector, met_change: Vector, rebound: Vector, rebound_change: Vector) -> Scalar:
    """Return s, 0 to 1: how much of the impulses ``met`` without rebound replaces the impulses with one.

    Those that act are ``(1 − s) rebound + s met``; s is 0 but where energy would be added. g are the velocities along
    the rows without any impulse, and the changes are what each makes of them.

    >>> without_gain([-1.0], [1.0], [1.0], [1.5], [1.5]), without_gain([-1.0], [1.0], [1.0], [3.0], [3.0])
    (0.0, 0.5)
    """
    back, change = minus(met, rebound), minus(met_change, rebound_change)
    gained = dot(rebound, g) + 0.5 * dot(rebound, rebound_change)
    rate, curvature = dot(back, g) + dot(back, rebound_change), dot(back, change)
    gained = select_less(0.0, gained, gained, 0.0)
    square = rate * rate - 2.0 * curvature * gained  # gained + rate s + curvature s²/2 is zero at the smaller root
    below = sqrt(select_less(0.0, square, square, 0.0)) - rate
    s = 2.0 * gained / select_less(0.0, below, below, 1.0)
    return select_less(s, 1.0, s, 1.0)


def mixed(s: Scalar, met: Vector, rebound: Vector) -> list[Scalar]:
    """Return ``(1 − s) rebound + s met``."""
    return [x + s * (y - x) for x, y in zip(rebound, met, strict=True)]
