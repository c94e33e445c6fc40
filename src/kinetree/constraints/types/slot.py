"""Contacts whose points, normals and gaps are given at run time: by a collision library, or a map of the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinetree.constraints.types._between import BetweenFrames, FrameRow, Relative
from kinetree.constraints.types.base import Row
from kinetree.constraints.types.contact import Contact, Rubs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import Vector
from kinetree.model import Model
from kinetree.scalars.functions import copysign, select_less, sqrt
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Scalar, Vec3
from kinetree.validation import Array

FAR = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e3)
"""What is given for a slot in which nothing touches."""


@friendly_call_errors
@dataclass(frozen=True)
class ContactSlot(Rubs, BetweenFrames, registered=False):
    """A place for one contact, between a body and another one or the world: where it is is given with each state.

    The functions that take steps with contacts (`Mechanism.step`, `Mechanism.contact_step`, `Mechanism.simulate`) have
    an input ``slots`` with the contact point, the normal and the gap of each slot, as `slot_values` makes it; in all
    others, and where it is not given, no force acts in a slot, and `constraint_wrenches` does not count its. Its rows
    are those of a `Contact`.

    Parameters
    ----------
    name : str
    frame : str
        Any frame of the body that is pushed along the normal.
    to : str, optional
        The frame in whose axes points and normals are given, and whose body is pushed back; the world if not given.
    friction, restitution : float
        As those of a `Contact`.

    Examples
    --------
    >>> ContactSlot("on the step", "FL_foot", friction=0.9).label
    'on the step'
    """

    name: str = field(kw_only=False)
    frame: str
    to: str | None = None
    friction: float = 0.7
    restitution: float = 0.0
    values: tuple[Scalar, ...] | None = field(default=None, init=False, repr=False)

    size = 3

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"a contact slot has a name, by which it is given its contact; got {self.name!r}")
        checked = Contact(self.frame, name=self.name, friction=self.friction, restitution=self.restitution)
        for name in ("friction", "restitution"):
            object.__setattr__(self, name, getattr(checked, name))

    def given(self, values: Vector) -> ContactSlot:
        """Return the slot with this point, normal and gap."""
        made = replace(self)
        object.__setattr__(made, "values", tuple(values))
        return made

    def rows(self, model: Model, q: Vector, v: Vector) -> Sequence[Row]:
        return [Row([0.0] * model.nv, 0.0, None)] * 3 if self.values is None else super().rows(model, q, v)

    def frame_rows(self, seen: Relative) -> Sequence[FrameRow]:
        values = [0.0] * 7 if self.values is None else self.values
        point, normal = Vec3(*values[:3]), Vec3(*values[3:6])
        square = normal.dot(normal)
        normal = normal * (1.0 / sqrt(select_less(0.0, square, square, 1.0)))
        arm = point - seen.r
        return [FrameRow(Force(arm.cross(t), t), None, finite=False) for t in (*along(normal), normal)]

    def wrenches(self, model: Model, q: Vector, f: Vector) -> Mapping[int, Force]:
        return {} if self.values is None else super().wrenches(model, q, f)

    def gap(self, rows: Sequence[Row]) -> Scalar:
        return FAR[-1] if self.values is None else self.values[6]


def along(normal: Vec3) -> tuple[Vec3, Vec3]:
    """Return two directions that make a right-handed frame with a normal, without a branch.

    References: Duff and others, Building an orthonormal basis, revisited, 2017.
    """
    x, y, z = normal
    sign = copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return Vec3(1.0 + sign * x * x * a, sign * b, -sign * x), Vec3(b, sign + y * y * a, -y)


def slot_values(names: Sequence[str], contacts: Mapping[str, Any]) -> Array:
    """Return the values of slots of these names, (nslots, 7): point, normal and gap of each, as `Mechanism.slots` does.

    >>> slot_values(("a", "b"), {"b": ((0.5, 0.0, 0.0), (0.0, 0.0, 2.0), -0.001)})[1]
    array([ 0.5  ,  0.   ,  0.   ,  0.   ,  0.   ,  1.   , -0.001])
    """
    found = np.tile(FAR, (len(names), 1))
    if not isinstance(contacts, Mapping):
        raise ArgumentError(
            f"slots takes a dict of a point, a normal and a gap by the name of the slot, not {contacts!r}"
        )
    for name, given in contacts.items():
        if name not in names:
            raise ArgumentError(unknown_name("contact slot", name, names))
        try:
            point, normal, gap = given
            row = np.array([*point, *normal, float(gap)], dtype=float)
        except (TypeError, ValueError):
            row = np.empty(0)
        length = math.sqrt(float(row[3:6] @ row[3:6])) if row.shape == (7,) else 0.0
        if not np.isfinite(row).all() or not length > 0.0:
            raise ArgumentError(f"the contact in slot {name!r} is not a finite point, a normal and a gap: {given}")
        row[3:6] /= length
        found[names.index(name)] = row
    return found
