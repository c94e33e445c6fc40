"""What extensions of URDF say of closed loops, and which joints have motors.

``<loop_joint>`` is NVIDIA Isaac Sim's, and was Drake's: it joins two links at a place in each. ``<loop>`` is URDF+'s
(Chignoli et al. 2024, arXiv 2411.19753). A ``<joint>`` in ``<gazebo>`` is one of SDFormat, which Gazebo adds
(https://classic.gazebosim.org/tutorials?tut=kinematic_loop): it is where the links are while all joints are at zero.
``<drake:ball_constraint>`` is Drake's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kinetree.errors import shortened, unknown_name
from kinetree.formats.graph import GraphJoint, Pose
from kinetree.formats.sdf.frames import MODEL, without_rounding
from kinetree.formats.sdf.joints import ball_constraint, is_ball_constraint, joint_of
from kinetree.formats.sdf.values import pose, text
from kinetree.formats.urdf.document import JOINTS, axis_of, checked, child, origin_of, rpy_pose
from kinetree.formats.xml import Element, Triple, required
from kinetree.joints import Joint, Spherical
from kinetree.spatial import Transform, Vec3

CLOSING: Final[dict[str, Callable[[Triple], Joint]]] = {
    **{name: joint for name, joint in JOINTS.items() if name != "floating"},
    "spherical": lambda _: Spherical(),
}
"""The joint types that may close a loop."""
ENDS: Final[dict[str, tuple[str, str, Callable[[Element], Pose]]]] = {
    "loop_joint": ("link1", "link2", rpy_pose),
    "loop": ("predecessor", "successor", origin_of),
}
"""The elements that close a loop, with their two ends, and how the place in a link is read."""


def loop_joints(robot: Element, joints: Sequence[GraphJoint]) -> list[GraphJoint]:
    """Return the joints that extensions add to these ones, in file order."""
    found: list[GraphJoint] = []
    names = {joint.name: joint.element for joint in joints}
    links = {link.attributes.get("name", ""): link for link in robot.all("link")}
    balls, poses = 0, _poses(joints)
    for element in robot.children:
        if element.tag == "coupling":
            message = "a <coupling> of URDF+ is not read: delete it, and couple the joints by a kinetree.Gear"
            element.fault(message, "the joints are not coupled")
        elif element.tag in ENDS:
            found.append(_closing(checked(element), *ENDS[element.tag]))
        elif is_ball_constraint(element):
            balls += 1
            found.append(ball_constraint(element, f"ball_constraint_{balls}", "", links))
        elif element.tag == "gazebo":
            found.extend(_of_gazebo(joint, poses) for joint in element.all("joint"))
    for joint in found:
        first = names.setdefault(joint.name, joint.element)
        if first is not joint.element:
            raise joint.element.error(f"a second joint of this name, the first is on line {first.line}")
    return found


def _closing(element: Element, first: str, second: str, place: Callable[[Element], Pose]) -> GraphJoint:
    kind, ends = required(element, "type"), [child(element, tag) for tag in (first, second)]
    if kind == "floating":
        raise element.error("a floating joint bears no force, so that it closes nothing: delete this one")
    if kind not in CLOSING:
        raise element.error(f"joint type: {unknown_name('type', kind, CLOSING)}")
    parent, other = (required(end, "link") for end in ends)
    at, in_other = (place(end).transform for end in ends)
    joint = CLOSING[kind](axis_of(element))
    return GraphJoint(required(element, "name"), element, kind, parent, other, joint, at, in_other, closes=True)


def _poses(joints: Sequence[GraphJoint]) -> dict[str, Transform]:
    """Return the transforms from the root to the links while all joints are at zero."""
    carried: dict[str, list[GraphJoint]] = {}
    for joint in joints:
        carried.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in joints}
    poses = {joint.parent: Transform.identity() for joint in joints if joint.parent not in children}
    waiting = list(poses)
    while waiting:
        parent = waiting.pop()
        for joint in carried.get(parent, ()):
            if joint.child not in poses:
                poses[joint.child] = joint.in_parent @ poses[parent]
                waiting.append(joint.child)
    return poses


def _of_gazebo(element: Element, poses: Mapping[str, Transform]) -> GraphJoint:
    """Return a joint of SDFormat between links of a URDF."""
    name, at = required(element, "name"), pose(element)
    parent, carried = (text(element, tag) for tag in ("parent", "child"))
    for tag, link in (("parent", parent), ("child", carried)):
        if link not in poses:
            raise element.error(f"{tag} link: {unknown_name('link', link, poses)}")
    if at.frame:
        raise element.error("relative_to is not read here: give the pose in the child link")
    in_child = at.pose.transform
    X = in_child @ poses[carried]

    def turn(frame: str, direction: Triple) -> Triple:
        if frame not in ("", MODEL, *poses):
            raise element.error(f"expressed_in: no frame {shortened(frame)!r}")
        base = poses.get(frame, Transform.identity()) if frame else X
        x, y, z = without_rounding(base, X).E.to_a(Vec3(*direction))
        return float(x), float(y), float(z)

    joint = joint_of(element, name, (parent, carried), (without_rounding(X, poses[parent]), in_child), turn)
    if joint.spring.stiffness or joint.mimic:
        raise element.error("a joint that closes a loop has no coordinate, and so neither a spring nor a <mimic>")
    return joint._replace(closes=True)
