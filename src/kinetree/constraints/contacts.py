"""Limited forces: contacts that push only and slide, friction and stops of joints, beside rows that always hold.

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
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.delassus import Delassus
from kinetree.constraints.inputs import ContactInputs, masked
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Row
from kinetree.contacts import ForceSet, Interval, Problem, Solution, solve
from kinetree.contacts.sets import positive_part
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.scalars.functions import Scalar, is_zero, select_less, sqrt
from kinetree.scalars.linalg import dot, minus, plus, times, transposed
from kinetree.scalars.loops import map_columns, recording

MANY = 36
"""The number of rows up to which products of all with all are straight-line code."""

IMMOBILE = 1e-16
"""Of the mobility that a contact has without bilateral constraints: rows with less cannot move, but for rounding."""


class Limited(NamedTuple):
    """Rows with a limited force: those of a contact, of which the last one keeps apart, or that of a joint.

    `at` is where they are among all rows: in a step those of the mechanism, and then one for each velocity. A contact
    has a `gap`, how far it is from touching (m), and a `restitution`, the part of its speed with which it rebounds; a
    joint is `between` its lower and its upper stop, as far from each (m), None where there is none.
    """

    at: slice
    force_set: ForceSet
    gap: Scalar | None = None
    restitution: Scalar = 0.0
    between: tuple[Scalar | None, Scalar | None] = (None, None)


def force_sets(
    model: ConstrainedModel, rows: Sequence[Row], friction: Vector | None
) -> Iterator[tuple[int, slice, ForceSet]]:
    """Yield the constraints whose forces are limited: index, rows, and the set with the friction that is given."""
    for k, (constraint, at) in enumerate(model.blocks):
        mu = None if friction is None else masked(rows[at.start].on, [friction[k]])[0]
        if (force_set := constraint.force_set(mu)) is not None:
            yield k, at, force_set


def contacts_of_step(
    model: ConstrainedModel, q: Vector, rows: list[Row], given: ContactInputs, dt: Scalar
) -> Iterator[Limited]:
    """Yield the contacts of a step, at whose end anchors have the motion of the rows; those out of reach are set off.

    What keeps apart moves against the velocity of its anchor in the middle of the step, with which that gets where it
    will be.
    """
    for k, at, force_set in force_sets(model, rows, given.friction):
        constraint, normal = model.constraints[k], rows[at][-1]
        d, d_dot, d_ddot = normal.anchor
        middle = d_dot - 0.5 * dt * d_ddot
        gap = constraint.gap(rows[at])
        gap = gap if normal.phi is None else gap - (d - dt * middle)
        inside = constraint.inside(model, q)
        on = normal.on if inside is None else normal.on * inside
        rows[at] = [row._replace(on=on) for row in (*rows[at][:-1], normal._replace(anchor=(d, middle, d_ddot)))]
        e = constraint.rebound if given.restitution is None else given.restitution[k]
        yield Limited(at, force_set, masked(on, [gap])[0], e)


def limited_joints(model: ConstrainedModel, q: Vector, dt: Scalar, stops: bool) -> dict[int, tuple[Row, Limited]]:
    """Return the Coulomb friction of the joints, if it is turned on, and their stops, by the index of the velocity.

    A joint has both along one row, and all motions are lengths: angles times ℓ. At rest friction is as large as it
    needs to be. From the last joint to the first: sweeps from the tips to the root need a third of the number.
    """
    friction: dict[int, Scalar] = {}
    for body in model.bodies if model.friction.coulomb else ():
        for k, size in zip(body.v_index, body.friction, strict=True):
            if not is_zero(size):
                friction[k] = friction.get(k, 0.0) + size
    arm, ranges = model.arms(model.turning), dict[int, tuple[Scalar | None, Scalar | None]]()
    for body in model.leading:
        lower, upper = body.limits.lower, body.limits.upper
        if stops and body.has_one_coordinate and not (math.isinf(lower) and math.isinf(upper)):
            (k,), (i,) = body.v_index, body.q_index
            below = None if math.isinf(lower) else (q[i] - lower) * arm[k]
            ranges[k] = below, None if math.isinf(upper) else (upper - q[i]) * arm[k]
    found = {}
    for k in sorted({*friction, *ranges}, reverse=True):
        between = ranges.get(k, (None, None))
        near = [None if x is None else positive_part(x) / dt for x in between]
        force_set = Interval(friction.get(k, 0.0) * dt / arm[k], *near)
        at = slice(model.nrows + k, model.nrows + k + 1)
        J = [arm[k] if j == k else 0.0 for j in range(model.nv)]
        found[k] = Row(J, 0.0, None), Limited(at, force_set, between=between)
    return found


class Contacts:
    """Limited forces seen through the rows that hold whatever it takes, which give way to them: ``G = C D⁻¹ Cᵀ``.

    G is ``J (M⁻¹ − M⁻¹ J_bᵀ (J_b M⁻¹ J_bᵀ)⁺ J_b M⁻¹) Jᵀ``. Its diagonal is 0 where a row cannot move, so that no force
    takes what rounding has left there for a motion: rows are compared with those of the same set. Vectors that go along
    all rows, b and f, are those of the mechanism's order; g and force are of the limited rows, one set after the other.
    """

    def __init__(
        self, model: ConstrainedModel, factor: Factor, rows: Sequence[Row], limited: Sequence[Limited]
    ) -> None:
        self.rows, self.limited, self.blocks = rows, limited, list[tuple[Limited, slice]]()
        self.on, self.J = list[Scalar](), list[Vector]()
        self.held, nothing = list(rows), Row([0.0] * model.nv, 0.0, None, on=0.0)
        for each in limited:
            start = len(self.J)
            self.on += [row.on for row in rows[each.at]]
            self.J += [masked(row.on, row.J) for row in rows[each.at]]
            self.blocks.append((each, slice(start, len(self.J))))
            self.held[each.at] = [nothing] * (len(self.J) - start)
        self.bilateral = Delassus(model, factor, self.held)
        pushes = [factor.solve_L_transposed(row) for row in self.J]
        self._answers = [self.bilateral.forces(self.bilateral.moved([0.0] * len(rows), y)) for y in pushes]
        self.C = [plus(y, self.bilateral.joint_forces(f)) for y, f in zip(pushes, self._answers, strict=True)]
        inverse = [1.0 / d for d in factor.D]
        self.CD = [[x * d for x, d in zip(row, inverse, strict=True)] for row in self.C]
        self.G = _products(self.CD, self.C)
        for _, at in self.blocks:
            whole = (dot([x * d for x, d in zip(row, inverse, strict=True)], row) for row in pushes[at])
            least = IMMOBILE * sum(whole)
            for i in range(at.start, at.stop):
                self.G[i][i] = select_less(self.G[i][i], least, 0.0, self.G[i][i])

    def of(self, values: Vector) -> list[Scalar]:
        """Return the limited rows' entries out of those of all rows, 0 where they are switched off."""
        return self.acting([x for each in self.limited for x in values[each.at]])

    def acting(self, force: Vector) -> list[Scalar]:
        """Return entries of the limited rows, 0 where they are switched off."""
        return [y for on, x in zip(self.on, force, strict=True) for y in masked(on, [x])]

    def alone(self, b: Vector, y: Vector) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Return what happens without limited forces: forces, joint forces times L⁻ᵀ, and the limited rows' motion."""
        held = [x for row, b_i in zip(self.held, b, strict=True) for x in masked(row.on, [b_i])]
        along = zip(self.of(b), self.CD, self._answers, strict=True)
        return *self.bilateral.held(b, y), [x + dot(row, y) + dot(answer, held) for x, row, answer in along]

    def solve(self, g: Vector, start: Vector | None, R: Vector | None = None, **settings: Any) -> Solution:
        """Return limited forces and the motion that they leave of g, from the forces `start` on."""
        return solve(
            Problem(self.G, g, [each.force_set for each in self.limited]).compliant(R), start=start, **settings
        )

    def together(self, force: Vector, f: Vector, y: Vector) -> tuple[list[Scalar], list[Scalar]]:
        """Return all forces, and all joint forces times L⁻ᵀ, with these limited ones beside those `alone`."""
        f, force = list(f), self.acting(force)
        if force:
            f, y = plus(f, times(transposed(self._answers), force)), self.pushed(force, y)
        for each, at in self.blocks:
            f[each.at] = force[at]
        return f, list(y)

    def pushed(self, force: Vector, y: Vector) -> list[Scalar]:
        """Return joint forces times L⁻ᵀ with those of limited forces, and of what answers these."""
        return plus(y, times(transposed(self.C), force)) if self.C else list(y)

    def without_gain(self, g: Vector, met: Vector, rebound: Vector) -> list[Scalar]:
        """Return the impulses of a rebound, less where they would add energy to what moves with g without any."""
        met, rebound = self.acting(met), self.acting(rebound)
        s = without_gain(g, met, times(self.G, met), rebound, times(self.G, rebound))
        return mixed(s, met, rebound)


def _products(CD: Matrix, C: Matrix) -> Matrix:
    """Return ``C D⁻¹ Cᵀ``: by a loop over the rows where they are many."""
    if len(C) > MANY:
        lower = map_columns(lambda row: [dot(row, x) for x in C], CD, recording(*(x for row in CD for x in row)))
    else:
        lower = [[dot(row, other) for other in C[: i + 1]] for i, row in enumerate(CD)]
    return [[lower[max(i, j)][min(i, j)] for j in range(len(lower))] for i in range(len(lower))]


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
