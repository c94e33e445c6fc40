"""What the documents of URDF and SDF share: links side by side, joints between them, and frames and shapes on them."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from kinetree.errors import FormatError, ModelError, listed
from kinetree.formats.geometry import SHAPES, TAGS
from kinetree.formats.load import load_model
from kinetree.formats.save import Export, Fields, Losses
from kinetree.geometry import Geometries, Geometry
from kinetree.model import WORLD, Body, Model
from kinetree.model.checks import about_com
from kinetree.model.differences import differences
from kinetree.spatial import Inertia, Transform

HERE = Transform.identity()
ENDLESS = 1e9
"""The size (m) of a plane that has none."""


class At(NamedTuple):
    """A place: a link, and the transform from it."""

    link: str
    X: Transform


class Joint(NamedTuple):
    """The joint of a body: its type as the format calls it, where it is in both its links, and how it follows one."""

    body: Body
    type: str
    parent: At
    child: At
    mimic: Fields


Bodies = Mapping[int, At]
"""The link of each body with where it stands in that, and of the world where that has one."""


def seen(bodies: Bodies, body: int, X: Transform) -> At:
    """Return where in its link a body, or the world, has a place."""
    link, own = bodies.get(body, At("world", HERE))
    return At(link, X @ own.inverse())


def own_links(model: Model) -> dict[int, At]:
    """Return the bodies as links of their own names, and for a base that does not float its root link."""
    links = {} if model.has_floating_base else {WORLD: At(model.root, model.frame(model.root).X)}
    return links | {i: At(body.name, model.frame(body.name).X) for i, body in enumerate(model.bodies)}


class Placed:
    """A robot as a file has it, while all joints are at zero.

    `links` has where each link stands in the one that carries it, and its inertia, `frames` the frames that are none.
    Several bodies may be one link, if all but one have no mass. The joint of a floating base is there if `floating`.
    """

    def __init__(
        self, model: Model, bodies: Bodies, types: Mapping[type, str], format: str, *, floating: bool = False
    ) -> None:
        self.links: dict[str, tuple[At, Inertia]] = {}
        for i, (name, X) in bodies.items():
            body = model.bodies[i] if i != WORLD else None
            at = seen(bodies, body.parent, X @ body.X_T) if body else At("world", X)
            at, inertia = self.links.get(name, (at, Inertia.zero()))
            self.links[name] = at, inertia + X.inverse().T @ (body.inertia if body else model.base_inertia)
        base = model.frame(model.root).body if model.has_floating_base and not floating else None
        self.joints: list[Joint] = []
        for i, body in ((i, model.bodies[i]) for i in _in_order(model) if i != base):
            ends = seen(bodies, body.parent, body.X_T), seen(bodies, i, HERE)
            self.joints.append(Joint(body, joint_type(body, types, format), *ends, _mimic(model, body)))
        self.frames = {f.name: seen(bodies, f.body, f.X) for f in model.frames if f.name not in self.links}


def _in_order(model: Model) -> Iterator[int]:
    """Yield the bodies in the order of their joints in q, followers where they are among the bodies."""
    followers = [i for i in range(model.nb) if i not in model.joint_order]
    for i in model.joint_order:
        while followers and followers[0] < i:
            yield followers.pop(0)
        yield i
    yield from followers


def joint_type(body: Body, types: Mapping[type, str], format: str) -> str:
    """Return what a format calls the type of a body's joint; `ModelError` where it has none of that type."""
    kind = type(body.joint.alone)
    if kind not in types:
        known = ", ".join(sorted({*types.values(), "fixed"}))
        raise ModelError(f"joint {body.joint_name!r} is a {kind.__name__}: {format} has {known} joints")
    return types[kind]


def _mimic(model: Model, body: Body) -> Fields:
    """Return how a joint follows another one, empty if it follows none."""
    if body.joint.follows is None:
        return {}
    multiplier, offset = body.joint.follows
    return {"joint": model.leader(body).joint_name, "multiplier": multiplier, "offset": offset}


def own_physics(body: Body, names: Sequence[str], v: int = 0) -> dict[str, float]:
    """Return what a joint has in one direction beside how it moves, but for zeros, by the names of a format.

    They are those of armature, damping, friction, the stiffness of a spring and its rest position, empty where a format
    has none. It is as the joint's own coordinate feels it, which is another one where it follows a joint.
    """
    f, offset = body.joint.follows or (1.0, 0.0)
    factor, spring = abs(f) or 1.0, body.spring
    armature, damping, stiffness = (x / factor**2 for x in (body.armature[v], body.damping[v], spring.stiffness))
    rest = f * spring.rest + offset if stiffness else 0.0
    own = armature, damping, body.friction[v] / factor, stiffness, rest
    return {name: float(x) for name, x in zip(names, own, strict=False) if name and x}


def inertia_of(inertia: Inertia) -> tuple[Transform, dict[str, float]]:
    """Return where the centre of mass is, and the moments about it, by their names in files."""
    J, com = about_com(inertia), [x / inertia.m if inertia.m else 0.0 for x in inertia.h]
    moments = {f"i{'xyz'[i]}{'xyz'[j]}": float(J[i, j]) for i in range(3) for j in range(i, 3)}
    return Transform.translation(com), moments


def xyz_rpy(X: Transform) -> tuple[float, ...]:
    """Return where a frame stands, and roll, pitch and yaw of its rotation ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    x, y, z, _ = X.placement
    yaw = math.atan2(y[0], x[0])
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * x[2] - c * y[2], c * y[1] - s * x[1])  # whatever yaw is at a pitch of 90°
    return x[3], y[3], z[3], roll, math.atan2(-z[0], c * x[0] + s * y[0]), yaw


# -- shapes ----------------------------------------------------------------------------------------------------------


def spelled(geometries: Geometries, format: str, losses: Losses) -> Iterator[tuple[str, Geometry, Fields]]:
    """Yield the role of each shape, the shape, and its ``<geometry>`` in a format that has such a shape."""
    for role in ("visual", "collision"):
        for geometry in getattr(geometries, role):
            shape, tag = geometry.shape, TAGS.get(type(geometry.shape), "")
            names = getattr(SHAPES[tag], format) if tag else ()
            if len(names) != len(fields(shape)):
                losses.note("shapes: {}", [f"the {type(shape).__name__} of {geometry.link}"])
                continue
            values = (getattr(shape, field.name) for field in fields(shape))
            yield role, geometry, {tag: dict(zip(names, map(_value, values), strict=True))}


def _value(value: Any) -> Any:
    """Return a value as files have it: meshes that are there by their ``file://``, planes without end by `ENDLESS`."""
    if isinstance(value, str):
        return Path(os.path.abspath(value)).as_uri() if os.path.isfile(value) else value
    return tuple(min(x, ENDLESS) for x in value) if isinstance(value, tuple) else value


def without_world(robot: Export, losses: Losses) -> Export:
    """Return a robot that floats without the frames and shapes that stand in the world beside it, which are noted."""
    model = robot.model
    standing = {frame.name for frame in model.frames if frame.body == WORLD and model.has_floating_base}
    losses.note("what stands in the world beside a robot that floats: {}", sorted(standing))
    left = (tuple(g for g in shapes if g.link not in standing) for shapes in robot.geometry)
    frames = tuple(frame for frame in model.frames if frame.name not in standing)
    return robot._replace(model=replace(model, frames=frames), geometry=Geometries(*left)) if standing else robot


# -- reading again ---------------------------------------------------------------------------------------------------

UNEVEN = "damping and friction at a floating base, or other ones in each direction: those of {}"
LOST: dict[str, tuple[str, str]] = {
    "name": ("its name, {0.name!r}", ""),
    "body_names": ("the order of the bodies, {0.body_names}", ""),
    "gravity": ("gravity ({0.gravity.x}, {0.gravity.y}, {0.gravity.z}) (load the file with gravity=)", ""),
    "friction": ("whether friction counts (with_friction)", ""),
}
"""The fields of a model for which files have no place: what is said of them, and what there is instead."""
LOST_OF_JOINTS: dict[str, tuple[str, str]] = {
    "armature": ("armature: that of {}", "there is none"),
    "spring": ("springs: those of {}", "there are none"),
    "damping": (UNEVEN, "those of the first direction, at the base none"),
    "friction": (UNEVEN, "those of the first direction, at the base none"),
    "name": ("links that are not at their joint: the moving bodies of {} have other names", ""),
}
"""The fields of bodies for which files have no place, and what is said of their joints."""
WORDS = {"X_T": "the placement", "joint": "the motion"}
"""What other fields of bodies are called in messages."""


def read_again(model: Model, text: str, losses: Losses, of: str, *, apart: Collection[str] = (), **more: Any) -> None:
    """Note the properties of a model that its document does not say; `of` begins the message of the error.

    That is a `ModelError` if the document describes another robot: it names all that is different and that the format
    has a place for, but for the frames `apart`. More fields of bodies for which it has none may be given.
    """
    floats = model.has_floating_base if losses.format == "URDF" else None
    with warnings.catch_warnings():  # of the robot, which it had before
        warnings.simplefilter("ignore")
        try:
            again = load_model(text, floating_base=floats, lenient=True)
        except FormatError as error:
            raise ModelError(f"{losses.format} has no place for this robot: {error}") from None
    lost, known = differences(model, again), LOST_OF_JOINTS | more
    odd = [field for field in lost.model if field not in LOST]
    odd += [f"{WORDS.get(name, name)} of {listed(joints)}" for name, joints in lost.joints.items() if name not in known]
    moved = [name for name in lost.frames if name not in apart]
    odd += [f"the frames {listed(moved)}"] * bool(moved)
    if odd:
        raise ModelError(f"{of}: {'; '.join(odd)} differ")
    for field in lost.model:
        said, instead = LOST[field]
        losses.note(said.format(model), [""], instead)
    for field, (said, instead) in known.items():
        losses.note(said, lost.joints.get(field, ()), instead)
