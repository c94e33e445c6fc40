"""Contacts of points and spheres with a plane, or given at run time: they stick, or push and rub. Shapes of such."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinetree.constraints.types._between import BetweenFrames, Relative
from kinetree.constraints.types.base import Checks, Row, direction, finite_number, triple
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import Vector
from kinetree.joints._parts import perpendicular, unit_axis
from kinetree.model import Model
from kinetree.scalars.functions import copysign, select_less, sqrt
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Scalar, Transform, Vec3
from kinetree.validation import Array, positive

if TYPE_CHECKING:
    from kinetree.contacts import FrictionCone

FAR = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e3)
"""What is given for a slot in which nothing touches."""

ROUNDING = 1e-9
"""By which part of an extent something may be beyond it: a plane may be on the face of the box."""


def not_negative(what: str, value: object, most: float = math.inf) -> float:
    """Return a number from zero on."""
    found = finite_number(what, value)
    if not 0.0 <= found <= most:
        allowed = "cannot be negative" if most == math.inf else f"is between 0 and {most:g}"
        raise ArgumentError(f"{what} is {found}: it {allowed}")
    return found


def half_edges(what: str, value: Any) -> tuple[float, ...] | None:
    """Return half of the edges of a box, if there is one."""
    wanted = "three positive half edges (m) along the axes of `to`, such as (0.2, 0.1, math.inf)"
    return None if value is None else triple(what, value, lambda x: x > 0.0, wanted)


class Rubs:
    """What has a friction and a restitution, and pushes only where contacts are solved."""

    friction: float
    restitution: float
    checks: ClassVar[Checks] = {"friction": not_negative, "restitution": functools.partial(not_negative, most=1.0)}

    def force_set(self, friction: Scalar | None = None) -> FrictionCone:
        from kinetree.contacts import FrictionCone

        return FrictionCone(self.friction if friction is None else friction)

    @property
    def rebound(self) -> float:
        return self.restitution


@friendly_call_errors
@dataclass(frozen=True)
class Contact(Rubs, BetweenFrames):
    """A point, or a sphere about it, touches a plane: three rows, two along the plane and the normal one.

    The force acts on the body of `frame`, at the point that touches and in the axes of `to`: (f_1, f_2, f_n) along two
    directions in the plane, which with the normal are right-handed (`directions`), and along the normal; f_n > 0 pushes
    (N).

    In `forward_dynamics`, `impulse` and the like it sticks: the material point that touches has no velocity against the
    plane, the force also pulls, and there is no limit to it. Give `active` = 0 where a foot is off the ground. Where
    contacts are solved (`contact_dynamics`, `contact_impulse`, and steps in time: `step`, `simulate`) it pushes only,
    may lift off, and slides where friction cannot hold it: ``‖(f_1, f_2)‖ ≤ friction · f_n``.

    What touches turns with its body: a caster written as a contact of the chassis sticks, and holds the robot. It rolls
    as a `Wheel` on a joint for its swivel, or as a sphere on a spherical joint; one without friction, where
    contacts are solved, is a contact of the chassis with friction 0.

    Parameters
    ----------
    frame : str
        Its origin is the point, or the centre of the sphere, unless another `point` of it is.
    to : str, optional
        The frame that carries the plane; the world if not given.
    normal : sequence of 3 floats
        Normal of the plane in the axes of `to`, towards the robot; normalised if it is not.
    radius : float
        Of the sphere (m); 0 for a point.
    height : float
        Of the plane above the origin of `to`, along the normal (m).
    friction : float
        Coulomb's coefficient μ, where contacts are solved; 0 for a smooth plane. Rubber on a dry floor has some 0.7,
        and so it is if not given.
    restitution : float
        The part e of the velocity with which it leaves the plane, where impacts are solved: 0 stays, 1 loses nothing.
    point : sequence of 3 floats
        In the axes of `frame` (m).
    extent : sequence of 3 floats, optional
        **Without it the plane is infinite**, on a body too. With it steps in time know only that part of it in a box
        about the origin of `to`, of these half edges along the axes of `to` (m): what touches elsewhere is open. Along
        the normal they say how deep something may be: below the box it is free, with inf it is pushed out from
        anywhere below. It looks at where a step begins.

    Raises
    ------
    ArgumentError
        If radius, friction or restitution is negative, restitution above 1, an extent not positive, or a number is not
        finite.
    ModelError
        If the normal has no direction.

    Examples
    --------
    >>> Contact("FL_foot", radius=0.02).directions
    (Vec3(0.0, 1.0, 0.0), Vec3(-1.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
    """

    to: str | None = None
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    radius: float = 0.0  # type: ignore[misc]
    height: float = 0.0
    friction: float = 0.7
    restitution: float = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    extent: tuple[float, float, float] | None = None

    size = 3
    checks: ClassVar[Checks] = {
        **Rubs.checks,
        "radius": not_negative,
        "height": finite_number,
        "normal": direction,
        "point": triple,
        "extent": half_edges,
    }

    @property
    def place(self) -> Transform:
        return Transform.translation(Vec3(*self.point))

    @property
    def directions(self) -> tuple[Vec3, Vec3, Vec3]:
        """The axes of the three rows: two in the plane, and the normal."""
        return (*perpendicular(self.normal), Vec3(*self.normal))

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        *along, n = self.directions
        touching = n * -self.radius
        gap = n.dot(seen.r) - self.radius - self.height
        rows = [Row([*Force(touching.cross(t), t)], 0.0, None, rebounds=False) for t in along]
        return [*rows, Row([*Force(touching.cross(n), n)], 0.0, gap)]

    def inside(self, model: Model, q: Vector) -> Scalar | None:
        if self.extent is None:
            return None
        r, n = self.relative(model, q).r, self.directions[2]
        above = n.dot(r) - self.height
        p, inside = r - n * select_less(above, self.radius, self.radius, above), 1.0  # where it touches, or will
        for x, half in zip(p, self.extent, strict=True):
            if half < math.inf:
                inside = select_less(half * (1.0 + ROUNDING), abs(x), 0.0, inside)
        return inside


@friendly_call_errors
def box_contacts(frame: str, size: Sequence[float], *, name: str = "", **how: Any) -> list[Contact]:
    """Return the contacts of a box with a plane: its eight corners.

    Parameters
    ----------
    frame : str
        The frame at its centre, in whose axes its edges are.
    size : sequence of 3 floats
        Lengths of the edges (m).
    name : str
        With which the names begin; ``box_`` and the frame's name if not given.
    **how
        All else that a `Contact` takes: `to`, `normal`, `height`, `friction`, `restitution`; `point` is where the
        centre is in the frame.

    Examples
    --------
    >>> [c.name for c in box_contacts("foot", (0.2, 0.1, 0.04))][:2]
    ['box_foot_0', 'box_foot_1']
    """
    edges = list(size) if isinstance(size, Iterable) else []
    if len(edges) != 3:
        raise ArgumentError(f"a box has the lengths of three edges, not {size!r}")
    half = [0.5 * positive("an edge of a box", x) for x in edges]
    return _at(name or f"box_{frame}", frame, itertools.product(*((x, -x) for x in half)), how)


@friendly_call_errors
def capsule_contacts(
    frame: str, length: float, radius: float, axis: Sequence[float] = (0.0, 0.0, 1.0), *, name: str = "", **how: Any
) -> list[Contact]:
    """Return the contacts of a capsule with a plane: the spheres at its ends.

    Parameters
    ----------
    frame : str
        The frame at its middle.
    length : float
        From centre to centre of the spheres (m).
    radius : float
        (m)
    axis : sequence of 3 floats
        Its direction in the frame.
    name, **how
        As in `box_contacts`.

    Examples
    --------
    >>> [c.point for c in capsule_contacts("shank", 0.2, 0.03, axis=(1, 0, 0))]
    [(0.1, 0.0, 0.0), (-0.1, 0.0, 0.0)]
    """
    half, direction = 0.5 * positive("the length of a capsule", length), unit_axis(axis)
    ends = ([sign * half * x for x in direction] for sign in (1.0, -1.0))
    return _at(name or f"capsule_{frame}", frame, ends, {"radius": positive("the radius of a capsule", radius)} | how)


def _at(name: str, frame: str, points: Any, how: dict[str, Any]) -> list[Contact]:
    centre = Contact(frame, name=name, **how)
    places = [tuple(a + b for a, b in zip(point, centre.point, strict=True)) for point in points]
    return [replace(centre, name=f"{name}_{k}", point=place) for k, place in enumerate(places)]


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
    finite = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"a contact slot has a name, by which it is given its contact; got {self.name!r}")
        super().__post_init__()

    def given(self, values: Vector) -> ContactSlot:
        """Return the slot with this point, normal and gap."""
        made = replace(self)
        object.__setattr__(made, "values", tuple(values))
        return made

    def rows(self, model: Model, q: Vector, v: Vector) -> Sequence[Row]:
        return [Row([0.0] * model.nv, 0.0, None)] * 3 if self.values is None else super().rows(model, q, v)

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        values = [0.0] * 7 if self.values is None else self.values
        point, normal = Vec3(*values[:3]), Vec3(*values[3:6])
        square = normal.dot(normal)
        normal = normal * (1.0 / sqrt(select_less(0.0, square, square, 1.0)))
        arm = point - seen.r
        return [Row([*Force(arm.cross(t), t)], 0.0, None) for t in (*along(normal), normal)]

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
            row = [*triple(name, point), *direction(name, normal), finite_number(name, float(gap))]
        except (TypeError, ValueError):
            raise ArgumentError(
                f"the contact in slot {name!r} is not a finite point, a normal and a gap: {given}"
            ) from None
        found[names.index(name)] = row
    return found
