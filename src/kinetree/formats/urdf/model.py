"""From a URDF document to a graph of links and joints, and to a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Final

from kinetree.errors import listed, shortened, warn_user
from kinetree.formats.graph import GraphJoint, KinematicGraph, model_of
from kinetree.formats.urdf.document import JOINTS, UrdfJoint, UrdfRobot, parts_from_element
from kinetree.formats.xml import Element
from kinetree.lazy import lazy_method
from kinetree.model import GRAVITY, JointLimits, Model

loop_joints = lazy_method("kinetree.formats.urdf.loops", "loop_joints")

WITHOUT_JOINTS: Final = {"link", "material", "ros2_control", "transmission", "joint"}
"""The elements that add no joint but their own: the reader of all others is imported where there are any."""


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
    graph = _graph(robot, robot.links[0].element.parent or robot.links[0].element)
    return model_of(graph.with_mimic(mimic), floating_base=floating_base, base_pose=base_pose, gravity=gravity)


def graph_from_element(root: Element) -> KinematicGraph:
    """Return the graph of a URDF document from its root element, with the joints that its extensions add."""
    return _graph(parts_from_element(root), root)


def _graph(robot: UrdfRobot, element: Element) -> KinematicGraph:
    driven = motors(element)
    joints = tuple(_joint(joint, driven) for joint in robot.joints)
    free = [
        shortened(joint.name)
        for joint in robot.joints
        if joint.type in ("revolute", "prismatic") and joint.limit.lower is None and joint.limit.upper is None
    ]
    if free:
        warn_user(f"{robot.source}: no position limits are given for {listed(free)}; taken as unlimited")
    if any(child.tag not in WITHOUT_JOINTS for child in element.children):
        joints = (*joints, *loop_joints(element, joints))
    return KinematicGraph(robot.name, element, robot.links, joints)


def motors(robot: Element) -> set[str] | None:
    """Return the joints that transmissions or ros2_control drive; None where the file has neither."""
    transmitted = [joint for block in robot.all("transmission") for joint in block.all("joint")]
    controlled = [joint for block in robot.all("ros2_control") for joint in block.all("joint")]
    if not transmitted and not controlled:
        return None
    driven = [*transmitted, *(joint for joint in controlled if joint.all("command_interface"))]
    return {joint.attributes.get("name", "") for joint in driven}


def _joint(joint: UrdfJoint, driven: Collection[str] | None) -> GraphJoint:
    return GraphJoint(
        name=joint.name,
        element=joint.element,
        type=joint.type,
        parent=joint.parent,
        child=joint.child,
        joint=JOINTS[joint.type](joint.axis),
        in_parent=joint.origin.transform,
        limits=JointLimits(**{key: value for key, value in vars(joint.limit).items() if value is not None}),
        damping=joint.damping,
        friction=joint.friction,
        mimic=joint.mimic,
        actuated=0.0 < (joint.limit.effort or 0.0) < inf if driven is None else joint.name in driven,
    )
