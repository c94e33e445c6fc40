"""The shapes: sizes in metres, about the origin of the shape's frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError, warn_user
from kinetree.lazy import lazy_method
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.validation import as_number

Array = NDArray[np.float64]
LARGEST = 100.0
"""A mesh that is larger (m) may be in millimetres."""

meshes_of: Callable[[Any], list[Any]] = lazy_method("kinetree.geometry.meshes", "meshes_of")


class Moments(NamedTuple):
    """Integrals over the inside of a shape: of 1 (m³), of x (m⁴), and of x xᵀ (m⁵) about the frame's origin."""

    volume: float
    first: Array
    second: Array

    @classmethod
    def symmetric(cls, volume: float, x2: float, y2: float, z2: float) -> Moments:
        """Return those of a shape that is symmetric in all planes of its frame: a volume, and mean squares."""
        return cls(volume, np.zeros(3), volume * np.diag([x2, y2, z2]))


def numbers(what: str, given: object, *counts: int, least: float = -math.inf) -> tuple[float, ...]:
    """Return numbers as a tuple of floats; a `ModelError` where they are none, too small, or not so many."""
    values = tuple(map(as_number, given)) if isinstance(given, Iterable) else (math.nan,)
    if len(values) not in counts or not all(x >= least for x in values):
        wanted = f"{' or '.join(map(str, counts))} numbers{' that are not negative' * (least == 0.0)}"
        raise ModelError(f"{what} takes {wanted}; {given!r:.80} was given")
    return values


def array(given: object, dtype: type | None = float) -> NDArray[Any]:
    """Return numbers as an array, an empty one where they are none."""
    try:
        return np.asarray(given, dtype=dtype)
    except (TypeError, ValueError):
        return np.zeros(0)


@dataclass(frozen=True)
class Shape:
    """A shape in its own frame."""

    def __post_init__(self) -> None:
        """Make floats of all lengths."""
        for each in fields(self):
            given, alone = getattr(self, each.name), each.type == "float"
            what = f"{each.name} of a {type(self).__name__.lower()}"
            values = numbers(what, (given,) if alone else given, str(each.type).count("float"), least=0.0)
            if math.inf in values and not isinstance(self, Plane):
                raise ModelError(f"{what} is infinite")
            self.__dict__[each.name] = values[0] if alone else values

    def moments(self) -> Moments:
        """Return the integrals over the inside of the shape; a `ModelError` says why there are none."""
        raise ModelError(f"a {type(self).__name__.lower()} encloses no volume")

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
        volume, first, second = self.moments()
        if not volume > 0.0:
            raise ModelError(f"the volume of this {type(self).__name__.lower()} is zero")
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (density * second).tolist()
        about = Sym3(yy + zz, -xy, xx + zz, -xz, -yz, xx + yy)
        return Inertia.about_origin(density * volume, Vec3(*(density * first).tolist()), about)


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid, whose edges have these lengths along x, y and z."""

    size: tuple[float, float, float]

    def moments(self) -> Moments:
        """Return its volume a b c, and mean squares a²/12."""
        a, b, c = self.size
        return Moments.symmetric(a * b * c, a * a / 12, b * b / 12, c * c / 12)


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball."""

    radius: float

    def moments(self) -> Moments:
        """Return those of an ellipsoid with three equal radii."""
        return Ellipsoid((self.radius,) * 3).moments()


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid, whose semi-axes have these lengths along x, y and z."""

    radii: tuple[float, float, float]

    def moments(self) -> Moments:
        """Return its volume 4/3 π a b c, and mean squares a²/5."""
        a, b, c = self.radii
        return Moments.symmetric(4 / 3 * math.pi * a * b * c, a * a / 5, b * b / 5, c * c / 5)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z."""

    radius: float
    length: float

    def moments(self) -> Moments:
        """Return its volume π r² l, and mean squares r²/4 and l²/12."""
        r2, l2 = self.radius**2, self.length**2
        return Moments.symmetric(math.pi * r2 * self.length, r2 / 4, r2 / 4, l2 / 12)


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z, of this length, with half a ball at each end."""

    radius: float
    length: float

    def moments(self) -> Moments:
        """Return those of the cylinder, and of a ball whose halves are at its ends."""
        rod, ball = Cylinder(self.radius, self.length).moments(), Sphere(self.radius).moments()
        farther = ball.volume * self.length * (self.length / 4 + 3 / 8 * self.radius)
        second = rod.second + ball.second + np.diag([0.0, 0.0, farther])
        return Moments(rod.volume + ball.volume, np.zeros(3), second)


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

    def __post_init__(self) -> None:
        """Make a text of the path, and floats of the scale, which is checked where the file is opened."""
        if not isinstance(self.path, str | PathLike) or len(scale := array(self.scale).tolist()) != 3:
            raise ModelError(f"a mesh takes a path and 3 factors; {self.path!r}, {self.scale!r} was given")
        self.__dict__.update(path=str(fspath(self.path)), scale=tuple(scale))

    def moments(self) -> Moments:
        """Return those of all its parts together."""
        parts = meshes_of(self)
        starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
        faces = np.vstack([part.faces + start for part, start in zip(parts, starts, strict=False)])
        whole = Triangles(np.vstack([part.vertices for part in parts]), faces)
        if (size := float(np.ptp(whole.vertices, axis=0).max())) > LARGEST:
            warn_user(f"{self.path} is {size:.3g} m large: if it is in millimetres, its scale is 0.001")
        try:
            return whole.moments()
        except ModelError as error:
            raise ModelError(f"{self.path}: {error}") from None


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

    def __post_init__(self) -> None:
        """Make arrays of what was given."""
        vertices, faces = array(self.vertices), array(self.faces, None)
        whole = faces.dtype.kind in "iu" and bool(not faces.size or 0 <= faces.min() <= faces.max() < len(vertices))
        if (*vertices.shape[1:], *faces.shape[1:]) != (3, 3) or not whole:
            raise ModelError(
                "triangles take vertices (n, 3), and faces (m, 3) of whole numbers: there is no such vertex"
            )
        self.__dict__.update(vertices=vertices, faces=np.asarray(faces, np.int64))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triangles):
            return NotImplemented
        return np.array_equal(self.vertices, other.vertices) and np.array_equal(self.faces, other.faces)

    def __hash__(self) -> int:
        return hash((self.vertices.tobytes(), self.faces.tobytes()))

    def moments(self) -> Moments:
        """Return the sums over the tetrahedra from the middle to each triangle, with signs (Tonon 2004)."""
        vertices = np.asarray(self.vertices, dtype=np.float64)
        size = np.ptp(vertices, axis=0).max()
        if size > 0.0:
            _check_closed(vertices / size, np.asarray(self.faces))
        middle = vertices.mean(axis=0)
        corners = (vertices - middle)[self.faces]
        six = np.linalg.det(corners)  # six times the volume of each tetrahedron
        total = corners.sum(axis=1)
        volume, first = six.sum() / 6, six @ total / 24
        second = (np.einsum("t,tci,tcj->ij", six, corners, corners) + np.einsum("t,ti,tj->ij", six, total, total)) / 120
        if abs(volume) <= FLAT * size**3:
            raise ModelError("all its points are in a plane, so that it has no volume")
        if volume < 0.0:
            raise ModelError("its triangles are turned inwards: turn them around")
        across = np.outer(first, middle)
        return Moments(
            float(volume),
            first + volume * middle,
            second + across + across.T + volume * np.outer(middle, middle),
        )


FLAT = 1e-12
"""A volume below this, relative to the cube around it, is rounding."""
MERGED = (0, 1e-7, 1e-5)
"""Vertices so far apart, relative to the mesh, are one: files write a few digits."""


def _check_closed(vertices: Array, faces: NDArray[np.int64]) -> None:
    """Raise where an edge is not passed as often in one direction as in the other one; for vertices of size 1."""
    for grid in MERGED:
        _, same = np.unique(np.round(vertices / grid) if grid else vertices, axis=0, return_inverse=True)
        corners = same.reshape(-1)[faces]
        edges = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        edges = edges[edges[:, 0] != edges[:, 1]]
        _, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
        odd = int(np.count_nonzero(np.bincount(which.reshape(-1)) % 2))
        if not odd:
            break
    else:
        raise ModelError(f"its surface is not closed, at {odd} edges: close it, or give a simpler shape")
    if np.bincount(which.reshape(-1), np.sign(edges[:, 1] - edges[:, 0])).any():
        raise ModelError("some of its triangles are turned inwards and others outwards: turn them all outwards")


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
        heights = array(self.heights)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise ModelError("heights of a height field takes two rows or more of as many finite numbers, two or more")
        size = numbers("size of a height field", self.size, 2, least=0.0)
        base = numbers("base of a height field", (self.base,), 1)[0]
        self.__dict__.update(size=size, heights=tuple(map(tuple, heights.tolist())), base=base)
