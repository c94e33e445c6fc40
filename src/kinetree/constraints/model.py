"""A kinematic tree with constraints: what the algorithms of a mechanism take, and its independent velocities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.kinematics.manifold import integrate, reach, turning
from kinetree.algorithms.table import table_of
from kinetree.constraints.types import Constraint, Row
from kinetree.constraints.types.contact import ContactSlot
from kinetree.errors import ModelError, listed
from kinetree.glossary.symbols import Vector
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.spatial import Scalar

if TYPE_CHECKING:
    from kinetree.constraints.inputs import ContactInputs

Array = NDArray[Any]

RANK = 1e-7
"""Singular values below this part of the largest are zero."""

ROUNDING = 1e-12
"""Singular values below this are zero, whatever the largest is (between angles, lengths being in ℓ)."""

SIMILAR = 0.1
"""Of rows or columns whose parts that are still independent have at least this part of the longest, order decides."""

PREFERENCE = 1e3
"""How many times its length a column counts that is not preferred, where dependent velocities are chosen."""

MOVES = 6
"""Configurations that are looked at beside the one nearest to the neutral one."""


@dataclass(frozen=True)
class ConstrainedModel(Model):
    """A model with constraints between its bodies and joints: every page of a tree takes it, as the tree alone.

    Attributes
    ----------
    constraints : tuple of Constraint
        In the order of their rows.
    stabilization : scalar
        ω (1/s): errors of position decay as ``φ̈ + 2ω φ̇ + ω² φ = 0``.
    independent : tuple of str, optional
        The velocities (`v_names`) that determine all others; chosen if not given.
    """

    constraints: tuple[Constraint, ...] = ()
    stabilization: Scalar = 0.0
    independent: tuple[str, ...] | None = None

    @cached_property
    def tree(self) -> Model:
        """The tree alone, with the actuators that its joints have by their types."""
        own = {field.name: getattr(self, field.name) for field in fields(Model)}
        driven = {k for body in self.bodies if body.joint.actuated for k in body.v_index}
        return Model(**own | {"actuated": tuple(sorted(driven))})

    @property
    def nrows(self) -> int:
        """Number of rows of all constraints."""
        return sum(constraint.size for constraint in self.constraints)

    @property
    def nconstraints(self) -> int:
        """Number of constraints."""
        return len(self.constraints)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, in the order of their rows."""
        return tuple(constraint.label for constraint in self.constraints)

    @property
    def blocks(self) -> Iterator[tuple[Constraint, slice]]:
        """The constraints, and their rows."""
        start = 0
        for constraint in self.constraints:
            yield constraint, slice(start, start := start + constraint.size)

    @property
    def row_slices(self) -> dict[str, slice]:
        """Where each constraint's rows are, by its name."""
        return {constraint.label: rows for constraint, rows in self.blocks}

    @property
    def constraint_of_row(self) -> tuple[int, ...]:
        """The index of each row's constraint."""
        return tuple(i for i, constraint in enumerate(self.constraints) for _ in range(constraint.size))

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Names of the contact slots, in the order of their values."""
        return tuple(c.label for c in self.constraints if isinstance(c, ContactSlot))

    @property
    def nslots(self) -> int:
        """Number of contact slots."""
        return len(self.slot_names)

    def with_slots(self, values: Sequence[Vector] | None) -> ConstrainedModel:
        """Return the model in which the contact slots have these values, if there are any."""
        if values is None:
            return self
        rest = iter(values)
        constraints = (c.given(next(rest)) if isinstance(c, ContactSlot) else c for c in self.constraints)
        return replace(self, constraints=tuple(constraints))

    def constraint_rows(self, q: Vector, v: Vector | None = None, contacts: ContactInputs | None = None) -> list[Row]:
        """Return the rows of all constraints, with what is given for them; v is zero if not given."""
        v, found = [0.0] * self.nv if v is None else v, list[Row]()
        for constraint in self.constraints:
            rows = list(constraint.rows(self, q, v))
            if (lengths := [len(row.J) for row in rows]) != [self.nv] * constraint.size:
                raise ModelError(
                    f"constraint {constraint.label!r} gives {len(rows)} rows with {lengths} entries in J; its size is "
                    f"{constraint.size}, and nv = {self.nv}"
                )
            found += rows
        if contacts is not None and contacts.active is not None:
            on = (contacts.active[i] for i in self.constraint_of_row)
            found = [row._replace(on=acts) for row, acts in zip(found, on, strict=True)]
        if contacts is not None and contacts.row_motion is not None:
            found = [row._replace(anchor=d) for row, *d in zip(found, *contacts.row_motion, strict=True)]
        return found

    @property
    def passive(self) -> tuple[int, ...]:
        """The velocity indices that have no actuator."""
        return tuple(k for k in range(self.nv) if k not in self.actuated)

    @cached_property
    def turning(self) -> tuple[bool, ...]:
        """Which velocities turn (rad/s); the others only shift (m/s)."""
        return turning(self)

    @cached_property
    def length(self) -> Scalar:
        """ℓ (m), by which angles and lengths, moments and forces are compared (see `reach`)."""
        return reach(self, [end for c in self.constraints for end in c.reaches(self).items()])

    def units(self, angular: Iterable[bool]) -> list[Scalar]:
        """Return the units of motions in which all are angles: ℓ of lengths, 1 of angles."""
        return [1.0 if turns else self.length for turns in angular]

    def arms(self, angular: Iterable[bool]) -> list[Scalar]:
        """Return the units of forces in which all are forces: ℓ of moments, 1 of forces."""
        return [self.length if turns else 1.0 for turns in angular]

    def squared(self, angular: Iterable[bool]) -> list[Scalar]:
        """Return the weights of squares of motions beside each other: ℓ² of angles, 1 of lengths."""
        return [self.length * self.length if turns else 1.0 for turns in angular]

    def jacobian_of_angles(self, q: Vector) -> Array:
        """Return the Jacobian of all rows at plain numbers, as between angles: lengths are divided by ℓ."""
        rows = self.constraint_rows(q)
        J = np.array([list(row.J) for row in rows], dtype=float).reshape(len(rows), self.nv)
        of_rows = np.array(self.units(row.angular for row in rows), dtype=float)
        scaled: Array = J / of_rows[:, None] * np.array(self.units(self.turning), dtype=float)
        return scaled

    @cached_property
    def reference(self) -> Reference:
        """What the constraints say at configurations in which they hold."""
        return Reference(self)

    @cached_property
    def is_redundant(self) -> bool:
        """Whether there are more rows than they say things, not counting those that say nothing at all."""
        J = self.reference.near[0]
        sizes = np.abs(J).max(axis=1)
        return bool(np.count_nonzero(sizes > RANK * sizes.max()) > self.reference.rank)

    @cached_property
    def independent_velocities(self) -> tuple[int, ...]:
        """The indices of the velocities that determine all others."""
        if self.independent is None:
            return self.reference.chosen
        return tuple(self.v_names.index(name) for name in self.independent)

    @property
    def independent_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.v_names[k] for k in self.independent_velocities)

    @property
    def nindependent(self) -> int:
        """Number of independent velocities."""
        return len(self.independent_velocities)

    def describe(self, symbol: str) -> str:
        """Return the rows or contacts behind a symbol in an input's shape, for messages; empty if it is not known."""
        if symbol == "nconstraints":
            names = ", ".join(self.constraint_names)
            return f"one number for each of the {self.nconstraints} constraints: {names}"
        if symbol == "nrows":
            places = ", ".join(f"{name} [{s.start}:{s.stop}]" for name, s in self.row_slices.items())
            return f"one number for each of the {self.nrows} rows: {places}"
        if symbol == "nslots":
            return f"a point, a normal and a gap for each of the {self.nslots} slots: {', '.join(self.slot_names)}"
        if symbol == "nindependent":
            names = listed(self.independent_names)
            return f"one number for each of the {self.nindependent} independent velocities: {names}"
        return super().describe(symbol)


class Reference:
    """What the constraints of a model say at configurations in which they hold, and which have no pattern.

    Should none be found in which all hold, these are beside where they come next to it.

    The rank is the highest not far from the neutral configuration. There joints may be in line: moves along what is
    free lead away, and to other ways to assemble the mechanism, of which one may tie velocities to each other that are
    independent in another.
    """

    def __init__(self, model: ConstrainedModel) -> None:
        self.model, rng = model, np.random.default_rng(0)
        unit = np.array(model.units(model.turning), dtype=float)
        first = _place(model, [x for body in model.leading for x in body.joint.neutral()])
        q, closes, _, J = first
        found = [first]
        for _ in range(MOVES):
            move = 0.3 * rng.normal(size=model.nv)
            if closes:
                move -= np.linalg.pinv(J, rcond=RANK) @ (J @ move)
            found.insert(0, _place(model, integrate(model, q, (unit * move).tolist()), closes))
        self.is_closed, self.rank = best = max(place[1:3] for place in found)
        self.near = [place[3] for place in found if place[1:3] == best]

    @property
    def mobility(self) -> int:
        """The number of independent velocities."""
        return self.model.nv - self.rank

    def depends(self, known: Collection[int]) -> bool:
        """Return whether the constraints tie these velocities to each other, wherever they are looked at."""
        return self._place_of(known) is None

    @cached_property
    def chosen(self) -> tuple[int, ...]:
        """Independent velocities, those of actuated joints where they can be, and early ones rather than late ones."""
        model = self.model
        J = self._place_of(model.actuated) if len(model.actuated) <= self.mobility else None
        return independent_columns(self.near[0] if J is None else J, self.rank, model.actuated)

    def _place_of(self, known: Collection[int]) -> Array | None:
        """Return J where these velocities are independent; None if it is nowhere found."""
        return next((J for J in self.near if rank(np.delete(J, sorted(known), axis=1), J) == self.rank), None)


def rank(A: Array, beside: Array) -> int:
    """Return the rank of a part of a matrix, with what is nothing beside the whole taken for zero."""
    s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    most = np.linalg.norm(beside, 2) if beside.size else 0.0
    return int((s > max(RANK * most, ROUNDING)).sum())


def _place(model: ConstrainedModel, q: list[Scalar], closes: bool = True) -> tuple[list[Scalar], bool, int, Array]:
    """Return a configuration, if it `closes` one where the constraints hold, whether they do, and J with its rank."""
    is_closed = False
    if closes:
        q, converged, *_ = table_of(model)["assemble"].function(model, q)
        is_closed = bool(converged > 0.5)
    J = model.jacobian_of_angles(q)
    return (q, is_closed, rank(J, J), J) if np.isfinite(J).all() else (q, False, 0, np.zeros_like(J))


def pivots(A: Array, rank: int) -> list[int]:
    """Return the indices of as many independent columns: QR with pivots, and of similar columns the first.

    >>> pivots(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]), 2)
    [0, 2]
    """
    rest, found = np.array(A, dtype=float), list[int]()
    for _ in range(rank):
        sizes = np.linalg.norm(rest, axis=0)
        k = int(np.argmax(sizes >= SIMILAR * sizes.max()))
        found.append(k)
        unit = rest[:, k] / sizes[k]
        for _ in range(2):  # twice, so that what is left is orthogonal to rounding
            rest -= np.outer(unit, unit @ rest)
        rest[:, k] = 0.0
    return found


def independent_columns(J: Array, of_rank: int, preferred: Collection[int]) -> tuple[int, ...]:
    """Return the indices of velocities that determine all others: those preferred where they do, else some of them.

    Late velocities are dependent rather than early ones.
    """
    n = J.shape[1]
    if len(preferred) == n - of_rank == n - rank(np.delete(J, sorted(preferred), axis=1), J):
        return tuple(sorted(preferred))
    late = sorted(range(n), key=lambda k: (k in preferred, -k))
    weights = np.array([1.0 if k in preferred else PREFERENCE for k in late])
    return tuple(sorted({*late} - {late[k] for k in pivots(J[:, late] * weights, of_rank)}))
