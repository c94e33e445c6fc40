"""From a robot to an SDFormat document, whose links stand where they do while all joints are at zero."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

from kinetree import joints
from kinetree.errors import ModelError
from kinetree.formats.graph import new_name
from kinetree.formats.save import (
    OF_JOINTS,
    Closing,
    Export,
    Losses,
    in_order,
    leave_out_equipment,
    mesh_uri,
    number,
    numbers,
    own_physics,
    read_again,
    roll_pitch_yaw,
    without_world,
)
from kinetree.formats.sdf.frames import WORLD as THE_WORLD
from kinetree.formats.sdf.geometry import ALL_BITS
from kinetree.geometry import Geometry, shapes
from kinetree.model import WORLD, Body
from kinetree.model.checks import about_com
from kinetree.spatial import Inertia, Transform

VERSION = "1.11"
TYPES: dict[type[joints.Joint], str] = {
    joints.Revolute: "revolute",
    joints.Continuous: "revolute",
    joints.Prismatic: "prismatic",
    joints.Helical: "screw",
    joints.Universal: "universal",
    joints.Spherical: "ball",
    joints.Fixed: "fixed",
}
"""The joint types of SDFormat by those of a model."""
ENDLESS = 1e9
"""The size (m) of a plane that has none; collisions have no size."""
ENDLESS_LIMITS = {("limits",): "limits that are none, from 1e16 on: those of {}"}

Inside = str | Mapping[str, Any]
"""The text of an element, or the elements in it by their names."""
SHAPES: dict[type[shapes.Shape], Callable[[Any], Inside]] = {
    shapes.Box: lambda s: {"box": {"size": numbers(s.size)}},
    shapes.Sphere: lambda s: {"sphere": {"radius": number(s.radius)}},
    shapes.Ellipsoid: lambda s: {"ellipsoid": {"radii": numbers(s.radii)}},
    shapes.Cylinder: lambda s: {"cylinder": {"radius": number(s.radius), "length": number(s.length)}},
    shapes.Capsule: lambda s: {"capsule": {"radius": number(s.radius), "length": number(s.length)}},
    shapes.Plane: lambda s: {"plane": {"normal": "0 0 1", "size": numbers(min(x, ENDLESS) for x in s.size)}},
    shapes.Mesh: lambda s: {"mesh": {"uri": mesh_uri(s.path), "scale": numbers(s.scale)}},
}
"""The shapes of SDFormat."""
AXES: dict[type[joints.Joint], Callable[[Any], dict[str, Inside]]] = {
    joints.Helical: lambda j: {
        "screw_thread_pitch": number(2 * math.pi * j.pitch),
        "axis": {"xyz": numbers(j.direction)},
    },
    joints.Universal: lambda j: {"axis": {"xyz": numbers(j.first)}, "axis2": {"xyz": numbers(j.second)}},
}
"""What joints have that is not just the direction of an axis."""


def write_sdf(robot: Export, losses: Losses) -> str:
    """Return an SDFormat document; `Robot.to_sdf` says what is in it."""
    robot = without_world(robot, losses)
    document = _Document(robot, losses)
    of, apart = "SDF has no place for this robot", [robot.model.root, *document.without]
    read_again(robot.model, document.text(), losses, of, apart=apart, said=OF_JOINTS | ENDLESS_LIMITS)
    leave_out_equipment(robot, losses)
    losses.leave_out("frames that have the name of a joint, or of the world: {}", document.without)
    light = [link.get("name", "") for link in document.model.iter("link") if link.findtext("inertial/mass") == "0"]
    losses.leave_out("masses, which Gazebo wants of all links: those of {}", light)
    for role in ("visual", "collision"):
        for geometry in getattr(robot.geometry, role):
            document.add_shape(role, geometry, losses)
    for closing in robot.closings:
        document.add_loop(closing, losses)
    return document.text()


class _Document:
    """The elements of a document; `links` has the link of each body with its frame, `without` the frames left out."""

    def __init__(self, robot: Export, losses: Losses) -> None:
        self.robot, self.links = robot.model, {WORLD: (THE_WORLD, Transform.identity())}
        model, names = robot.model, [body.joint_name for body in robot.model.bodies]
        self.root = ET.Element("sdf", version=VERSION)
        self.model = ET.SubElement(self.root, "model", name=model.name)
        self.without = [name for name in model.frame_names if name in {*names, THE_WORLD} - {model.root}]
        base, at = model.root, model.frame(model.root).X
        if base == THE_WORLD:  # which is no link: another one has what is fixed to it
            base, at = new_name("base", model.frame_names), Transform.identity()
        on_world = any(model.frame(g.link).body == WORLD for shapes in robot.geometry for g in shapes)
        if not model.has_floating_base and (model.root != THE_WORLD or any(model.base_inertia) or on_world):
            self._link(base, at, at.inverse().T @ model.base_inertia, THE_WORLD)
            self.links[WORLD] = base, at
            self._joint(new_name(f"{base}_fixed", {*model.frame_names, *names}), "fixed", THE_WORLD, base)
        for i, body in enumerate(model.bodies):
            X, (parent, at) = model.frame(body.name).X, self.links[body.parent]
            self._link(body.name, X @ body.X_T @ at.inverse(), X.inverse().T @ body.inertia, parent)
            self.links[i] = body.name, X
        for body in in_order(model):
            if not model.has_floating_base or body.name != model.root:
                self._moving(body)
        for frame in model.frames:
            name, at = self.links[frame.body]
            if frame.name not in (name, THE_WORLD, *names):
                _add(self.model, "frame", _pose(frame.X @ at.inverse()), name=frame.name, attached_to=name)

    def text(self) -> str:
        """Return the document."""
        ET.indent(self.root)
        return f'<?xml version="1.0"?>\n{ET.tostring(self.root, encoding="unicode")}\n'

    def _link(self, name: str, X: Transform, inertia: Inertia, parent: str) -> None:
        """Add a link with its inertia: one without `<inertial>` would have 1 kg."""
        J, com = about_com(inertia), Transform.translation(x / inertia.m if inertia.m else 0.0 for x in inertia.h)
        moments = {f"i{'xyz'[i]}{'xyz'[j]}": number(J[i, j]) for i in range(3) for j in range(i, 3)}
        link = _add(self.model, "link", {}, name=name)
        _add(
            link,
            "pose",
            _pose(X).get("pose", "0 0 0 0 0 0"),
            **({} if parent == THE_WORLD else {"relative_to": parent}),
        )
        _add(link, "inertial", _pose(com) | {"mass": number(inertia.m), "inertia": moments})

    def _joint(self, name: str, kind: str, parent: str, child: str, X: Transform | None = None) -> ET.Element:
        inside = {"parent": parent, "child": child} | _pose(X or Transform.identity())
        return _add(self.model, "joint", inside, name=name, type=kind)

    def _moving(self, body: Body) -> None:
        """Add the joint of a body."""
        joint, limits, own = body.joint.alone, body.limits, own_physics(body)
        if type(joint) not in TYPES:
            known = ", ".join(sorted({*TYPES.values()}))
            raise ModelError(f"joint {body.joint_name!r} is a {type(joint).__name__}: SDF has {known} joints")
        name, X = self.links[self.robot.body_of_joint(body.joint_name)]
        element = self._joint(body.joint_name, TYPES[type(joint)], self.links[body.parent][0], name, X.inverse())
        dynamics = {"damping": own.damping, "friction": own.friction}
        dynamics |= {"spring_reference": own.rest, "spring_stiffness": own.stiffness} if own.stiffness else {}
        more = {
            "limit": {key: number(x) for key, x in vars(limits).items() if math.isfinite(x)},
            "dynamics": {key: number(x) for key, x in dynamics.items() if x},
        }
        axes = _axes(element, joint) or [_add(element, "axis", {"xyz": "0 0 1"})] * any(more.values())
        for axis in axes:
            for tag in filter(more.get, more):
                _add(axis, tag, more[tag])
        if body.joint.follows is not None:
            multiplier, offset = map(number, body.joint.follows)
            given = {"multiplier": multiplier, "offset": offset, "reference": "0"}
            _add(axes[0], "mimic", given, joint=self.robot.leader(body).joint_name)

    def add_loop(self, closing: Closing, losses: Losses) -> None:
        """Add the joint that closes a loop, which SDFormat closes where all joints are at zero."""
        if not closing.at_zero or type(closing.joint) not in TYPES:
            what = "loops that are open at zero, or close at joints that it has not: {}"
            losses.refuse(what, "they stay open", [closing.name])
            return
        kind, parent = TYPES[type(closing.joint)], closing.to or THE_WORLD
        _axes(self._joint(closing.name, kind, parent, closing.frame), closing.joint)

    def add_shape(self, role: str, geometry: Geometry, losses: Losses) -> None:
        """Add a shape to the link that carries its own."""
        frame, shape = self.robot.frame(geometry.link), geometry.shape
        link, at = self.links[frame.body]
        if type(shape) not in SHAPES:
            losses.leave_out("shapes: {}", [f"the {type(shape).__name__} of {geometry.link}"])
            return
        carrier = next(element for element in self.model.iter("link") if element.get("name") == link)
        name = new_name(geometry.name or role, {element.get("name", "") for element in carrier.iter(role)})
        inside = _pose(geometry.placement @ frame.X @ at.inverse()) | {"geometry": SHAPES[type(shape)](shape)}
        if role == "visual":
            inside |= {"material": {"diffuse": numbers(geometry.color)}} if geometry.color else {}
        else:
            bits = {"collide_bitmask": geometry.conaffinity, "category_bitmask": geometry.contype}
            friction = {"ode": {"mu": number(geometry.friction[0])}} if geometry.friction else {}
            contact = {tag: hex(x) for tag, x in bits.items() if x != ALL_BITS}
            inside |= {"surface": {"friction": friction, "contact": contact}} if friction or contact else {}
            losses.leave_out(
                "friction of shapes but sliding: those of {}", [geometry.link] * any(geometry.friction[1:])
            )
        _add(carrier, role, inside, name=name)


def _axes(element: ET.Element, joint: joints.Joint) -> list[ET.Element]:
    """Add the axes of a joint, which are returned, and what else its type has."""
    usual = {"axis": {"xyz": numbers(joint.direction)}} if joint.direction else {}
    inside = AXES[type(joint)](joint) if type(joint) in AXES else usual
    added = {tag: _add(element, tag, text) for tag, text in inside.items()}
    return [x for tag, x in added.items() if tag.startswith("axis")]


def _add(parent: ET.Element, tag: str, inside: Inside, **attributes: str) -> ET.Element:
    """Add an element with its text, or with those of the elements in it that are not empty."""
    element = ET.SubElement(parent, tag, attributes)
    if isinstance(inside, str):
        element.text = inside
    else:
        for name, text in inside.items():
            if text:
                _add(element, name, text)
    return element


def _pose(X: Transform) -> dict[str, str]:
    """Return where an element stands, if that is not where its base does."""
    (*x, a), (*y, b), (*z, c), _ = X.placement
    pose = numbers((a, b, c, *roll_pitch_yaw((x, y, z))))
    return {} if pose == "0 0 0 0 0 0" else {"pose": pose}
