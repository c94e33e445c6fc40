"""The shapes: sizes in metres, about the origin of the shape's frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Shape:
    """A shape in its own frame."""


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid, whose edges have these lengths along x, y and z."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid, whose semi-axes have these lengths along x, y and z."""

    radii: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z, of this length, with half a ball at each end."""

    radius: float
    length: float


@dataclass(frozen=True)
class Plane(Shape):
    """The plane z = 0, which is seen in a rectangle of this size (infinite: all of it)."""

    size: tuple[float, float] = (float("inf"), float("inf"))


@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh in a file, which is opened when it is asked for.

    Attributes
    ----------
    path : str
        Where it is; where it was not found, its name in the robot's file.
    scale : (float, float, float)
        Factors along x, y and z.
    """

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Triangles(Shape):
    """A mesh in memory.

    Attributes
    ----------
    vertices : (n, 3) array
    faces : (m, 3) array of int
        Three vertices each, counter-clockwise seen from outside.
    """

    vertices: NDArray[np.float64] = field(repr=False)
    faces: NDArray[np.int64] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triangles):
            return NotImplemented
        return np.array_equal(self.vertices, other.vertices) and np.array_equal(self.faces, other.faces)

    def __hash__(self) -> int:
        return hash((self.vertices.tobytes(), self.faces.tobytes()))


@dataclass(frozen=True)
class HeightField(Shape):
    """Heights (m) over a grid centred in the frame: row after row along y, each along x.

    Attributes
    ----------
    size : (float, float)
        Extent along x and y.
    heights : tuple of tuples of float
    base : float
        Depth of solid ground below height zero.
    """

    size: tuple[float, float]
    heights: tuple[tuple[float, ...], ...] = field(repr=False)
    base: float = 0.0
