"""From a model to a URDF document."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence

from kinetree.formats.graph import new_name
from kinetree.formats.placed import (
    HERE,
    At,
    Joint,
    Placed,
    inertia_of,
    joint_type,
    own_physics,
    read_again,
    seen,
    spelled,
    without_world,
    xyz_rpy,
)
from kinetree.formats.save import EQUIPMENT, Export, Fields, Limit, Losses, add, numbers, text_of
from kinetree.formats.urdf.document import finite
from kinetree.geometry import Geometry
from kinetree.joints import Continuous, FreeFlyer, Planar, Prismatic, Revolute
from kinetree.model import WORLD, Body, Model
from kinetree.spatial import Inertia, Transform

TYPES: dict[type, str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    FreeFlyer: "floating",
    Planar: "planar",
}
"""The joint types of URDF by those of a model."""
LIMITED = ("revolute", "prismatic")
"""Types of joints whose limits URDF requires."""
FLOATS = "that the base floats (load the file with floating_base=True)"
LIMITS = (
    *EQUIPMENT,
    Limit(FLOATS, lambda robot: [""] * robot.model.has_floating_base),
    Limit("closed loops: {}", lambda robot: [closing.name for closing in robot.closings], "they stay open"),
    Limit("friction of shapes, and which may touch: those of {}", lambda robot: _touching(robot.geometry.collision)),
)


def _touching(shapes: Sequence[Geometry]) -> list[str]:
    return [g.link for g in shapes if (g.friction, g.contype, g.conaffinity) != ((), 1, 1)]


def write_urdf(robot: Export, losses: Losses) -> str:
    """Return a URDF document; `Robot.to_urdf` says what is in it, and it may raise `ModelError`.

    A frame other than a body's is a link without mass, fixed to the body, and the world is one where a fixed base does
    not stand at its origin, but for a root link called ``world``, which is the world.
    """
    robot = without_world(robot, losses)
    model, document = robot.model, ET.Element("robot", name=robot.model.name)
    there, links = Placed(model, body_links(model), TYPES, "URDF"), dict[str, ET.Element]()
    for name in dict.fromkeys((*model.frame_names, *there.links)):
        own = inertial(there.links[name][1]) if name in there.links else {}
        links[name] = add(document, "link", {"name": name, "inertial": own})
    for role, g, shape in spelled(robot.geometry, "urdf", losses):
        color = g.color if role == "visual" else None
        material = {"name": numbers(color), "color": {"rgba": color}} if color else {}
        add(
            links[g.link],
            role,
            {"name": g.name, "origin": origin(g.placement), "geometry": shape, "material": material},
        )
    for joint in there.joints:
        add(document, "joint", _joint(joint))
    document.extend(fixed(model, [*there.frames], [body.joint_name for body in model.bodies]))
    text = f'<?xml version="1.0"?>\n{text_of(document)}\n'
    note_losses(robot, text, losses, "URDF has no place for this robot")
    return text


def note_losses(robot: Export, text: str, losses: Losses, of: str) -> None:
    """Note what a document does not say of a robot; `of` begins the message where it is that of another one."""
    read_again(robot.model, text, losses, of, apart=[robot.model.root] * is_world(robot.model))
    losses.check(robot, LIMITS)


def body_links(model: Model) -> dict[int, At]:
    """Return the link of each body: its own, or a new one where that is not at the joint, as URDF has all links.

    A base that does not float is the root link, at the origin if it is the world's, whatever is fixed to it.
    """
    links, taken = dict[int, At](), [*model.frame_names]
    if not model.has_floating_base:
        links[WORLD] = At(model.root, base_pose(model))
    for i, body in enumerate(model.bodies):
        name = body.name
        if model.frame(name).X != HERE:
            taken.append(name := new_name(f"{name}_at_joint", taken))
        links[i] = At(name, HERE)
    return links


def fixed(model: Model, frames: Sequence[str], joints: Sequence[str]) -> Iterator[ET.Element]:
    """Yield the fixed joints of these frames, and the world with the joint of a base that is not at its origin.

    The links of the frames are not among them. No new joint has a name of these joints.
    """
    links, taken = body_links(model), [*joints]

    def joint(child: str, at: At) -> ET.Element:
        taken.append(new_name(f"{child}_fixed", taken))
        ends = {"parent": {"link": at.link}, "child": {"link": child}, "origin": origin(at.X)}
        return add(ET.Element("robot"), "joint", {"name": taken[-1], "type": "fixed", **ends})

    for name in frames:
        if name != model.root:
            frame = model.frame(name)
            yield joint(name, seen(links, frame.body, frame.X))
    if WORLD in links and base_pose(model) != HERE:
        world = new_name("world", [*model.frame_names, *(link for link, _ in links.values())])
        yield ET.Element("link", name=world)
        yield joint(model.root, At(world, base_pose(model)))


def base_pose(model: Model) -> Transform:
    """Return where the root link stands in the file: at the origin if it is the world's, whatever is fixed to it."""
    return HERE if is_world(model) else model.frame(model.root).X


def is_world(model: Model) -> bool:
    """Return whether the root link is the world, by its name: it stays where it is, whatever is fixed to it."""
    return not model.has_floating_base and re.fullmatch("world_*", model.root) is not None


# -- elements, by the names of their attributes ----------------------------------------------------------------------


def _joint(joint: Joint) -> Fields:
    body, kind = joint.body, type_of(joint.body)
    limited = kind in LIMITED or not all(map(math.isinf, vars(body.limits).values()))
    return {
        "name": body.joint_name,
        "type": kind,
        "parent": {"link": joint.parent.link},
        "child": {"link": joint.child.link},
        "origin": origin(joint.parent.X),
        "axis": {"xyz": axis} if (axis := body.joint.alone.direction) else {},
        "limit": limit(body) if limited else {},
        "dynamics": dynamics(body) if any(body.damping) or any(body.friction) else {},
        "mimic": joint.mimic,
    }


def type_of(body: Body) -> str:
    """Return URDF's name for the type of a body's joint: one that turns within limits is not continuous."""
    kind = joint_type(body, TYPES, "URDF")
    if kind in ("revolute", "continuous"):
        return "continuous" if math.isinf(body.limits.lower) and math.isinf(body.limits.upper) else "revolute"
    return kind


def origin(X: Transform) -> Fields:
    """Return ``<origin>``."""
    x, y, z, *rpy = xyz_rpy(X)
    return {"xyz": (x, y, z), "rpy": rpy}


def inertial(inertia: Inertia) -> Fields:
    """Return ``<inertial>``, empty where there is no inertia."""
    if inertia == Inertia.zero():
        return {}
    com, moments = inertia_of(inertia)
    return {"origin": origin(com), "mass": {"value": float(inertia.m)}, "inertia": moments}


def limit(body: Body) -> Mapping[str, float | None]:
    """Return ``<limit>`` of a joint, None for what it has not.

    Where they are infinite they are the largest float64: other readers want numbers, and ``inf`` is none to them.
    """
    limits: dict[str, float | None] = {key: finite(x) for key, x in vars(body.limits).items()}
    if type_of(body) not in LIMITED and math.isinf(body.limits.lower) and math.isinf(body.limits.upper):
        limits |= {"lower": None, "upper": None}
    return limits


def dynamics(body: Body) -> Mapping[str, float]:
    """Return ``<dynamics>`` of a joint, at its own speed where it mimics another one."""
    return {"damping": 0.0, "friction": 0.0} | own_physics(body, ("", "damping", "friction"))
