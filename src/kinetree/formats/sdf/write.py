"""From a robot to an SDFormat document, whose links stand where they do while all joints are at zero."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kinetree import joints
from kinetree.formats.graph import new_name
from kinetree.formats.placed import (
    HERE,
    At,
    Joint,
    Placed,
    inertia_of,
    own_links,
    own_physics,
    read_again,
    seen,
    spelled,
    without_world,
    xyz_rpy,
)
from kinetree.formats.save import EQUIPMENT, Export, Fields, Limit, Losses, add, text_of
from kinetree.formats.sdf.frames import WORLD as THE_WORLD
from kinetree.formats.sdf.geometry import ALL_BITS
from kinetree.geometry import Geometries, Geometry
from kinetree.model import WORLD
from kinetree.spatial import Transform

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
AXES: dict[type[joints.Joint], Callable[[Any], dict[str, Any]]] = {
    joints.Helical: lambda j: {"screw_thread_pitch": 2 * math.pi * j.pitch, "axis": {"xyz": j.direction}},
    joints.Universal: lambda j: {"axis": {"xyz": j.first}, "axis2": {"xyz": j.second}},
}
"""What joints have that is not just the direction of an axis."""
DYNAMICS = ("", "damping", "friction", "spring_stiffness", "spring_reference")
"""What SDFormat calls the physics of joints."""
UPWARDS = {"normal": (0.0, 0.0, 1.0)}
"""The normal of planes, which SDFormat wants to be given."""
ATTRIBUTES = ("name", "type", "joint", "relative_to", "attached_to")
"""What SDFormat has as attributes; all else is the text of elements."""
SLIDING = "friction of shapes but sliding: those of {}"
LIMITS = (*EQUIPMENT, Limit(SLIDING, lambda r: [g.link for g in r.geometry.collision if any(g.friction[1:])]))
ENDLESS_LIMITS = ("limits that are none, from 1e16 on: those of {}", "")


def write_sdf(robot: Export, losses: Losses) -> str:
    """Return an SDFormat document; `Robot.to_sdf` says what is in it."""
    robot = _renamed(without_world(robot, losses), losses)
    model, root = robot.model, ET.Element("sdf", version=VERSION)
    document = ET.SubElement(root, "model", name=model.name)
    links = _links(robot)
    there, elements = Placed(model, links, TYPES, "SDF"), dict[str, ET.Element]()
    for name, (at, inertia) in there.links.items():
        com, moments = inertia_of(inertia)
        place = {"relative_to": "" if at.link == THE_WORLD else at.link, "text": xyz_rpy(at.X)}
        inside = {"pose": _pose(com), "mass": float(inertia.m), "inertia": moments}
        elements[name] = add(document, "link", {"name": name, "pose": place, "inertial": inside}, _put)
    if WORLD in links:
        base = links[WORLD].link
        name = new_name(f"{base}_fixed", {*model.frame_names, *(body.joint_name for body in model.bodies)})
        add(document, "joint", {"name": name, "type": "fixed", "parent": THE_WORLD, "child": base}, _put)
    for joint in there.joints:
        ends = {"parent": joint.parent.link, "child": joint.child.link, "pose": _pose(joint.child.X)}
        add(document, "joint", {"name": joint.body.joint_name, "type": joint.type, **ends, **_axes(joint)}, _put)
    for name, at in there.frames.items():
        if at != (THE_WORLD, HERE):
            add(document, "frame", {"name": name, "attached_to": at.link, "pose": _pose(at.X)}, _put)
    of = "SDF has no place for this robot"
    read_again(model, text_of(root), losses, of, apart=[model.root], limits=ENDLESS_LIMITS)
    losses.check(robot, LIMITS)
    light = [name for name, (_, inertia) in there.links.items() if not inertia.m]
    losses.note("masses, which Gazebo wants of all links: those of {}", light)
    for role, geometry, shape in spelled(robot.geometry, "sdf", losses):
        frame = model.frame(geometry.link)
        link, X = seen(links, frame.body, geometry.placement @ frame.X)
        name = new_name(geometry.name or role, {other.get("name", "") for other in elements[link].iter(role)})
        if "plane" in shape:
            shape = {"plane": {**UPWARDS, **shape["plane"]}}
        more = _material(geometry) if role == "visual" else _surface(geometry)
        add(elements[link], role, {"name": name, "pose": _pose(X), "geometry": shape, **more}, _put)
    said = "loops that are open at zero, or close at joints that it has not: {}"
    for loop in losses.kept(robot.closings, lambda c: c.at_zero and type(c.joint) in TYPES, said, "they stay open"):
        ends = {"parent": loop.to or THE_WORLD, "child": loop.frame}
        add(document, "joint", {"name": loop.name, "type": TYPES[type(loop.joint)], **ends, **_axis(loop.joint)}, _put)
    return f'<?xml version="1.0"?>\n{text_of(root)}\n'


def _renamed(robot: Export, losses: Losses) -> Export:
    """Return a robot whose links and frames have other names than joints and the world have, as SDFormat wants it."""
    model, taken = robot.model, {body.joint_name for body in robot.model.bodies} | {THE_WORLD}
    names = {name: new_name(name, taken | ({*model.frame_names} - {name})) for name in model.frame_names}
    odd = [name for name, new in names.items() if name not in (new, THE_WORLD)]
    losses.note("names of links and frames that joints have too, so that they get an underscore: {}", odd)
    frames = tuple(replace(frame, name=names[frame.name]) for frame in model.frames)
    bodies = tuple(replace(body, name=names[body.name]) for body in model.bodies)
    shapes = (tuple(replace(g, link=names[g.link]) for g in found) for found in robot.geometry)
    return robot._replace(
        model=replace(model, root=names[model.root], frames=frames, bodies=bodies),
        geometry=Geometries(*shapes),
        closings=tuple(c._replace(frame=names[c.frame], to=c.to and names[c.to]) for c in robot.closings),
    )


def _links(robot: Export) -> dict[int, At]:
    """Return the links of the bodies, and of a base; a root link that was the world is none where nothing is on it."""
    model, links = robot.model, own_links(robot.model)
    on_world = any(model.frame(g.link).body == WORLD for shapes in robot.geometry for g in shapes)
    if links.get(WORLD) == (f"{THE_WORLD}_", HERE) and not any(model.base_inertia) and not on_world:
        del links[WORLD]
    return links


def _put(element: ET.Element, name: str, text: str) -> None:
    """Add a value as SDFormat has it."""
    if name in ATTRIBUTES:
        element.set(name, text)
    else:
        (element if name == "text" else ET.SubElement(element, name)).text = text


def _pose(X: Transform) -> tuple[float, ...]:
    """Return where an element stands, empty if that is where its base does."""
    return pose if any(pose := xyz_rpy(X)) else ()


def _axis(joint: joints.Joint) -> Fields:
    """Return the axes of a joint, and what else its type has."""
    if type(joint) in AXES:
        return AXES[type(joint)](joint)
    return {"axis": {"xyz": joint.direction}} if joint.direction else {}


def _axes(joint: Joint) -> Fields:
    """Return the axes of a body's joint with what there is at them; a ball that is damped has one for that."""
    limit = {key: x for key, x in vars(joint.body.limits).items() if math.isfinite(x)}
    more = {"limit": limit, "dynamics": own_physics(joint.body, DYNAMICS), "mimic": joint.mimic}
    axes = _axis(joint.body.joint.alone) or ({"axis": {"xyz": (0.0, 0.0, 1.0)}} if any(more.values()) else {})
    return {tag: {**fields, **more} if tag.startswith("axis") else fields for tag, fields in axes.items()}


def _material(geometry: Geometry) -> Fields:
    return {"material": {"diffuse": geometry.color}} if geometry.color else {}


def _surface(geometry: Geometry) -> Fields:
    """Return ``<surface>`` with the friction of a shape, and which shapes it may touch."""
    bits = {"collide_bitmask": geometry.conaffinity, "category_bitmask": geometry.contype}
    friction = {"ode": {"mu": geometry.friction[0]}} if geometry.friction else {}
    contact = {tag: hex(x) for tag, x in bits.items() if x != ALL_BITS}
    return {"surface": {"friction": friction, "contact": contact}} if friction or contact else {}
