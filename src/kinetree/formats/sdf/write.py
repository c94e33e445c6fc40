"""From a robot to an SDFormat document, whose links stand where they do while all joints are at zero."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

from kinetree.errors import ModelError
from kinetree.formats.save import (
    OF_JOINTS,
    Closing,
    Export,
    Losses,
    in_order,
    leave_out_equipment,
    mesh_uri,
    new_name,
    number,
    numbers,
    quaternion,
    read_again,
)
from kinetree.formats.sdf.frames import WORLD as THE_WORLD
from kinetree.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.joints import Continuous, Fixed, Helical, Joint, Prismatic, Revolute, Spherical, Universal
from kinetree.model import WORLD, Body
from kinetree.model.checks import about_com
from kinetree.spatial import Inertia, Transform

VERSION = "1.11"
TYPES: dict[type[Joint], str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    Helical: "screw",
    Universal: "universal",
    Spherical: "ball",
    Fixed: "fixed",
}
"""The joint types of SDFormat by those of a model."""
MOMENTS = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
ALL_BITS = 0xFFFF
"""The mask of a collision for which none is given."""
ENDLESS = 1e9
"""The size (m) of a plane that has none; collisions have no size."""
ENDLESS_LIMITS = {("limits",): "limits that are none, from 1e16 on: those of {}"}

Texts = Mapping[str, str]
SHAPES: dict[type[Shape], tuple[str, Callable[[Any], Texts]]] = {
    Box: ("box", lambda s: {"size": numbers(s.size)}),
    Sphere: ("sphere", lambda s: {"radius": number(s.radius)}),
    Ellipsoid: ("ellipsoid", lambda s: {"radii": numbers(s.radii)}),
    Cylinder: ("cylinder", lambda s: {"radius": number(s.radius), "length": number(s.length)}),
    Capsule: ("capsule", lambda s: {"radius": number(s.radius), "length": number(s.length)}),
    Plane: ("plane", lambda s: {"normal": "0 0 1", "size": numbers(min(x, ENDLESS) for x in s.size)}),
    Mesh: ("mesh", lambda s: {"uri": mesh_uri(s.path), "scale": numbers(s.scale)}),
}
"""The shapes of SDFormat, and the texts of their elements."""


def write_sdf(robot: Export, losses: Losses) -> str:
    """Return an SDFormat document; `Robot.to_sdf` says what is in it."""
    document = _Document(robot, losses)
    of, apart = "SDF has no place for this robot", [robot.model.root, *document.without]
    read_again(robot.model, document.text(), losses, of, apart=apart, said=OF_JOINTS | ENDLESS_LIMITS)
    losses.leave_out("frames that have the name of a joint, or of the world: {}", document.without)
    leave_out_equipment(robot, losses)
    without = [link.get("name", "") for link in document.element.iter("link") if link.findtext("inertial/mass") == "0"]
    losses.leave_out("masses, which Gazebo wants of all links: those of {}", without)
    document.add_loops(robot.closings, losses)
    return document.text()


class _Document:
    """The elements of a document."""

    def __init__(self, robot: Export, losses: Losses) -> None:
        self.model = model = robot.model
        self.root = ET.Element("sdf", version=VERSION)
        self.element = ET.SubElement(self.root, "model", name=model.name)
        joints = [body.joint_name for body in model.bodies]
        reserved = {*joints, THE_WORLD} - {model.root}
        self.without = [name for name in model.frame_names if name in reserved]
        """Frames whose name a joint has, which is a frame here, or the world."""
        self.links: dict[int, tuple[str, Transform]] = {WORLD: (THE_WORLD, Transform.identity())}
        base, at = model.root, model.frame(model.root).X
        if base == THE_WORLD:  # which is no link: another one has what is fixed to it
            base, at = new_name("base", model.frame_names), Transform.identity()
        on_world = {g.link for shapes in robot.geometry for g in shapes if model.frame(g.link).body == WORLD}
        if not model.has_floating_base and (model.root != THE_WORLD or any(model.base_inertia) or on_world):
            self.links[WORLD] = base, at
            _pose(self._link(base, at.inverse().T @ model.base_inertia), at)
        for i, body in enumerate(model.bodies):
            self.links[i] = body.name, model.frame(body.name).X
            self._body(i, body)
        if self.links[WORLD][0] != THE_WORLD:
            self._joint(new_name(f"{base}_fixed", {*model.frame_names, *joints}), "fixed", THE_WORLD, base)
        for body in in_order(model):
            if not model.has_floating_base or body.name != model.root:
                self._moving(body)
        for frame in model.frames:
            name, at = self.links[frame.body]
            if frame.name not in (name, THE_WORLD, *joints):
                _pose(ET.SubElement(self.element, "frame", name=frame.name, attached_to=name), frame.X @ at.inverse())
        for role in ("visual", "collision"):
            for k, geometry in enumerate(getattr(robot.geometry, role)):
                self._shape(role, f"{role}_{k}", geometry, losses)

    def text(self) -> str:
        """Return the document."""
        ET.indent(self.root)
        return f'<?xml version="1.0"?>\n{ET.tostring(self.root, encoding="unicode")}\n'

    def add_loops(self, closings: tuple[Closing, ...], losses: Losses) -> None:
        """Add the joints that close loops, which SDFormat closes where all joints are at zero."""
        apart = [c.name for c in closings if not c.at_zero or type(c.joint) not in TYPES]
        what = "loops that are open at zero, or close at joints that it has not: {}"
        losses.refuse(what, "they stay open", apart)
        for closing in closings:
            if closing.name not in apart:
                kind = TYPES[type(closing.joint)]
                joint = self._joint(closing.name, kind, closing.to or THE_WORLD, closing.frame)
                self._axes(joint, closing.joint)

    def _link(self, name: str, inertia: Inertia) -> ET.Element:
        """Add a link with its inertia: one without `<inertial>` would have 1 kg."""
        link = ET.SubElement(self.element, "link", name=name)
        inertial = ET.SubElement(link, "inertial")
        if inertia.m:
            _pose(inertial, Transform.translation(x / inertia.m for x in inertia.h))
        _text(inertial, "mass", number(inertia.m))
        J, moments = about_com(inertia), ET.SubElement(inertial, "inertia")
        for tag, i, j in MOMENTS:
            _text(moments, tag, number(J[i, j]))
        return link

    def _body(self, i: int, body: Body) -> None:
        """Add the link of a body."""
        (name, X), (parent, at) = self.links[i], self.links[body.parent]
        link = self._link(name, X.inverse().T @ body.inertia)
        _pose(link, X @ body.X_T @ at.inverse(), "" if parent == THE_WORLD else parent)

    def _joint(self, name: str, kind: str, parent: str, child: str) -> ET.Element:
        joint = ET.SubElement(self.element, "joint", name=name, type=kind)
        _text(joint, "parent", parent)
        _text(joint, "child", child)
        return joint

    def _moving(self, body: Body) -> None:
        """Add the joint of a body."""
        own, limits = body.joint.alone, body.limits
        if type(own) not in TYPES or own.rigid:
            known = ", ".join(sorted(TYPES.values()))
            raise ModelError(f"joint {body.joint_name!r} is a {type(own).__name__}: SDF has {known} joints")
        kind = TYPES[type(own)]
        if kind in ("revolute", "continuous"):
            kind = "continuous" if math.isinf(limits.lower) and math.isinf(limits.upper) else "revolute"
        name, X = self.links[self.model.body_of_joint(body.joint_name)]
        joint = self._joint(body.joint_name, kind, self.links[body.parent][0], name)
        _pose(joint, X.inverse())
        axes = self._axes(joint, own)
        f, offset = body.joint.follows or (1.0, 0.0)
        factor = abs(f) or 1.0
        dynamics = {"damping": body.damping[0] / factor**2, "friction": body.friction[0] / factor}
        if not axes and any(dynamics.values()):  # of a ball
            axes = [ET.SubElement(joint, "axis")]
            _text(axes[0], "xyz", "0 0 1")
        if body.spring.stiffness:
            dynamics |= {"spring_reference": f * body.spring.rest + offset}
            dynamics |= {"spring_stiffness": body.spring.stiffness / factor**2}
        for axis in axes:
            _texts(axis, "limit", {key: number(x) for key, x in vars(limits).items() if math.isfinite(x)})
            _texts(axis, "dynamics", {key: number(x) for key, x in dynamics.items() if x})
        if body.joint.follows is not None:
            mimic = ET.SubElement(axes[0], "mimic", joint=self.model.leader(body).joint_name)
            for tag, x in (("multiplier", f), ("offset", offset), ("reference", 0.0)):
                _text(mimic, tag, number(x))

    def _axes(self, element: ET.Element, joint: Joint) -> list[ET.Element]:
        """Add the axes of a joint, and the pitch of a screw."""
        if isinstance(joint, Helical):
            _text(element, "screw_thread_pitch", number(2 * math.pi * joint.pitch))
        directions = (joint.first, joint.second) if isinstance(joint, Universal) else (joint.direction,)
        axes = []
        for tag, direction in zip(("axis", "axis2"), directions, strict=False):
            if direction is not None:
                axes.append(ET.SubElement(element, tag))
                _text(axes[-1], "xyz", numbers(direction))
        return axes

    def _shape(self, role: str, name: str, geometry: Geometry, losses: Losses) -> None:
        """Add a shape to the link that carries its own."""
        frame, kind = self.model.frame(geometry.link), type(geometry.shape)
        link, at = self.links[frame.body]
        if kind not in SHAPES or link == THE_WORLD:
            losses.leave_out("shapes: {}", [f"the {kind.__name__} of {geometry.link}"])
            return
        carrier = next(element for element in self.element.iter("link") if element.get("name") == link)
        names = {element.get("name", "") for element in carrier.iter(role)}
        element = ET.SubElement(carrier, role, name=new_name(geometry.name or name, names))
        _pose(element, geometry.placement @ frame.X @ at.inverse())
        tag, texts = SHAPES[kind]
        _texts(ET.SubElement(element, "geometry"), tag, texts(geometry.shape))
        if role == "visual":
            color = {"diffuse": numbers(geometry.color)} if geometry.color else {}
            _texts(element, "material", color)
            return
        surface = ET.Element("surface")
        if geometry.friction:
            ode = ET.SubElement(ET.SubElement(surface, "friction"), "ode")
            _text(ode, "mu", number(geometry.friction[0]))
            losses.leave_out(
                "friction of shapes but sliding: those of {}", [geometry.link] * any(geometry.friction[1:])
            )
        bits = {"collide_bitmask": geometry.conaffinity, "category_bitmask": geometry.contype}
        _texts(surface, "contact", {tag: hex(x) for tag, x in bits.items() if x != ALL_BITS})
        if len(surface):
            element.append(surface)


def _text(element: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(element, tag).text = text


def _texts(element: ET.Element, tag: str, texts: Texts) -> None:
    """Add an element with these ones in it, if there are any."""
    if texts:
        inside = ET.SubElement(element, tag)
        for name, text in texts.items():
            _text(inside, name, text)


def _pose(element: ET.Element, X: Transform, base: str = "") -> None:
    """Add where an element stands, if that is not where its base does."""
    w, *xyz = quaternion(X)
    at = [row[3] for row in X.placement[:3]]
    if any(at) or any(xyz) or base:
        pose = ET.SubElement(element, "pose", {"relative_to": base} if base else {})
        turned = any(xyz)
        pose.attrib |= {"rotation_format": "quat_xyzw"} if turned else {}
        pose.text = numbers([*at, *xyz, w] if turned else [*at, 0.0, 0.0, 0.0])
