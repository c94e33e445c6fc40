"""The triangles of shapes, by trimesh (the extra ``mesh``). Mesh files are opened here, and only when asked for."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from defusedxml import ElementTree

from kinetree.errors import ArgumentError, FormatError, FormatWarning
from kinetree.geometry import shapes
from kinetree.geometry.geometry import Geometry
from kinetree.lazy import lazy_methods

if TYPE_CHECKING:
    from trimesh import Trimesh
    from trimesh.visual import TextureVisuals

MOST_BYTES, MOST_TRIANGLES = 500_000_000, 10_000_000  # of a file
BOUNDLESS = 20.0  # m: how much is seen of an infinite plane
READERS = {".stl": "trimesh", ".obj": "trimesh", ".dae": "collada"}  # the package that reads files of a suffix


def check_installed(package: str = "trimesh") -> None:
    """Raise `ArgumentError` where a package of the extra ``mesh`` is not installed."""
    if importlib.util.find_spec(package) is None:
        raise ArgumentError(f"meshes need the package {package}: pip install 'kinetree[mesh]'")


def meshes_of(shape: shapes.Shape | Geometry) -> list[Trimesh]:
    """Return the triangles of a shape in its frame, or of a `Geometry` in the frame of its link.

    They are in metres and scaled, with the materials of their file. What has no material gets the colour of the
    `Geometry`.

    Parameters
    ----------
    shape : Shape or Geometry

    Returns
    -------
    meshes : list of trimesh.Trimesh
        Several where a file has several materials.

    Raises
    ------
    ArgumentError
        If trimesh (or pycollada, for DAE), the extra ``mesh``, is not installed.
    FormatError
        If a file is missing, broken, empty, too large (500 MB, 10 million triangles) or holds NaN; the message names
        the file and, of a `Geometry`, the link. A `FormatWarning` tells of meshes that may be in millimetres.

    Examples
    --------
    >>> from kinetree.geometry import Box
    >>> (box,) = meshes_of(Box((1.0, 2.0, 3.0)))
    >>> round(float(box.volume), 12)
    6.0
    """
    check_installed()
    if not isinstance(shape, Geometry):
        return MAKERS[type(shape)](shape)
    try:
        meshes = meshes_of(shape.shape)
    except FormatError as error:
        raise FormatError(f"link {shape.link!r}: {error}") from error
    for mesh in meshes:
        mesh.apply_transform(np.array(shape.placement.placement, dtype=np.float64))
        if shape.color is not None and not mesh.visual.defined:
            mesh.visual = painted(shape.color)
    file = shape.shape
    if isinstance(file, shapes.Mesh) and (size := max(mesh.extents.max() for mesh in meshes)) > shapes.LARGEST:
        what = f"link {shape.link!r}: {file.path} is {size:.3g} m large; if it is in millimetres, its scale is 0.001"
        warnings.warn(what, FormatWarning, stacklevel=2)
    return meshes


def of_file(shape: shapes.Mesh) -> list[Trimesh]:
    """Return the meshes of a file."""
    import trimesh

    path, scale = Path(shape.path), np.array(shape.scale, dtype=np.float64)
    if path.suffix.lower() not in READERS:
        raise FormatError(f"{path} is not a mesh that can be read ({', '.join(READERS)}): convert it, as Blender does")
    check_installed(READERS[path.suffix.lower()])
    if not (np.isfinite(scale).all() and scale.all()):
        raise FormatError(f"{path} has the scale {shape.scale}; each factor is a finite number, not 0")
    if not path.is_file():
        raise FormatError(
            f"there is no mesh {path}; packages={{'name': folder}} of kinetree.load says where meshes are"
        )
    try:
        check_size(path)
        parts: Any = trimesh.load_scene(str(path), process=False).dump()
        meshes = checked([part for part in parts if isinstance(part, trimesh.Trimesh)])
    except Exception as error:  # of parsers, which are not ours
        raise FormatError(f"{path} cannot be read: {error or type(error).__name__}"[:400]) from error
    for mesh in meshes:
        mesh.process()  # unites equal vertices; would have removed those that are not finite without a word
        unit, _, of = str(mesh.metadata.get("units")).partition(" * ")  # a DAE says how many metres
        mesh.apply_scale(scale * (float(unit) if of == "meters" else 1.0))  # turns the faces where it mirrors
    return meshes


def check_size(path: Path) -> None:
    """Raise for what would take memory or time without end, before a parser sees the file."""
    size, suffix = path.stat().st_size, path.suffix.lower()
    with path.open("rb") as file:
        count = int.from_bytes(file.read(84)[80:], "little")
    binary = suffix == ".stl" and size == 84 + 50 * count
    if size > MOST_BYTES or (binary and count > MOST_TRIANGLES):
        what = f"{count} triangles" if binary else f"{size / 1e6:.0f} MB"
        raise FormatError(f"it has {what}, more than {MOST_TRIANGLES} or {MOST_BYTES / 1e6:.0f} MB: simplify it")
    if suffix == ".dae":
        root: Any = ElementTree.parse(path, forbid_dtd=True).getroot()  # no entities
        used = Counter((x.tag.rpartition("}")[2], x.get("url")) for x in root.iter() if "url" in x.attrib)
        inside = math.prod(n for (tag, _), n in used.items() if tag == "instance_node")
        if inside * max(used.values(), default=1) * size > 20 * MOST_BYTES:
            raise FormatError("parts are repeated so often that it has no end: export it without instances")


def checked(meshes: list[Trimesh]) -> list[Trimesh]:
    """Return meshes that have triangles, not too many, with finite numbers only."""
    count = sum(len(mesh.faces) for mesh in meshes)
    if not 0 < count <= MOST_TRIANGLES:
        raise FormatError(f"it has {count} triangles; a mesh has 1 to {MOST_TRIANGLES}")
    if not all(np.isfinite(mesh.vertices).all() for mesh in meshes):
        raise FormatError("it has a vertex that is not finite (NaN or inf)")
    return meshes


def of_triangles(shape: shapes.Triangles) -> list[Trimesh]:
    """Return a mesh in memory."""
    import trimesh

    return checked([trimesh.Trimesh(shape.vertices, shape.faces, process=False)])


def of_plane(shape: shapes.Plane) -> list[Trimesh]:
    """Return a rectangle."""
    x, y = (min(size, BOUNDLESS) for size in shape.size)
    return of_heights(shapes.HeightField((x, y), ((0.0, 0.0), (0.0, 0.0))))


def of_heights(shape: shapes.HeightField) -> list[Trimesh]:
    """Return the surface of a height field, two triangles a cell."""
    heights = np.array(shape.heights, dtype=np.float64)
    x, y = (np.linspace(-0.5 * s, 0.5 * s, n) for s, n in zip(shape.size, heights.shape[::-1], strict=True))
    corners = np.arange(heights.size).reshape(heights.shape)
    a, b, c, d = corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1], corners[1:, 1:]
    vertices = np.stack([*np.meshgrid(x, y), heights], axis=-1)
    return of_triangles(shapes.Triangles(vertices.reshape(-1, 3), np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3)))


def painted(color: Sequence[float]) -> TextureVisuals:
    """Return the look of a plain surface of this colour (red, green, blue, opacity)."""
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    mode = "BLEND" if color[3] < 1.0 else "OPAQUE"
    plain: Any = {"metallicFactor": 0.0, "roughnessFactor": 0.7, "alphaMode": mode, "doubleSided": True}
    return TextureVisuals(material=PBRMaterial(baseColorFactor=[round(255 * x) for x in color], **plain))


def rounded(mesh: Trimesh, *scale: float) -> list[Trimesh]:
    """Return a mesh that is shaded as a smooth surface: one that has normals at its vertices."""
    mesh.apply_scale(scale)
    return [mesh] if mesh.vertex_normals is not None else []


creation: Any = lazy_methods("trimesh.creation")
MAKERS: dict[type, Callable[[Any], list[Trimesh]]] = {
    shapes.Box: lambda box: [creation.box(box.size)],
    shapes.Sphere: lambda ball: rounded(creation.icosphere(3), *[ball.radius] * 3),
    shapes.Ellipsoid: lambda ball: rounded(creation.icosphere(3), *ball.radii),
    shapes.Cylinder: lambda rod: [creation.cylinder(rod.radius, rod.length, sections=48)],
    shapes.Capsule: lambda rod: rounded(creation.capsule(rod.length, rod.radius, count=[24, 32]), 1.0, 1.0, 1.0),
    shapes.Plane: of_plane,
    shapes.Mesh: of_file,
    shapes.Triangles: of_triangles,
    shapes.HeightField: of_heights,
}
"""The triangles of each shape: a new shape is a row."""
