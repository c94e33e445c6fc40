"""The geoms of an MJCF document, and their assets."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from kinetree.formats.geometry import SHAPES, TAGS
from kinetree.formats.graph import new_name
from kinetree.formats.placed import HERE, Bodies, seen
from kinetree.formats.save import Export, Fields, Losses, add
from kinetree.geometry import Geometry, shapes
from kinetree.spatial import Transform
from kinetree.validation import Array

MASK = 2**31 - 1  # the bits that MuJoCo has
MESHES = (".stl", ".obj", ".msh")
"""The files that MuJoCo reads meshes from."""
GROUPS = {"visual": "2", "collision": "3", "": ""}
"""The group of a geom that is only seen, and of one that only touches, as MuJoCo's own models have them."""
ASSETS: dict[type[shapes.Shape], tuple[str, Callable[[Any], Fields]]] = {
    shapes.Mesh: ("mesh", lambda s: {"file": os.path.abspath(s.path), "scale": s.scale, "inertia": "shell"}),
    shapes.Triangles: (
        "mesh",
        lambda s: {"vertex": s.vertices.ravel().tolist(), "face": s.faces.ravel().tolist(), "inertia": "shell"},
    ),
    shapes.HeightField: ("hfield", lambda s: _heights(s)),
}
"""The shapes that are assets, with their elements."""


class Geoms:
    """The shapes on each body, and whether each is for the eyes or for contacts alone."""

    def __init__(self, robot: Export, bodies: Bodies, assets: ET.Element, losses: Losses) -> None:
        self.element, self.losses = assets, losses
        self.assets, self.names = dict[shapes.Shape, str](), set[str]()
        self.on: dict[str, list[tuple[Geometry, str, Transform]]] = {}
        visual, collision = ({*found} for found in robot.geometry)
        for geometry in dict.fromkeys((*robot.geometry.visual, *robot.geometry.collision)):
            role = "visual" if geometry not in collision else "" if geometry in visual else "collision"
            frame, X = robot.model.frame(geometry.link), geometry.placement
            if isinstance(geometry.shape, shapes.HeightField):
                X = Transform.translation((0.0, 0.0, min(map(min, geometry.shape.heights)))) @ X
            link, X = seen(bodies, frame.body, X @ frame.X)
            self.on.setdefault(link, []).append((geometry, role, X))

    def add(self, link: str, element: ET.Element) -> None:
        """Add the shapes on a body to its element."""
        for geometry, role, X in self.on.get(link, ()):
            shape = geometry.shape
            if flaw := _flaw(shape, moves=element.find("joint") is not None, touches=role != "visual"):
                self.losses.note(flaw[0], [flaw[1] or geometry.link])
                continue
            name = geometry.name and new_name(geometry.name, self.names)
            self.names.add(name)
            masks = {"contype": geometry.contype & MASK, "conaffinity": geometry.conaffinity & MASK}
            said = {"rgba": geometry.color, "friction": geometry.friction, "group": GROUPS[role], "name": name}
            bits = {key: 0 if role == "visual" else x for key, x in masks.items() if role == "visual" or x != 1}
            add(element, "geom", {**self._kind(shape), **at(X), **said, **bits})

    def _kind(self, shape: shapes.Shape) -> Fields:
        """Return the type of a shape with its size, or the name of its asset, which is added once."""
        if type(shape) not in ASSETS:
            return {"type": TAGS[type(shape)], "size": _size(shape)}
        kind, attributes = ASSETS[type(shape)]
        if shape not in self.assets:
            stem = os.path.splitext(os.path.basename(getattr(shape, "path", kind)))[0]
            self.assets[shape] = new_name(stem, {*self.assets.values()})
            add(self.element, kind, {"name": self.assets[shape], **attributes(shape)})
        return {"type": kind, kind: self.assets[shape]}


def _size(shape: shapes.Shape) -> list[float]:
    """Return the size of a geom: half lengths; a plane that is endless has none, and lines a metre apart."""
    lengths = np.hstack([getattr(shape, field.name) for field in fields(shape)]).tolist()
    size = [
        part * x if math.isfinite(x) else 0.0 for part, x in zip(SHAPES[TAGS[type(shape)]].mjcf, lengths, strict=True)
    ]
    return [*size, 1.0] if isinstance(shape, shapes.Plane) else size


def _flaw(shape: shapes.Shape, *, moves: bool, touches: bool) -> tuple[str, str] | None:
    """Return why MuJoCo would refuse a shape, and its name if that is not its link's; None where it does not."""
    if isinstance(shape, shapes.Plane):
        return ("planes on moving bodies: {}", "") if moves else None
    if isinstance(shape, shapes.Mesh | shapes.Triangles):
        path = getattr(shape, "path", "")
        if path and not os.path.isfile(path):
            return "meshes that are missing: {}", path
        points = _points(path) if isinstance(shape, shapes.Mesh) else shape.vertices
        if points is None:
            folder, ending = os.path.dirname(path), os.path.splitext(path)[1]
            name = path if ending.lower() in MESHES else os.path.join(folder, f"*{ending}")
            return "meshes in files that MuJoCo does not read: {}", name
        flat = len(points) < 4 or (touches and np.linalg.matrix_rank(points - points[0]) < 3)
        return ("flat meshes that touch, or have less than four vertices: {}", path) if flat else None
    size = shape.size if isinstance(shape, shapes.HeightField) else _size(shape)
    return ("shapes without extent: those of {}", "") if min(size) <= 0.0 else None


def _points(path: str) -> Array | None:
    """Return the vertices in a mesh file; None where MuJoCo does not read it, as an STL of text or 200,000 faces."""
    if not path.lower().endswith(MESHES):
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


def _heights(field: shapes.HeightField) -> Fields:
    """Return a height field: heights above the lowest, the row of the largest y first."""
    heights = np.array(field.heights, dtype=np.float64)
    low, rise = heights.min(), np.ptp(heights)
    size = (field.size[0] / 2, field.size[1] / 2, rise or 1.0, max(field.base + low, 1e-6))
    nrow, ncol = heights.shape
    return {"nrow": nrow, "ncol": ncol, "size": size, "elevation": (heights[::-1] - low).ravel().tolist()}


def at(X: Transform) -> Fields:
    """Return where an element stands in the one around it."""
    (*x, a), (*y, b), (*z, c), _ = X.placement
    first, second, _ = zip(x, y, z, strict=True)
    turned = (*first, *second) if X.E.matrix != HERE.E.matrix else ()
    return {"pos": (a, b, c) if any((a, b, c)) else (), "xyaxes": turned}
