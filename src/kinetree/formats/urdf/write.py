"""From a model to a URDF document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from kinetree.errors import ModelError
from kinetree.formats.graph import new_name
from kinetree.formats.save import (
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
from kinetree.formats.urdf.document import finite
from kinetree.geometry import Box, Capsule, Cylinder, Geometries, Mesh, Shape, Sphere
from kinetree.joints import Continuous, FreeFlyer, Joint, Planar, Prismatic, Revolute
from kinetree.model import WORLD, Body, Model
from kinetree.model.checks import about_com
from kinetree.spatial import Inertia, Transform

TYPES: dict[type[Joint], str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    FreeFlyer: "floating",
    Planar: "planar",
}
"""The joint types of URDF by those of a model."""

LIMITED = ("revolute", "prismatic")
"""Types of joints whose limits URDF requires."""


def write_urdf(robot: Export, losses: Losses) -> str:
    """Return a URDF document; `Robot.to_urdf` says what is in it, and it may raise `ModelError`.

    A frame other than a body's is a link without mass, fixed to the body, and the world is one where a fixed base does
    not stand at its origin, but for a root link called ``world``, which is the world.
    """
    robot = without_world(robot, losses)
    model, shapes = robot.model, _shapes(robot.geometry, losses)
    links = body_links(model)
    inertias = dict(zip(links, (body.inertia for body in model.bodies), strict=True))
    if not model.has_floating_base:
        inertias[model.root] = base_pose(model).inverse().T @ model.base_inertia
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(model.name)}>"]
    for name in dict.fromkeys((*model.frame_names, *links)):
        inertia = inertias.get(name, Inertia.zero())
        inertial = [] if inertia == Inertia.zero() else inertial_lines(inertia)
        lines += _element("link", name, [*inertial, *shapes.get(name, ())])
    for body in in_order(model):
        if body is not _floating(model):
            lines += _element("joint", body.joint_name, _joint(model, links, body), type=joint_type(body))
    placed = [name for name in model.frame_names if name not in inertias]
    joints = [body.joint_name for body in model.bodies]
    text = "\n".join([*lines, *fixed_lines(model, placed, joints), "</robot>", ""])
    note_losses(robot, text, losses, "URDF has no place for this robot")
    return text


def note_losses(robot: Export, text: str, losses: Losses, of: str) -> None:
    """Note what a document does not say of a robot; `of` begins the message where it is that of another one."""
    model = robot.model
    apart = [model.root] * is_world(model)
    read_again(model, text, losses, of, floating_base=model.has_floating_base, apart=apart)
    losses.leave_out("that the base floats (load the file with floating_base=True)", [""] * model.has_floating_base)
    leave_out_equipment(robot, losses)
    losses.refuse("closed loops: {}", "they stay open", [closing.name for closing in robot.closings])


SHAPES: dict[type[Shape], Callable[[Any], str]] = {
    Box: lambda s: f'<box size="{numbers(s.size)}"/>',
    Sphere: lambda s: f'<sphere radius="{number(s.radius)}"/>',
    Cylinder: lambda s: f'<cylinder radius="{number(s.radius)}" length="{number(s.length)}"/>',
    Capsule: lambda s: f'<capsule radius="{number(s.radius)}" length="{number(s.length)}"/>',
    Mesh: lambda s: f'<mesh filename={quoteattr(mesh_uri(s.path))} scale="{numbers(s.scale)}"/>',
}
"""The shapes of URDF, its version 1.2 for the capsule."""


def _shapes(geometry: Geometries, losses: Losses) -> dict[str, list[str]]:
    """Return the lines of the shapes of each link."""
    lines: dict[str, list[str]] = {}
    for tag in ("visual", "collision"):
        for g in getattr(geometry, tag):
            if type(g.shape) not in SHAPES:
                losses.leave_out("shapes: {}", [f"the {type(g.shape).__name__} of {g.link}"])
                continue
            touches = tag == "collision" and (g.friction, g.contype, g.conaffinity) != ((), 1, 1)
            losses.leave_out("friction of shapes, and which may touch: those of {}", [g.link] * touches)
            color = g.color if tag == "visual" else None
            material = f'<material name="{numbers(color)}"><color rgba="{numbers(color)}"/></material>' if color else ""
            inside = f"<geometry>{SHAPES[type(g.shape)](g.shape)}</geometry>{material}"
            name = f" name={quoteattr(g.name)}" if g.name else ""
            lines.setdefault(g.link, []).append(f"<{tag}{name}>{origin_line(g.placement)}{inside}</{tag}>")
    return lines


def body_links(model: Model) -> list[str]:
    """Return the link of each body: its own, or another one where that is not at the joint, as URDF has all links."""
    names = list(model.frame_names)
    for body in model.bodies:
        if not _stands_at(model.frame(body.name).X):
            names.append(new_name(f"{body.name}_at_joint", names))
    extra = iter(names[model.nframes :])
    return [body.name if _stands_at(model.frame(body.name).X) else next(extra) for body in model.bodies]


def fixed_lines(model: Model, frames: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Return the fixed joints of these frames, and the world with the joint of a fixed base that is not at its origin.

    The links of the frames are not among them. No new joint has a name of these joints.
    """
    links, lines, taken = body_links(model), [], [*joints]

    def fix(parent: str, child: str, X: Transform) -> None:
        taken.append(new_name(f"{child}_fixed", taken))
        lines.extend(_element("joint", taken[-1], [*_ends(parent, child), origin_line(X)], type="fixed"))

    for name in frames:
        frame = model.frame(name)
        if name != model.root:
            fix(model.root if frame.body == WORLD else links[frame.body], name, _from_root(model, frame.body, frame.X))
    root = model.frame(model.root)
    if root.body == WORLD and not _stands_at(base_pose(model)):
        world = new_name("world", [*model.frame_names, *links])
        lines.append(link_line(world))
        fix(world, root.name, root.X)
    return lines


def base_pose(model: Model) -> Transform:
    """Return where the root link stands in the file: at the origin if it is the world's, whatever is fixed to it."""
    return Transform.identity() if is_world(model) else model.frame(model.root).X


def is_world(model: Model) -> bool:
    """Return whether the root link is the world, by its name: it stays where it is, whatever is fixed to it."""
    return not model.has_floating_base and re.fullmatch("world_*", model.root) is not None


def link_line(name: str) -> str:
    """Return a link without mass."""
    return _element("link", name, [])[0]


def inertial_lines(inertia: Inertia) -> list[str]:
    """Return the lines of ``<inertial>``."""
    com = [x / inertia.m if inertia.m else 0.0 for x in inertia.h]
    J = about_com(inertia)
    moments = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2], "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}
    entries = " ".join(f'{key}="{number(x)}"' for key, x in moments.items())
    origin = f'<origin xyz="{numbers(com)}" rpy="0 0 0"/>'
    return [
        "<inertial>",
        f"  {origin}",
        f'  <mass value="{number(inertia.m)}"/>',
        f"  <inertia {entries}/>",
        "</inertial>",
    ]


def limit_attributes(body: Body) -> dict[str, str | None]:
    """Return the attributes of ``<limit>`` of a joint, None for those that it has not.

    Where they are infinite they are the largest float64: other readers want numbers, and ``inf`` is none to them.
    """
    limits: dict[str, str | None] = {key: number(finite(x)) for key, x in vars(body.limits).items()}
    if joint_type(body) not in LIMITED and math.isinf(body.limits.lower) and math.isinf(body.limits.upper):
        limits |= {"lower": None, "upper": None}
    return limits


def dynamics_attributes(body: Body) -> dict[str, str | None]:
    """Return the attributes of ``<dynamics>`` of a joint, at its own speed where it mimics another."""
    own = own_physics(body)
    return {"damping": number(own.damping), "friction": number(own.friction)}


def element(tag: str, attributes: Mapping[str, str | None]) -> str:
    """Return an empty element with those of these attributes that are not None."""
    given = "".join(f' {key}="{x}"' for key, x in attributes.items() if x is not None)
    return f"<{tag}{given}/>"


def _element(tag: str, name: str, inside: Sequence[str], **attributes: str) -> list[str]:
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    start = f"  <{tag} name={quoteattr(name)}{more}"
    return [f"{start}>", *(f"    {line}" for line in inside), f"  </{tag}>"] if inside else [f"{start}/>"]


def _floating(model: Model) -> Body | None:
    """Return the body that is a floating base, if there is one: its joint is not in the file."""
    return model.bodies[model.frame(model.root).body] if model.has_floating_base else None


def _stands_at(X: Transform) -> bool:
    """Return whether a frame stands where the other one does."""
    return np.array_equal(np.array(X.placement, dtype=float), np.eye(4))


def _from_root(model: Model, body: int, X: Transform) -> Transform:
    """Return a transform from a body, or from the root link instead of the world."""
    return X @ base_pose(model).inverse() if body == WORLD else X


def _joint(model: Model, links: Sequence[str], body: Body) -> list[str]:
    parent = model.root if body.parent == WORLD else links[body.parent]
    lines = [
        *_ends(parent, links[model.body_of_joint(body.joint_name)]),
        origin_line(_from_root(model, body.parent, body.X_T)),
    ]
    if (axis := body.joint.alone.direction) is not None:
        lines.append(f'<axis xyz="{numbers(axis)}"/>')
    if joint_type(body) in LIMITED or not all(map(math.isinf, vars(body.limits).values())):
        lines.append(element("limit", limit_attributes(body)))
    if any(body.damping) or any(body.friction):
        lines.append(element("dynamics", dynamics_attributes(body)))
    if body.joint.follows is not None:
        leader = next(b.joint_name for b in model.leading if b.v_index == body.v_index)
        factor, offset = map(number, body.joint.follows)
        lines.append(f'<mimic joint={quoteattr(leader)} multiplier="{factor}" offset="{offset}"/>')
    return lines


def joint_type(body: Body) -> str:
    """Return URDF's name for the type of a body's joint: one that turns within limits is not continuous."""
    kind = type(body.joint.alone)
    if kind not in TYPES:
        known = ", ".join(sorted(TYPES.values()))
        raise ModelError(f"joint {body.joint_name!r} is a {kind.__name__}: URDF has {known} and fixed joints")
    if TYPES[kind] in ("revolute", "continuous"):
        return "continuous" if math.isinf(body.limits.lower) and math.isinf(body.limits.upper) else "revolute"
    return TYPES[kind]


def _ends(parent: str, child: str) -> list[str]:
    return [f"<parent link={quoteattr(parent)}/>", f"<child link={quoteattr(child)}/>"]


def origin_line(X: Transform) -> str:
    """Return ``<origin>``."""
    placement = X.placement
    return f'<origin xyz="{numbers(row[3] for row in placement[:3])}" rpy="{numbers(roll_pitch_yaw(placement))}"/>'
