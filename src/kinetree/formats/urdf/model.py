"""From a URDF document to a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kinetree.errors import FormatError, KinetreeError, listed, shortened, unknown_name
from kinetree.formats.urdf.document import (
    JOINTS,
    WITH_AXIS,
    Pose,
    UrdfInertial,
    UrdfJoint,
    UrdfLink,
    UrdfRobot,
    urdf_from_element,
)
from kinetree.formats.warnings import check_inertias, notify
from kinetree.formats.xml.elements import Element
from kinetree.model import GRAVITY, JointLimits, Model, ModelBuilder
from kinetree.model.checks import TooLargeError
from kinetree.model.tree import cycle
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
    body can have (`inertia_defect`) are used as given, with one `NonPhysicalInertiaWarning` that names the links.
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
    _warn(robot, [shortened(joint.name) for joint in followers if joint.type == "fixed"])
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
    """Return leader, multiplier and offset of each joint that mimics; `FormatError` where it cannot."""
    joints = {joint.name: joint for joint in robot.joints}
    leaders = {joint.name: (m.joint, m.multiplier, m.offset) for joint in followers if (m := joint.mimic)}
    way_out = "; mimic='independent' lets each such joint move by itself"
    for name, (leader, _, _) in leaders.items():
        element = joints[name].element
        if leader not in joints:
            raise element.error(f"mimics: {unknown_name('joint', leader, joints)}{way_out}")
        for joint, what in ((joints[name], "cannot mimic, as"), (joints[leader], f"mimics {shortened(leader)!r},")):
            if joint.type not in WITH_AXIS:
                raise element.error(f"{what} a {joint.type} joint{way_out}")
    circle = cycle({name: leader for name, (leader, _, _) in leaders.items()})
    if circle:
        by = f", through {listed([shortened(name) for name in circle[1:]])}" if circle[1:] else ""
        raise joints[circle[0]].element.error(f"mimics itself{by}: one joint must lead{way_out}")
    return leaders


def _refuse_second_floating_base(robot: UrdfRobot) -> None:
    """Raise where the file's own floating joint at the root would be carried by another."""
    for joint in robot.joints:
        if joint.type == "floating" and joint.parent == robot.root:
            raise joint.element.error("the robot floats already, by this joint: leave floating_base=True out")


def _warn(robot: UrdfRobot, fixed: list[str]) -> None:
    """Warn about inertias and limits, and about these fixed joints that should mimic others."""
    given = ((link.name, link.inertial) for link in robot.links if link.inertial)
    check_inertias(robot.source, ((name, x.mass, [list(row) for row in _moments(x).rows]) for name, x in given))
    free = [
        shortened(joint.name)
        for joint in robot.joints
        if joint.type in ("revolute", "prismatic") and joint.limit.lower is None and joint.limit.upper is None
    ]
    if fixed:
        notify(f"{robot.source}: fixed joints do not move, so that the <mimic> of these is dropped: {listed(fixed)}")
    if free:
        notify(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
