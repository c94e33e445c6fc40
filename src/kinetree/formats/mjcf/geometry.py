"""Geoms of MuJoCo's model, as shapes of links."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from kinetree.formats.mjcf.codes import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HFIELD,
    MESH,
    PLANE,
    SDF,
    SPHERE,
    names_of,
    pose,
)
from kinetree.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometries,
    Geometry,
    HeightField,
    Plane,
    Shape,
    Sphere,
    Triangles,
)

PRIMITIVES: Final[dict[int, Callable[[float, float, float], Shape]]] = {
    PLANE: lambda x, y, _: Plane((2 * x or math.inf, 2 * y or math.inf)),
    SPHERE: lambda r, *_: Sphere(r),
    CAPSULE: lambda r, half, _: Capsule(r, 2 * half),
    ELLIPSOID: lambda x, y, z: Ellipsoid((x, y, z)),
    CYLINDER: lambda r, half, _: Cylinder(r, 2 * half),
    BOX: lambda x, y, z: Box((2 * x, 2 * y, 2 * z)),
}
SHOWN: Final = 3
"""Groups from this one on are hidden in MuJoCo's viewer at first: files put there what only touches."""
GREY: Final = [0.5, 0.5, 0.5, 1.0]
"""The colour of a geom that has none: that of its material counts."""


def geometries_of(m: Any, links: Sequence[str]) -> Geometries:
    """Return the geoms: seen are those of groups 0 to 2 (all, where there are none), and all with a mask touch."""
    names, given = names_of(m, "geom"), [bytes(m.names)[k : k + 1] != b"\0" for k in m.name_geomadr]
    in_pairs = {*np.ravel(m.pair_geom1).tolist(), *np.ravel(m.pair_geom2).tolist()}

    @cache
    def mesh(k: int) -> Triangles:
        at, first = m.mesh_vertadr[k], m.mesh_faceadr[k]
        vertices = np.array(m.mesh_vert[at : at + m.mesh_vertnum[k]], dtype=np.float64)
        return Triangles(vertices, np.array(m.mesh_face[first : first + m.mesh_facenum[k]], dtype=np.int64))

    def shape(k: int) -> Shape | None:
        kind, data = int(m.geom_type[k]), int(m.geom_dataid[k])
        if kind in PRIMITIVES:
            return PRIMITIVES[kind](*m.geom_size[k].tolist())
        if kind == HFIELD:
            x, y, top, base = m.hfield_size[data].tolist()
            at, rows, columns = m.hfield_adr[data], m.hfield_nrow[data], m.hfield_ncol[data]
            heights = top * np.array(m.hfield_data[at : at + rows * columns], dtype=np.float64).reshape(rows, columns)
            return HeightField((2 * x, 2 * y), tuple(map(tuple, heights.tolist())), base)
        return mesh(data) if kind in (MESH, SDF) and data >= 0 else None

    def geometry(k: int) -> Geometry | None:
        if (found := shape(k)) is None:
            return None
        color, material = m.geom_rgba[k].tolist(), int(m.geom_matid[k])
        if material >= 0 and color == GREY:
            color = m.mat_rgba[material].tolist()
        return Geometry(
            links[m.geom_bodyid[k]],
            found,
            pose(m.geom_pos[k].tolist(), m.geom_quat[k].tolist()),
            names[k] if given[k] else "",
            tuple(color),
            tuple(m.geom_friction[k].tolist()),
            int(m.geom_contype[k]),
            int(m.geom_conaffinity[k]),
        )

    all_of = {k: g for k in range(m.ngeom) if (g := geometry(k)) is not None}
    shown = [k for k in all_of if m.geom_group[k] < SHOWN]
    touching = [k for k in all_of if m.geom_contype[k] or m.geom_conaffinity[k] or k in in_pairs]
    return Geometries(tuple(all_of[k] for k in shown or all_of), tuple(all_of[k] for k in touching))
