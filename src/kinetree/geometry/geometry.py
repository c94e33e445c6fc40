"""A shape at a place in a link, and all of a robot's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

from kinetree.errors import ModelError
from kinetree.geometry.shapes import Shape, numbers
from kinetree.model.checks import as_transform
from kinetree.spatial import Inertia, Transform

IDENTITY = Transform.identity()


@dataclass(frozen=True)
class Geometry:
    """A shape fixed to a link, for the eyes or for contacts.

    Attributes
    ----------
    link : str
        The link, a frame of the robot.
    shape : Shape
    placement : Transform
        From the link's frame to the shape's.
    name : str
        Its name in the file; empty where it has none.
    color : (float, float, float, float), optional
        Red, green, blue and opacity, from 0 to 1; None where the file gives none: a mesh may have its own.
    friction : tuple of float
        Coefficients of contacts as far as the file gives them: sliding, torsional (m), rolling (m).
    contype, conaffinity : int
        Bit masks: two shapes may touch if the contype of one and the conaffinity of the other share a bit.
    """

    link: str
    shape: Shape
    placement: Transform = IDENTITY
    name: str = ""
    color: tuple[float, float, float, float] | None = None
    friction: tuple[float, ...] = ()
    contype: int = 1
    conaffinity: int = 1

    def __post_init__(self) -> None:
        """Make tuples of floats and a transform of what was given; a `ModelError` where that is something else."""
        of = f"a geometry of {self.link!r}"
        if not (isinstance(self.link, str) and isinstance(self.name, str) and isinstance(self.shape, Shape)):
            raise ModelError(f"{of} takes the name of a link, a kinetree.geometry.Shape and a name; see {self!r:.200}")
        own: dict[str, object] = {"friction": numbers(f"friction of {of}", self.friction, 0, 1, 2, 3)}
        if self.color is not None:
            own["color"] = (*numbers(f"color of {of}", self.color, 3, 4), 1.0)[:4]
        if not isinstance(self.placement, Transform):
            own["placement"] = as_transform(self.placement, f"placement of {of}")
        if not (isinstance(self.contype, Integral) and isinstance(self.conaffinity, Integral)):
            raise ModelError(f"contype and conaffinity of {of} take whole numbers")
        self.__dict__.update(own)

    def inertia(self, density: float) -> Inertia:
        """Return the inertia of the shape in its link's frame; see `Shape.inertia`."""
        return self.placement.T @ self.shape.inertia(density)


class Geometries(NamedTuple):
    """A robot's shapes: what is seen, and what touches."""

    visual: tuple[Geometry, ...] = ()
    collision: tuple[Geometry, ...] = ()

    def beside(self, other: Geometries, prefix: str) -> Geometries:
        """Return these with those of another robot, whose names get this prefix."""

        def renamed(shapes: tuple[Geometry, ...]) -> tuple[Geometry, ...]:
            return tuple(replace(g, link=prefix + g.link, name=g.name and prefix + g.name) for g in shapes)

        return Geometries(self.visual + renamed(other.visual), self.collision + renamed(other.collision))


NO_GEOMETRY = Geometries()
