"""From a URDF document to a graph of links and joints.

Follows http://wiki.ros.org/urdf/XML and what urdfdom does with it. Shapes and materials are read when they
are asked for; transmissions, sensors and everything unknown are passed over, whatever they contain. In an
element that is read, an unknown attribute is an error: most are misspelt ones, whose default would be wrong.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from kinetree.errors import listed, shortened, unknown_name, warn_user
from kinetree.formats.graph import GraphJoint, GraphLink, Inertial, KinematicGraph, Mimic, Pose
from kinetree.formats.xml import (
    Element,
    Triple,
    magnitude,
    number,
    quaternion_rotation,
    required,
    resistance,
    rpy_rotation,
    triple,
    vector,
    xacro_element,
)
from kinetree.joints import Continuous, Fixed, FreeFlyer, Joint, Planar, Prismatic, Revolute
from kinetree.lazy import lazy_method
from kinetree.model import NO_LIMITS, JointLimits

geometries = lazy_method("kinetree.formats.urdf.geometry", "geometries")
loop_joints = lazy_method("kinetree.formats.urdf.loops", "loop_joints")
get_close_matches = lazy_method("difflib", "get_close_matches")

READ: Final = {
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "velocity", "effort"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "loop_joint": ("name", "type"),
    "link1": ("link", "xyz", "rpy"),
    "link2": ("link", "xyz", "rpy"),
    "loop": ("name", "type"),
    "predecessor": ("link",),
    "successor": ("link",),
}
"""The attributes that are read of each element."""

IGNORED: Final = {
    "link": ("type", "id", "self_collide"),
    "joint": ("dont_collapse", "id", "independent"),
    "limit": ("acceleration", "deceleration", "jerk", "command_effort", "current", "gear_velocity"),
    "dynamics": (
        *("D", "K", "mu_coulomb", "mu_viscous", "stiffness", "spring_stiffness", "spring_reference", "spring_mount"),
        *("armature", "rotor_inertia"),
    ),
}
"""Attributes of URDF 1.2, of URDF+ and of simulators that real files have, and that are not read."""


CHILDREN: Final = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "loop_joint": ("link1", "link2", "axis"),
    "loop": ("predecessor", "successor", "axis"),
}
"""The elements that are read inside others, which may have any further ones."""


def checked(element: Element) -> Element:
    """Return the element if its attributes are known or namespaced, and no child has nearly a name that is read."""
    read, ignored = READ.get(element.tag, ()), IGNORED.get(element.tag, ())
    for name in element.attributes if element.tag in READ else ():
        if name not in read and name not in ignored and not name.startswith("{"):
            element.fault(f"<{element.tag}> has {unknown_name('attribute', name, read)}", "it is not read")
    refuse_misspelt(element, CHILDREN.get(element.tag, ()))
    return element


def refuse_misspelt(element: Element, known: Sequence[str]) -> None:
    """Raise where a child has nearly one of these names."""
    for child in element.children if known else ():
        foreign = child.tag in known or child.tag.startswith("{")
        if not foreign and (near := get_close_matches(child.tag.lower(), known, n=1, cutoff=0.75)):
            message = f"<{element.tag}> has no element <{child.tag}>, did you mean <{near[0]}>?"
            child.fault(message, "it is not read")


def part(element: Element, tag: str) -> Element | None:
    """Return the child of that name, checked; None where there is none."""
    found = element.only(tag)
    return None if found is None else checked(found)


def child(element: Element, tag: str) -> Element:
    """Return the child of that name, checked; where there is none, an error."""
    found = part(element, tag)
    if found is None:
        raise element.error(f"<{tag}> is missing")
    return found


JOINTS: Final[dict[str, Callable[[Triple], Joint]]] = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "fixed": lambda _: Fixed(),
    "floating": lambda _: FreeFlyer(),
    "planar": Planar,
}
"""The joint types of URDF, made from an axis."""
WITH_AXIS: Final = ("revolute", "continuous", "prismatic")
VERSIONS: Final = ("1.0", "1.1", "1.2")


WITHOUT_JOINTS: Final = {"link", "material", "ros2_control", "transmission", "joint"}
"""The elements that add no joint but their own: the reader of all others is imported where there are any."""


def graph_from_element(robot: Element) -> KinematicGraph:
    """Return the graph of a URDF document from its root element, with the joints that its extensions add."""
    leave_namespace(robot)
    if robot.tag != "robot":
        raise robot.error("a URDF file has the root element <robot>")
    version = robot.attributes.get("version", "1.0")
    if version not in VERSIONS:
        raise robot.error(
            f"version={shortened(version)!r}: the versions of URDF that are read are {', '.join(VERSIONS)}"
        )
    links = tuple(_link(element) for element in robot.all("link"))
    if not links:
        raise robot.error("there are no links: a robot has at least one <link name='…'>")
    _check_names("link", links)
    driven, free = motors(robot), list[str]()
    joints = tuple(_joint(element, driven, free) for element in robot.all("joint"))
    _check_names("joint", joints)
    if free:
        warn_user(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
    if any(child.tag not in WITHOUT_JOINTS for child in robot.children):
        joints = (*joints, *loop_joints(robot, joints))
    shapes = partial(geometries, robot)
    return KinematicGraph(robot.attributes.get("name", "robot"), robot, links, joints, geometry=shapes)


def motors(robot: Element) -> set[str] | None:
    """Return the joints that transmissions or ros2_control drive; None where the file has neither."""
    transmitted = [joint for block in robot.all("transmission") for joint in block.all("joint")]
    controlled = [joint for block in robot.all("ros2_control") for joint in block.all("joint")]
    if not transmitted and not controlled:
        return None
    driven = [*transmitted, *(joint for joint in controlled if joint.all("command_interface"))]
    return {joint.attributes.get("name", "") for joint in driven}


def _check_names(kind: str, items: Sequence[GraphLink | GraphJoint]) -> None:
    seen: dict[str, GraphLink | GraphJoint] = {}
    for item in items:
        first = seen.setdefault(item.name, item)
        if first is not item:
            raise item.element.error(
                f"a second {kind} of this name, the first is on line {first.element.line}: names must differ"
            )


def refuse_xacro(robot: Element) -> None:
    """Raise where an element is xacro's."""
    if (element := xacro_element(robot)) is not None:
        name = "xacro:" + element.tag.partition("}")[2]
        raise element.error(
            f"<{shortened(name)}> is xacro, which only robots' files may have, with the prefix xacro: run `xacro` first"
        )


def leave_namespace(robot: Element) -> None:
    """Take the root's namespace, ``<robot xmlns="http://www.ros.org">``, from all the names in it."""
    namespace = robot.tag[: robot.tag.rfind("}") + 1]
    for element in robot.walk():
        element.tag = element.tag.removeprefix(namespace)


def _link(element: Element) -> GraphLink:
    inertial = part(element, "inertial")
    return GraphLink(required(checked(element), "name"), element, None if inertial is None else _inertial(inertial))


def _inertial(element: Element) -> Inertial | None:
    for tag, instead in (("mass", "the link has no inertia"), ("inertia", "it is taken as zero")):
        if not element.all(tag):
            element.fault(f"<{tag}> is missing", instead)
    if not element.all("mass"):
        return None
    mass, inertia = magnitude(child(element, "mass"), "value"), part(element, "inertia")
    if inertia is None:
        return Inertial(mass, origin_of(element), (0.0,) * 6)
    ixx, ixy, ixz, iyy, iyz, izz = (number(inertia, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return Inertial(mass, origin_of(element), (ixx, ixy, ixz, iyy, iyz, izz))


def _joint(element: Element, driven: Collection[str] | None, free: list[str]) -> GraphJoint:
    """Return a joint, with a motor if it is one of those driven; `free` gets its name where limits are not given."""
    name = required(checked(element), "name")
    kind = required(element, "type")
    if kind not in JOINTS:
        raise element.error(f"joint type: {unknown_name('type', kind, JOINTS)}")
    dynamics = None if kind == "fixed" else part(element, "dynamics")
    if dynamics and number(dynamics, "spring_stiffness", 0.0):
        advice = f"with_joint_physics(stiffness={{{name!r}: …}}, rest_position=…) gives the joint one"
        dynamics.fault(f"spring_stiffness: URDF has no springs; {advice}", "it is not read")
    parent, other = (required(child(element, tag), "link") for tag in ("parent", "child"))
    at = origin_of(element).transform
    axis = axis_of(element) if kind in (*WITH_AXIS, "planar") else (1.0, 0.0, 0.0)
    limits, given = _limits(element) if kind in WITH_AXIS else (NO_LIMITS, True)
    if not given and kind != "continuous":
        free.append(shortened(name))
    return GraphJoint(
        name,
        element,
        kind,
        parent,
        other,
        JOINTS[kind](axis),
        at,
        limits=limits,
        damping=0.0 if dynamics is None else resistance(dynamics, "damping"),
        friction=0.0 if dynamics is None else resistance(dynamics, "friction"),
        mimic=_mimic(element),
        actuated=0.0 < limits.effort < math.inf if driven is None else name in driven,
    )


def origin_of(element: Element) -> Pose:
    """Return the pose that `<origin>` gives, none at all where there is no such element."""
    origin = part(element, "origin")
    if origin is None:
        return Pose()
    if "quat_xyzw" not in origin.attributes:
        return rpy_pose(origin)
    translation = triple(origin, "xyz", (0.0, 0.0, 0.0))  # URDF 1.1
    if "rpy" in origin.attributes:
        raise origin.error("both rpy and quat_xyzw are given: keep one of them")
    quaternion = vector(origin, "quat_xyzw", 4)
    if not any(quaternion):
        raise origin.error("quat_xyzw is zero, which is not an orientation: '0 0 0 1' is none at all")
    return Pose(quaternion_rotation(quaternion), translation)


def rpy_pose(element: Element) -> Pose:
    """Return the pose that the attributes xyz and rpy give."""
    zero = (0.0, 0.0, 0.0)
    return Pose(rpy_rotation(triple(element, "rpy", zero)), triple(element, "xyz", zero))


def axis_of(element: Element) -> Triple:
    """Return the direction that `<axis>` gives, x where there is none."""
    axis = part(element, "axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    xyz = triple(axis, "xyz")
    largest = max(map(abs, xyz))
    if largest == 0.0:
        raise axis.error(f"xyz={axis.attributes['xyz']!r}: the axis is zero and has no direction")
    if 1e-100 < largest < 1e100:
        return xyz
    x, y, z = (a / largest for a in xyz)  # so that its length neither overflows nor vanishes
    return x, y, z


def _limits(element: Element) -> tuple[JointLimits, bool]:
    """Return the limits of a joint, and whether those of its position are given: of one alone the other is 0."""
    limit = part(element, "limit")
    if limit is None:
        return NO_LIMITS, False
    velocity, effort = (_unbounded(magnitude(limit, key, math.inf, infinite=True)) for key in ("velocity", "effort"))
    if element.attributes["type"] == "continuous" or not {"lower", "upper"} & limit.attributes.keys():
        return JointLimits(velocity=velocity, effort=effort), False
    lower, upper = (_unbounded(number(limit, key, 0.0, infinite=True)) for key in ("lower", "upper"))
    if lower > upper or lower == math.inf or upper == -math.inf:
        limit.fault(
            f"the lower limit {lower} and the upper limit {upper} leave no room between them", "neither is read"
        )
        return JointLimits(velocity=velocity, effort=effort), False
    return JointLimits(lower, upper, velocity, effort), True


def finite(x: float) -> float:
    """Return a limit as files have it: the largest float64 for an infinite one."""
    return max(-sys.float_info.max, min(x, sys.float_info.max))


def _unbounded(x: float) -> float:
    """Return a limit that a file has: infinite for the largest float64."""
    return math.copysign(math.inf, x) if abs(x) >= sys.float_info.max else x


def _mimic(element: Element) -> Mimic | None:
    mimic = part(element, "mimic")
    if mimic is None:
        return None
    return Mimic(required(mimic, "joint"), number(mimic, "multiplier", 1.0), number(mimic, "offset", 0.0))
