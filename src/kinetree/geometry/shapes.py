"""The shapes, about the origin of a frame of their own, and where a robot has them. Sizes are in metres."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from numbers import Integral
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.lazy import lazy_method
from kinetree.model.checks import as_transform
from kinetree.spatial import Inertia, Transform
from kinetree.validation import Array, check_finite, real_array

mesh_inertia: Callable[[Any, float], Inertia] = lazy_method("kinetree.geometry.meshes", "mesh_inertia")
IDENTITY = Transform.identity()


def real(what: str, given: Any, *shape: int | None) -> Array:
    """Return finite numbers as an array of this shape (None: any length); a `ModelError` where they are not that."""
    found = real_array(what, given, *shape, batch=False, error=ModelError)
    check_finite(what, found, ModelError)
    return found


@dataclass(frozen=True)
class Shape:
    """A shape in its own frame."""

    def __post_init__(self) -> None:
        """Make floats of all lengths; those of a plane may be infinite."""
        for each in fields(self):
            count, what = str(each.type).count("float"), f"{each.name} of a {type(self).__name__.lower()}"
            given = getattr(self, each.name)
            found = real_array(what, given, *[count] * (count > 1), batch=False, error=ModelError)
            if not (found >= 0.0).all() or (np.isinf(found).any() and not isinstance(self, Plane)):
                raise ModelError(f"{what} is {given!r:.80}: lengths are finite and not negative")
            self.__dict__[each.name] = tuple(found.tolist()) if count > 1 else float(found)

    def inertia(self, density: float) -> Inertia:
        """Return the inertia of the shape, filled with a material of this density, in the shape's frame.

        Parameters
        ----------
        density : float
            In kg/m³.

        Raises
        ------
        ModelError
            If it has no volume: a plane, a height field, a mesh that is not closed or turned inside out.

        Examples
        --------
        >>> ball = Sphere(0.5).inertia(1000.0)
        >>> round(ball.m, 3), round(ball.I.zz / ball.m, 9)  # 2/5 r²
        (523.599, 0.1)
        """
        if type(self) not in SOLIDS:
            return mesh_inertia(self, density)
        volumes, mean_squares = zip(*SOLIDS[type(self)](self), strict=True)
        masses = density * np.array(volumes)
        if not masses.sum() > 0.0:
            raise ModelError(f"the volume of this {type(self).__name__.lower()} is zero")
        second = masses @ np.array(mean_squares)
        return Inertia(masses.sum(), (0.0, 0.0, 0.0), np.diag(second.sum() - second))


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


def ball(a: float, b: float, c: float, apart: float = 0.0) -> tuple[float, tuple[float, ...]]:
    """Return volume and mean squares of an ellipsoid, whose halves along z are so far apart."""
    return 4 / 3 * math.pi * a * b * c, (a * a / 5, b * b / 5, c * c / 5 + apart * (apart / 4 + 3 / 8 * c))


def rod(r: float, length: float) -> tuple[float, tuple[float, ...]]:
    """Return volume and mean squares of a cylinder."""
    return math.pi * r * r * length, (r * r / 4, r * r / 4, length**2 / 12)


SOLIDS: dict[type, Callable[[Any], list[tuple[float, tuple[float, ...]]]]] = {
    Box: lambda s: [(math.prod(s.size), tuple(x * x / 12 for x in s.size))],
    Sphere: lambda s: [ball(s.radius, s.radius, s.radius)],
    Ellipsoid: lambda s: [ball(*s.radii)],
    Cylinder: lambda s: [rod(s.radius, s.length)],
    Capsule: lambda s: [rod(s.radius, s.length), ball(s.radius, s.radius, s.radius, apart=s.length)],
}
"""The parts of a solid, symmetric in all planes of its frame: volume, and means of x², y² and z² in it."""


@dataclass(frozen=True)
class Plane(Shape):
    """The plane z = 0, which is seen in a rectangle of this size (infinite: all of it)."""

    size: tuple[float, float] = (math.inf, math.inf)


@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh in a file, which is opened when it is asked for.

    Attributes
    ----------
    path : str
        Where it is; where it was not found, its name in the robot's file.
    scale : (float, float, float)
        Factors along x, y and z; a negative one mirrors.
    """

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        """Make a text of the path, and floats of the scale."""
        scale = tuple(real("scale of a mesh", self.scale, 3).tolist())
        if not isinstance(self.path, str | PathLike) or 0.0 in scale:
            raise ModelError(f"a mesh takes a path and 3 factors, not 0; {self.path!r}, {scale} was given")
        self.__dict__.update(path=str(fspath(self.path)), scale=scale)


@dataclass(frozen=True)
class Triangles(Shape):
    """A mesh in memory.

    Attributes
    ----------
    vertices : (n, 3) array
    faces : (m, 3) array of int
        Three vertices each, counter-clockwise seen from outside.
    digest : bytes
        By which meshes are compared.
    """

    vertices: Array = field(repr=False, compare=False)
    faces: NDArray[np.int64] = field(repr=False, compare=False)
    digest: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make arrays of what was given, and their digest, by which meshes are compared."""
        vertices = real("vertices of triangles", self.vertices, None, 3).copy()
        faces = real("faces of triangles", self.faces, None, 3)
        if not faces.size or (faces % 1).any() or not 0 <= faces.min() <= faces.max() < len(vertices):
            raise ModelError(f"faces of triangles are whole numbers from 0 to {len(vertices) - 1}, those of vertices")
        faces = faces.astype(np.int64)
        digest = blake2b(vertices.tobytes() + faces.tobytes()).digest()
        self.__dict__.update(vertices=vertices, faces=faces, digest=digest)


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

    def __post_init__(self) -> None:
        """Make floats of all numbers."""
        what = "of a height field"
        size, base = real(f"size {what}", self.size, 2), float(real(f"base {what}", self.base))
        heights = real(f"heights {what}", self.heights, None, None)
        if min(heights.shape) < 2 or (size < 0.0).any():
            raise ModelError("a height field takes two rows or more of two heights or more, and no negative size")
        self.__dict__.update(size=tuple(size.tolist()), heights=tuple(map(tuple, heights.tolist())), base=base)


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
        of = f"of a geometry of {self.link!r}"
        if not (isinstance(self.link, str) and isinstance(self.name, str) and isinstance(self.shape, Shape)):
            takes = "the name of a link, a kinetree.geometry.Shape and a name"
            raise ModelError(f"a geometry takes {takes}; see {self!r:.200}")
        if not (isinstance(self.contype, Integral) and isinstance(self.conaffinity, Integral)):
            raise ModelError(f"contype and conaffinity {of} take whole numbers")
        friction, color = real(f"friction {of}", self.friction, None), self.color
        if color is not None:
            color = tuple(real(f"color {of}", color, None).tolist())
        if len(friction) > 3 or (color is not None and len(color) not in (3, 4)):
            raise ModelError(f"color {of} has 3 or 4 numbers and friction up to 3; see {self!r:.200}")
        color, placement = color and (*color, 1.0)[:4], self.placement
        if not isinstance(placement, Transform):
            placement = as_transform(placement, f"placement {of}")
        self.__dict__.update(color=color, placement=placement, friction=tuple(friction.tolist()))

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
