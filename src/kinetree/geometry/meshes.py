"""The triangles of shapes, by trimesh (the extra ``mesh``). Mesh files are opened here, and only when asked for."""

from __future__ import annotations

import importlib.util
import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from defusedxml import ElementTree

from kinetree.errors import ArgumentError, FormatError, ModelError, warn_user
from kinetree.geometry import shapes
from kinetree.lazy import lazy_methods
from kinetree.spatial import Inertia
from kinetree.validation import Array

if TYPE_CHECKING:
    from trimesh import Scene, Trimesh
    from trimesh.visual import TextureVisuals

trimesh: Any = lazy_methods("trimesh")
creation: Any = lazy_methods("trimesh.creation")
util: Any = lazy_methods("trimesh.util")
MOST_BYTES, MOST_TRIANGLES = 500_000_000, 10_000_000  # of a file
LARGEST = 100.0  # m: what is larger may be in millimetres
BOUNDLESS = 20.0  # m: how much is seen of an infinite plane
READERS = {".stl": "trimesh", ".obj": "trimesh", ".dae": "collada"}  # the package that reads files of a suffix
DIGITS = (12, 7, 5)  # vertices that agree so far, in the size of the mesh, are one: files write a few digits
SMOOTH = 1.5  # vertices with their normals a triangle: where there are more, each triangle has normals of its own
FLAT = 1e-12  # a volume below this, in the cube of the size, is rounding


def check_installed(package: str = "trimesh") -> None:
    """Raise `ArgumentError` where a package of the extra ``mesh`` is not installed."""
    if importlib.util.find_spec(package) is None:
        raise ArgumentError(f"meshes need the package {package}: pip install 'kinetree[mesh]'")


def meshes_of(shape: shapes.Shape | shapes.Geometry) -> list[Trimesh]:
    """Return the triangles of a shape in its frame, or of a `Geometry` in the frame of its link.

    They are in metres and scaled, with the materials and normals of their file. What has no material gets the colour
    of the `Geometry`.

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
    whole = shape if isinstance(shape, shapes.Geometry) else shapes.Geometry("", shape)
    bare, who = whole.shape, f"link {whole.link!r}: " * bool(whole.link)
    try:
        meshes = MAKERS[type(bare)](bare)
    except FormatError as error:
        raise FormatError(f"{who}{error}") from error
    if isinstance(bare, shapes.Mesh) and (size := max(mesh.extents.max() for mesh in meshes)) > LARGEST:
        warn_user(f"{who}{bare.path} is {size:.3g} m large: if it is in millimetres, its scale is 0.001")
    for mesh in meshes:
        mesh.apply_transform(np.array(whole.placement.placement, dtype=np.float64))
        if whole.color is not None and not mesh.visual.defined:
            mesh.visual = painted(whole.color)
    return meshes


def of_file(shape: shapes.Mesh) -> list[Trimesh]:
    """Return the meshes of a file."""
    path = Path(shape.path)
    package = READERS.get(path.suffix.lower())
    if package is None:
        raise FormatError(f"{path} is not a mesh that can be read ({', '.join(READERS)}): convert it, as Blender does")
    check_installed(package)
    if not path.is_file():
        where = "packages={'name': folder} of kinetree.load says where meshes are"
        raise FormatError(f"there is no mesh {path}; {where}")
    try:
        scene = scene_of(path)
        placed = [scene.graph[node] for node in scene.graph.nodes_geometry]
        parts = [scene.geometry[name].copy(include_cache=True).apply_transform(place) for place, name in placed]
        meshes = [part for part in parts if len(getattr(part, "faces", ()))]
        count = sum(len(mesh.faces) for mesh in meshes)
        if not 0 < count <= MOST_TRIANGLES:
            raise FormatError(f"it has {count} triangles; a mesh has 1 to {MOST_TRIANGLES}")
        if not all(np.isfinite(mesh.vertices).all() for mesh in meshes):
            raise FormatError("it has a vertex that is not finite (NaN or inf)")
    except Exception as error:  # of parsers, which are not ours
        raise FormatError(f"{path} cannot be read: {error or type(error).__name__}"[:400]) from error
    return [finished(mesh, shape.scale) for mesh in meshes]


def finished(mesh: Trimesh, scale: Sequence[float]) -> Trimesh:
    """Return a mesh in metres whose equal vertices are united; normals that are those of the faces are left out."""
    with np.errstate(invalid="ignore"):  # of normals that are not finite
        mesh.process()  # would have removed vertices that are not finite without a word
    if len(mesh.vertices) > SMOOTH * len(mesh.faces):
        mesh = mesh.copy().process()
    unit, _, of = str(mesh.metadata.get("units")).partition(" * ")  # a DAE says how many metres
    return mesh.apply_scale(np.array(scale) * (float(unit) if of == "meters" else 1.0))  # turns faces that it mirrors


def scene_of(path: Path) -> Scene:
    """Return what a file has; raise for what would take memory without end, before a parser sees it."""
    size = path.stat().st_size
    with path.open("rb") as file:
        count = int.from_bytes(file.read(84)[80:], "little")
    binary = path.suffix.lower() == ".stl" and size == 84 + 50 * count
    if size > MOST_BYTES or (binary and count > MOST_TRIANGLES):
        what = f"{count} triangles" if binary else f"{size / 1e6:.0f} MB"
        raise FormatError(f"it has {what}, more than {MOST_TRIANGLES} or {MOST_BYTES / 1e6:.0f} MB: simplify it")
    return trimesh.load_scene(path, process=False) if path.suffix.lower() != ".dae" else dae_scene(path, size)


def dae_scene(path: Path, size: int) -> Scene:
    """Return what a DAE file has, which may have no entities, and no instances of instances without end."""
    root: Any = ElementTree.parse(path, forbid_dtd=True).getroot()
    used = Counter((x.tag.rpartition("}")[2], x.get("url")) for x in root.iter() if "url" in x.attrib)
    inside = math.prod(n for (tag, _), n in used.items() if tag == "instance_node")
    if inside * max(used.values(), default=1) * size > 20 * MOST_BYTES:
        raise FormatError("parts are repeated so often that it has no end: export it without instances")
    from collada.common import DaeError

    try:
        return trimesh.load_scene(path, process=False, ignore_broken=False)
    except DaeError:  # such as textures that are nowhere; the parts that have them would be left out
        for part in root.iter():
            if part.tag.endswith(("}surface", "}sampler2D", "}texture")):
                part.tag, part.text = part.tag.partition("}")[0] + "}color", "1 1 1 1"
        return trimesh.load_scene(io.BytesIO(ElementTree.tostring(root)), file_type="dae", process=False)


def mesh_inertia(shape: shapes.Shape, density: float) -> Inertia:
    """Return the inertia of what a mesh encloses, all its parts together; a `ModelError` if that is no volume."""
    if not isinstance(shape, shapes.Mesh | shapes.Triangles):
        raise ModelError(f"a {type(shape).__name__.lower()} encloses no volume")
    parts = meshes_of(shape)
    vertices, faces = util.append_faces([part.vertices for part in parts], [part.faces for part in parts])
    middle, size = vertices.mean(axis=0), float(np.ptp(vertices, axis=0).max())
    unit = trimesh.Trimesh((vertices - middle) / (size or 1.0), faces, process=False)
    with np.errstate(divide="ignore", invalid="ignore"):  # where there is no volume
        solid = unit.mass_properties
    if flaw := flaw_of(unit, solid.volume):
        raise ModelError(f"{shape.path}: {flaw}" if isinstance(shape, shapes.Mesh) else flaw)
    mass = density * size**3 * solid.volume
    return Inertia(mass, middle + size * solid.center_mass, density * size**5 * solid.inertia)


def flaw_of(surface: Trimesh, volume: float) -> str:
    """Return why a mesh of size 1, whose vertices are united, is not the surface of a solid; empty where it is."""
    for digits in DIGITS:
        surface.merge_vertices(digits_vertex=digits)
        first, second = surface.edges_unique.T
        odd = np.bincount(surface.edges_unique_inverse) % 2 & (first != second)  # of triangles at an edge
        if not odd.any():
            break
    else:
        return f"its surface is not closed, at {odd.sum()} edges: close it, or give a simpler shape"
    if not surface.is_winding_consistent:
        return "some of its triangles are turned inwards and others outwards: turn them all outwards"
    if abs(volume) <= FLAT:
        return "all its points are in a plane, so that it has no volume"
    return "its triangles are turned inwards: turn them around" if volume < 0.0 else ""


def of_heights(size: Sequence[float], heights: Array) -> list[Trimesh]:
    """Return the surface of a height field of this size, two triangles a cell."""
    x, y = (np.linspace(-0.5 * s, 0.5 * s, n) for s, n in zip(size, heights.shape[::-1], strict=True))
    corners = np.arange(heights.size).reshape(heights.shape)
    a, b, c, d = corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1], corners[1:, 1:]
    vertices, faces = np.stack([*np.meshgrid(x, y), heights], axis=-1), np.stack([a, b, d, a, d, c], axis=-1)
    return [trimesh.Trimesh(vertices.reshape(-1, 3), faces.reshape(-1, 3), process=False)]


def painted(color: Sequence[float]) -> TextureVisuals:
    """Return the look of a plain surface of this colour (red, green, blue, opacity)."""
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    mode = "BLEND" if color[3] < 1.0 else "OPAQUE"
    plain: Any = {"metallicFactor": 0.0, "roughnessFactor": 0.7, "alphaMode": mode, "doubleSided": True}
    return TextureVisuals(material=PBRMaterial(baseColorFactor=[round(255 * x) for x in color], **plain))


def smooth(mesh: Trimesh) -> list[Trimesh]:
    """Return a mesh with normals at its vertices, with which it is shaded as a smooth surface."""
    return [mesh] if mesh.vertex_normals is not None else []


MAKERS: dict[type, Callable[[Any], list[Trimesh]]] = {
    shapes.Box: lambda box: [creation.box(box.size)],
    shapes.Sphere: lambda ball: smooth(creation.icosphere(3, ball.radius)),
    shapes.Ellipsoid: lambda ball: smooth(creation.icosphere(3).apply_scale(ball.radii)),
    shapes.Cylinder: lambda rod: [creation.cylinder(rod.radius, rod.length, sections=48)],
    shapes.Capsule: lambda rod: smooth(creation.capsule(rod.length, rod.radius, count=[24, 32])),
    shapes.Plane: lambda plane: of_heights([min(side, BOUNDLESS) for side in plane.size], np.zeros((2, 2))),
    shapes.Mesh: of_file,
    shapes.Triangles: lambda mesh: [trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)],
    shapes.HeightField: lambda field: of_heights(field.size, np.array(field.heights)),
}
"""The triangles of each shape: a new shape is a row."""
