"""The joints and frames of a robot: what each is, where it is, and where its entries are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.model import WORLD, Body, JointLimits, Model
from kinetree.robot.base import BaseRobot
from kinetree.spatial import Transform
from kinetree.validation import Array


@dataclass(frozen=True)
class JointInfo:
    """A joint of a robot, and where its entries are.

    Attributes
    ----------
    name : str
    type : str
        Name of its class in `kinetree.joints`.
    axis : (float, float, float) or None
        Its axis in the joint's frame and in the child's, if it has one.
    parent : str
        What carries it: a moving body, the root link of a fixed base, or ``"world"``. A link fixed to a body is a part
        of that body.
    child, body : str
        The body that it moves.
    placement : (4, 4) array
        Pose of the joint's frame in the parent's frame: that of the child's frame where the joint is at zero.
    mimic : (str, float, float) or None
        The joint that it follows, the factor and the offset, if it follows one; the slices are that joint's.
    q_slice, v_slice : slice
        Its entries in q, and in v, a and tau.
    limits : JointLimits
    damping, friction, armature : float, or tuple of floats
        As its coordinate feels them: of a joint that follows another one, at the other's speed. One each for several
        degrees of freedom. Damping and friction are not used unless asked for (`Robot.with_friction`).
    stiffness, rest_position : float
        Of its spring (N·m/rad, N/m; rad, m), as its coordinate feels it; zero where there is none.
    """

    name: str
    type: str
    axis: tuple[float, float, float] | None
    parent: str
    body: str
    placement: Array = field(compare=False)
    mimic: tuple[str, float, float] | None
    q_slice: slice
    v_slice: slice
    limits: JointLimits
    damping: float | tuple[float, ...]
    friction: float | tuple[float, ...]
    armature: float | tuple[float, ...]
    stiffness: float
    rest_position: float

    @property
    def child(self) -> str:
        """The body that it moves."""
        return self.body


@dataclass(frozen=True)
class FrameInfo:
    """A frame of a robot: a link of its file, or one that was added.

    Attributes
    ----------
    name : str
    body : str or None
        The moving body that it is fixed to; None where it is fixed to the world.
    joint : str or None
        The joint that carries this body.
    placement : (4, 4) array
        Its pose in the body's frame, or in the world.
    """

    name: str
    body: str | None
    joint: str | None
    placement: Array = field(compare=False)


def joint(robot: BaseRobot, name: str) -> JointInfo:
    """Return the properties of a joint.

    Raises
    ------
    ModelError
        If there is no joint of that name; the message has the nearest ones.

    Examples
    --------
    >>> import kinetree as kt
    >>> joint = kt.load("panda").joint("panda_joint2")
    >>> joint.q_slice, joint.axis, joint.parent, joint.child
    (slice(1, 2, None), (0.0, 0.0, 1.0), 'panda_link1', 'panda_link2')
    """
    model = robot.model
    body = model.bodies[model.body_of_joint(name)]
    axis = getattr(body.joint.alone, "axis", None)
    parent, X = _parent(model, body)
    q, v = body.q_index, body.v_index
    figures = [body.damping, body.friction, body.armature]
    damping, friction, armature = (float(x[0]) if len(x) == 1 else tuple(map(float, x)) for x in figures)
    return JointInfo(
        name,
        type(body.joint).__name__,
        None if axis is None else tuple(map(float, axis)),  # type: ignore[arg-type]  # three
        parent,
        body.name,
        _pose(X),
        _mimic(model, body),
        slice(q[0], q[-1] + 1),
        slice(v[0], v[-1] + 1),
        body.limits,
        damping,
        friction,
        armature,
        float(body.spring.stiffness),
        float(body.spring.rest),
    )


def frame(robot: BaseRobot, name: str) -> FrameInfo:
    """Return the body that carries a frame, and the frame's pose in it.

    Raises
    ------
    ModelError
        If there is no frame of that name; the message has the nearest ones.

    Examples
    --------
    >>> import kinetree as kt
    >>> hand = kt.load("panda").frame("panda_hand")
    >>> hand.body, hand.joint, hand.placement[:3, 3]
    ('panda_link7', 'panda_joint7', array([0.   , 0.   , 0.107]))
    """
    found = robot.model.frame(name)
    if found.body == WORLD:
        return FrameInfo(name, None, None, _pose(found.X))
    body = robot.model.bodies[found.body]
    return FrameInfo(name, body.name, body.joint_name, _pose(found.X))


def _parent(model: Model, body: Body) -> tuple[str, Transform]:
    """Return the link that carries a body, and the transform from there to the joint's frame."""
    if body.parent != WORLD:
        return model.bodies[body.parent].name, body.X_T
    root = model.frame(model.root)
    return ("world", body.X_T) if root.body != WORLD else (root.name, body.X_T @ root.X.inverse())


def _mimic(model: Model, body: Body) -> tuple[str, float, float] | None:
    if body.joint.follows is None:
        return None
    factor, offset = body.joint.follows
    return model.leader(body).joint_name, float(factor), float(offset)


def _pose(X: Transform) -> Array:
    pose = np.array(X.placement, dtype=np.float64) + 0.0  # no negative zeros
    pose.flags.writeable = False
    return pose
