"""From a robot to an MJCF document.

A body stands where its link does, and a joint where it is in that body, as an anchor and an axis. What MJCF has none
of, links without mass between joints, are several joints of one body.
"""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ModelError
from kinetree.formats.save import Closing, Coupling, Export, Losses, new_name, number, numbers, quaternion
from kinetree.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Triangles,
)
from kinetree.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    FreeFlyer,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    RollPitchYaw,
    Spherical,
    Universal,
)
from kinetree.model import WORLD, Actuator, Body
from kinetree.model.checks import about_com
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.validation import Array

FAR = 1e10
"""Stands for an infinite end of a range, of which MJCF wants both: MuJoCo's largest number (mjMAXVAL)."""
LEAST = 1e-9
"""The mass (kg) and moment (kg·m²) of a moving body that has none; MuJoCo wants more than 1e-15."""
FLAT = 1e-9
"""The least second moment of a body, relative to their sum, that an inertia is given which no body has."""
MESHES = (".stl", ".obj", ".msh")
"""The files that MuJoCo reads meshes from."""

KINDS: dict[type[Joint], str] = {
    Revolute: "hinge",
    Continuous: "hinge",
    Prismatic: "slide",
    Spherical: "ball",
    FreeFlyer: "free",
}
"""The joints of MJCF by those of a model."""
OF_Q = {"ball": (3, 0, 1, 2), "free": (0, 1, 2, 6, 3, 4, 5)}
"""The entries of a joint's coordinates in MuJoCo's order, where that is not one."""
SEVERAL: dict[type[Joint], tuple[tuple[int, int], ...]] = {
    Universal: ((0, 0), (1, 1)),
    Cylindrical: ((0, 0), (1, 1)),
    RollPitchYaw: ((2, 2), (1, 1), (0, 0)),
    Planar: ((0, 1), (1, 2), (2, 0)),
}
"""Joints that are several hinges and slides, from the parent on: the entry of q that each has, and that of v."""


class Piece(NamedTuple):
    """A joint of MJCF: its axis in the frame of the body's joint, and the entries of q and v of that joint it has."""

    name: str
    kind: str
    axis: Vec3 | None
    q: tuple[int, ...]
    v: int


def pieces(body: Body) -> list[Piece]:
    """Return the joints of MJCF that a body's joint is."""
    joint, name = body.joint.alone, body.joint_name
    if type(joint) in KINDS:
        kind = KINDS[type(joint)]
        axis = None if joint.direction is None else Vec3(*joint.direction)
        return [Piece(name, kind, axis, OF_Q.get(kind, (0,)), 0)]
    columns = joint.jcalc(joint.neutral(), [0.0] * joint.nv).S
    if isinstance(joint, Helical):
        axis = columns[0].ang
        return [Piece(name, "hinge", axis, (0,), 0), Piece(f"{name}.advance", "slide", axis, (0,), 0)]
    return [
        Piece(f"{name}.{joint.q_names[q]}", "hinge", s.ang, (q,), v)
        if any(s.ang)
        else Piece(f"{name}.{joint.q_names[q]}", "slide", s.lin, (q,), v)
        for q, v in SEVERAL[type(joint)]
        for s in [columns[v]]
    ]


def write_mjcf(robot: Export, losses: Losses) -> str:
    """Return an MJCF document; `Robot.to_mjcf` says what is in it."""
    return _Document(robot, losses).text()


class _Document:
    """The elements of a document, as bodies are added to it, and the coordinates of MuJoCo in their order."""

    def __init__(self, robot: Export, losses: Losses) -> None:
        self.robot, self.model, self.losses = robot, robot.model, losses
        self.coordinates: list[Callable[[Array], Sequence[float]]] = []
        self.children: dict[int, list[int]] = {}
        for i, body in enumerate(self.model.bodies):
            self.children.setdefault(body.parent, []).append(i)
        self.shapes: dict[int, list[tuple[str, Geometry]]] = {}
        visual, collision = robot.geometry
        for geometry in dict.fromkeys((*visual, *collision)):
            role = (
                "" if geometry in visual and geometry in collision else "visual" * (geometry in visual) or "collision"
            )
            self.shapes.setdefault(self.model.frame(geometry.link).body, []).append((role, geometry))
        self.root = ET.Element("mujoco", model=self.model.name)
        settings = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false", "balanceinertia": "false"}
        ET.SubElement(self.root, "compiler", settings)
        ET.SubElement(self.root, "option", gravity=numbers(self.model.gravity))
        parts = ("asset", "worldbody", "equality", "actuator", "keyframe")
        self.asset, self.world, self.equality, self.actuator, self.keyframe = (ET.Element(part) for part in parts)
        self.elements: dict[int, tuple[ET.Element, Transform]] = {}
        self.assets: dict[Shape, str] = {}
        self.names: set[str] = set()
        self.lost: dict[str, list[str]] = {}

    def text(self) -> str:
        """Return the document."""
        self._check()
        self._base()
        for closing in self.robot.closings:
            self._closing(closing)
        for coupling in self.robot.couplings:
            self._coupling(coupling)
        for actuator in self.robot.actuators:
            self._motor(actuator)
        for name, q in self.robot.configurations.items():
            qpos = numbers(chain.from_iterable(read(q) for read in self.coordinates))
            ET.SubElement(self.keyframe, "key", name=name, qpos=qpos)
        for what, names in self.lost.items():
            self.losses.leave_out(f"{what}: {{}}", names)
        for part in (self.asset, self.world, self.equality, self.actuator, self.keyframe):
            if len(part) or part is self.world:
                self.root.append(part)
        ET.indent(self.root)
        return ET.tostring(self.root, encoding="unicode") + "\n"

    def _check(self) -> None:
        """Note what MJCF has no place for: joints, constraints, and what joints and robots have."""
        model, losses = self.model, self.losses
        for body in model.bodies:
            kind, name = type(body.joint.alone), body.joint_name
            if kind not in (*KINDS, *SEVERAL, Helical):
                raise ModelError(f"joint {name!r} is a {kind.__name__}: MJCF has hinge, slide, ball and free joints")
            if kind is FreeFlyer and (body.parent != WORLD or Transform.identity() != body.X_T):
                raise ModelError(
                    f"joint {name!r} is a FreeFlyer that does not start from the world's origin: MJCF's do"
                )

        def joints(fits: Callable[[Body], bool]) -> list[str]:
            return [body.joint_name for body in model.bodies if fits(body)]

        def of_type(*kinds: type[Joint]) -> list[str]:
            return joints(lambda body: type(body.joint.alone) in kinds)

        losses.refuse(
            "planar joints: {}", "each is two slides and a hinge, NAME.x, NAME.y, NAME.theta", of_type(Planar)
        )
        losses.refuse("helical joints: {}", "each is a hinge and a slide, coupled by an equality", of_type(Helical))
        others = "joints that are several in MJCF, each named as its entry of q: {}"
        losses.leave_out(others, of_type(*SEVERAL.keys() - {Planar}))
        losses.leave_out("limits of speed: {}", joints(lambda b: math.isfinite(b.limits.fastest)))
        empty = joints(lambda b: b.limits.lower == b.limits.upper)
        losses.leave_out("limits that leave no room: {}", empty)
        odd = joints(lambda b: any(len({*x}) > 1 for x in (b.armature, b.damping, b.friction)) and len(pieces(b)) == 1)
        losses.leave_out("armature, damping and friction of other directions than the first: {}", odd)
        counted = (model.friction.damping, model.friction.coulomb) != (False, False)
        losses.leave_out("whether friction counts (with_friction)", [""] * counted)
        losses.refuse("constraints: {}", "they are left out", self.robot.others)

    # -- bodies --------------------------------------------------------------------------------------------------

    def _base(self) -> None:
        """Add the root link of a fixed base, and all that stands on the world."""
        model, world = self.model, self.world
        if model.root != "world" and not model.has_floating_base:
            at = model.frame(model.root).X
            world = _placed(ET.SubElement(self.world, "body", name=model.root), at)
            if any(model.base_inertia):
                self._inertial(world, at.inverse().T @ model.base_inertia, model.root, moves=False)
        self._fill(WORLD, self._frame_of(WORLD), world)

    def _frame_of(self, i: int) -> Transform:
        """Return the transform from a body's frame to that of the body in MJCF: its link's, where joints allow it."""
        if i == WORLD:
            fixed = self.model.root != "world" and not self.model.has_floating_base
            return self.model.frame(self.model.root).X if fixed else Transform.identity()
        body = self.model.bodies[i]
        X = self.model.frame(body.name).X
        kinds = {piece.kind for piece in pieces(body)}
        as_joint = "free" in kinds or ("ball" in kinds and X.E.matrix != _HERE.E.matrix)
        return _HERE if as_joint else X

    def _fill(self, i: int, X: Transform, element: ET.Element) -> None:
        """Add shapes, frames and bodies on a body, whose frame in MJCF is at X."""
        to_body = X.inverse()
        self.elements[i] = element, to_body
        for role, geometry in self.shapes.get(i, ()):
            self._geom(role, geometry, self.model.frame(geometry.link).X @ to_body, element)
        name = element.get("name", "world")
        for frame in self.model.frames:
            if frame.body == i and frame.name != name:
                _placed(ET.SubElement(element, "site", name=frame.name), frame.X @ to_body)
        for child in self.children.get(i, ()):
            self._body(child, to_body, element)

    def _body(self, i: int, X: Transform, parent: ET.Element) -> None:
        """Add the body that these and the links without mass that it carries are; X leads to its parent's frame."""
        group = [i]
        while self._passes(group[-1]):
            group.append(*self.children[group[-1]])
        bodies = [self.model.bodies[k] for k in group]
        body, last = bodies[-1], self._frame_of(group[-1])
        beyond = [last]
        for other in reversed(bodies[1:]):
            beyond.insert(0, beyond[0] @ other.X_T)
        name = body.name if last == self.model.frame(body.name).X else f"{body.name}_at_joint"
        if name in ("world", *({*self.model.frame_names} - {body.name})):
            name = new_name(name, ("world", *self.model.frame_names))
        if name != body.name:
            self.lost.setdefault("the names of bodies whose links are elsewhere, or are called world", []).append(name)
        element = _placed(ET.SubElement(parent, "body", name=name), beyond[0] @ bodies[0].X_T @ X)
        self._inertial(element, last.inverse().T @ body.inertia, body.name)
        for other, Y in zip(bodies, beyond, strict=True):
            self._joint(other, Y, element)
        for k, other in enumerate(bodies[:-1]):
            if other.name != f"{body.name}.{k}":
                self.lost.setdefault("links without mass, whose joints the next body has", []).append(other.name)
        self._fill(group[-1], last, element)

    def _passes(self, i: int) -> bool:
        """Return whether a body is nothing but a place between two joints, so that one body can have both."""
        body, frames = self.model.bodies[i], [frame.name for frame in self.model.frames if frame.body == i]
        named = {end for closing in self.robot.closings for end in (closing.frame, closing.to)}
        ends = named & {*frames} or i in self.shapes or frames != [body.name]
        turns = any(piece.axis is None for piece in pieces(body))
        return not (any(body.inertia) or ends or turns) and len(self.children.get(i, ())) == 1

    def _inertial(self, element: ET.Element, inertia: Inertia, name: str, moves: bool = True) -> None:
        """Add the inertia of a body, or another one where MuJoCo would refuse it."""
        mass = float(inertia.m)
        com = np.array([*inertia.h]) / mass if mass else np.zeros(3)
        J = about_com(inertia)
        moments, axes = (np.diag(J), np.eye(3)) if not np.any(J - np.diag(np.diag(J))) else np.linalg.eigh(J)
        largest = int(np.argmax(moments))
        others = moments[largest - 1] + moments[largest - 2]
        short = moments[largest] - others
        if 0.0 < short <= 1e-13 * moments[largest]:  # rounding
            moments = moments.copy()
            moments[largest] = others
            short = 0.0
        if moves and mass < 1e-15:
            self.losses.refuse("moving links without mass: {}", f"it has {LEAST:g} kg and kg·m²", [name])
        elif short > 0.0 or (moves and moments.min() < 1e-15):
            self.losses.refuse("inertias that no body has: {}", "it has the nearest that one has", [name])
        if moves and mass < 1e-15:
            mass, moments = LEAST, np.full(3, LEAST)
        elif short > 0.0 or (moves and moments.min() < 1e-15):
            seconds = np.maximum(moments.sum() / 2 - moments, max(FLAT * moments.sum(), 1e-12))
            moments = seconds.sum() - seconds
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        said = {"mass": number(mass), "diaginertia": numbers(moments)}
        _placed(ET.SubElement(element, "inertial", pos="0 0 0"), Transform.placed(axes.tolist(), com.tolist()))
        element[-1].attrib.update(said)

    # -- joints --------------------------------------------------------------------------------------------------

    def _joint(self, body: Body, X: Transform, element: ET.Element) -> None:
        """Add the joints of MJCF that a body's joint is; X leads from the joint's frame to the body's in MJCF."""
        back, follows = X.inverse(), body.joint.follows
        for piece in pieces(body):
            said = {"name": piece.name, "type": piece.kind}
            if piece.kind != "free" and any(back.r):
                said["pos"] = numbers(back.r)
            if piece.axis is not None:
                said["axis"] = numbers(X.E.to_b(piece.axis))
            own = piece.name == body.joint_name or body.joint.nv > 1
            ET.SubElement(element, "joint", said | (self._physics(body, piece) if own else {}))
            self.coordinates.append(_reader(body, piece))
        if follows is not None:
            leader = self.model.leader(body).joint_name
            self._equal(body.joint_name, leader, follows[1], follows[0])
        if isinstance(body.joint.alone, Helical):
            self._equal(f"{body.joint_name}.advance", body.joint_name, 0.0, body.joint.alone.pitch)

    def _physics(self, body: Body, piece: Piece) -> dict[str, str]:
        """Return the attributes of a joint beside how it moves, as its own coordinate feels them."""
        f, offset = body.joint.follows or (1.0, 0.0)
        factor = abs(f) or 1.0
        v, limits, spring = piece.v, body.limits, body.spring
        said = {
            "armature": body.armature[v] / factor**2,
            "damping": body.damping[v] / factor**2,
            "frictionloss": body.friction[v] / factor,
            "stiffness": spring.stiffness / factor**2,
            "springref": f * spring.rest + offset if spring.stiffness else 0.0,
        }
        found = {key: number(x) for key, x in said.items() if x}
        if limits.lower < limits.upper and min(abs(limits.lower), abs(limits.upper)) < FAR:
            found["range"] = _range((limits.lower, limits.upper))
        if 0.0 < limits.effort < math.inf:
            found["actuatorfrcrange"] = _range((-limits.effort, limits.effort))
        return found

    def _equal(self, joint: str, other: str | None, *poly: float) -> None:
        """Add an equality of joints, ``q = a0 + a1 q_other``."""
        ends = {"joint1": joint} | ({"joint2": other} if other else {})
        ET.SubElement(self.equality, "joint", ends | {"polycoef": numbers([*poly, *[0.0] * (5 - len(poly))])})

    def _coupling(self, gear: Coupling) -> None:
        if len(gear.ratios) != 2:
            self.losses.refuse("gears of more than two joints: {}", "they couple nothing", [gear.name])
            return
        (first, a), (second, b) = gear.ratios
        self._equal(first, second, gear.offset / a, -b / a)
        self.equality[-1].set("name", gear.name)

    def _closing(self, closing: Closing) -> None:
        """Add what closes a loop: points that coincide, or frames that do."""
        kind, name = type(closing.joint), closing.name
        if kind is Fixed:
            self._coincide("weld", closing, name, _HERE)
        elif kind is Spherical:
            self._coincide("connect", closing, name, _HERE)
        elif kind in (Revolute, Continuous):
            self._coincide("connect", closing, name, _HERE)
            self._coincide("connect", closing, f"{name}.axis", Transform.translation(closing.joint.direction or ()))
            self.lost.setdefault("hinges that close loops, each two points on its axis", []).append(name)
        else:
            said = "loops that close at another joint than a ball, a hinge or a weld: {}"
            self.losses.refuse(said, "the loop stays open", [name])

    def _coincide(self, tag: str, closing: Closing, name: str, point: Transform) -> None:
        """Add an equality of two sites, each at a point of its frame."""
        ends = {"site1": self._site(closing.to, point @ closing.X), "site2": self._site(closing.frame, point)}
        ET.SubElement(self.equality, tag, ends | {"name": name})

    def _site(self, frame: str | None, X: Transform) -> str:
        """Return the name of a site in a frame, which is added where there is none."""
        at = None if frame is None else self.model.frame(frame)
        element, to_body = self.elements[WORLD if at is None else at.body]
        sites = {site.get("name", "") for site in self.world.iter("site")}
        name = frame or "world"
        if _HERE != X or name not in sites:
            name = new_name(name, sites)
            _placed(ET.SubElement(element, "site", name=name), (X if at is None else X @ at.X) @ to_body)
        return name

    def _motor(self, actuator: Actuator) -> None:
        """Add a motor."""
        body, gear = self.model.bodies[self.model.body_of_joint(actuator.joint)], actuator.gear
        joints = pieces(body)
        if len(joints) > 1 or (joints[0].kind == "free" and any(gear[3:])):
            self.lost.setdefault("actuators at joints that are several, or that push a free one", []).append(
                actuator.name
            )
            return
        order = (3, 4, 5, 0, 1, 2) if joints[0].kind == "free" else range(len(gear))
        said = {"name": actuator.name, "joint": actuator.joint, "gear": numbers(gear[k] for k in order)}
        for key, (lower, upper) in (("ctrlrange", actuator.control_range), ("forcerange", actuator.force_range)):
            if lower < upper and (lower, upper) != (-math.inf, math.inf):
                said[key] = _range((lower, upper))
        ET.SubElement(self.actuator, "motor", said)

    # -- shapes --------------------------------------------------------------------------------------------------

    def _geom(self, role: str, geometry: Geometry, X: Transform, element: ET.Element) -> None:
        """Add a shape, whose link is at X in the body."""
        shape, X = geometry.shape, geometry.placement @ X
        if isinstance(shape, HeightField):
            X = Transform.translation((0.0, 0.0, min(map(min, shape.heights)))) @ X
        if isinstance(shape, Mesh) and not _readable(shape.path):
            self.lost.setdefault("meshes that are missing, or that MuJoCo does not read", []).append(shape.path)
            return
        if isinstance(shape, Plane) and element.find("joint") is not None:
            self.lost.setdefault("planes on moving bodies: those of", []).append(geometry.link)
            return
        said = SHAPES[type(shape)](shape) if type(shape) in SHAPES else self._asset(shape)
        if geometry.name:
            said["name"] = new_name(geometry.name, self.names)
            self.names.add(said["name"])
        said |= {"rgba": numbers(geometry.color)} if geometry.color else {}
        said |= {"friction": numbers(geometry.friction)} if geometry.friction else {}
        bits = (0, 0) if role == "visual" else (geometry.contype, geometry.conaffinity)
        said |= {key: str(x) for key, x in zip(("contype", "conaffinity"), bits, strict=True) if x != 1}
        said |= {"group": GROUPS[role]} if role else {}
        _placed(ET.SubElement(element, "geom", said), X)

    def _asset(self, shape: Shape) -> dict[str, str]:
        """Return the attributes of a shape that refers to an asset, which is added once."""
        kind, said = ASSETS[type(shape)]
        if shape not in self.assets:
            stem = os.path.splitext(os.path.basename(getattr(shape, "path", "")))[0] or kind
            self.assets[shape] = new_name(stem, {*self.assets.values()})
            ET.SubElement(self.asset, kind, {"name": self.assets[shape]} | said(shape))
        return {"type": kind, kind: self.assets[shape]}


_HERE = Transform.identity()
GROUPS = {"visual": "2", "collision": "3"}
"""The group of a geom that is only seen, and of one that only touches, as MuJoCo's own models have them."""
SHAPES: dict[type[Shape], Callable[[Any], dict[str, str]]] = {
    Box: lambda s: {"type": "box", "size": numbers(x / 2 for x in s.size)},
    Sphere: lambda s: {"type": "sphere", "size": number(s.radius)},
    Ellipsoid: lambda s: {"type": "ellipsoid", "size": numbers(s.radii)},
    Cylinder: lambda s: {"type": "cylinder", "size": numbers((s.radius, s.length / 2))},
    Capsule: lambda s: {"type": "capsule", "size": numbers((s.radius, s.length / 2))},
    Plane: lambda s: {"type": "plane", "size": numbers([*(x / 2 if math.isfinite(x) else 0.0 for x in s.size), 1.0])},
}
"""The attributes of shapes: MJCF has half their lengths."""
ASSETS: dict[type[Shape], tuple[str, Callable[[Any], dict[str, str]]]] = {
    Mesh: ("mesh", lambda s: {"file": os.path.abspath(s.path), "scale": numbers(s.scale), "inertia": "shell"}),
    Triangles: (
        "mesh",
        lambda s: {
            "vertex": numbers(s.vertices.ravel()),
            "face": " ".join(map(str, s.faces.ravel())),
            "inertia": "shell",
        },
    ),
    HeightField: ("hfield", lambda s: _heights(s)),
}
"""The assets of shapes, and their attributes."""


def _heights(field: HeightField) -> dict[str, str]:
    """Return the attributes of a height field: heights above the lowest, the row of the largest y first."""
    heights = np.array(field.heights, dtype=np.float64)
    low, rise = heights.min(), np.ptp(heights)
    size = (field.size[0] / 2, field.size[1] / 2, rise or 1.0, max(field.base + low, 1e-6))
    nrow, ncol = heights.shape
    elevation = numbers((heights[::-1] - low).ravel())
    return {"nrow": str(nrow), "ncol": str(ncol), "size": numbers(size), "elevation": elevation}


def _readable(path: str) -> bool:
    """Return whether MuJoCo reads a mesh: of an STL file, one that is binary, with at most 200,000 faces."""
    if not (path.lower().endswith(MESHES) and os.path.isfile(path)):
        return False
    if not path.lower().endswith(".stl"):
        return True
    with open(path, "rb") as file:
        faces = int.from_bytes(file.read(84)[80:], "little")
    return 0 < faces <= 200_000 and os.path.getsize(path) == 84 + 50 * faces


def _reader(body: Body, piece: Piece) -> Callable[[Array], list[float]]:
    """Return what reads MuJoCo's coordinates of a joint from a configuration."""
    f, offset = body.joint.follows or (1.0, 0.0)
    if piece.name != body.joint_name and isinstance(body.joint.alone, Helical):
        f, offset = f * body.joint.alone.pitch, offset * body.joint.alone.pitch
    return lambda q: [f * q[body.q_index[k]] + offset for k in piece.q]


def _placed(element: ET.Element, X: Transform) -> ET.Element:
    """Return an element that stands at this place in the one around it."""
    if any(r := Vec3.of(row[3] for row in X.placement[:3])):
        element.set("pos", numbers(r))
    if X.E.matrix != _HERE.E.matrix:
        element.set("quat", numbers(quaternion(X)))
    return element


def _range(ends: Sequence[float]) -> str:
    """Return a range: its ends are finite in MJCF."""
    return numbers(max(-FAR, min(x, FAR)) for x in ends)
