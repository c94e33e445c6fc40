"""A closed loop: two frames joined by a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.constraints.types._between import BetweenFrames, Relative
from kinetree.constraints.types.base import Row
from kinetree.errors import ModelError
from kinetree.joints import Joint
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Force
from kinetree.spatial.vector import ZERO

CUT_ELSEWHERE = (
    "cut the loop at another of its joints and keep this one in the tree: a loop closes at a joint that turns about "
    "all axes, about one, or about none, and whose directions do not change with its position (Revolute, Prismatic, "
    "Cylindrical, Spherical, Planar, Fixed)"
)


@friendly_call_errors
@dataclass(frozen=True)
class Loop(BetweenFrames):
    """Frame `frame` is carried by frame `to` through a joint: 5 rows of a revolute joint, 3 of a spherical one.

    The joint is not part of the tree: it has no coordinate, only the forces that it bears, those of its
    `Joint.constraint_subspace` T. The two frames are where the joint's two sides would be, so at the joint's zero they
    coincide. The rows are T's columns: moments (N·m), then forces (N) at the origin of `frame`, in the axes of `to`.

    Parameters
    ----------
    frame, to : str
        The frames that the joint connects.
    joint : Joint
        A joint with a constant T: revolute, prismatic, cylindrical, spherical, planar or fixed.

    Examples
    --------
    >>> from kinetree.joints import Revolute
    >>> Loop("coupler_tip", "rocker_tip", Revolute((0, 1, 0))).size
    5
    """

    to: str
    joint: Joint

    @property
    def size(self) -> int:  # type: ignore[override]
        """6 less the degrees of freedom of the joint."""
        return len(self.subspace)

    def check(self, model: Model) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(
                f"loop {self.label!r} closes at a joint, such as Revolute((0, 1, 0)); {self.joint!r} is none"
            )
        super().check(model)
        if reason := why_it_cannot_close(self.joint):
            raise ModelError(f"loop {self.label!r}: a {type(self.joint).__name__} {reason}; {CUT_ELSEWHERE}")

    @cached_property
    def subspace(self) -> tuple[Force, ...]:
        """T: the forces that the joint bears."""
        return self.joint.constraint_subspace(self.joint.neutral())

    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        angles = seen.orientation_error([t.ang for t in self.subspace if t.lin == ZERO])
        return [Row([*t], 0.0, t.ang.dot(angles) + t.lin.dot(seen.r)) for t in self.subspace]


def why_it_cannot_close(joint: Joint) -> str:
    """Return why a loop cannot close at this joint, empty if it can."""
    if joint.follows is not None:
        return "follows another joint"
    T = joint.constraint_subspace(joint.neutral())
    if not T:
        return "bears no force, so that it closes nothing"
    elsewhere = joint.constraint_subspace(joint.random(np.random.default_rng(0)).tolist())
    if not np.allclose([[*t] for t in T], [[*t] for t in elsewhere], rtol=0.0, atol=1e-12):
        return "bears forces in directions that turn as it moves"
    if any(t.ang != ZERO and t.lin != ZERO for t in T):
        return "couples its turn to its travel, and whole turns do not show in where its sides are"
    return "turns about two axes" if sum(t.lin == ZERO for t in T) == 1 else ""
