"""Conversion of states to another library: joints matched by name, coordinates converted joint by joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.joints import Joint
from kinetree.model import Body
from kinetree.robot import Robot
from kinetree.validation import Array, real_array

SWAP = [3, 4, 5, 0, 1, 2]
"""Angular first to linear first, and back."""


def same(q: Array) -> Array:
    """Return q: a joint whose coordinates are the same in both libraries."""
    return q


@dataclass(frozen=True)
class Rule:
    """The representation of a joint type in a library.

    Attributes
    ----------
    nq : int
        Coordinates of the joint there.
    to_q, from_q : callable
        Our coordinates (..., nq) as theirs, and back.
    order : tuple of int
        Which of our velocities each of theirs is.
    world_axes : bool
        Whether their first three velocities are the origin's velocity in the axes of the joint's frame, not the body's
        (a free joint of MuJoCo).
    """

    nq: int
    to_q: Callable[[Array], Array]
    from_q: Callable[[Array], Array]
    order: tuple[int, ...]
    world_axes: bool = False

    @classmethod
    def plain(cls, joint: type[Joint]) -> Rule:
        """Return the rule for a joint type with the same coordinates and velocities in both."""
        return cls(joint.nq, same, same, tuple(range(joint.nv)))


@dataclass(frozen=True)
class Slot:
    """A joint, and where it is in both libraries."""

    rule: Rule
    q: list[int]  # our entries
    v: list[int]  # ours, in their order
    their_q: list[int]
    their_v: list[int]


class Convention:
    """The map between the states of a robot here and in another library.

    Every method takes the configuration first, in the library's coordinates where the other arguments are: ``to_…``
    takes kinetree's and returns theirs, ``from_…`` the reverse. All take leading batch axes that broadcast.

    Attributes
    ----------
    robot : Robot
    nq, nv : int
        Lengths of q and v in the other library.
    """

    library: ClassVar[str]
    rules: ClassVar[dict[type[Joint], Rule]]
    """The representation of each joint type. Other types are refused; add a row for a type of your own."""

    def __init__(self, robot: Robot, joint_names: Sequence[str]) -> None:
        self.robot = robot
        self._slots: list[Slot] = []
        self.nq = self.nv = 0
        for body in matched(robot, joint_names, self.library):
            rule = self._rule(body)
            v = [body.v_index[k] for k in rule.order]
            their_q, their_v = (list(range(at, at + n)) for at, n in ((self.nq, rule.nq), (self.nv, len(v))))
            self._slots.append(Slot(rule, list(body.q_index), v, their_q, their_v))
            self.nq, self.nv = self.nq + rule.nq, self.nv + len(v)

    def _rule(self, body: Body) -> Rule:
        """Return the library's representation of this body's joint."""
        kind = type(body.joint)
        if kind not in self.rules:
            known = ", ".join(joint.__name__ for joint in self.rules)
            raise ModelError(f"{self._no_joint_like(body)}: it has {known}, and what {type(self).__name__}.rules adds")
        return self.rules[kind]

    def _no_joint_like(self, body: Body) -> str:
        return f"{self.library} has no joint like {body.joint_name!r} ({type(body.joint).__name__})"

    # -- states -------------------------------------------------------------------------------------------------

    def to_q(self, q: ArrayLike) -> Array:
        """Return the configuration (..., nq) in their coordinates."""
        ours = real_array("q", q, self.robot.nq)
        out = np.empty((*ours.shape[:-1], self.nq))
        for slot in self._slots:
            out[..., slot.their_q] = slot.rule.to_q(ours[..., slot.q])
        return out

    def from_q(self, q: ArrayLike) -> Array:
        """Return the configuration (..., robot.nq) for theirs."""
        theirs = real_array(f"{self.library}'s q", q, self.nq)
        out = np.empty((*theirs.shape[:-1], self.robot.nq))
        for slot in self._slots:
            out[..., slot.q] = slot.rule.from_q(theirs[..., slot.their_q])
        return out

    def to_v(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the velocity (..., nv) in their coordinates."""
        return self._turn(real_array("q", q, self.robot.nq), real_array("v", v, self.robot.nv))

    def from_v(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the velocity (..., robot.nv) for theirs."""
        return self._turn(self.from_q(q), real_array(f"{self.library}'s v", v, self.nv), back=True)

    def to_a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the acceleration (..., nv): the rate of their v."""
        ours, rate = real_array("v", v, self.robot.nv), real_array("a", a, self.robot.nv)
        return self._turn(real_array("q", q, self.robot.nq), rate + self._spin(ours))

    def from_a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the acceleration (..., robot.nv) for theirs."""
        back = self._turn(self.from_q(q), real_array(f"{self.library}'s a", a, self.nv), back=True)
        return back - self._spin(self.from_v(q, v))

    def to_tau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Return the joint forces (..., nv); the power ``tau · v`` is the same."""
        return self._turn(real_array("q", q, self.robot.nq), real_array("tau", tau, self.robot.nv))

    def from_tau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Return the joint forces (..., robot.nv) for theirs."""
        return self._turn(self.from_q(q), real_array(f"{self.library}'s tau", tau, self.nv), back=True)

    def to_jacobian(self, q: ArrayLike, J: ArrayLike) -> Array:
        """Return a Jacobian (..., 6, nv) with their rows, linear first, and for their velocities."""
        ours = real_array("q", q, self.robot.nq)[..., None, :]
        return self._turn(ours, real_array("J", J, 6, self.robot.nv)[..., SWAP, :])

    def from_jacobian(self, q: ArrayLike, J: ArrayLike) -> Array:
        """Return a Jacobian (..., 6, robot.nv), angular rows first, for theirs."""
        ours = self.from_q(q)[..., None, :]
        return self._turn(ours, real_array(f"{self.library}'s J", J, 6, self.nv)[..., SWAP, :], back=True)

    # The matrix from our velocities to theirs is orthogonal: permutations, and rotations of a free body's velocity. So
    # one map serves velocities, forces and the rows of a Jacobian.

    def _turn(self, q: Array, x: Array, back: bool = False) -> Array:
        """Return x (..., nv) in their coordinates, or back in ours."""
        out = np.empty((*leading(q, x), self.robot.nv if back else self.nv))
        for slot in self._slots:
            source, target = (slot.their_v, slot.v) if back else (slot.v, slot.their_v)
            out[..., target] = x[..., source]
            if slot.rule.world_axes:
                quaternion = q[..., slot.q[3:]] * ([-1.0, -1.0, -1.0, 1.0] if back else 1.0)
                out[..., target[:3]] = rotate(quaternion, x[..., source[:3]])
        return out

    def _spin(self, v: Array) -> Array:
        """Return the term ω × v that the body's rotation adds to the rate of a velocity in fixed axes."""
        out = np.zeros_like(v)
        for slot in self._slots:
            if slot.rule.world_axes:
                out[..., slot.v[:3]] = np.cross(v[..., slot.v[3:]], v[..., slot.v[:3]])
        return out


def matched(robot: Robot, names: Sequence[str], library: str) -> list[Body]:
    """Return the bodies of these joints, which must be all joints of the robot, each once."""
    known = robot.joint_names
    for name in names:
        if name not in known:
            raise ArgumentError(
                f"{library}: " + unknown_name("joint", name, known) + "; rename={their name: ours} helps"
            )
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in known if name not in names]
    if twice or missing:
        what = f"has {twice} twice" if twice else f"lacks {missing}"
        raise ArgumentError(f"{library}: the list of joints {what}; this robot's are {list(known)}")
    return [robot.model.bodies[robot.model.body_of_joint(name)] for name in names]


def leading(*arrays: Array) -> tuple[int, ...]:
    """Return the shape that the leading axes broadcast to (all but the last)."""
    try:
        return np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    except ValueError:
        shapes = " and ".join(str(x.shape) for x in arrays)
        raise ArgumentError(f"arrays of the shapes {shapes} do not broadcast") from None


def rotate(quaternion: Array, x: Array) -> Array:
    """Return R x for the rotation R of a quaternion (x, y, z, w) of any norm but zero."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = np.cross(u, x) * (2.0 / np.sum(quaternion * quaternion, axis=-1, keepdims=True))
    out: Array = x + w * t + np.cross(u, t)
    return out
