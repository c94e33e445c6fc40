"""Robots in a scene of viser: each mesh is sent once, for all places where it stands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.constraints.types import Contact
from kinetree.drawing.panels import Skeleton
from kinetree.errors import ArgumentError, FormatError, unknown_name, warn_user
from kinetree.geometry import Box, Geometry
from kinetree.geometry.meshes import meshes_of, painted
from kinetree.geometry.shapes import IDENTITY
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.spatial import Inertia, Transform
from kinetree.validation import Array

PLAIN, LINK = (0.75, 0.76, 0.78, 1.0), (0.35, 0.55, 0.8, 1.0)
STICK, FORCE = (60, 60, 65), (180, 12, 6)  # of segments and arrows; those of arrows are linear
MOST_ROBOTS = 1000
POINT = 0.05  # m: how large a point mass is drawn
SEEN = 0.01  # of the weight: the least force of a contact that is drawn
CUBE = Geometry("", Box((1.0, 1.0, 1.0)), color=LINK)

Place = tuple[int, Array]  # a body, and the matrix (4, 4) of a place in it, which may scale what stands there


class Places:
    """Places fixed to bodies."""

    def __init__(self, places: Iterable[Place]) -> None:
        bodies, matrices = zip(*places, strict=True) if (places := list(places)) else ((), ())
        self._bodies, self._offsets = np.array(bodies, dtype=np.int_), np.array(matrices, float).reshape(-1, 4, 4)
        self.scales = np.linalg.norm(self._offsets[:, :3, :3], axis=1)
        self._offsets[:, :3, :3] /= self.scales[:, None]

    def at(self, X: Array) -> Array:
        """Return their poses (robots, places, 4, 4) where bodies have the poses (robots, nb + 1, 4, 4)."""
        return np.asarray(X[:, self._bodies] @ self._offsets)


class Scene:
    """So many robots of one kind, side by side; `show` moves them by one call of `Robot.forward_kinematics`."""

    def __init__(self, server: Any, robot: Robot, q: Array, shapes: str, mechanism: Mechanism | None = None) -> None:
        if len(q) > MOST_ROBOTS:
            raise ArgumentError(f"{len(q)} robots are too many to be seen: take some, such as trajectory.robots[:20]")
        if mechanism is not None and (not isinstance(mechanism, Mechanism) or mechanism.tree.nq != robot.nq):
            raise ArgumentError(f"mechanism takes the kinetree.Mechanism of {robot.name!r}; {mechanism!r} was given")
        self.robot, self.count, self._lock, self._atomic = robot, len(q), threading.Lock(), server.atomic
        self._skeleton, frames = Skeleton(robot), [in_frame(robot, name) for name in robot.frame_names]
        used, bare = assets(robot, shapes)
        self._places = Places([*(place for places in used.values() for place in places), *frames])
        self.size = size = self._arrange(server, self._poses(q), Places(frames))
        self._handles, scene, none = list[tuple[Any, slice]](), server.scene, np.zeros((0, 2, 3))
        for k, (data, places) in enumerate(used.items()):
            scales = np.tile(Places(places).scales, (self.count, 1))
            self._stand(len(places), scene.add_batched_glb, f"/robots/{k}", data, batched_scales=scales, lod="off")
        axes = {"axes_length": 0.1 * size, "axes_radius": 0.004 * size, "visible": False}
        self.switches = {"frames": self._stand(len(frames), scene.add_batched_axes, "/frames", **axes)}
        lines = self._skeleton.lines
        self._lines = lines[[bool(bare) and (a >= robot.nb or a in bare) for a, _ in lines]]
        self._sticks = scene.add_line_segments("/sticks", none, STICK, thickness=0.012 * size)
        self._contacts = None if mechanism is None else Contacts(mechanism)
        head = {"shaft_radius": 0.012 * size, "head_radius": 0.03 * size, "head_length": 0.06 * size}
        self._arrows = scene.add_arrows("/forces", none, FORCE, **head)
        if mechanism is not None:
            self.switches["contact forces"] = self._arrows
        self.show(q)

    def _stand(self, count: int, add: Callable[..., Any], *what: object, **look: object) -> Any:
        """Have viser draw something at the next so many places of each robot, and return its handle."""
        start, still = self._handles[-1][1].stop if self._handles else 0, np.tile(np.eye(4)[0], (self.count * count, 1))
        handle = add(*what, still, still[:, 1:], **look)
        self._handles.append((handle, slice(start, start + count)))
        return handle

    def _arrange(self, server: Any, X: Array, frames: Places) -> float:
        """Put the robots side by side on a grid, and the camera before them; return how large one is (m)."""
        points = np.concatenate([self._skeleton.points_at(X[:, :-1]), frames.at(X)[..., :3, 3]], axis=1)
        low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        size, side = max(float(np.ptp(points, axis=1).max()), 0.1), int(np.ceil(np.sqrt(self.count)))
        self.shift = np.zeros((self.count, 1, 3))
        self.shift[:, 0, 1::-1] = 1.5 * size * (np.stack(np.divmod(range(self.count), side), -1) - 0.5 * (side - 1))
        width = 2.0 * np.abs([low, high])[:, :2].max() + 3.0 * size * side
        server.scene.add_grid("/ground", width, width, cell_size=0.25, section_size=1.0, shadow_opacity=0.3)
        server.initial_camera.look_at = middle = 0.5 * (low + high)
        server.initial_camera.position = middle + (size * (0.7 * side + 0.3) + 0.1) * np.array([1.0, 0.8, 0.55])
        return size

    def _poses(self, q: Array) -> Array:
        """Return the poses of all bodies (robots, nb + 1, 4, 4), the last one being the world."""
        world = np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))
        return np.concatenate([self.robot.forward_kinematics(q), world], axis=1) if self.robot.nb else world

    def show(self, q: Array, f: Array | None = None) -> None:
        """Show configurations (robots, nq), with the forces of the constraints (robots, nrows)."""
        from viser.transforms import SO3

        X = self._poses(q)
        T, sticks = self._places.at(X), self._skeleton.points_at(X[:, :-1])[:, self._lines]
        wxyz, positions = SO3.from_matrix(T[..., :3, :3]).wxyz, T[..., :3, 3] + self.shift
        arrows = sticks[:, :0] if f is None or self._contacts is None else self._contacts.arrows(X, f, self.size)
        long = np.ptp(arrows, axis=-2).any(axis=-1)
        with self._lock, self._atomic():
            self._shown = q, f
            for handle, part in self._handles:
                if handle.visible:
                    handle.batched_wxyzs = wxyz[:, part].reshape(-1, 4)
                    handle.batched_positions = positions[:, part].reshape(-1, 3)
            self._sticks.points = (sticks + self.shift[:, None]).reshape(-1, 2, 3)
            self._arrows.points = (arrows + self.shift[:, None])[long]

    def switch(self, label: str, on: bool) -> None:
        """Show one of `switches`, or hide it."""
        self.switches[label].visible = on
        self.show(*self._shown)


class Contacts:
    """The contacts of a mechanism: where they touch, and their forces as arrows."""

    def __init__(self, mechanism: Mechanism) -> None:
        tree, contacts = mechanism.tree, [c for c in mechanism.constraints if isinstance(c, Contact)]
        turned = (Transform.placed(np.transpose([tuple(x) for x in c.directions]), (0, 0, 0)) for c in contacts)
        self._planes = Places(in_frame(tree, c.to, X) for c, X in zip(contacts, turned, strict=True))
        self._centres = Places(in_frame(tree, c.frame, Transform.translation(c.point)) for c in contacts)
        self._radii = np.array([c.radius for c in contacts], float)[:, None]
        rows = [range(mechanism.nrows)[mechanism.row_slices[c.label]] for c in contacts]
        self._rows = np.array(rows, dtype=np.int_).reshape(-1, 3)
        self._weight = tree.mass * max(float(np.linalg.norm(tree.gravity)), 1.0)

    def arrows(self, X: Array, f: Array, length: float) -> Array:
        """Return their ends (robots, contacts, 2, 3): the weight is so long (m), and nothing is drawn of small ones."""
        axes = self._planes.at(X)[..., :3, :3]
        start = self._centres.at(X)[..., :3, 3] - self._radii * axes[..., 2]
        force = (axes @ f[:, self._rows, None])[..., 0] / self._weight
        force *= np.linalg.norm(force, axis=-1, keepdims=True) > SEEN
        return np.stack([start, start + length * force], axis=-2)


def in_frame(robot: Robot, name: str | None, X: Transform = IDENTITY) -> Place:
    """Return a place in a frame, or in the world."""
    if name is None:
        return WORLD, pose(X)
    frame = robot.model.frame(name)
    return frame.body, pose(frame.X) @ pose(X)


def assets(robot: Robot, shapes: str) -> tuple[dict[bytes, list[Place]], set[int]]:
    """Return what is seen, each with its places, and the bodies that are boxes; one warning says what is missing."""
    choices = {"visual": robot.visual_geometry, "collision": robot.collision_geometry, "links": ()}
    if shapes not in choices:
        raise ArgumentError(unknown_name("shapes", shapes, choices))
    looks, used = dict[Any, bytes | None](), dict[bytes, list[Place]]()
    bare, missing = set[int]() if choices[shapes] else set(range(robot.nb)), list[str]()
    for geometry in choices[shapes]:
        look = geometry.shape, geometry.color
        if look not in looks:
            try:
                looks[look] = glb(replace(geometry, placement=IDENTITY))
            except FormatError as error:
                looks[look] = missing.append(str(error))  # type: ignore[func-returns-value]
        place = in_frame(robot, geometry.link, geometry.placement)
        bare.add(place[0])
        if (data := looks[look]) is not None:
            used.setdefault(data, []).append(place)
    if missing:
        warn_user(f"{robot.name} is not seen whole: {'; '.join(missing)}")
    bare -= {WORLD, *(body for places in used.values() for body, _ in places)}
    inertias = {body: robot.model.bodies[body].inertia for body in bare}
    if boxes := [(body, inertia_box(inertia)) for body, inertia in inertias.items() if inertia.m > 0.0]:
        used[glb(CUBE)] = boxes
    return used, bare


def inertia_box(inertia: Inertia) -> Array:
    """Return the matrix (4, 4) by which a cube becomes the box of even density with this inertia."""
    m = float(inertia.m)
    c = np.array([float(x) for x in inertia.h]) / m
    about_com = np.array([[float(x) for x in row] for row in inertia.I.rows]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(about_com)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / m, 0.0))
    thick = np.maximum(edges, 0.05 * edges.max() if edges.any() else POINT)
    return pose(Transform.placed(axes, c)) @ np.diag([*thick, 1.0])


def glb(geometry: Geometry) -> bytes:
    """Return a shape as a GLB file, whose colours are linear, as that format has them."""
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
