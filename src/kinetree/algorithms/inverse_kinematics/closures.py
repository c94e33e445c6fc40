"""Loops that stay closed: the constraints of a mechanism as goals of inverse kinematics beside those of frames."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.lazy import cached_property
from kinetree.model import WORLD, Model
from kinetree.scalars.functions import Scalar

SIZE = 3
"""Errors come in parts of so many coordinates, as those of frames; what a part lacks is zero."""


class Closures:
    """The errors of the constraints' positions, angles apart from lengths; a tree has none."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.constraint_of_row = [c for c in model.constraints for _ in range(c.size)]
        parts: list[tuple[bool, list[int]]] = []
        for angular in (True, False):
            rows = [i for i, (turns, has_error) in enumerate(self._kinds) if has_error and turns == angular]
            parts += [(angular, rows[i : i + SIZE]) for i in range(0, len(rows), SIZE)]
        self.parts = parts

    @cached_property
    def _kinds(self) -> list[tuple[bool, bool]]:
        """Of each row whether it is an angle, and whether positions count in it."""
        q = [x for body in self.model.leading for x in body.joint.neutral()]
        rows = [row for c in self.model.constraints for row in c.rows(self.model, q, [0.0] * self.model.nv)]
        return [(row.angular, row.phi is not None) for row in rows]

    @cached_property
    def supports(self) -> list[set[int]]:
        """Of each coordinate of the parts, which velocities may change it."""
        return [
            self._support(self.constraint_of_row[rows[k]]) if k < len(rows) else set()
            for _, rows in self.parts
            for k in range(SIZE)
        ]

    def _support(self, constraint: object) -> set[int]:
        reached: dict[int, Scalar] = constraint.reaches(self.model)  # type: ignore[attr-defined]
        found: set[int] = set()
        for i in reached:
            while i != WORLD:
                found.update(self.model.bodies[i].v_index)
                i = self.model.bodies[i].parent
        return found if reached else {*range(self.model.nv)}

    def at(self, q: Sequence[Scalar]) -> tuple[list[Scalar], list[Sequence[Scalar]]]:
        """Return what is missing of all coordinates of the parts, and the rows of J by which joints add to it."""
        if not self.parts:
            return [], []
        zero = [0.0] * self.model.nv
        rows = [row.J for c in self.model.constraints for row in c.rows(self.model, q, zero)]
        errors = [e for c in self.model.constraints for e in c.errors(self.model, q)]
        missing: list[Scalar] = []
        J: list[Sequence[Scalar]] = []
        for _, part in self.parts:
            lacking = SIZE - len(part)
            missing += [-errors[i] for i in part] + [0.0] * lacking
            J += [rows[i] for i in part] + [zero] * lacking
        return missing, J
