"""From a robot to an MJCF document.

A body stands where its link does, and a joint where it is in that body, as an anchor and an axis. What MJCF has none
of, links without mass between joints, are several joints of one body.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinetree import joints
from kinetree.errors import ModelError, listed
from kinetree.formats.graph import new_name
from kinetree.formats.mjcf.codes import FAR
from kinetree.formats.mjcf.geoms import HERE, Geoms, placed
from kinetree.formats.save import Closing, Coupling, Export, Losses, number, numbers, own_physics
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

REFUSED: dict[tuple[str, str], type[joints.Joint]] = {
    ("planar joints: {}", "each is two slides and a hinge, NAME.x, NAME.y, NAME.theta"): joints.Planar,
    ("helical joints: {}", "each is a hinge and a slide, NAME.advance, coupled by an equality"): joints.Helical,
}
LEFT_OUT: dict[str, Callable[[Body], bool]] = {
    "joints that are several there, each named as its entry of q: {}": lambda b: len(pieces(b)) == b.joint.nv > 1,
    "limits of speed: {}": lambda b: math.isfinite(b.limits.fastest),
    "limits that leave no room: {}": lambda b: b.limits.lower == b.limits.upper,
    "armature, damping and friction of other directions than the first: {}": lambda b: (
        len(pieces(b)) == 1 and any(len({*x}) > 1 for x in (b.armature, b.damping, b.friction))
    ),
}
"""The joints of which something is refused or left out."""


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


def write_mjcf(robot: Export, losses: Losses) -> str:
    """Return an MJCF document; `Robot.to_mjcf` says what is in it."""
    model = robot.model
    for body in model.bodies:
        kind = type(body.joint.alone)
        if kind not in PIECES:
            raise ModelError(f"joint {body.joint_name!r} is a {kind.__name__}: MJCF has hinge, slide, ball and free")
        if kind is joints.FreeFlyer and (body.parent != WORLD or body.X_T != HERE):
            raise ModelError(f"joint {body.joint_name!r} is a FreeFlyer that does not start from the world's origin")
    named = Counter(piece.name for body in model.bodies for piece in pieces(body))
    if twice := [name for name, count in named.items() if count > 1]:
        raise ModelError(f"the joints {listed(twice)} would be there twice, with those that stand for one: rename them")
    depths = {WORLD: 0}
    depths.update((i, depths[body.parent] + 1) for i, body in enumerate(model.bodies))
    if max(depths.values()) > DEEPEST:
        raise ModelError(f"a chain of more than {DEEPEST} joints: MuJoCo reads no bodies that are nested so deep")
    for (said, instead), refused in REFUSED.items():
        losses.refuse(said, instead, [b.joint_name for b in model.bodies if type(b.joint.alone) is refused])
    for said, fits in LEFT_OUT.items():
        losses.leave_out(said, [b.joint_name for b in model.bodies if fits(b)])
    losses.leave_out("whether friction counts (with_friction)", [""] * (model.friction != NO_FRICTION))
    losses.refuse("constraints: {}", "they are left out", robot.others)
    return _Document(robot, losses).text()


class _Document:
    """The elements of a document, as bodies are added to it; `qpos` has MuJoCo's coordinates in their order."""

    def __init__(self, robot: Export, losses: Losses) -> None:
        self.robot, self.model, self.losses = robot, robot.model, losses
        self.root = ET.Element("mujoco", model=self.model.name)
        settings = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false", "balanceinertia": "false"}
        ET.SubElement(self.root, "compiler", settings)
        ET.SubElement(self.root, "option", gravity=numbers(self.model.gravity))
        parts = ("asset", "worldbody", "equality", "actuator", "keyframe")
        self.asset, self.world, self.equality, self.actuator, self.keyframe = (
            ET.SubElement(self.root, part) for part in parts
        )
        self.qpos: list[tuple[Body, Piece]] = []
        self.elements: dict[int, tuple[ET.Element, Transform]] = {}
        self.geoms = Geoms(robot, self.asset, losses)

    def text(self) -> str:
        """Return the document."""
        model, world, base = self.model, self.world, HERE
        if model.root != "world" and not model.has_floating_base:
            base = model.frame(model.root).X
            world = placed(ET.SubElement(world, "body", name=model.root), base)
            if any(model.base_inertia):
                self._inertial(world, base.inverse().T @ model.base_inertia, model.root, least=0.0)
        self._fill(WORLD, base, world)
        for closing in self.robot.closings:
            self._closing(closing)
        for coupling in self.robot.couplings:
            self._coupling(coupling)
        for actuator in self.robot.actuators:
            self._motor(actuator)
        for name, q in self.robot.configurations.items():
            qpos = [p.factor * q[body.q_index[k]] + p.offset for body, p in self.qpos for k in p.q]
            ET.SubElement(self.keyframe, "key", name=name, qpos=numbers(qpos))
        for part in [part for part in self.root if not part.attrib and not len(part) and part is not self.world]:
            self.root.remove(part)
        ET.indent(self.root)
        return ET.tostring(self.root, encoding="unicode") + "\n"

    # -- bodies --------------------------------------------------------------------------------------------------

    def _fill(self, i: int, X: Transform, element: ET.Element) -> None:
        """Add shapes, frames and bodies on a body, whose frame in MJCF is at X."""
        model, to_body = self.model, X.inverse()
        self.elements[i] = element, to_body
        self.geoms.add(i, to_body, element)
        for frame in model.frames:
            if frame.body == i and frame.name != element.get("name", "world"):
                placed(ET.SubElement(element, "site", name=frame.name), frame.X @ to_body)
        for k, body in enumerate(model.bodies):
            if body.parent == i:
                self._body(k, to_body, element)

    def _body(self, i: int, X: Transform, parent: ET.Element) -> None:
        """Add the body that these and the links without mass that it carries are; X leads to its parent's frame."""
        group = [i]
        while (carried := self._passes(group[-1])) is not None:
            group.append(carried)
        bodies = [self.model.bodies[k] for k in group]
        body, link = bodies[-1], self.model.frame(bodies[-1].name).X
        fixed = {piece.kind for piece in pieces(body)} & {"ball", "free"}  # their coordinates are in its axes
        last = HERE if "free" in fixed or (fixed and link.E.matrix != HERE.E.matrix) else link
        beyond = [last]
        for other in reversed(bodies[1:]):
            beyond.insert(0, beyond[0] @ other.X_T)
        name = body.name
        if name == "world" or last != link:
            name = new_name(f"{name}_at_joint", self.model.frame_names)
            self.losses.leave_out(
                "the names of bodies that are elsewhere than their links, or the world's: {}", [body.name]
            )
        element = placed(ET.SubElement(parent, "body", name=name), beyond[0] @ bodies[0].X_T @ X)
        self._inertial(element, last.inverse().T @ body.inertia, body.name, least=MINIMUM)
        for other, Y in zip(bodies, beyond, strict=True):
            self._joint(other, Y, element)
        between = [b.name for k, b in enumerate(bodies[:-1]) if b.name != f"{body.name}.{k}"]
        self.losses.leave_out("links without mass, whose joints the next body has: {}", between)
        self._fill(group[-1], last, element)

    def _passes(self, i: int) -> int | None:
        """Return the body that a body carries which is nothing but a place between two joints; else None."""
        body, frames = self.model.bodies[i], {frame.name for frame in self.model.frames if frame.body == i}
        ends = {end for closing in self.robot.closings for end in (closing.frame, closing.to)}
        children = [k for k, other in enumerate(self.model.bodies) if other.parent == i]
        holds = any(body.inertia) or frames & ends or frames != {body.name} or i in self.geoms.on
        return None if holds or len(children) != 1 or pieces(body)[0].axis is None else children[0]

    def _inertial(self, element: ET.Element, inertia: Inertia, name: str, least: float) -> None:
        """Add the inertia of a body, along its principal axes, or another one where MuJoCo would refuse it."""
        mass, J = float(inertia.m), about_com(inertia)
        com = [x / mass if mass else 0.0 for x in inertia.h]
        moments, axes = np.linalg.eigh(J) if np.any(J - np.diag(np.diag(J))) else (np.diag(J).copy(), np.eye(3))
        largest = int(np.argmax(moments))
        others = moments[largest - 1] + moments[largest - 2]
        if others < moments[largest] <= others * (1.0 + ROUNDING):
            moments[largest] = others
        if mass < least:
            self.losses.refuse("moving links without mass: {}", f"they have {LEAST:g} kg and kg·m²", [name])
            mass, moments = LEAST, np.full(3, LEAST)
        elif moments[largest] > others or moments.min() < least:
            self.losses.refuse("inertias that no body has: {}", "they have the nearest that one has", [name])
            seconds = np.maximum(moments.sum() / 2 - moments, max(FLAT * moments.sum(), 1e3 * MINIMUM))
            moments = seconds.sum() - seconds
        axes[:, 0] *= np.linalg.det(axes)
        found = ET.SubElement(element, "inertial", pos="0 0 0", mass=number(mass), diaginertia=numbers(moments))
        placed(found, Transform.placed(axes.tolist(), com))

    # -- joints --------------------------------------------------------------------------------------------------

    def _joint(self, body: Body, X: Transform, element: ET.Element) -> None:
        """Add the joints of MJCF that a body's joint is; X leads from the joint's frame to the body's in MJCF."""
        at = X.inverse().r
        for k, piece in enumerate(parts := pieces(body)):
            joint = ET.SubElement(element, "joint", name=piece.name, type=piece.kind)
            if piece.kind != "free" and any(at):
                joint.set("pos", numbers(at))
            if piece.axis is not None:
                joint.set("axis", numbers(X.E.to_b(piece.axis)))
            if k == 0 or body.joint.nv > 1:
                joint.attrib.update(_physics(body, piece.v))
            self.qpos.append((body, piece))
        if body.joint.follows is not None:
            self._equal(body.joint_name, self.model.leader(body).joint_name, parts[0].offset, parts[0].factor)
        if len(parts) > body.joint.nv:
            self._equal(parts[1].name, parts[0].name, 0.0, parts[1].factor / parts[0].factor)

    def _equal(self, joint: str, other: str, *poly: float) -> ET.Element:
        """Add an equality of joints, ``q = a0 + a1 q_other``, and return it."""
        return ET.SubElement(self.equality, "joint", joint1=joint, joint2=other, polycoef=numbers([*poly, 0, 0, 0]))

    def _coupling(self, gear: Coupling) -> None:
        if len(gear.ratios) != 2:
            self.losses.refuse("gears of more than two joints: {}", "they couple nothing", [gear.name])
            return
        (first, a), (second, b) = gear.ratios
        self._equal(first, second, gear.offset / a, -b / a).set("name", gear.name)

    def _closing(self, closing: Closing) -> None:
        """Add what closes a loop: points that coincide, or frames that do."""
        kind, name = type(closing.joint), closing.name
        if kind not in (joints.Fixed, joints.Spherical, joints.Revolute, joints.Continuous):
            said = "loops that close at another joint than a ball, a hinge or a weld: {}"
            self.losses.refuse(said, "they stay open", [name])
            return
        self._coincide("weld" if kind is joints.Fixed else "connect", closing, name, HERE)
        if (axis := closing.joint.direction) is not None:
            self.losses.leave_out("hinges that close loops, each two points on its axis: {}", [name])
            self._coincide("connect", closing, f"{name}.axis", Transform.translation(axis))

    def _coincide(self, tag: str, closing: Closing, name: str, point: Transform) -> None:
        """Add an equality of two sites, each at a point of its frame."""
        to, frame = self._site(closing.to, point @ closing.X), self._site(closing.frame, point)
        ET.SubElement(self.equality, tag, name=name, site1=to, site2=frame)

    def _site(self, frame: str | None, X: Transform) -> str:
        """Return the name of a site in a frame, which is added where there is none."""
        sites = {site.get("name", "") for site in self.world.iter("site")}
        name = frame or "world"
        if X != HERE or name not in sites:
            at = None if frame is None else self.model.frame(frame)
            element, to_body = self.elements[at.body if at else WORLD]
            name = new_name(name, sites)
            placed(ET.SubElement(element, "site", name=name), (X @ at.X if at else X) @ to_body)
        return name

    def _motor(self, actuator: Actuator) -> None:
        """Add a motor; MuJoCo's push free joints along the world's axes."""
        gear, parts = actuator.gear, pieces(self.model.bodies[self.model.body_of_joint(actuator.joint)])
        if len(parts) > 1 or any(gear[3:]):
            said = "actuators at joints that are several, or that push a free one: {}"
            self.losses.leave_out(said, [actuator.name])
            return
        name = actuator.name and new_name(actuator.name, {other.get("name", "") for other in self.actuator})
        self.losses.leave_out("names of actuators that occur twice: {}", [actuator.name] * (name != actuator.name))
        found = ET.SubElement(self.actuator, "motor", name=name, joint=actuator.joint)
        found.set("gear", numbers([*gear[3:], *gear[:3]]))
        for key, (lower, upper) in (("ctrlrange", actuator.control_range), ("forcerange", actuator.force_range)):
            if lower < upper and (lower, upper) != (-math.inf, math.inf):
                found.set(key, _range(lower, upper))
            self.losses.leave_out("ranges of actuators without room: {}", [actuator.name] * (lower == upper))


def _physics(body: Body, v: int) -> dict[str, str]:
    """Return the attributes of a joint beside how it moves."""
    own, limits = own_physics(body, v), body.limits
    spring = {"stiffness": own.stiffness, "springref": own.rest} if own.stiffness else {}
    said = {"armature": own.armature, "damping": own.damping, "frictionloss": own.friction, **spring}
    found = {key: number(x) for key, x in said.items() if x}
    if limits.lower < limits.upper and min(abs(limits.lower), abs(limits.upper)) < FAR:
        found["range"] = _range(limits.lower, limits.upper)
    if 0.0 < limits.effort < math.inf:
        found["actuatorfrcrange"] = _range(-limits.effort, limits.effort)
    return found


def _range(*ends: float) -> str:
    """Return a range: its ends are finite in MJCF."""
    return numbers(max(-FAR, min(x, FAR)) for x in ends)
