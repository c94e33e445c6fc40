"""A wheel that rolls on a plane without slipping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kinetree.constraints.types._between import BetweenFrames, Relative
from kinetree.constraints.types.base import Checks, Row, direction, finite_number
from kinetree.scalars.functions import select_less, sqrt
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Vec3
from kinetree.validation import positive


@friendly_call_errors
@dataclass(frozen=True)
class Wheel(BetweenFrames):
    """A thin disk rolls on its rim on a plane, upright or tilted, and does not slip: three rows.

    The material point of the rim that touches has no velocity against the plane. The force acts on the body of `frame`,
    at the point that touches: (f_1, f_2, f_n) along the way the wheel rolls when it turns about its axis in the
    positive sense, ``axis × normal``; to its side, ``normal ×`` that; and along the normal, where f_n > 0 pushes (N).
    It also pulls, and sticks whatever the load. Of a wheel that lies flat no point is the lowest: its rows are NaN.

    Parameters
    ----------
    frame : str
        Its origin is the centre of the disk.
    to : str, optional
        The frame that carries the plane; the world if not given.
    radius : float
        Of the disk (m), greater than zero.
    axis : sequence of 3 floats
        Of the disk, in the axes of `frame`; normalised if it is not.
    normal : sequence of 3 floats
        Normal of the plane in the axes of `to`, towards the robot; normalised if it is not.
    height : float
        Of the plane above the origin of `to`, along the normal (m).

    Raises
    ------
    ArgumentError
        If the radius is not a positive number, or the height is not finite.
    ModelError
        If the axis or the normal has no direction.

    Examples
    --------
    >>> Wheel("rear_wheel", radius=0.3).size
    3
    """

    to: str | None = None
    radius: float = field(kw_only=True)  # type: ignore[misc]
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    height: float = 0.0

    size = 3
    finite = False
    checks: ClassVar[Checks] = {"radius": positive, "height": finite_number, "axis": direction, "normal": direction}

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        """Return the rows of the directions h, l and n with ρ, from the centre to the lowest point, and their rates.

        With the unit axis a, ``h = a × n/|a × n|``, ``l = n × h`` and ``ρ = r a × h``. The rim's lowest point is at the
        least distance of all, so that its material velocity along n is the rate of that distance.
        """
        n, omega, u = Vec3(*self.normal), seen.velocity.ang, seen.velocity.lin
        x, y, z = seen.axes
        a: Vec3 = x * self.axis[0] + y * self.axis[1] + z * self.axis[2]
        da = omega.cross(a)
        across, dacross = a.cross(n), da.cross(n)
        square = across.dot(across)
        inverse = select_less(0.0, square, 1.0 / sqrt(select_less(0.0, square, square, 1.0)), math.nan)
        h = across * inverse
        dh = (dacross - h * h.dot(dacross)) * inverse
        rho, drho = a.cross(h) * self.radius, (da.cross(h) + a.cross(dh)) * self.radius
        gap = n.dot(seen.r) + n.dot(rho) - self.height
        rows = []
        for t, dt, phi in ((h, dh, None), (n.cross(h), n.cross(dh), None), (n, Vec3(0.0, 0.0, 0.0), gap)):
            rate = (drho.cross(t) + rho.cross(dt)).dot(omega) + dt.dot(u)
            rows.append(Row([*Force(rho.cross(t), t)], rate, phi, rebounds=phi is not None))
        return rows
