"""From a URDF document to a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from kinetree.errors import FormatError, KinetreeError, unknown_name
from kinetree.formats.urdf.document import WITH_AXIS, Pose, UrdfInertial, UrdfJoint, UrdfLink, UrdfRobot
from kinetree.formats.warnings import NonPhysicalInertiaWarning, listed, notify
from kinetree.formats.xml.elements import shown
from kinetree.formats.xml.tree import cycle
from kinetree.joints import Continuous, Fixed, FreeFlyer, Joint, Planar, Prismatic, Revolute
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.model.checks import TooLargeError
from kinetree.model.physical import flaw
from kinetree.spatial import GeneralRotation, Inertia, Mat3, Sym3, Transform

TOO_LARGE = "its numbers are too large: URDF is in kilograms and metres"


def model_from_urdf(
    robot: UrdfRobot,
    *,
    floating_base: bool = False,
    base_pose: Sequence[Sequence[float]] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    mimic: str = "follow",
) -> Model:
    """Return the model of a URDF document.

    A joint without limits has none, and a fixed joint mimics none, with a warning that names it. Inertias that no
    body can have (`flaw`) are used as given, with one `NonPhysicalInertiaWarning` that names the links. All joints
    have an actuator.

    Parameters
    ----------
    robot : UrdfRobot
    floating_base : bool
        Put a free-flyer between the world and the root link.
    base_pose : (4, 4) array-like, optional
        Pose of the root link in the world, for a fixed base.
    gravity : 3 floats
        In the world's axes, m/s².
    mimic : {"follow", "independent"}
        Whether joints that mimic others have no coordinate of their own, or each moves by itself.

    Raises
    ------
    FormatError
        If a number overflows on the way, or a joint mimics one that it cannot follow, or cannot mimic any.
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
            joint=_joint(joint),
            placement=_transform(joint.origin),
            limits=_limits(joint),
            damping=joint.damping,
            friction=joint.friction,
            mimic=leaders.get(joint.name),
        )
    try:
        model = builder.build(floating_base=floating_base, base_pose=base_pose, gravity=gravity)
    except TooLargeError as error:
        raise FormatError(f"{robot.source}: {error}") from None
    _warn(robot, [shown(joint.name) for joint in followers if joint.type == "fixed"])
    return model


def _joint(joint: UrdfJoint) -> Joint:
    match joint.type:
        case "revolute":
            return Revolute(joint.axis)
        case "continuous":
            return Continuous(joint.axis)
        case "prismatic":
            return Prismatic(joint.axis)
        case "planar":
            return Planar(joint.axis)
        case "floating":
            return FreeFlyer()
        case _:
            return Fixed()


def _transform(pose: Pose) -> Transform:
    return Transform.placed(pose.rotation, pose.translation)


def _limits(joint: UrdfJoint) -> JointLimits:
    limit = joint.limit
    return JointLimits(
        lower=-math.inf if limit.lower is None else limit.lower,
        upper=math.inf if limit.upper is None else limit.upper,
        velocity=math.inf if limit.velocity is None else limit.velocity,
        effort=math.inf if limit.effort is None else limit.effort,
    )


def _moments(inertial: UrdfInertial) -> Sym3:
    """Return the inertia about the centre of mass, in the link's axes."""
    ixx, ixy, ixz, iyy, iyz, izz = inertial.moments
    to_inertial_axes = GeneralRotation(Mat3.of(inertial.origin.rotation).T)
    return to_inertial_axes.sym_to_a(Sym3(ixx, ixy, iyy, ixz, iyz, izz))


def _inertia(link: UrdfLink, inertial: UrdfInertial) -> Inertia:
    inertia = Inertia.from_com(inertial.mass, inertial.origin.translation, _moments(inertial).rows)
    if not _finite(inertia):
        raise link.element.error(f"the inertia about the link's origin overflows; {TOO_LARGE}")
    return inertia


def _leaders(robot: UrdfRobot, followers: Sequence[UrdfJoint]) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of each joint that mimics.

    Raises
    ------
    FormatError
        Where a joint follows one that there is not, or itself, or one of the two moves not along one coordinate.
    """
    joints = {joint.name: joint for joint in robot.joints}
    leaders = {joint.name: (m.joint, m.multiplier, m.offset) for joint in followers if (m := joint.mimic)}
    way_out = "; mimic='independent' lets each such joint move by itself"
    for name, (leader, _, _) in leaders.items():
        element = joints[name].element
        if leader not in joints:
            raise element.error(f"mimics: {unknown_name('joint', leader, joints)}{way_out}")
        for joint, what in ((joints[name], "cannot mimic, as"), (joints[leader], f"mimics {shown(leader)!r},")):
            if joint.type not in WITH_AXIS:
                raise element.error(f"{what} a {joint.type} joint{way_out}")
    circle = cycle({name: leader for name, (leader, _, _) in leaders.items()})
    if circle:
        by = f", by way of {listed([shown(name) for name in circle[1:]])}" if circle[1:] else ""
        raise joints[circle[0]].element.error(f"mimics itself{by}: one joint must lead{way_out}")
    return leaders


def _refuse_second_floating_base(robot: UrdfRobot) -> None:
    """Raise where the file's own floating joint at the root would be carried by another."""
    for joint in robot.joints:
        if joint.type == "floating" and joint.parent == robot.root:
            raise joint.element.error("the robot floats already, by this joint: leave floating_base=True out")


def _finite(numbers: Iterable[float]) -> bool:
    return all(math.isfinite(x) for x in numbers)


def _warn(robot: UrdfRobot, fixed: list[str]) -> None:
    """Warn about inertias and limits, and about these fixed joints that should mimic others."""
    flawed: dict[str, list[str]] = {}
    for link in robot.links:
        if link.inertial:
            reason = flaw(link.inertial.mass, [list(row) for row in _moments(link.inertial).rows])
            if reason:
                flawed.setdefault(reason, []).append(shown(link.name))
    if flawed:
        told = "; ".join(f"{reason}: {listed(names)}" for reason, names in flawed.items())
        notify(f"{robot.source}: no body has these inertias; they are used as given. {told}", NonPhysicalInertiaWarning)
    free = [
        shown(joint.name)
        for joint in robot.joints
        if joint.type in ("revolute", "prismatic") and joint.limit.lower is None and joint.limit.upper is None
    ]
    if fixed:
        notify(f"{robot.source}: fixed joints do not move, so that the <mimic> of these is dropped: {listed(fixed)}")
    if free:
        notify(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
