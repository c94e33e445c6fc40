"""A contact of a point, or of a sphere that rolls, with a plane: it sticks, or pushes and rubs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.constraints.types._between import BetweenFrames, FrameRow, Relative
from kinetree.errors import ArgumentError, ModelError
from kinetree.glossary.symbols import Vector
from kinetree.joints._parts import perpendicular, unit_axis
from kinetree.model import Model
from kinetree.scalars.functions import select_less
from kinetree.signatures import told
from kinetree.spatial import Force, Scalar, Transform, Vec3
from kinetree.validation import as_number

if TYPE_CHECKING:
    from kinetree.contacts import FrictionCone

LIMITS = {"radius": math.inf, "friction": math.inf, "restitution": 1.0}
"""The largest value of the fields that cannot be negative."""

ROUNDING = 1e-9
"""By which part of an extent something may be beyond it: a plane may be on the face of the box."""


@told
@dataclass(frozen=True)
class Contact(BetweenFrames):
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

    def __post_init__(self) -> None:
        for field in ("height", *LIMITS):
            given = getattr(self, field)
            if not math.isfinite(value := as_number(given)):
                raise ArgumentError(f"the {field} of contact {self.label!r} is {given!r:.80}: give a finite number")
            object.__setattr__(self, field, value)
        for field, most in LIMITS.items():
            if not 0.0 <= (value := getattr(self, field)) <= most:
                allowed = "cannot be negative" if most == math.inf else f"is between 0 and {most:g}"
                raise ArgumentError(f"the {field} of contact {self.label!r} is {value}: it {allowed}")
        try:
            normal = unit_axis(self.normal)
        except (ModelError, TypeError):
            raise ModelError(
                f"the normal of contact {self.label!r} is {self.normal!r}: give a finite (x, y, z) that is not zero"
            ) from None
        object.__setattr__(self, "normal", normal)
        try:
            point = tuple(float(x) for x in self.point)
        except (TypeError, ValueError):
            point = ()
        if len(point) != 3 or not all(map(math.isfinite, point)):
            raise ArgumentError(f"the point of contact {self.label!r} is {self.point!r}: give a finite (x, y, z) (m)")
        object.__setattr__(self, "point", point)
        if self.extent is not None:
            object.__setattr__(self, "extent", self._half_edges())

    def _half_edges(self) -> tuple[float, ...]:
        try:
            half = tuple(float(x) for x in self.extent or ())
        except (TypeError, ValueError):
            half = ()
        if len(half) != 3 or not all(x > 0.0 for x in half):
            raise ArgumentError(
                f"the extent of contact {self.label!r} is {self.extent!r}: give three positive half edges (m) along "
                "the axes of `to`, such as (0.2, 0.1, math.inf)"
            )
        return half

    @property
    def place(self) -> Transform:
        return Transform.translation(Vec3(*self.point))

    @property
    def directions(self) -> tuple[Vec3, Vec3, Vec3]:
        """The axes of the three rows: two in the plane, and the normal."""
        return (*perpendicular(self.normal), Vec3(*self.normal))

    def frame_rows(self, seen: Relative) -> Sequence[FrameRow]:
        *along, n = self.directions
        touching = n * -self.radius
        gap = n.dot(seen.r) - self.radius - self.height
        rows = [FrameRow(Force(touching.cross(t), t), None, rebounds=False) for t in along]
        return [*rows, FrameRow(Force(touching.cross(n), n), gap)]

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

    def force_set(self, friction: Scalar | None = None) -> FrictionCone:
        from kinetree.contacts import FrictionCone

        return FrictionCone(self.friction if friction is None else friction)

    @property
    def rebound(self) -> float:
        return self.restitution
