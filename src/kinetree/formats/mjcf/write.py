"""From a robot to an MJCF document.

A body stands where its link does, and a joint where it is in that body, as an anchor and an axis. What MJCF has none
of, links without mass between joints, are several joints of one body.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinetree import joints
from kinetree.errors import ModelError, listed
from kinetree.formats.graph import new_name
from kinetree.formats.mjcf.codes import FAR
from kinetree.formats.mjcf.geoms import Geoms, at
from kinetree.formats.placed import HERE, At, Joint, Placed, joint_type, own_links, own_physics, seen
from kinetree.formats.save import OTHERS, Closing, Export, Fields, Limit, Losses, add, text_of
from kinetree.model import WORLD, Actuator, Body
from kinetree.model.body import NO_FRICTION
from kinetree.model.checks import about_com
from kinetree.spatial import Inertia, Transform, Vec3

LEAST = 1e-9
"""The mass (kg) and moment (kg·m²) of a moving body that has none."""
MINIMUM = 1e-15
"""MuJoCo wants more than this (mjMINVAL)."""
FLAT = 1e-9
"""The least second moment of a body, relative to their sum, that an inertia is given which no body has."""
ROUNDING = 1e-13
DEEPEST = 400
"""Bodies in each other: MuJoCo reads no more than 500 elements so."""

PIECES: dict[type[joints.Joint], Sequence[tuple[str, tuple[int, ...], int]]] = {
    joints.Revolute: [("hinge", (0,), 0)],
    joints.Continuous: [("hinge", (0,), 0)],
    joints.Prismatic: [("slide", (0,), 0)],
    joints.Spherical: [("ball", (3, 0, 1, 2), 0)],
    joints.FreeFlyer: [("free", (0, 1, 2, 6, 3, 4, 5), 0)],
    joints.Universal: [("hinge", (0,), 0), ("hinge", (1,), 1)],
    joints.Cylindrical: [("hinge", (0,), 0), ("slide", (1,), 1)],
    joints.RollPitchYaw: [("hinge", (2,), 2), ("hinge", (1,), 1), ("hinge", (0,), 0)],
    joints.Planar: [("slide", (0,), 1), ("slide", (1,), 2), ("hinge", (2,), 0)],
    joints.Helical: [("hinge", (0,), 0), ("slide", (0,), 0)],
}
"""The joints of MJCF that each joint is, from the parent on: their types, and the entries of q and of v they have."""
TYPES = {kind: parts[0][0] for kind, parts in PIECES.items()}
CLOSED_BY: dict[type[joints.Joint], str] = {
    joints.Fixed: "weld",
    joints.Spherical: "connect",
    joints.Revolute: "connect",
    joints.Continuous: "connect",
}
"""The equalities that close a loop; a hinge takes a second one, at another point of its axis."""
PHYSICS = ("armature", "damping", "frictionloss", "stiffness", "springref")
"""What MJCF calls the physics of joints."""


class Piece(NamedTuple):
    """A joint of MJCF: the axis is in the frame of the body's joint, of which it has the entries q and v.

    Its coordinate is ``factor · q + offset``.
    """

    name: str
    kind: str
    axis: Vec3 | None
    q: tuple[int, ...]
    v: int
    factor: float
    offset: float


def pieces(body: Body) -> list[Piece]:
    """Return the joints of MJCF that a body's joint is."""
    joint, (factor, offset) = body.joint.alone, body.joint.follows or (1.0, 0.0)
    columns, found = joint.jcalc(joint.neutral(), [0.0] * joint.nv).S, list[Piece]()
    for kind, q, v in PIECES[type(joint)]:
        name, axis = body.joint_name, {"hinge": columns[v].ang, "slide": columns[v].lin}.get(kind)
        if found and joint.nv == 1:  # the advance of a screw
            pitch = math.hypot(*columns[v].lin)
            name, factor, offset = f"{name}.advance", pitch * factor, pitch * offset
        elif joint.nv == len(PIECES[type(joint)]) > 1:
            name = f"{name}.{joint.q_names[q[0]]}"
        found.append(Piece(name, kind, axis, q, v, factor, offset))
    return found


def _joints(fits: Callable[[Body], bool]) -> Callable[[Export], list[str]]:
    """Return what finds the names of the joints of which this is true."""
    return lambda robot: [body.joint_name for body in robot.model.bodies if fits(body)]


def _of(kind: type[joints.Joint]) -> Callable[[Export], list[str]]:
    return _joints(lambda body: type(body.joint.alone) is kind)


def _several(body: Body) -> bool:
    return len(pieces(body)) == body.joint.nv > 1


def _uneven(body: Body) -> bool:
    return len(pieces(body)) == 1 and any(len({*x}) > 1 for x in (body.armature, body.damping, body.friction))


def _without_room(robot: Export) -> list[str]:
    return [a.name for a in robot.actuators if any(low == high for low, high in (a.control_range, a.force_range))]


LIMITS = (
    Limit("planar joints: {}", _of(joints.Planar), "each is two slides and a hinge, NAME.x, NAME.y, NAME.theta"),
    Limit("helical joints: {}", _of(joints.Helical), "each is a hinge and a slide that it moves, NAME.advance"),
    Limit(
        "armature, damping and friction of other directions than the first: {}", _joints(_uneven), "the first counts"
    ),
    Limit("joints that are several there, each named as its entry of q: {}", _joints(_several)),
    Limit("limits of speed: {}", _joints(lambda body: math.isfinite(body.limits.fastest))),
    Limit("limits that leave no room: {}", _joints(lambda body: body.limits.lower == body.limits.upper)),
    Limit("ranges of actuators without room: {}", _without_room),
    Limit("whether friction counts (with_friction)", lambda robot: [""] * (robot.model.friction != NO_FRICTION)),
    OTHERS,
)


def write_mjcf(robot: Export, losses: Losses) -> str:
    """Return an MJCF document; `Robot.to_mjcf` says what is in it."""
    depths = {WORLD: 0}
    for i, body in enumerate(robot.model.bodies):
        depths[i] = depths[body.parent] + 1
        if joint_type(body, TYPES, "MJCF") == "free" and (body.parent != WORLD or body.X_T != HERE):
            raise ModelError(f"joint {body.joint_name!r} is a FreeFlyer that does not start from the world's origin")
    named = Counter(piece.name for body in robot.model.bodies for piece in pieces(body))
    if twice := [name for name, count in named.items() if count > 1]:
        raise ModelError(f"the joints {listed(twice)} would be there twice, with those that stand for one: rename them")
    if max(depths.values()) > DEEPEST:
        raise ModelError(f"a chain of more than {DEEPEST} joints: MuJoCo reads no bodies that are nested so deep")
    losses.check(robot, LIMITS)
    return _Document(robot, losses).text()


def _links(robot: Export, losses: Losses) -> tuple[dict[int, At], list[str]]:
    """Return the links that are bodies in MJCF, and the names of those that are not.

    One without mass between two joints is the next one. The coordinates of balls and free joints are in a body's axes.
    """
    model, links, between = robot.model, own_links(robot.model), list[str]()
    if model.root == "world":
        links.pop(WORLD, None)
    used = {end for closing in robot.closings for end in (closing.frame, closing.to)}
    used |= {geometry.link for shapes in robot.geometry for geometry in shapes}
    for i, body in reversed([*enumerate(model.bodies)]):
        frames = {frame.name for frame in model.frames if frame.body == i}
        children = [k for k, other in enumerate(model.bodies) if other.parent == i]
        kind, (link, X) = TYPES[type(body.joint.alone)], links[i]
        moved = X != HERE and (kind == "free" or (kind == "ball" and X.E.matrix != HERE.E.matrix))
        if kind in ("hinge", "slide") and len(children) == 1 and frames == {link} - used and not any(body.inertia):
            carried, X = links[children[0]]
            links[i] = At(carried, X @ model.bodies[children[0]].X_T)
            between.insert(0, link)
        elif moved or link == "world":
            links[i] = At(new_name(f"{link}_at_joint", model.frame_names), HERE if moved else X)
            losses.note("the names of bodies that are elsewhere than their links, or the world's: {}", [link])
    return links, between


class _Document:
    """The elements of a document: `elements` has those of the bodies, `made` the joints by their names there."""

    def __init__(self, robot: Export, losses: Losses) -> None:
        self.robot, self.model, self.losses = robot, robot.model, losses
        self.root = ET.Element("mujoco", model=self.model.name)
        settings = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false", "balanceinertia": "false"}
        add(self.root, "compiler", settings)
        add(self.root, "option", {"gravity": self.model.gravity})
        parts = ("asset", "worldbody", "equality", "actuator", "keyframe")
        self.asset, self.world, self.equality, self.actuator, self.keyframe = (
            ET.SubElement(self.root, part) for part in parts
        )
        self.links, self.between = _links(robot, losses)
        self.elements, self.made = {"world": self.world}, dict[str, tuple[Body, Piece]]()

    def text(self) -> str:
        """Return the document."""
        self._bodies()
        self._loops()
        self._gears()
        self._motors()
        order = [self.made[joint.get("name", "")] for joint in self.world.iter("joint")]
        for name, q in self.robot.configurations.items():
            qpos = [piece.factor * q[body.q_index[k]] + piece.offset for body, piece in order for k in piece.q]
            add(self.keyframe, "key", {"name": name, "qpos": qpos})
        for part in [part for part in self.root if not part.attrib and not len(part) and part is not self.world]:
            self.root.remove(part)
        return text_of(self.root) + "\n"

    def _bodies(self) -> None:
        """Add the bodies, each with its inertia, joints, shapes and sites, and the world with what stands in it."""
        geoms, base = Geoms(self.robot, self.links, self.asset, self.losses), self.links.get(WORLD)
        there = Placed(self.model, self.links, TYPES, "MJCF", floating=True)
        bodies = {body.joint_name: i for i, body in enumerate(self.model.bodies)}  # a parent is before its children
        for name in ("world", *there.links):
            if name in there.links:
                (parent, X), inertia = there.links[name]
                self.elements[name] = add(self.elements[parent], "body", {"name": name, **at(X)})
                if any(inertia) or not base or name != base.link:
                    self._inertial(name, inertia, 0.0 if base and name == base.link else MINIMUM)
            for joint in sorted(there.joints, key=lambda joint: bodies[joint.body.joint_name]):
                if joint.child.link == name:
                    self._joint(joint, self.elements[name])
            geoms.add(name, self.elements[name])
            for frame, place in there.frames.items():
                if place.link == name and frame not in (name, *self.between):
                    add(self.elements[name], "site", {"name": frame, **at(place.X)})
        left = [link for link in self.between if not re.fullmatch(r".*\.\d+", link)]  # as the reader names them
        self.losses.note("links without mass, whose joints the next body has: {}", left)

    def _inertial(self, name: str, inertia: Inertia, least: float) -> None:
        """Add the inertia of a body, along its principal axes, or another one where MuJoCo would refuse it."""
        mass, J = float(inertia.m), about_com(inertia)
        com = [x / mass if mass else 0.0 for x in inertia.h]
        moments, axes = np.linalg.eigh(J) if np.any(J - np.diag(np.diag(J))) else (np.diag(J).copy(), np.eye(3))
        largest = int(np.argmax(moments))
        others = moments[largest - 1] + moments[largest - 2]
        if others < moments[largest] <= others * (1.0 + ROUNDING):
            moments[largest] = others
        if mass < least:
            self.losses.note("moving links without mass: {}", [name], f"they have {LEAST:g} kg and kg·m²")
            mass, moments = LEAST, np.full(3, LEAST)
        elif moments[largest] > others or moments.min() < least:
            self.losses.note("inertias that no body has: {}", [name], "they have the nearest that one has")
            seconds = np.maximum(moments.sum() / 2 - moments, max(FLAT * moments.sum(), 1e3 * MINIMUM))
            moments = seconds.sum() - seconds
        axes[:, 0] *= np.linalg.det(axes)
        place = {**at(Transform.placed(axes.tolist(), com)), "pos": com}
        add(self.elements[name], "inertial", {**place, "mass": mass, "diaginertia": moments.tolist()})

    # -- joints --------------------------------------------------------------------------------------------------

    def _joint(self, joint: Joint, element: ET.Element) -> None:
        """Add the joints of MJCF that a body's joint is."""
        body, (_, X), parts = joint.body, joint.child, pieces(joint.body)
        for k, piece in enumerate(parts):
            pos = tuple(X.r) if piece.kind != "free" and any(X.r) else ()
            own = _physics(body, piece.v) if k == 0 or body.joint.nv > 1 else {}
            axis = piece.axis and X.E.to_a(piece.axis)
            add(element, "joint", {"name": piece.name, "type": piece.kind, "pos": pos, "axis": axis, **own})
            self.made[piece.name] = body, piece
        if body.joint.follows is not None:
            self._equal(body.joint_name, self.model.leader(body).joint_name, parts[0].offset, parts[0].factor)
        if len(parts) > body.joint.nv:
            self._equal(parts[1].name, parts[0].name, 0.0, parts[1].factor / parts[0].factor)

    def _equal(self, joint: str, other: str, a0: float, a1: float, name: str = "") -> None:
        """Add an equality of joints, ``q = a0 + a1 q_other``."""
        fields = {"joint1": joint, "joint2": other, "polycoef": (a0, a1, 0.0, 0.0, 0.0), "name": name}
        add(self.equality, "joint", fields)

    def _gears(self) -> None:
        said = "gears of more than two joints: {}"
        for gear in self.losses.kept(self.robot.couplings, lambda c: len(c.ratios) == 2, said, "they couple nothing"):
            (first, a), (second, b) = gear.ratios
            self._equal(first, second, gear.offset / a, -b / a, gear.name)

    def _loops(self) -> None:
        """Add what closes loops: points that coincide, or frames that do."""
        said = "loops that close at another joint than a ball, a hinge or a weld: {}"
        closings = self.losses.kept(self.robot.closings, lambda c: type(c.joint) in CLOSED_BY, said, "they stay open")
        for closing in closings:
            self._coincide(closing, closing.name, HERE)
            if (axis := closing.joint.direction) is not None:
                self.losses.note("hinges that close loops, each two points on its axis: {}", [closing.name])
                self._coincide(closing, f"{closing.name}.axis", Transform.translation(axis))

    def _coincide(self, closing: Closing, name: str, point: Transform) -> None:
        """Add an equality of two sites, each at a point of its frame."""
        to, frame = self._site(closing.to, point @ closing.X), self._site(closing.frame, point)
        add(self.equality, CLOSED_BY[type(closing.joint)], {"name": name, "site1": to, "site2": frame})

    def _site(self, frame: str | None, X: Transform) -> str:
        """Return the name of a site in a frame, which is added where there is none."""
        sites, name = {site.get("name", "") for site in self.world.iter("site")}, frame or "world"
        if X != HERE or name not in sites:
            body, own = (WORLD, HERE) if frame is None else (self.model.frame(frame).body, self.model.frame(frame).X)
            link, place = seen(self.links, body, X @ own)
            name = new_name(name, sites)
            add(self.elements[link], "site", {"name": name, **at(place)})
        return name

    def _motors(self) -> None:
        """Add the motors; MuJoCo's push free joints along the world's axes."""
        said = "actuators at joints that are several, or that push a free one: {}"
        for actuator in self.losses.kept(self.robot.actuators, self._pushes, said):
            name = actuator.name and new_name(actuator.name, {other.get("name", "") for other in self.actuator})
            self.losses.note("names of actuators that occur twice: {}", [actuator.name] * (name != actuator.name))
            ranges = {"ctrlrange": _range(*actuator.control_range), "forcerange": _range(*actuator.force_range)}
            gear = (*actuator.gear[3:], *actuator.gear[:3])
            add(self.actuator, "motor", {"name": name, "joint": actuator.joint, "gear": gear, **ranges})

    def _pushes(self, actuator: Actuator) -> bool:
        body = self.model.bodies[self.model.body_of_joint(actuator.joint)]
        return len(pieces(body)) == 1 and not any(actuator.gear[3:])


def _physics(body: Body, v: int) -> Fields:
    """Return the attributes of a joint beside how it moves."""
    limits = body.limits
    effort = _range(-limits.effort, limits.effort)
    reached = min(abs(limits.lower), abs(limits.upper)) < FAR
    ranges = {"range": _range(limits.lower, limits.upper) if reached else (), "actuatorfrcrange": effort}
    return own_physics(body, PHYSICS, v) | ranges


def _range(lower: float, upper: float) -> tuple[float, ...]:
    """Return a range, whose ends are finite in MJCF; empty where it has no room, or no end."""
    if not lower < upper or (lower, upper) == (-math.inf, math.inf):
        return ()
    return max(-FAR, lower), min(upper, FAR)
