"""A massless rod with a ball joint at either end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.constraints.types._between import BetweenFrames, Relative
from kinetree.constraints.types.base import Checks, Row
from kinetree.scalars.functions import select_less, sqrt
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Vec3
from kinetree.spatial.vector import ZERO
from kinetree.validation import positive


@friendly_call_errors
@dataclass(frozen=True)
class Rod(BetweenFrames):
    """The origins of two frames keep their distance: one row, the rod's thrust (N; negative in tension).

    Parameters
    ----------
    frame : str
    to : str or None
        The world's origin if it is None.
    length : float
        The distance (m), greater than zero.

    Raises
    ------
    ArgumentError
        If the length is not a positive number.

    Examples
    --------
    >>> Rod("a", "b", length=0.3)
    Rod(name='', frame='a', to='b', length=0.3)
    """

    to: str | None
    length: float

    size = 1
    checks: ClassVar[Checks] = {"length": positive}

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        """Return the row of ``φ = |r| − l``: J = d·, with d = r/|r|, and γ = d · r̈⁰ + (ṙ² − (d · ṙ)²)/|r|.

        Where the ends are at one place, every d is as good as another for the way apart, and γ means nothing.
        """
        r, u = seen.r, seen.velocity.lin
        distance = sqrt(r.dot(r))
        z, length = select_less(0.0, distance, r.z, 1.0), select_less(0.0, distance, distance, 1.0)
        d = Vec3(r.x, r.y, z) * (1.0 / length)
        along = d.dot(u)
        return [Row([*Force(ZERO, d)], (u.dot(u) - along * along) / length, distance - self.length)]
