"""A kinematic tree with constraints: what the algorithms of a mechanism take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from kinetree.algorithms.kinematics.manifold import reach, turning
from kinetree.constraints.coordinates import (
    RANK,
    Reference,
    check_independent,
    velocities_named,
    velocities_of_joints,
)
from kinetree.constraints.types import Constraint, Row
from kinetree.constraints.types.slot import ContactSlot
from kinetree.errors import ArgumentError, ModelError, listed
from kinetree.glossary.symbols import Vector
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.spatial import Scalar


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
    def row_slices(self) -> dict[str, slice]:
        """Where each constraint's rows are."""
        found, start = {}, 0
        for constraint in self.constraints:
            found[constraint.label] = slice(start, start + constraint.size)
            start += constraint.size
        return found

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

    def constraint_rows(self, q: Vector, v: Vector | None = None) -> list[Row]:
        """Return the rows of all constraints; v is zero if not given.

        Raises
        ------
        ModelError
            If a constraint gives other than `size` rows of nv entries.
        """
        v, found = [0.0] * self.nv if v is None else v, list[Row]()
        for constraint in self.constraints:
            rows = list(constraint.rows(self, q, v))
            if (lengths := [len(row.J) for row in rows]) != [self.nv] * constraint.size:
                raise ModelError(
                    f"constraint {constraint.label!r} gives {len(rows)} rows with {lengths} entries in J; its size is "
                    f"{constraint.size}, and nv = {self.nv}"
                )
            found += rows
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
        """Return what an input with this symbol in its shape is made of, for messages; empty if that is not known."""
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


def constrained(
    model: Model,
    constraints: Iterable[Constraint],
    stabilization: float = 0.0,
    *,
    actuated: Iterable[str] | None = None,
    independent: Iterable[str] | None = None,
) -> ConstrainedModel:
    """Return the model with these constraints, checked.

    The joints named in `actuated` take the place of those that have an actuator by their type.

    Raises
    ------
    ArgumentError
        If they are no constraints, or two have one name; if there is no joint of a name among the actuated or the
        independent; if the independent velocities are not as many as the mobility.
    ModelError
        If one names a frame or joint that does not exist, or makes no sense for this model.
    """
    if not isinstance(constraints, Iterable):
        raise ArgumentError(f"a mechanism takes a sequence of constraints: write [{constraints!r}]")
    given = tuple(constraints)
    for constraint in given:
        if not isinstance(constraint, Constraint):
            raise ArgumentError(f"a mechanism takes constraints such as kinetree.Weld; {constraint!r} was given")
        if not isinstance(constraint.name, str):
            raise ArgumentError(f"the name of a constraint is a str; {constraint.name!r} was given")
    if not given:
        raise ArgumentError("a mechanism has at least one constraint; without any it is the robot itself")
    labels = [constraint.label for constraint in given]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ArgumentError(f"two constraints are called {twice!r}: tell them apart with name=")
    for constraint in given:
        constraint.check(model)
    own = {field.name: getattr(model, field.name) for field in fields(Model)}
    if actuated is not None:
        own["actuated"] = velocities_of_joints(model, actuated, "actuated")
    made = ConstrainedModel(**own, constraints=given, stabilization=float(stabilization))
    if independent is None:
        return made
    velocities = velocities_named(model, independent)
    check_independent(made, velocities)
    return replace(made, independent=tuple(model.v_names[k] for k in velocities))
