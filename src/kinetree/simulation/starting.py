"""What a simulation begins with, and the physics of the joints that count in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.model import Model
from kinetree.model.body import JointFriction
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.simulation.checks import check_finite
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

JOINTS = ("stops", "effort", "friction")
"""What a file says of joints that a simulation may leave out."""


class Start(NamedTuple):
    """States to begin with, n to a row, their leading axes and time, and the end that is gone on from."""

    q: Array
    v: Array
    lead: tuple[int, ...]
    t: float
    before: End | None


def start(robot: Robot | Mechanism, q: Any, v: Any) -> Start:
    """Return the states to begin with."""
    q, v, t, before = state(robot, q, v)
    q, v = real_array("q", q, robot.nq), np.zeros(robot.nv) if v is None else real_array("v", v, robot.nv)
    try:
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ArgumentError(f"the leading axes of q {q.shape} and v {v.shape} do not fit together") from None
    if not math.prod(lead):
        raise ArgumentError(f"q and v have the leading axes {lead}: there is no robot to simulate")
    for name, array in (("q", q), ("v", v)):
        check_finite(name, array, ": the motion begins there")
    q, v = (np.broadcast_to(x, (*lead, x.shape[-1])).reshape(math.prod(lead), x.shape[-1]).copy() for x in (q, v))
    check_configurations(robot.model, q)
    return Start(q, v, lead, 0.0 if t is None else t, before)


def state(robot: Robot | Mechanism, q: Any, v: Any) -> tuple[Any, Any, float | None, End | None]:
    """Return q, v and the time of what is given as q, and where the trajectory ended that is gone on from."""
    if isinstance(q, Trajectory | State):
        if v is not None:
            raise ArgumentError(f"v is not taken where the simulation goes on from a {type(q).__name__}, which has it")
        before = ended(q) if isinstance(q, Trajectory) else None
        end: Any = before or q
        return end.q, end.v, end.t, before
    tree = robot if isinstance(robot, Robot) else robot.tree
    return tree.configuration(q) if isinstance(q, str) else q, v, None, None


def ended(motion: Trajectory) -> End:
    """Return where a trajectory ended: a part of one, or one from a file, has its states only."""
    if motion.end is not None:
        return motion.end
    last = motion.final
    return End(last.t, last.q, last.v, {}, np.empty(0), "")


def check_configurations(model: Model, q: Array) -> None:
    """Raise where coordinates (n, nq) stand for no configuration, as those of a quaternion of zeros do."""
    for body in model.leading:
        if len(body.q_index) > len(body.v_index):
            own = q[:, body.q_index]
            with np.errstate(all="ignore"):
                reached = np.asarray(body.joint.integrate([*own.T], [0.0] * len(body.v_index)))
            if not np.isfinite(reached).all():
                wrong = own[~np.isfinite(reached).all(axis=0)][0]
                raise ArgumentError(
                    f"q: {wrong.tolist()} are no coordinates of {body.joint_name!r}; a quaternion need not be "
                    "normalised, but not be zero either: no rotation is (0, 0, 0, 1)"
                )


def physics(model: Model, joints: object, inputs: Iterable[Any]) -> tuple[str, JointFriction]:
    """Return which limits count (see `System.limits`), and which friction: the robot's own choice, if it has made one.

    Friction of which the figures are given counts whatever is chosen.
    """
    parts = joints.replace(",", " ").split() if isinstance(joints, str) else joints
    parts = list(parts) if isinstance(parts, Iterable) else [None]
    if None in parts or (len(parts) > 1 and ("all" in parts or "none" in parts)):
        raise ArgumentError(f"joints is {joints!r}; it takes names out of {', '.join(JOINTS)}, or 'all' or 'none'")
    chosen = set(JOINTS) if parts == ["all"] else set() if parts == ["none"] else set(parts)
    for name in chosen:
        if name not in JOINTS:
            raise ArgumentError(f"joints: {unknown_name('part of their physics', name, (*JOINTS, 'all', 'none'))}")
    limits = {(True, True): "all", (True, False): "position", (False, True): "effort", (False, False): "none"}
    friction = model.friction
    if "friction" in chosen and not (friction.damping or friction.coulomb):
        friction = JointFriction(True, True, friction.smoothing)
    kinds = {i.kind for i in inputs}
    has_damping = "damping" in kinds or any(any(body.damping) for body in model.bodies)
    has_coulomb = "friction" in kinds or any(any(body.friction) for body in model.bodies)
    friction = JointFriction(friction.damping and has_damping, friction.coulomb and has_coulomb, friction.smoothing)
    return limits["stops" in chosen, "effort" in chosen], friction


def usual_integrator(friction: JointFriction, inputs: Iterable[Any]) -> str:
    """Return the integrator to use: where friction counts it may be stiff, and is taken at the end of a step."""
    given = any(i.kind in ("damping", "friction") for i in inputs)
    return "implicit_euler" if given or friction.damping or friction.coulomb else "semi_implicit_euler"
