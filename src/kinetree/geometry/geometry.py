"""A shape at a place in a link, and all of a robot's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from kinetree.geometry.shapes import Shape
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
