"""Robots in a scene of viser: each mesh once, at all places where it is used."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.drawing.panels import Skeleton
from kinetree.errors import ArgumentError, FormatError, FormatWarning, unknown_name
from kinetree.geometry import Box, Geometry
from kinetree.geometry.geometry import IDENTITY
from kinetree.geometry.meshes import meshes_of, painted
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.spatial import Transform
from kinetree.validation import Array
from kinetree.viewer.forces import ContactForces

if TYPE_CHECKING:
    from trimesh import Trimesh

SHAPES = ("visual", "collision", "links")
PLAIN, LINK, STICK = (0.75, 0.76, 0.78, 1.0), (0.35, 0.55, 0.8, 1.0), (60, 60, 65)
MOST_ROBOTS = 1000


class Scene:
    """So many robots of one kind side by side; `show` moves them.

    A mesh that is used at several places, of one robot or of several, is sent once. Poses follow from one call of
    `Robot.forward_kinematics` and from offsets that do not change.
    """

    def __init__(self, server: Any, robot: Robot, q: Array, forces: ContactForces | None, shapes: str) -> None:
        if shapes not in SHAPES:
            raise ArgumentError(unknown_name("shapes", shapes, SHAPES))
        if len(q) > MOST_ROBOTS:
            raise ArgumentError(f"{len(q)} robots are too many to be seen: take some, such as trajectory.robots[:20]")
        self.server, self.robot, self.forces = server, robot, forces
        self._lock, self._skeleton = threading.Lock(), Skeleton(robot)
        self._assets: list[tuple[Any, slice]] = []
        used, bare = self._used(shapes)
        self._bodies = np.array([body for places in used.values() for body, _ in places], dtype=np.int_)
        self._offsets = np.array([offset for places in used.values() for _, offset in places]).reshape(-1, 4, 4)
        frames = robot.model.frames
        self._frames = np.array([f.body for f in frames]), np.array([matrix(f.X) for f in frames])
        lines = self._skeleton.lines
        self._lines = lines[[bool(a >= robot.nb or a in bare) for a, _ in lines]] if bare else lines[:0]
        X = self.poses(q)
        points = self._skeleton.points_at(X[..., :-1, :, :])
        self.low, self.high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        self.size = max(float((points.max(axis=1) - points.min(axis=1)).max()), 0.1)
        side = int(np.ceil(np.sqrt(len(q))))
        places = np.stack(np.divmod(np.arange(len(q)), side), axis=-1) - 0.5 * (side - 1)
        self.shift = np.zeros((len(q), 1, 3))
        self.shift[:, 0, 1::-1] = 1.5 * self.size * places * (len(q) > 1)
        self._build(used)
        self.show(q, None)

    def poses(self, q: Array) -> Array:
        """Return the poses of all bodies (robots, nb + 1, 4, 4); the last one is the world's."""
        X = self.robot.forward_kinematics(q)
        return np.concatenate([X, np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))], axis=1)

    def _used(self, shapes: str) -> tuple[dict[bytes, list[tuple[int, Array]]], set[int]]:
        """Return the assets with the bodies and the offsets at which they stand, and the bodies that have none."""
        robot, looks = self.robot, dict[Any, bytes | None]()
        used: dict[bytes, list[tuple[int, Array]]] = {}
        wanted, seen, missing = set[int](), set[int](), list[str]()
        for geometry in {"visual": robot.visual_geometry, "collision": robot.collision_geometry, "links": ()}[shapes]:
            frame, look = robot.model.frame(geometry.link), (geometry.shape, geometry.color)
            wanted.add(frame.body)
            if look not in looks:
                try:
                    looks[look] = asset(meshes_of(replace(geometry, placement=IDENTITY)))
                except FormatError as error:
                    looks[look] = missing.append(str(error))
            if (data := looks[look]) is not None:
                used.setdefault(data, []).append((frame.body, matrix(frame.X) @ matrix(geometry.placement)))
                seen.add(frame.body)
        if missing:
            warnings.warn(f"{robot.name} is not seen whole: {'; '.join(missing)}", FormatWarning, stacklevel=5)
        bare = (wanted or set(range(robot.nb))) - seen - {WORLD}
        for body in bare:
            for box in inertia_boxes(robot, body):
                used.setdefault(asset(meshes_of(box)), []).append((body, np.eye(4)))
        return used, bare

    def _build(self, used: dict[bytes, list[tuple[int, Array]]]) -> None:
        scene, n, start = self.server.scene, len(self.shift), 0
        for k, (data, places) in enumerate(used.items()):
            poses = np.zeros((n * len(places), 4)), np.zeros((n * len(places), 3))
            poses[0][:, 0] = 1.0
            handle = scene.add_batched_glb(f"/robots/{k}", data, *poses, lod="off")
            self._assets.append((handle, slice(start, start + len(places))))
            start += len(places)
        thin = 0.012 * self.size
        none = np.zeros((max(1, n * len(self._lines)), 2, 3))
        self._sticks = scene.add_line_segments("/sticks", none, STICK, thickness=thin, visible=bool(len(self._lines)))
        turns = np.tile([1.0, 0.0, 0.0, 0.0], (n * len(self._frames[0]), 1))
        size = {"axes_length": 0.1 * self.size, "axes_radius": 0.004 * self.size}
        self.frames = scene.add_batched_axes("/frames", turns, turns[:, 1:], visible=False, **size)
        self.arrows = None
        if self.forces is not None:
            size = {"shaft_radius": thin, "head_radius": 2.5 * thin, "head_length": 5.0 * thin}
            none = np.zeros((n * len(self.forces), 2, 3))
            self.arrows = scene.add_arrows("/forces", none, (220, 60, 40), **size)
        width = 2.0 * np.abs([self.low, self.high])[:, :2].max() + 3.0 * self.size * np.sqrt(n)
        scene.add_grid("/ground", width, width, cell_size=0.25, section_size=1.0, shadow_opacity=0.3)
        scene.configure_default_lights(cast_shadow=True)
        middle = 0.5 * (self.low + self.high)
        far = np.array([1.1, 0.9, 0.6]) * 0.85 * (self.size + 1.5 * self.size * (np.sqrt(n) - 1.0))
        self.server.initial_camera.look_at = tuple(middle)
        self.server.initial_camera.position = tuple(middle + far)

    def show_frames(self, visible: bool) -> None:
        """Show the frames of all links, or hide them."""
        self.frames.visible = visible
        self.show(self._shown, None)

    def show(self, q: Array, f: Array | None) -> None:
        """Move the robots to these configurations (robots, nq), with these forces of constraints (robots, nrows)."""
        X, self._shown = self.poses(q), q
        wxyz, places = turns_and_places(X[:, self._bodies] @ self._offsets)
        places += self.shift
        with self._lock, self.server.atomic():
            for handle, at in self._assets:
                handle.batched_wxyzs = wxyz[:, at].reshape(-1, 4)
                handle.batched_positions = places[:, at].reshape(-1, 3)
            if len(self._lines):
                points = self._skeleton.points_at(X[:, :-1])[:, self._lines] + self.shift[:, None]
                self._sticks.points = points.reshape(-1, 2, 3)
            if self.frames.visible:
                wxyz, places = turns_and_places(X[:, self._frames[0]] @ self._frames[1])
                self.frames.batched_wxyzs = wxyz.reshape(-1, 4)
                self.frames.batched_positions = (places + self.shift).reshape(-1, 3)
            if self.arrows is not None and self.forces is not None and f is not None:
                arrows = self.forces.arrows(X, f, self.size) + self.shift[:, None]
                self.arrows.points = arrows.reshape(-1, 2, 3)


def matrix(X: Transform) -> Array:
    """Return the pose of a transform's frame as a 4×4 array."""
    return np.array(X.placement, dtype=np.float64)


def turns_and_places(T: Array) -> tuple[Array, Array]:
    """Return the unit quaternions (..., 4), the real part first, and the positions (..., 3) of poses (..., 4, 4)."""
    R = T[..., :3, :3]
    x, y, z = (R[..., k, k] for k in range(3))
    outer = np.empty((*R.shape[:-2], 4, 4))  # 4 p pᵀ of the quaternion p
    outer[..., range(4), range(4)] = 1.0 + np.stack([x + y + z, x - y - z, y - x - z, z - x - y], axis=-1)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        outer[..., i + 1, j + 1] = outer[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    best = np.diagonal(outer, axis1=-2, axis2=-1).argmax(axis=-1)
    p = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    return p / np.linalg.norm(p, axis=-1, keepdims=True), T[..., :3, 3].copy()


def inertia_boxes(robot: Robot, body: int) -> Iterable[Geometry]:
    """Return the box of even density that has a body's inertia; none for one without extent."""
    inertia = robot.model.bodies[body].inertia
    m = float(inertia.m)
    if m <= 0.0:
        return []
    c = np.array([float(x) for x in inertia.h]) / m
    I = np.array([[float(x) for x in row] for row in inertia.I.rows]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(I)
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / m, 0.0))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    shape = Box(tuple(np.maximum(edges, 0.05 * edges.max() + 1e-4)))
    return [Geometry(robot.body_names[body], shape, Transform.placed(axes, c), color=LINK)]


def asset(meshes: list[Trimesh]) -> bytes:
    """Return meshes as one GLB file, whose materials are not metals unless they say so."""
    import trimesh

    for mesh in meshes:
        if not mesh.visual.defined:
            mesh.visual = painted(PLAIN)
        material = getattr(mesh.visual, "material", None)
        if material is not None:
            material = material.to_pbr() if hasattr(material, "to_pbr") else material
            material.metallicFactor = material.metallicFactor or 0.0
            material.roughnessFactor = material.roughnessFactor or 0.7
            material.doubleSided = True
            mesh.visual.material = material
    data: Any = trimesh.Scene(meshes).export(file_type="glb")
    return bytes(data)
