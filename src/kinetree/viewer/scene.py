"""Robots in a scene of viser: each mesh is sent once, for all places where it stands."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.constraints.types import Contact
from kinetree.drawing.panels import Skeleton
from kinetree.errors import ArgumentError, FormatError, FormatWarning, unknown_name
from kinetree.geometry import Box, Geometry
from kinetree.geometry.meshes import meshes_of, painted
from kinetree.geometry.shapes import IDENTITY
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.spatial import Transform
from kinetree.validation import Array

SHAPES = ("visual", "collision", "links")
PLAIN, LINK = (0.75, 0.76, 0.78, 1.0), (0.35, 0.55, 0.8, 1.0)
STICK, FORCE = (60, 60, 65), (220, 60, 40)
MOST_ROBOTS = 1000
POINT = 0.05  # m: how large a point mass is drawn
SEEN = 0.01  # of its weight: the least force of a contact that is drawn


class Places:
    """Places fixed to bodies, at offsets that do not change."""

    def __init__(self, places: Iterable[tuple[int, Array]]) -> None:
        bodies, offsets = zip(*places, strict=True) if (places := list(places)) else ((), ())
        self.bodies, self.offsets = np.array(bodies, dtype=np.int_), np.array(offsets, float).reshape(-1, 4, 4)

    @classmethod
    def of_frames(cls, robot: Robot, names: Iterable[str | None]) -> Places:
        """Return those of frames; None is the world."""
        frames = [None if name is None else robot.model.frame(name) for name in names]
        return cls((WORLD, np.eye(4)) if f is None else (f.body, pose(f.X)) for f in frames)

    def at(self, X: Array) -> Array:
        """Return their poses (robots, places, 4, 4) where bodies have the poses (robots, nb + 1, 4, 4)."""
        return np.asarray(X[:, self.bodies] @ self.offsets)


class Scene:
    """So many robots of one kind, side by side; `show` moves them by one call of `Robot.forward_kinematics`."""

    def __init__(self, server: Any, robot: Robot, q: Array, shapes: str, mechanism: Mechanism | None = None) -> None:
        if shapes not in SHAPES:
            raise ArgumentError(unknown_name("shapes", shapes, SHAPES))
        if len(q) > MOST_ROBOTS:
            raise ArgumentError(f"{len(q)} robots are too many to be seen: take some, such as trajectory.robots[:20]")
        if mechanism is not None and (not isinstance(mechanism, Mechanism) or mechanism.tree.nq != robot.nq):
            raise ArgumentError(f"mechanism takes the kinetree.Mechanism of {robot.name!r}; {mechanism!r} was given")
        self.robot, self.count, self._lock = robot, len(q), threading.Lock()
        self._skeleton, self._contacts = Skeleton(robot), None if mechanism is None else Contacts(mechanism)
        scene, atomic = server.scene, server.atomic
        used, bare = assets(robot, shapes)
        X = self._poses(q)
        self._frames = Places.of_frames(robot, robot.frame_names)
        points = np.concatenate([self._skeleton.points_at(X[:, :-1]), self._frames.at(X)[..., :3, 3]], axis=1)
        low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        self._size = size = max(float(np.ptp(points, axis=1).max()), 0.1)
        side = int(np.ceil(np.sqrt(self.count)))
        self._shift = np.zeros((self.count, 1, 3))
        if self.count > 1:
            self._shift[:, 0, 1::-1] = 1.5 * size * (np.stack(np.divmod(range(len(q)), side), -1) - 0.5 * (side - 1))
        self._atomic, self._meshes = atomic, list[tuple[Any, Places]]()
        for k, (data, places) in enumerate(used.items()):
            still = np.tile([1.0, 0.0, 0.0, 0.0], (self.count * len(places), 1))
            handle = scene.add_batched_glb(f"/robots/{k}", data, still, still[:, 1:], lod="off")
            self._meshes.append((handle, Places(places)))
        lines = self._skeleton.lines
        self._lines = lines[[bool(a >= robot.nb or a in bare) for a, _ in lines]] if bare else lines[:0]
        none, thin = np.zeros((1, 2, 3)), 0.012 * size
        self._sticks = scene.add_line_segments("/sticks", none, STICK, thickness=thin, visible=len(self._lines) > 0)
        still = np.tile([1.0, 0.0, 0.0, 0.0], (self.count * len(robot.frame_names), 1))
        axes = {"axes_length": 0.1 * size, "axes_radius": 0.004 * size}
        self.frames = scene.add_batched_axes("/frames", still, still[:, 1:], visible=False, **axes)
        head = {"shaft_radius": thin, "head_radius": 2.5 * thin, "head_length": 5.0 * thin}
        self._arrows = scene.add_arrows("/forces", np.zeros((1, 2, 3)), FORCE, visible=False, **head)
        self.with_frames, self.with_forces = False, self._contacts is not None
        width = 2.0 * np.abs([low, high])[:, :2].max() + 3.0 * size * side
        scene.add_grid("/ground", width, width, cell_size=0.25, section_size=1.0, shadow_opacity=0.3)
        server.initial_camera.look_at = 0.5 * (low + high)
        server.initial_camera.position = 0.5 * (low + high) + np.array([1.0, 0.8, 0.55]) * (
            size * (0.7 * side + 0.3) + 0.1
        )
        self.show(q)

    def _poses(self, q: Array) -> Array:
        """Return the poses of all bodies (robots, nb + 1, 4, 4), the last one being the world."""
        world = np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))
        return np.concatenate([self.robot.forward_kinematics(q), world], axis=1) if self.robot.nb else world

    def show(self, q: Array, f: Array | None = None) -> None:
        """Show configurations (robots, nq), with the forces of the constraints (robots, nrows)."""
        from viser.transforms import SO3

        X = self._poses(q)
        with self._lock, self._atomic():
            self._shown, moved = (q, f), list(self._meshes)
            self.frames.visible = self.with_frames
            for handle, places in [*moved, (self.frames, self._frames)] if self.with_frames else moved:
                T = places.at(X)
                handle.batched_wxyzs = SO3.from_matrix(T[..., :3, :3]).wxyz.reshape(-1, 4)
                handle.batched_positions = (T[..., :3, 3] + self._shift).reshape(-1, 3)
            if len(self._lines):
                points = self._skeleton.points_at(X[:, :-1])[:, self._lines]
                self._sticks.points = (points + self._shift[:, None]).reshape(-1, 2, 3)
            self._arrows.visible = False
            if f is not None and self._contacts is not None and self.with_forces:
                points, forces = self._contacts.forces(X, f)
                seen = np.linalg.norm(forces, axis=-1) > SEEN
                arrows = np.stack([points, points + 0.5 * self._size * forces], axis=-2) + self._shift[:, None]
                if seen.any():
                    self._arrows.visible, self._arrows.points = True, arrows[seen]

    def choose(self, **what: bool) -> None:
        """Show frames or forces, `with_frames` and `with_forces`, or hide them."""
        self.__dict__.update(what)
        self.show(*self._shown)


class Contacts:
    """The contacts of a mechanism: where they touch, and their forces in the world as parts of its weight."""

    def __init__(self, mechanism: Mechanism) -> None:
        contacts = [c for c in mechanism.constraints if isinstance(c, Contact)]
        self._frames = Places.of_frames(mechanism.tree, (c.frame for c in contacts))
        self._planes = Places.of_frames(mechanism.tree, (c.to for c in contacts))
        self._axes = np.array([[tuple(x) for x in c.directions] for c in contacts], float).reshape(-1, 3, 3)
        self._points = np.array([c.point for c in contacts], float).reshape(-1, 3)
        self._radii = np.array([c.radius for c in contacts], float)[:, None]
        rows = [range(mechanism.nrows)[mechanism.row_slices[c.label]] for c in contacts]
        self._rows = np.array(rows, dtype=np.int_).reshape(-1, 3)
        self._weight = mechanism.tree.mass * max(float(np.linalg.norm(mechanism.tree.gravity)), 1.0)

    def forces(self, X: Array, f: Array) -> tuple[Array, Array]:
        """Return the points and the forces (robots, contacts, 3)."""
        frame, plane = self._frames.at(X), self._planes.at(X)
        axes = self._axes @ np.swapaxes(plane[..., :3, :3], -1, -2)  # in rows
        centres = (frame[..., :3, :3] @ self._points[..., None])[..., 0] + frame[..., :3, 3]
        forces = (f[:, self._rows][..., None, :] @ axes)[..., 0, :]
        return centres - self._radii * axes[..., 2, :], forces / self._weight


def assets(robot: Robot, shapes: str) -> tuple[dict[bytes, list[tuple[int, Array]]], set[int]]:
    """Return what is seen, each with the bodies and offsets at which it stands, and the bodies that have no shape.

    These are boxes. One warning says what could not be opened.
    """
    looks, used = dict[Any, bytes | None](), dict[bytes, list[tuple[int, Array]]]()
    wanted, seen, missing = set[int](), set[int](), list[str]()
    for geometry in {"visual": robot.visual_geometry, "collision": robot.collision_geometry, "links": ()}[shapes]:
        frame, look = robot.model.frame(geometry.link), (geometry.shape, geometry.color)
        wanted.add(frame.body)
        if look not in looks:
            try:
                looks[look] = glb(replace(geometry, placement=IDENTITY))
            except FormatError as error:
                looks[look] = missing.append(str(error))  # type: ignore[func-returns-value]
        if (data := looks[look]) is not None:
            used.setdefault(data, []).append((frame.body, pose(frame.X) @ pose(geometry.placement)))
            seen.add(frame.body)
    if missing:
        warnings.warn(f"{robot.name} is not seen whole: {'; '.join(missing)}", FormatWarning, stacklevel=6)
    bare = (wanted or set(range(robot.nb))) - seen - {WORLD}
    for body in bare:
        for box in inertia_box(robot, body):
            used.setdefault(glb(box), []).append((body, np.eye(4)))
    return used, bare


def inertia_box(robot: Robot, body: int) -> list[Geometry]:
    """Return the box of even density that has a body's inertia; none for one without mass."""
    inertia = robot.model.bodies[body].inertia
    m = float(inertia.m)
    if m <= 0.0:
        return []
    c = np.array([float(x) for x in inertia.h]) / m
    about_com = np.array([[float(x) for x in row] for row in inertia.I.rows]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(about_com)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / m, 0.0))
    thick = np.maximum(edges, 0.05 * edges.max() if edges.any() else POINT)
    return [Geometry(robot.body_names[body], Box(tuple(thick)), Transform.placed(axes, c), color=LINK)]


def glb(geometry: Geometry) -> bytes:
    """Return a shape as a GLB file, whose colours are linear, as that format has them, and which is no mirror."""
    import trimesh

    meshes = meshes_of(geometry)
    for mesh in meshes:
        if not mesh.visual.defined:
            mesh.visual = painted(PLAIN)
        if (material := getattr(mesh.visual, "material", None)) is not None:
            material = material.to_pbr() if hasattr(material, "to_pbr") else material.copy()
            color = np.array([255, 255, 255, 255] if material.baseColorFactor is None else material.baseColorFactor)
            linear = np.append(255.0 * (color[:3] / 255.0) ** 2.2, color[3])
            material.baseColorFactor = linear.round().astype(np.uint8)
            material.metallicFactor = material.metallicFactor or 0.0
            material.roughnessFactor, material.doubleSided = material.roughnessFactor or 0.7, True
            mesh.visual.material = material
    data: Any = trimesh.Scene(meshes).export(file_type="glb")
    return bytes(data)


def pose(X: Transform) -> Array:
    """Return the pose of a transform's frame (4, 4)."""
    return np.array(X.placement, dtype=np.float64)
