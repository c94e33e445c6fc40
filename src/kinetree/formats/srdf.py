"""SRDF: the named configurations of a robot, its group states.

Follows https://wiki.ros.org/srdf; groups, end effectors, collisions and everything unknown are passed over. Files are
as little trusted as URDF: they go through the same parser, and numbers are as strict.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from kinetree.errors import KinetreeError, listed, shortened, warn_user
from kinetree.formats.load import RobotNotFoundError, Source, read_file
from kinetree.formats.urdf.document import leave_namespace, refuse_xacro
from kinetree.formats.xml import Element, parse_xml, required, vector
from kinetree.model import Body, Model
from kinetree.model.builder import ROOT_JOINT


def read_srdf(source: Source) -> tuple[Element, dict[str, dict[str, Element]]]:
    """Return the root of a file, its path, text or bytes, and the joints of its group states by name.

    States of one name, of several groups, are parts of one.
    """
    robot = parse_xml(*_document(source))
    refuse_xacro(robot)
    leave_namespace(robot)
    if robot.tag != "robot":
        raise robot.error("an SRDF file has the root element <robot>")
    states: dict[str, dict[str, Element]] = {}
    for element in robot.all("group_state"):
        of_state = states.setdefault(required(element, "name"), {})
        for joint in element.all("joint"):
            values, first = _values(joint), of_state.setdefault(required(joint, "name"), joint)
            if _values(first) != values:
                raise joint.error(f"this state gives the joint another value on line {first.line}")
    return robot, states


def _values(joint: Element) -> tuple[float, ...]:
    return vector(joint, "value", len(required(joint, "value").split()))


def configurations_of(model: Model, source: Source) -> dict[str, list[float]]:
    """Return the group states of an SRDF file as configurations of a model, by name.

    Joints that a state does not name are at their zero, or where those that they follow put them. Those that the model
    has not are left out with one warning; so is a state without any other. The root joint of a floating base, also by
    the name of a virtual joint, is a position and a quaternion (x, y, z, w).
    """
    robot, states = read_srdf(source)
    bodies = {body.joint_name: body for body in model.bodies}
    leading = {body.joint_name for body in model.leading}
    base = {ROOT_JOINT, *(required(joint, "name") for joint in robot.all("virtual_joint"))}
    found, missing, contrary = {}, set[str](), set[str]()
    for name, joints in states.items():
        q, given = [x for body in model.leading for x in body.joint.neutral()], set[int]()
        for joint, element in sorted(joints.items(), key=lambda item: item[0] not in leading):  # followers come last
            at = ROOT_JOINT if joint in base and joint not in bodies else joint
            if at not in bodies:
                missing.update({joint} - base)
                continue
            body = bodies[at]
            own = _coordinates(body, element)
            if body.joint.follows is not None:
                (k,), (x,), (factor, offset) = body.q_index, own, body.joint.follows
                if k not in given and factor:
                    q[k] = (x - offset) / factor
                elif not math.isclose(factor * q[k] + offset, x, rel_tol=1e-3, abs_tol=1e-3):
                    contrary.add(joint)
            else:
                for k, x in zip(body.q_index, own, strict=True):
                    q[k] = x
            given.update(body.q_index)
        if given:
            found[name] = q
    if missing:
        names = listed([shortened(name) for name in sorted(missing)])
        warn_user(f"{robot.source}: the robot has no moving joints of these names; its states leave them out: {names}")
    if contrary:
        names = listed([shortened(name) for name in sorted(contrary)])
        warn_user(f"{robot.source}: these joints follow others, whose values in its states put them elsewhere: {names}")
    return found


def _coordinates(body: Body, element: Element) -> Sequence[float]:
    """Return a joint's coordinates with unit quaternions."""
    joint, values = body.joint, _values(element)
    if len(values) != joint.nq:
        raise element.error(f"{len(values)} numbers are given; joint {body.joint_name!r} has {joint.nq} coordinates")
    if joint.nq == joint.nv:
        return values
    try:
        unit = [float(x) for x in joint.integrate(values, [0.0] * joint.nv)]
    except ZeroDivisionError:
        unit = []
    if not unit or any(x != x for x in unit):
        raise element.error("its quaternion is zero, which is not an orientation: '0 0 0 1' is none at all")
    return unit


def _document(source: Source) -> tuple[str | bytes, str]:
    """Return the document, and its name for messages."""
    if isinstance(source, bytes | bytearray):
        return bytes(source), "<bytes>"
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source, "<string>"
    if isinstance(source, str | os.PathLike):
        if not os.path.exists(source):
            raise RobotNotFoundError(f"srdf: no file {shortened(os.fspath(source))!r}; looked from {os.getcwd()}")
        return read_file(os.fspath(source)), str(source)
    raise KinetreeError(f"srdf takes the path of a file, or its text; {type(source).__name__} was given")
