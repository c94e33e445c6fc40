"""The geoms of an MJCF document, and their assets."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.formats.graph import new_name
from kinetree.formats.save import Export, Losses, numbers
from kinetree.geometry import Geometry, shapes
from kinetree.spatial import Transform
from kinetree.validation import Array

HERE = Transform.identity()
MASK = 2**31 - 1  # the bits that MuJoCo has
MESHES = (".stl", ".obj", ".msh")
"""The files that MuJoCo reads meshes from."""
GROUPS = {"visual": "2", "collision": "3"}
"""The group of a geom that is only seen, and of one that only touches, as MuJoCo's own models have them."""
SHAPES: dict[type[shapes.Shape], Callable[[Any], tuple[str, Sequence[float]]]] = {
    shapes.Box: lambda s: ("box", [x / 2 for x in s.size]),
    shapes.Sphere: lambda s: ("sphere", [s.radius]),
    shapes.Ellipsoid: lambda s: ("ellipsoid", s.radii),
    shapes.Cylinder: lambda s: ("cylinder", [s.radius, s.length / 2]),
    shapes.Capsule: lambda s: ("capsule", [s.radius, s.length / 2]),
    shapes.Plane: lambda s: ("plane", [*(x / 2 if math.isfinite(x) else 0.0 for x in s.size), 1.0]),
}
"""The types of geoms with their sizes, which are half lengths."""
ASSETS: dict[type[shapes.Shape], Callable[[Any], dict[str, str]]] = {
    shapes.Mesh: lambda s: {"file": os.path.abspath(s.path), "scale": numbers(s.scale), "inertia": "shell"},
    shapes.Triangles: lambda s: {
        "vertex": numbers(s.vertices.ravel()), "face": " ".join(map(str, s.faces.ravel())), "inertia": "shell"
    },
    shapes.HeightField: lambda s: _heights(s),
}  # fmt: skip
"""The attributes of the assets that shapes are."""


class Geoms:
    """The shapes `on` each body, and whether each is for the eyes or for contacts alone."""

    def __init__(self, robot: Export, assets: ET.Element, losses: Losses) -> None:
        self.robot, self.element, self.losses = robot, assets, losses
        self.assets, self.names = dict[shapes.Shape, str](), set[str]()
        self.on: dict[int, list[tuple[Geometry, str]]] = {}
        visual, collision = ({*found} for found in robot.geometry)
        for geometry in dict.fromkeys((*robot.geometry.visual, *robot.geometry.collision)):
            role = "visual" if geometry not in collision else "" if geometry in visual else "collision"
            self.on.setdefault(robot.model.frame(geometry.link).body, []).append((geometry, role))

    def add(self, i: int, X: Transform, element: ET.Element) -> None:
        """Add the shapes on a body; X leads from its frame to the element's."""
        for geometry, role in self.on.get(i, ()):
            self._geom(role, geometry, self.robot.model.frame(geometry.link).X @ X, element)

    def _geom(self, role: str, geometry: Geometry, X: Transform, element: ET.Element) -> None:
        """Add a shape, whose link is at X in the body."""
        shape, X = geometry.shape, geometry.placement @ X
        kind, size = SHAPES[type(shape)](shape) if type(shape) in SHAPES else ("mesh", ())
        if flaw := _flaw(shape, size, moves=element.find("joint") is not None, touches=role != "visual"):
            self.losses.leave_out(flaw, [getattr(shape, "path", geometry.link)])
            return
        if isinstance(shape, shapes.HeightField):
            kind, X = "hfield", Transform.translation((0.0, 0.0, min(map(min, shape.heights)))) @ X
        geom = placed(ET.SubElement(element, "geom", type=kind), X)
        geom.attrib.update({"size": numbers(size)} if size else {kind: self._asset(kind, shape)})
        if geometry.name:
            geom.set("name", new_name(geometry.name, self.names))
            self.names.add(geom.attrib["name"])
        bits = (0, 0) if role == "visual" else (geometry.contype & MASK, geometry.conaffinity & MASK)
        said = {
            "rgba": geometry.color or (),
            "friction": geometry.friction,
            "contype": bits[:1],
            "conaffinity": bits[1:],
        }
        geom.attrib.update({key: numbers(x) for key, x in said.items() if x not in ((), (1,))})
        geom.attrib.update({"group": GROUPS[role]} if role else {})

    def _asset(self, kind: str, shape: shapes.Shape) -> str:
        """Return the name of the asset of a shape, which is added once."""
        if shape not in self.assets:
            stem = os.path.splitext(os.path.basename(getattr(shape, "path", kind)))[0]
            self.assets[shape] = new_name(stem, {*self.assets.values()})
            ET.SubElement(self.element, kind, name=self.assets[shape]).attrib.update(ASSETS[type(shape)](shape))
        return self.assets[shape]


def _flaw(shape: shapes.Shape, size: Sequence[float], *, moves: bool, touches: bool) -> str:
    """Return why MuJoCo would refuse a shape, empty where it does not."""
    match shape:
        case shapes.Mesh() | shapes.Triangles():
            points = shape.vertices if isinstance(shape, shapes.Triangles) else _points(shape.path)
            if points is None:
                return "meshes that are missing, or that MuJoCo does not read: {}"
            flat = len(points) < 4 or (touches and np.linalg.matrix_rank(points - points[0]) < 3)
            return "flat meshes that touch, or have less than four vertices: those of {}" if flat else ""
        case shapes.Plane():
            return "planes on moving bodies: {}" if moves else ""
        case shapes.HeightField():
            size = shape.size
    return "shapes without extent: those of {}" if min(size, default=1.0) <= 0.0 else ""


def _points(path: str) -> Array | None:
    """Return the vertices in a mesh file; None where MuJoCo does not read it, as an STL of text or 200,000 faces."""
    if not (path.lower().endswith(MESHES) and os.path.isfile(path)):
        return None
    with open(path, "rb") as file:
        data = file.read()
    try:
        if path.lower().endswith(".obj"):
            points = np.array([line.split()[1:4] for line in data.splitlines() if line.startswith(b"v ")], np.float64)
        elif path.lower().endswith(".stl"):
            faces = np.frombuffer(data[84:], np.dtype([("normal", "<3f4"), ("corners", "<(3,3)f4"), ("more", "<u2")]))
            count = int.from_bytes(data[80:84], "little")
            points = faces["corners"].astype(np.float64) if len(faces) == count <= 200_000 else np.zeros(0)
        else:
            return np.eye(4)[:, :3]  # MuJoCo's own format is its to read
    except ValueError:
        return None
    return points.reshape(-1, 3) if points.size and points.size % 3 == 0 and np.isfinite(points).all() else None


def _heights(field: shapes.HeightField) -> dict[str, str]:
    """Return the attributes of a height field: heights above the lowest, the row of the largest y first."""
    heights = np.array(field.heights, dtype=np.float64)
    low, rise = heights.min(), np.ptp(heights)
    size = (field.size[0] / 2, field.size[1] / 2, rise or 1.0, max(field.base + low, 1e-6))
    nrow, ncol = map(str, heights.shape)
    return {"nrow": nrow, "ncol": ncol, "size": numbers(size), "elevation": numbers((heights[::-1] - low).ravel())}


def placed(element: ET.Element, X: Transform) -> ET.Element:
    """Return an element that stands at this place in the one around it."""
    (*x, a), (*y, b), (*z, c), _ = X.placement
    if any((a, b, c)):
        element.set("pos", numbers((a, b, c)))
    if X.E.matrix != HERE.E.matrix:
        first, second, _ = zip(x, y, z, strict=True)
        element.set("xyaxes", numbers((*first, *second)))
    return element
