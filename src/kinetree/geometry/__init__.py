"""What a robot looks like and what it touches with: shapes at places in its links, as data.

Dynamics needs none of it. Meshes are opened when they are asked for, by `trimesh`.
"""

from kinetree.geometry.shapes import (
    NO_GEOMETRY,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometries,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Triangles,
)

__all__ = ["NO_GEOMETRY", "Box", "Capsule", "Cylinder", "Ellipsoid", "Geometries", "Geometry", "HeightField", "Mesh"]
__all__ += ["Plane", "Shape", "Sphere", "Triangles"]
