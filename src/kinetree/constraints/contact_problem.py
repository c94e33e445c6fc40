"""The contact problem of one step in time: what may touch, slide or stop, after bilateral constraints have acted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor
from kinetree.constraints.delassus import Delassus, switched
from kinetree.constraints.lengths import arms
from kinetree.constraints.model import ConstrainedModel
from kinetree.contacts import ForceSet, Interval, NotNegative
from kinetree.contacts.sets import positive_part
from kinetree.contacts.stopped import StoppedFriction
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.scalars.functions import Scalar, is_zero, select_less
from kinetree.scalars.linalg import dot, transposed
from kinetree.scalars.loops import map_columns, recording

UNROLLED = 36
"""The number of rows up to which products of all with all are straight-line code."""

IMMOBILE = 1e-16
"""Of the mobility that a contact has without bilateral constraints: rows with less cannot move, but for rounding."""


class Unilateral(NamedTuple):
    """A set of impulses that may act in a step, and its rows.

    Attributes
    ----------
    J : rows of nv scalars
    force_set : ForceSet
    gap : scalar, optional
        How far what the last row keeps apart is from touching (m, rad); None where there is nothing to touch.
    restitution : scalar
        The part of its speed with which it rebounds.
    at : slice
        Where its impulses are among all (`count`).
    on : scalar
        1 where it may act, else 0.
    anchor : sequence of scalars, optional
        How fast its anchor moves along the rows; at rest if not given.
    between : pair, optional
        Of a joint, how far it is from its lower and its upper stop, None where there is none.
    """

    J: Sequence[Vector]
    force_set: ForceSet
    gap: Scalar | None
    restitution: Scalar
    at: slice
    on: Scalar = 1.0
    anchor: Vector | None = None
    between: tuple[Scalar | None, Scalar | None] | None = None


def count(model: ConstrainedModel) -> int:
    """Return how many impulses there may be: along the mechanism's rows, and in the joints."""
    return model.nrows + model.nv


def contacts(
    model: ConstrainedModel,
    q: Vector,
    active: Vector | None = None,
    restitution: Vector | None = None,
    mu: Vector | None = None,
    anchors: tuple[Vector, Vector, Vector] | None = None,
) -> Iterator[Unilateral]:
    """Yield the constraints whose forces are limited; the rows and the gap of one that is not active are zero.

    Of `anchors` that move there are the positions at the beginning of the step, and the velocities in its middle and at
    its end. That of what keeps apart is the one in the middle, with which the anchor gets where it will be. What is
    active is given as 1 or 0.
    """
    for i, (constraint, at) in enumerate(zip(model.constraints, model.row_slices.values(), strict=True)):
        on = 1.0 if active is None else active[i]
        force_set = constraint.force_set(None if mu is None else switched(on, [mu[i]])[0])
        if force_set is not None:
            rows, inside = constraint.rows(model, q, [0.0] * model.nv), constraint.inside(model, q)
            on = on if inside is None else on * inside
            J, (gap,) = [switched(on, row.J) for row in rows], switched(on, [constraint.gap(rows)])
            e = constraint.rebound if restitution is None else restitution[i]
            anchor = None
            if anchors is not None:
                d, middle, end = (switched(on, values[at]) for values in anchors)
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
    most, ranges = _frictions(model), _ranges(model, q) if limited else {}
    arm = arms(model, model.turning)
    for k in sorted(most, reverse=True):
        bound, J = most[k] * dt / arm[k], [_unit(model, k, arm[k])]
        if k in ranges:
            below, above = ranges[k]
            near = (None if x is None else positive_part(x) / dt for x in (below, above))
            yield Unilateral(J, StoppedFriction(bound, *near), None, 0.0, _place(model, k), between=ranges[k])
        else:
            yield Unilateral(J, Interval(bound), None, 0.0, _place(model, k))
    for k, (below, above) in ranges.items():
        if k not in most:
            sign, gap = nearer(below, above, dq[k] * arm[k])
            yield Unilateral([_unit(model, k, sign * arm[k])], NotNegative(), gap, 0.0, _place(model, k))


def nearer(below: Scalar | None, above: Scalar | None, dq: Scalar) -> tuple[Scalar, Scalar]:
    """Return the direction away from the stop that is nearer after a motion, and how far it is before."""
    if above is None:
        return 1.0, below
    if below is None:
        return -1.0, above
    after = below + dq, above - dq
    return select_less(*after, 1.0, -1.0), select_less(*after, below, above)


def _ranges(model: ConstrainedModel, q: Vector) -> dict[int, tuple[Scalar | None, Scalar | None]]:
    """Return how far joints are from their lower and upper stops (m, angles times ℓ), None where there is none."""
    found, arm = {}, arms(model, model.turning)
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


def _place(model: ConstrainedModel, k: int) -> slice:
    return slice(model.nrows + k, model.nrows + k + 1)


def _unit(model: ConstrainedModel, k: int, sign: Scalar) -> list[Scalar]:
    return [sign if j == k else 0.0 for j in range(model.nv)]


class Eliminated:
    """Rows seen through bilateral constraints, which give way to their forces: rows ``C`` with ``G = C D⁻¹ Cᵀ``.

    Parameters
    ----------
    factor : Factor
        Of M.
    J : matrix
        The rows.
    bilateral : Delassus
        Of the rows that always hold.
    sizes : sequence of int
        How many rows each contact has, of which the mobility is compared.

    Attributes
    ----------
    G : matrix
        ``J (M⁻¹ − M⁻¹ J_bᵀ (J_b M⁻¹ J_bᵀ)⁺ J_b M⁻¹) Jᵀ``. Its diagonal is 0 where a row cannot move, so that no force
        takes what rounding has left there for a motion.
    """

    def __init__(self, factor: Factor, J: Sequence[Vector], bilateral: Delassus, sizes: Sequence[int]) -> None:
        self._inverse, self._n = [1.0 / d for d in factor.D], bilateral.n
        rows = [factor.solve_L_transposed(row) for row in J]
        self._answers = [bilateral.forces(self._coupling(row, bilateral)) for row in rows]
        self.C = [
            [x + y for x, y in zip(row, bilateral.joint_forces(f), strict=True)]
            for row, f in zip(rows, self._answers, strict=True)
        ]
        self.CD = [[x * d for x, d in zip(row, self._inverse, strict=True)] for row in self.C]
        self.G = self._products()
        whole = [dot([x * d for x, d in zip(row, self._inverse, strict=True)], row) for row in rows]
        start = 0
        for size in sizes:
            at = range(start, start := start + size)
            least = IMMOBILE * sum(whole[i] for i in at)
            for i in at:
                self.G[i][i] = select_less(self.G[i][i], least, 0.0, self.G[i][i])

    def _products(self) -> Matrix:
        """Return ``C D⁻¹ Cᵀ``: by a loop over the rows where they are many."""
        if len(self.C) > UNROLLED:
            like = recording(*(x for row in self.CD for x in row))
            lower = map_columns(lambda row: [dot(row, other) for other in self.C], self.CD, like)
        else:
            lower = [[dot(row, other) for other in self.C[: i + 1]] for i, row in enumerate(self.CD)]
        return [[lower[max(i, j)][min(i, j)] for j in range(len(lower))] for i in range(len(lower))]

    def _coupling(self, row: Vector, bilateral: Delassus) -> list[Scalar]:
        found: list[Scalar] = [0.0] * bilateral.n
        for i, other in zip(bilateral.kept, bilateral.BD, strict=True):
            found[i] = dot(other, row)
        return found

    def joint_forces(self, f: Vector) -> list[Scalar]:
        """Return ``Cᵀ f``, which counts what the bilateral constraints answer."""
        return [dot(column, f) for column in transposed(self.C)] if self.C else [0.0] * len(self._inverse)

    def answers(self, f: Vector) -> list[Scalar]:
        """Return the forces with which the bilateral constraints answer these."""
        return [dot(column, f) for column in transposed(self._answers)] if self.C else [0.0] * self._n
