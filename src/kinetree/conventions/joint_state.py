"""ROS's ``sensor_msgs/JointState``: joints by name, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.options import names_of
from kinetree.robot import Robot
from kinetree.validation import Array, real_array


class JointState(NamedTuple):
    """The fields of a ``sensor_msgs/JointState``; (..., n) arrays, None for a field that is empty."""

    name: list[str]
    position: Array
    velocity: Array | None
    effort: Array | None


class State(NamedTuple):
    """What a message says of the robot: q, v and tau, None for a field that is empty."""

    q: Array
    v: Array | None
    tau: Array | None


def to_joint_state(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> JointState:
    """Return the joints' positions, velocities and efforts with their names.

    Joints of one degree of freedom, mimic joints too (their effort is zero: the leader's counts for all). Others, such
    as a floating base, have no place in the message.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
    v, tau : (..., nv) array, optional

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> message = to_joint_state(robot, robot.neutral())
    >>> message.name[0], message.position.shape, message.velocity
    ('FL_hip_joint', (12,), None)
    """
    bodies = [body for body in robot.model.bodies if len(body.q_index) == 1]
    qs, vs = [body.q_index[0] for body in bodies], [body.v_index[0] for body in bodies]
    leads = np.array([body.joint_name in robot.joint_names for body in bodies], dtype=bool)
    factor = np.where(leads, 1.0, [getattr(body.joint, "factor", 1.0) for body in bodies])
    offset = np.where(leads, 0.0, [getattr(body.joint, "offset", 0.0) for body in bodies])
    position = real_array("q", q, robot.nq)[..., qs] * factor + offset
    velocity = None if v is None else real_array("v", v, robot.nv)[..., vs] * factor
    effort = None if tau is None else np.where(leads, real_array("tau", tau, robot.nv)[..., vs], 0.0)
    return JointState([body.joint_name for body in bodies], position, velocity, effort)


def from_joint_state(
    robot: Robot,
    name: Sequence[str],
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    *,
    start: State | None = None,
) -> State:
    """Return q, v and tau from the fields of a message.

    Joints may come in any order; names that the robot does not have are passed over, and so are mimic joints. Empty
    fields are missing ones, as in ROS.

    Parameters
    ----------
    robot : Robot
    name : sequence of str
    position, velocity, effort : (..., n) array
    start : State, optional
        Where to begin: what the message does not name keeps its values from here. Without it the message must name all
        joints of one degree of freedom, and the others (a floating base, which no such message has) are at the
        neutral configuration and at rest.

    Raises
    ------
    ArgumentError
        If joints are missing or named twice, or a field is not as long as the names.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> names = sorted(robot.joint_names, reverse=True)
    >>> q, v, tau = from_joint_state(robot, names, [7, 6, 5, 4, 3, 2, 1])
    >>> print(q, v)
    [1. 2. 3. 4. 5. 6. 7.] None
    """
    names = names_of("name", name)
    twice = sorted({x for x in names if names.count(x) > 1})
    if twice:
        raise ArgumentError(f"the joint state names {twice} twice")
    single = {body.joint_name: body for body in robot.model.leading if len(body.q_index) == 1}
    missing = [x for x in single if x not in names]
    if missing and start is None:
        raise ArgumentError(f"the joint state lacks {missing}: give start=, the state that they keep, or wait for them")
    if start is None and single and np.size(position) == 0:
        raise ArgumentError("the joint state has no positions: give start=, the state that they keep")
    at = [k for k, x in enumerate(names) if x in single]
    qs, vs = ([getattr(single[names[k]], of)[0] for k in at] for of in ("q_index", "v_index"))
    began = State(robot.neutral(), None, None) if start is None else start

    def filled(field: str, given: ArrayLike | None, before: Array | None, index: list[int]) -> Array | None:
        if given is None or (np.size(given) == 0 and names):
            return before
        values = real_array(f"the joint state's {field}", given, len(names))[..., at]
        base = np.zeros(robot.nv) if before is None else np.asarray(before, dtype=np.float64)
        out = np.empty((*np.broadcast_shapes(values.shape[:-1], base.shape[:-1]), base.shape[-1]))
        out[...] = base
        out[..., index] = values
        return out

    q = filled("position", position, began.q, qs)
    assert q is not None
    return State(q, filled("velocity", velocity, began.v, vs), filled("effort", effort, began.tau, vs))
