"""The joints of a robot: what each is, and where its entries are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.model import JointLimits

if TYPE_CHECKING:
    from kinetree.robot.robot import Robot


@dataclass(frozen=True)
class JointInfo:
    """A joint of a robot, and where its entries are.

    Attributes
    ----------
    name : str
    type : str
        Name of its class in `kinetree.joints`.
    body : str
        The body that it moves.
    q_slice, v_slice : slice
        Its entries in q, and in v, a and tau.
    limits : JointLimits
    damping, friction, armature : float
        Of each of its degrees of freedom (damping and friction are not used unless asked for).
    """

    name: str
    type: str
    body: str
    q_slice: slice
    v_slice: slice
    limits: JointLimits
    damping: float
    friction: float
    armature: float


def joint(robot: Robot, name: str) -> JointInfo:
    """Return the properties of a joint.

    Raises
    ------
    ModelError
        If there is no joint of that name; the message has the nearest ones.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("panda").joint("panda_joint2").q_slice
    slice(1, 2, None)
    """
    body = robot.model.bodies[robot.model.body_of_joint(name)]
    q, v = body.q_index, body.v_index
    return JointInfo(
        name,
        type(body.joint).__name__,
        body.name,
        slice(q[0], q[-1] + 1),
        slice(v[0], v[-1] + 1),
        body.limits,
        float(body.damping[0]),
        float(body.friction[0]),
        float(body.armature[0]),
    )
