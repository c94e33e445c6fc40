"""A weld: a frame fixed to another one, or to the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.constraints.types._between import BetweenFrames, Relative
from kinetree.constraints.types.base import Checks, Row
from kinetree.model.checks import Pose, as_transform
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force, Transform
from kinetree.spatial.vector import AXES, ZERO


@friendly_call_errors
@dataclass(frozen=True)
class Weld(BetweenFrames):
    """Frame `frame` is fixed to frame `to`, or to the world: six rows.

    The rows are moments (N·m) and forces (N) on `frame` at its origin, in the axes of the pose at which it is held.

    Parameters
    ----------
    frame : str
    to : str, optional
        The world if not given.
    placement : (4, 4) array-like, Transform, or SciPy's RigidTransform or Rotation, optional
        Pose of `frame` in `to`; the two coincide if it is not given.

    Raises
    ------
    ModelError
        If the placement is not a pose.

    Examples
    --------
    >>> Weld("tool").size
    6
    """

    to: str | None = None
    placement: Pose = None

    size = 6
    checks: ClassVar[Checks] = {"placement": lambda what, given: as_transform(given, what)}

    @property
    def offset(self) -> Transform:
        return self.placement  # type: ignore[no-any-return]

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        angles = seen.orientation_error(AXES)
        moments = [Row([*Force(axis, ZERO)], 0.0, axis.dot(angles)) for axis in AXES]
        return moments + [Row([*Force(ZERO, axis)], 0.0, axis.dot(seen.r)) for axis in AXES]
