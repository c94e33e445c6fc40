"""The frames of an SDFormat model: where each stands, and which link carries it.

Follows http://sdformat.org/tutorials?tut=pose_frame_semantics. Models, links, joints and frames are frames. A name in a
nested model has those of the models around it before it, ``arm::hand``; each model's own frame is ``__model__`` in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kinetree.errors import listed, shortened, unknown_name
from kinetree.formats.xml import Element
from kinetree.model.tree import cycles
from kinetree.scalars.functions import Scalar
from kinetree.spatial import Transform

WORLD = "world"
MODEL = "__model__"
SNAP = 16 * 2.0**-52
"""Relative to the numbers that made it, what is below is rounding."""

T = TypeVar("T")


@dataclass(frozen=True)
class Placed:
    """A frame as written: its element, its pose in another frame, and what carries it (None for a link)."""

    element: Element
    base: str
    X: Transform
    on: str | None


class Frames:
    """All frames of a file by their full names, and how they stand to each other."""

    def __init__(self, root: Element) -> None:
        self.placed = {WORLD: Placed(root, "", Transform.identity(), None)}
        self._poses: Mapping[str, Transform] = {}
        self._links: Mapping[str, str] = {}

    def add(self, name: str, frame: Placed) -> None:
        """Add a frame; two of one name are an error."""
        first = self.placed.setdefault(name, frame)
        if first is not frame:
            raise frame.element.error(
                f"a second frame of the name {shortened(name)!r}, the first is on line {first.element.line}: names of "
                "links, joints, frames and models must differ"
            )

    def resolve(self) -> None:
        """Find the poses of all frames in the world, and the links that carry them."""
        carriers = {name: frame.on for name, frame in self.placed.items() if frame.on is not None}
        self._links = self._along(carriers, "attached_to", lambda link: link, lambda _, link: link)
        bases = {name: frame.base for name, frame in self.placed.items() if frame.base}  # attached_to, if not given
        self._poses = self._along(bases, "relative_to", lambda _: Transform.identity(), self._placed_on)

    def link(self, name: str) -> str:
        """Return the link that carries a frame."""
        return self._links[name]

    def pose(self, name: str) -> Transform:
        """Return the transform from the world to a frame."""
        return self._poses[name]

    def between(self, name: str, other: str) -> Transform:
        """Return the transform from one frame to the other; what is only rounding is zero in it."""
        if name == other:
            return Transform.identity()
        if self.placed[other].base == name:
            return self.placed[other].X
        return without_rounding(self.pose(other), self.pose(name))

    def coincide(self, name: str, other: str) -> bool:
        """Return whether a frame is written to stand where the other one does."""
        return self.placed[other].base == name and Transform.identity() == self.placed[other].X

    def _placed_on(self, name: str, X: Transform) -> Transform:
        return self.placed[name].X @ X

    def _along(
        self, following: Mapping[str, str], attribute: str, first: Callable[[str], T], step: Callable[[str, T], T]
    ) -> dict[str, T]:
        """Return a value for every frame, made from that of the frame which it follows, where it follows one."""
        for name, other in following.items():
            if other not in self.placed:
                raise self.placed[name].element.error(f"{unknown_name('frame', other, self.placed)}")
        for ring in cycles(following):
            names = listed([repr(shortened(name)) for name in [*ring, ring[0]]], most=10)
            raise self.placed[ring[0]].element.error(f"{attribute}: the frames {names} follow each other in a circle")
        found: dict[str, T] = {}
        for start in self.placed:
            chain, name = [], start
            while name not in found and name in following:
                chain.append(name)
                name = following[name]
            value = found[name] if name in found else found.setdefault(name, first(name))
            for follower in reversed(chain):
                value = found[follower] = step(follower, value)
        return found


def without_rounding(to: Transform, base: Transform) -> Transform:
    """Return the transform from `base` to `to`, both given from the world, where what is only rounding is zero."""
    X = to @ base.inverse()
    size = max(1.0, *(abs(x) for x in (*to.r, *base.r)))
    rows = [[_snapped(x, 1.0) for x in row] for row in X.placement]
    return Transform.placed([row[:3] for row in rows[:3]], [_snapped(x, size) for x in X.r])


def _snapped(x: Scalar, size: float) -> float:
    nearest = float(round(x)) if abs(x) <= 1.5 and size == 1.0 else 0.0
    return nearest + 0.0 if abs(x - nearest) < SNAP * size else float(x)
