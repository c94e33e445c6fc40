"""A contact of a point, or of a sphere that rolls, with a plane: it sticks, or pushes and rubs. Shapes made of such."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kinetree.constraints.types._between import BetweenFrames, FrameRow, Relative
from kinetree.constraints.types.base import direction, finite, three_numbers
from kinetree.errors import ArgumentError
from kinetree.glossary.symbols import Vector
from kinetree.joints._parts import perpendicular, unit_axis
from kinetree.model import Model
from kinetree.scalars.functions import select_less
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Scalar, Transform, Vec3
from kinetree.validation import positive

if TYPE_CHECKING:
    from kinetree.contacts import FrictionCone

LIMITS = {"radius": math.inf, "friction": math.inf, "restitution": 1.0}
"""The largest value of the fields that cannot be negative."""

ROUNDING = 1e-9
"""By which part of an extent something may be beyond it: a plane may be on the face of the box."""


class Rubs:
    """What has a friction and a restitution, and pushes only where contacts are solved."""

    friction: float
    restitution: float

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

    def __post_init__(self) -> None:
        ours = f"of contact {self.label!r}"
        for field in ("height", *LIMITS):
            object.__setattr__(self, field, finite(f"the {field} {ours}", getattr(self, field)))
        for field, most in LIMITS.items():
            if not 0.0 <= (value := getattr(self, field)) <= most:
                allowed = "cannot be negative" if most == math.inf else f"is between 0 and {most:g}"
                raise ArgumentError(f"the {field} {ours} is {value}: it {allowed}")
        object.__setattr__(self, "normal", direction(f"the normal {ours}", self.normal))
        point = three_numbers(self.point)
        if not all(map(math.isfinite, point)):
            raise ArgumentError(f"the point {ours} is {self.point!r}: give a finite (x, y, z) (m)")
        object.__setattr__(self, "point", point)
        if self.extent is not None:
            half = three_numbers(self.extent)
            if not all(x > 0.0 for x in half):
                raise ArgumentError(
                    f"the extent {ours} is {self.extent!r}: give three positive half edges (m) along the axes of `to`, "
                    "such as (0.2, 0.1, math.inf)"
                )
            object.__setattr__(self, "extent", half)

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
