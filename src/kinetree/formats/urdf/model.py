"""From a URDF document to a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from kinetree.errors import FormatError, KinetreeError, unknown_name
from kinetree.formats.urdf.document import Pose, UrdfInertial, UrdfJoint, UrdfLink, UrdfRobot
from kinetree.formats.warnings import NonPhysicalInertiaWarning, listed, notify
from kinetree.formats.xml.elements import shown
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

    A joint without limits has none, with a warning that names it. Inertias that no body can have (`flaw`) are used
    as given, with one `NonPhysicalInertiaWarning` that names the links. All joints have an actuator.

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
        If a number overflows on the way, or a joint mimics one that it cannot follow.
    ModelError
        If an argument is wrong.

    Examples
    --------
    >>> from kinetree.formats.urdf.document import read_urdf
    >>> model_from_urdf(read_urdf("<robot name='rock'><link name='stone'/></robot>"), floating_base=True).nv
    6
    """
    _check_mimic(robot, mimic)
    if floating_base:
        _refuse_second_floating_base(robot)
    builder = ModelBuilder(robot.name)
    for link in robot.links:
        builder.add_link(link.name, None if link.inertial is None else _inertia(link, link.inertial))
    for joint in robot.joints:
        moving = joint.type != "fixed"
        builder.add_joint(
            joint.name,
            parent=joint.parent,
            child=joint.child,
            joint=_joint(joint),
            placement=_transform(joint.origin),
            limits=_limits(joint),
            damping=joint.damping if moving else 0.0,
            friction=joint.friction if moving else 0.0,
            mimic=_leader(joint) if mimic == "follow" else None,
        )
    try:
        model = builder.build(floating_base=floating_base, base_pose=base_pose, gravity=gravity)
    except TooLargeError as error:
        raise FormatError(f"{robot.source}: {error}") from None
    _warn(robot)
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


def _leader(joint: UrdfJoint) -> tuple[str, float, float] | None:
    m = joint.mimic
    return None if m is None else (m.joint, m.multiplier, m.offset)


def _check_mimic(robot: UrdfRobot, mimic: str) -> None:
    """Raise where a joint follows one that there is not, or that does not move along one coordinate."""
    if mimic not in ("follow", "independent"):
        raise KinetreeError(f"mimic={mimic!r}: give 'follow' or 'independent'")
    if mimic == "independent":
        return
    types = {joint.name: joint.type for joint in robot.joints}
    way_out = "; mimic='independent' lets each such joint move by itself"
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        leader = joint.mimic.joint
        if leader not in types:
            raise joint.element.error(f"mimics: {unknown_name('joint', leader, types)}{way_out}")
        if types[leader] not in ("revolute", "continuous", "prismatic"):
            raise joint.element.error(f"mimics {shown(leader)!r}, a {types[leader]} joint{way_out}")


def _refuse_second_floating_base(robot: UrdfRobot) -> None:
    """Raise where the file's own floating joint at the root would be carried by another."""
    for joint in robot.joints:
        if joint.type == "floating" and joint.parent == robot.root:
            raise joint.element.error("the robot floats already, by this joint: leave floating_base=True out")


def _finite(numbers: Iterable[float]) -> bool:
    return all(math.isfinite(x) for x in numbers)


def _warn(robot: UrdfRobot) -> None:
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
    if free:
        notify(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
