"""A contact that sticks: of a point, or of a sphere that rolls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from kinetree.constraints.types._between import BetweenFrames, FrameRow, Relative
from kinetree.errors import ArgumentError, ModelError
from kinetree.joints._axis import perpendicular, unit_axis
from kinetree.spatial import Force, Vec3


@dataclass(frozen=True)
class Contact(BetweenFrames):
    """A point, or a sphere about it, touches a plane and sticks: three rows, two along the plane and the normal one.

    The material point that touches has no velocity against the plane. The force acts on the body of `frame`, at the
    point that touches and in the axes of `to`: (f_1, f_2, f_n) along two directions in the plane, which with the normal
    are right-handed (`directions`), and along the normal; f_n > 0 pushes (N). It also pulls, and there is no limit to
    what sticks: give `active` = 0 where a foot is off the ground.

    Parameters
    ----------
    frame : str
        Its origin is the point, or the centre of the sphere.
    to : str, optional
        The frame that carries the plane; the world if not given.
    normal : sequence of 3 floats
        Normal of the plane in the axes of `to`, towards the robot; normalised if it is not.
    radius : float
        Of the sphere (m); 0 for a point.
    height : float
        Of the plane above the origin of `to`, along the normal (m).

    Raises
    ------
    ArgumentError
        If the radius is negative, or a number is not finite.
    ModelError
        If the normal has no direction.

    Examples
    --------
    >>> Contact("FL_foot", radius=0.02).directions
    (Vec3(0.0, 1.0, 0.0), Vec3(-1.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
    """

    to: str | None = None
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    radius: float = 0.0
    height: float = 0.0

    size = 3

    def __post_init__(self) -> None:
        for field in ("radius", "height"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise ArgumentError(f"the {field} of contact {self.label!r} is {value!r}: give a finite number (m)")
            object.__setattr__(self, field, float(value))
        if self.radius < 0.0:
            raise ArgumentError(f"the radius of contact {self.label!r} is {self.radius}: it cannot be negative")
        try:
            normal = unit_axis(self.normal)
        except (ModelError, TypeError):
            raise ModelError(
                f"the normal of contact {self.label!r} is {self.normal!r}: give a finite (x, y, z) that is not zero"
            ) from None
        object.__setattr__(self, "normal", normal)

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
