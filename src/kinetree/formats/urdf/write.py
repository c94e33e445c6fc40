"""From a model to a URDF document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from kinetree.errors import ModelError, listed, warn_user
from kinetree.joints import Continuous, FreeFlyer, Joint, Mimic, Planar, Prismatic, Revolute
from kinetree.model import WORLD, Body, Model
from kinetree.model.builder import ROOT_JOINT
from kinetree.model.physical import about_com
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Inertia, Transform
from kinetree.validation import Array

TYPES: dict[type[Joint], str] = {
    Revolute: "revolute",
    Continuous: "continuous",
    Prismatic: "prismatic",
    FreeFlyer: "floating",
    Planar: "planar",
}
"""The joint types of URDF by those of a model."""


def write_urdf(model: Model) -> str:
    """Return a URDF document of the model: links, joints, inertias, limits, damping and friction, and its frames.

    A frame other than a body's is a link without mass, fixed to the body. A floating base is the root link: the file is
    to be read with ``floating_base=True``.

    Raises
    ------
    ModelError
        If URDF has no such joint type.

    Warns
    -----
    FormatWarning
        If there is armature, or a spring: URDF has neither.

    Examples
    --------
    >>> from kinetree.formats import load_model
    >>> print(write_urdf(load_model("<robot name='rock'><link name='stone'/></robot>")))
    <?xml version="1.0"?>
    <robot name="rock">
      <link name="stone"/>
    </robot>
    <BLANKLINE>
    """
    _warn(model)
    floats = bool(model.bodies) and model.bodies[0].joint_name == ROOT_JOINT
    root = Transform.identity() if floats else model.frame(model.root).X
    carrier = {f.name: f.body for f in model.frames}
    bodies = {body.name: body for body in model.bodies}
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(model.name)}>"]
    for name in carrier:
        inertia = bodies[name].inertia if name in bodies else Inertia.zero()
        if name == model.root and not floats:
            inertia = root.inverse().T @ model.base_inertia
        lines += _element("link", name, [] if inertia == Inertia.zero() else inertial_lines(inertia))
    for body in _in_order(model):
        if not (floats and body.joint_name == ROOT_JOINT):
            lines += _element("joint", body.joint_name, _joint(model, body, root), type=_type(body))
    taken = {body.joint_name for body in model.bodies}
    for frame in model.frames:
        if frame.name not in bodies and frame.name != model.root:
            X = frame.X @ root.inverse() if frame.body == WORLD else frame.X
            parent = model.root if frame.body == WORLD else model.bodies[frame.body].name
            name = next(n for n in _names(f"{frame.name}_fixed") if n not in taken)
            taken.add(name)
            lines += _element("joint", name, [*_links(parent, frame.name), _origin(X)], type="fixed")
    return "\n".join([*lines, "</robot>", ""])


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


def dynamics_element(body: Body) -> str:
    """Return ``<dynamics>`` of a joint of one degree of freedom, at its own speed where it mimics another."""
    factor = abs(body.joint.factor) if isinstance(body.joint, Mimic) else 1.0
    (damping,), (friction,) = body.damping, body.friction
    if factor == 0.0:
        damping, friction, factor = 0.0, 0.0, 1.0
    return f'<dynamics damping="{number(damping / factor**2)}" friction="{number(friction / factor)}"/>'


def number(x: float) -> str:
    """Return a number that reads back as the same."""
    return repr(float(x) + 0.0).removesuffix(".0")


def numbers(values: Sequence[float]) -> str:
    """Return numbers with blanks between them."""
    return " ".join(map(number, values))


def _element(tag: str, name: str, inside: Sequence[str], **attributes: str) -> list[str]:
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    start = f"  <{tag} name={quoteattr(name)}{more}"
    return [f"{start}>", *(f"    {line}" for line in inside), f"  </{tag}>"] if inside else [f"{start}/>"]


def _joint(model: Model, body: Body, root: Transform) -> list[str]:
    parent = model.root if body.parent == WORLD else model.bodies[body.parent].name
    X = body.X_T @ root.inverse() if body.parent == WORLD else body.X_T
    joint = body.joint.joint if isinstance(body.joint, Mimic) else body.joint
    lines = [*_links(parent, body.name), _origin(X)]
    axis = joint.normal if isinstance(joint, Planar) else getattr(joint, "axis", None)
    if axis is not None:
        lines.append(f'<axis xyz="{numbers(axis)}"/>')
    if body.has_one_coordinate:
        limits = {key: x for key, x in vars(body.limits).items() if math.isfinite(x)}
        if {"lower", "upper"} & limits.keys():
            limits |= {"lower": body.limits.lower, "upper": body.limits.upper}
        if limits:
            given = [f'{key}="{number(x)}"' for key, x in limits.items()]
            lines.append(f"<limit {' '.join(given)}/>")
        if any(body.damping) or any(body.friction):
            lines.append(dynamics_element(body))
    if isinstance(body.joint, Mimic):
        leader = next(b.joint_name for b in model.leading if b.v_index == body.v_index)
        factor, offset = number(body.joint.factor), number(body.joint.offset)
        lines.append(f'<mimic joint={quoteattr(leader)} multiplier="{factor}" offset="{offset}"/>')
    return lines


def _type(body: Body) -> str:
    joint = body.joint.joint if isinstance(body.joint, Mimic) else body.joint
    if type(joint) not in TYPES:
        known = ", ".join(sorted(TYPES.values()))
        raise ModelError(f"joint {body.joint_name!r} is a {type(joint).__name__}: URDF has {known} and fixed joints")
    unlimited = math.isinf(body.limits.lower) and math.isinf(body.limits.upper)
    return "continuous" if type(joint) is Revolute and unlimited else TYPES[type(joint)]


def _links(parent: str, child: str) -> list[str]:
    return [f"<parent link={quoteattr(parent)}/>", f"<child link={quoteattr(child)}/>"]


def _origin(X: Transform) -> str:
    placement = np.array(X.placement, dtype=float)
    return f'<origin xyz="{numbers(placement[:3, 3].tolist())}" rpy="{numbers(_roll_pitch_yaw(placement[:3, :3]))}"/>'


def _roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """Return the angles of ``R = Rz(yaw) Ry(pitch) Rx(roll)``."""
    across = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], across)
    if across < 1e-15:  # only the sum or difference of the other two counts
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def _in_order(model: Model) -> Iterator[Body]:
    """Yield the bodies in the order of their joints in q, followers where they are among the bodies."""
    followers = [i for i in range(model.nb) if i not in model.joint_order]
    for i in model.joint_order:
        while followers and followers[0] < i:
            yield model.bodies[followers.pop(0)]
        yield model.bodies[i]
    yield from (model.bodies[i] for i in followers)


def _names(name: str) -> Iterator[str]:
    while True:
        yield name
        name += "_"


def _warn(model: Model) -> None:
    lost = [body.joint_name for body in model.bodies if any(body.armature) or not is_zero(body.spring.stiffness)]
    if lost:
        warn_user(f"URDF has no place for armature and springs: those of {listed(lost)} are left out")
