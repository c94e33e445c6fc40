"""From a URDF document to a model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kinetree.errors import FormatError, KinetreeError, listed, shortened, unknown_name, warn_user
from kinetree.formats.urdf.document import (
    JOINTS,
    WITH_AXIS,
    Pose,
    UrdfInertial,
    UrdfJoint,
    UrdfLimit,
    UrdfLink,
    UrdfRobot,
    urdf_from_element,
)
from kinetree.formats.xml.elements import Element
from kinetree.model import GRAVITY, JointLimits, Model, ModelBuilder
from kinetree.model.body import WORLD
from kinetree.model.checks import TooLargeError
from kinetree.model.physical import check_inertias, inertia_defect, is_body
from kinetree.model.tree import cycles
from kinetree.spatial import GeneralRotation, Inertia, Mat3, Sym3, Transform

TOO_LARGE = "its numbers are too large: URDF is in kilograms and metres"


def model_from_urdf(
    robot: UrdfRobot,
    *,
    floating_base: bool = False,
    base_pose: Sequence[Sequence[float]] | None = None,
    gravity: Sequence[float] = GRAVITY,
    mimic: str = "follow",
) -> Model:
    """Return the model of a URDF document.

    A joint without limits has none, and a fixed joint mimics none, with a warning that names it. Inertias that no
    body can have (`inertia_defect`) are used as given, with one `NonPhysicalInertiaWarning` that names the links
    (not those fixed to the world, nor point masses, rods and the like that a body of several links has as a part).
    All joints have an actuator. `kinetree.load` documents the options.

    Raises
    ------
    FormatError
        If a number overflows, or a joint mimics one that it cannot follow, or cannot mimic any.
    ModelError
        If an argument is wrong.

    Examples
    --------
    >>> from kinetree.formats.urdf.document import read_urdf
    >>> model_from_urdf(read_urdf("<robot name='rock'><link name='stone'/></robot>"), floating_base=True).nv
    6
    """
    if mimic not in ("follow", "independent"):
        raise KinetreeError(f"mimic={mimic!r}: give 'follow' or 'independent'")
    followers = [joint for joint in robot.joints if joint.mimic is not None] if mimic == "follow" else []
    leaders = _leaders(robot, [joint for joint in followers if joint.type != "fixed"])
    if floating_base:
        _refuse_second_floating_base(robot)
    builder = ModelBuilder(robot.name)
    for link in robot.links:
        builder.add_link(link.name, None if link.inertial is None else _inertia(link, link.inertial))
    for joint in robot.joints:
        builder.add_joint(
            joint.name,
            parent=joint.parent,
            child=joint.child,
            joint=JOINTS[joint.type](joint.axis),
            placement=_transform(joint.origin),
            limits=_limits(joint),
            damping=joint.damping,
            friction=joint.friction,
            mimic=leaders.get(joint.name),
        )
    try:
        model = builder.assemble(floating_base=floating_base, base_pose=base_pose, gravity=gravity)
    except TooLargeError as error:
        raise FormatError(f"{robot.source}: {error}") from None
    _warn(robot, model, [shortened(joint.name) for joint in followers if joint.type == "fixed"])
    return model


def model_from_element(root: Element, **options: Any) -> Model:
    """Return the model of a URDF document from its root element; takes the options of `model_from_urdf`."""
    return model_from_urdf(urdf_from_element(root), **options)


def _transform(pose: Pose) -> Transform:
    return Transform.placed(pose.rotation, pose.translation)


def _limits(joint: UrdfJoint) -> JointLimits:
    return JointLimits(**{key: value for key, value in vars(joint.limit).items() if value is not None})


def _moments(inertial: UrdfInertial) -> Sym3:
    """Return the inertia about the centre of mass, in the link's axes."""
    ixx, ixy, ixz, iyy, iyz, izz = inertial.moments
    to_inertial_axes = GeneralRotation(Mat3.of(inertial.origin.rotation).T)
    return to_inertial_axes.sym_to_a(Sym3(ixx, ixy, iyy, ixz, iyz, izz))


def _inertia(link: UrdfLink, inertial: UrdfInertial) -> Inertia:
    inertia = Inertia.from_com(inertial.mass, inertial.origin.translation, _moments(inertial).rows)
    if not all(map(math.isfinite, inertia)):
        raise link.element.error(f"the inertia about the link's origin overflows; {TOO_LARGE}")
    return inertia


def _leaders(robot: UrdfRobot, followers: Sequence[UrdfJoint]) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of each joint that mimics; one that cannot is a fault of the file."""
    joints = {joint.name: joint for joint in robot.joints}
    leaders = {joint.name: (m.joint, m.multiplier, m.offset) for joint in followers if (m := joint.mimic)}
    for name, (leader, _, _) in list(leaders.items()):
        if (flaw := _mimic_flaw(joints[name], leader, joints)) is not None:
            _not_followed(joints[name], flaw)
            del leaders[name]
    for circle in list(cycles({name: leader for name, (leader, _, _) in leaders.items()})):
        by = f", through {listed([shortened(name) for name in circle[1:]])}" if circle[1:] else ""
        _not_followed(joints[circle[0]], f"mimics itself{by}: one joint must lead")
        del leaders[circle[0]]
    return leaders


def _mimic_flaw(joint: UrdfJoint, leader: str, joints: Mapping[str, UrdfJoint]) -> str | None:
    if leader not in joints:
        return f"mimics: {unknown_name('joint', leader, joints)}"
    if joint.type not in WITH_AXIS:
        return f"cannot mimic, as a {joint.type} joint"
    other = joints[leader].type
    return None if other in WITH_AXIS else f"mimics {shortened(leader)!r}, a {other} joint"


def _not_followed(joint: UrdfJoint, flaw: str) -> None:
    way_out = "" if joint.element.lenient else "; mimic='independent' lets each such joint move by itself"
    joint.element.fault(flaw + way_out, "it moves by itself")


def _refuse_second_floating_base(robot: UrdfRobot) -> None:
    """Raise where the file's own floating joint at the root would be carried by another."""
    for joint in robot.joints:
        if joint.type == "floating" and joint.parent == robot.root:
            raise joint.element.error("the robot floats already, by this joint: leave floating_base=True out")


def _inertias(robot: UrdfRobot, model: Model) -> Iterator[tuple[str, float, list[list[float]]]]:
    """Yield name, mass and moments of the links whose inertias have to be a body's.

    Nobody feels those of links fixed to the world. A point mass or a rod may be a part of a body.
    """
    carriers = {frame.name: frame.body for frame in model.frames}
    whole = [is_body(body.inertia) for body in model.bodies]
    for link in robot.links:
        body = carriers[link.name]
        if link.inertial is not None and body != WORLD:
            moments = [list(row) for row in _moments(link.inertial).rows]
            if not (whole[body] and inertia_defect(1.0, moments, ideal=True) is None):
                yield link.name, link.inertial.mass, moments


def _warn(robot: UrdfRobot, model: Model, fixed: list[str]) -> None:
    """Warn about inertias and limits, and about these fixed joints that should mimic others."""
    check_inertias(robot.source, _inertias(robot, model))
    free = [
        shortened(joint.name)
        for joint in robot.joints
        if joint.type in ("revolute", "prismatic") and joint.limit.lower is None and joint.limit.upper is None
    ]
    if fixed:
        warn_user(f"{robot.source}: fixed joints do not move, so that the <mimic> of these is dropped: {listed(fixed)}")
    if free:
        warn_user(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
    degrees = [shortened(joint.name) for joint in robot.joints if joint.type == "revolute" and _in_degrees(joint.limit)]
    if degrees:
        warn_user(
            f"{robot.source}: the position limits of {listed(degrees)} look like degrees; they are read as radians"
        )


def _in_degrees(limit: UrdfLimit) -> bool:
    """Return whether limits are whole numbers, and some beyond two turns if they are radians."""
    bounds = [x for x in (limit.lower, limit.upper) if x is not None and math.isfinite(x)]
    return all(x == int(x) for x in bounds) and any(4 * math.pi < abs(x) <= 720 for x in bounds)
