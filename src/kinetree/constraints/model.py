"""A kinematic tree with constraints: what the algorithms of a mechanism take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

from kinetree.constraints.types import Constraint, Row
from kinetree.constraints.types.slot import ContactSlot
from kinetree.errors import ArgumentError
from kinetree.glossary.symbols import Vector
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
    """

    constraints: tuple[Constraint, ...] = ()
    stabilization: Scalar = 0.0

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
        """Return the rows of all constraints; v is zero if not given."""
        v = [0.0] * self.nv if v is None else v
        return [row for constraint in self.constraints for row in constraint.rows(self, q, v)]

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
        return super().describe(symbol)


def constrained(model: Model, constraints: Iterable[Constraint], stabilization: float = 0.0) -> ConstrainedModel:
    """Return the model with these constraints, checked.

    Raises
    ------
    ArgumentError
        If they are no constraints, or two have one name.
    ModelError
        If one names a frame or joint that does not exist, or makes no sense for this model.
    """
    given = tuple(constraints)
    for constraint in given:
        if not isinstance(constraint, Constraint):
            raise ArgumentError(f"a mechanism takes constraints such as kinetree.Weld; {constraint!r} was given")
    if not given:
        raise ArgumentError("a mechanism has at least one constraint; without any it is the robot itself")
    labels = [constraint.label for constraint in given]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ArgumentError(f"two constraints are called {twice!r}: tell them apart with name=")
    for constraint in given:
        constraint.check(model)
    own = {field.name: getattr(model, field.name) for field in fields(Model)}
    return ConstrainedModel(**own, constraints=given, stabilization=float(stabilization))
