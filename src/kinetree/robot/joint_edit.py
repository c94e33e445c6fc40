"""Another robot from a robot: friction, rotors, springs and limits of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, ModelError
from kinetree.model import Body, JointLimits, JointSpring, Model
from kinetree.model.body import ONE_HAS_SPRINGS
from kinetree.model.tree import Follows, narrowed, spring_at_leader
from kinetree.robot.base import combined
from kinetree.robot.edit import R, changed
from kinetree.validation import Array, check_finite, real_array

Values: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"
ByJoint: TypeAlias = dict[str, tuple[float, ...]]

_NONE = "it is read as none, as in URDF: give numpy.inf for none; "
ZERO_IS_NONE = {
    "velocity": f"{_NONE}a joint that stays is one of fixed= of inverse kinematics, or part of its link (robot.lock)",
    "effort": f"{_NONE}a joint without a motor has the torque 0, and is left out of a mechanism's actuated=",
}


def with_joint_physics(
    robot: R,
    *,
    armature: Values | None = None,
    damping: Values | None = None,
    friction: Values | None = None,
    rotor_inertia: Values | None = None,
    gear_ratio: Values | None = None,
    stiffness: Values | None = None,
    rest_position: Values | None = None,
) -> R:
    """Return this robot with other figures of what resists the motion of its joints, and of their springs.

    Each is one number, which every entry of v with an actuator has (not those of a floating base), or an array (nv,),
    both as the coordinates feel them in all: joints that follow others (mimic joints) have none of their own then. Or
    it is a dict of numbers, or of arrays with an entry a degree of freedom, by the name of the joint: other joints stay
    as they are, and what is given for a joint that follows another counts at its own speed.

    Parameters
    ----------
    armature : float, (nv,) array or dict, optional
        Rotor inertia reflected to the joint (kg·m², kg), which counts always.
    damping, friction : float, (nv,) array or dict, optional
        Viscous (N·m·s, N·s/m) and Coulomb (N·m, N) friction, which count in `Robot.with_friction`.
    rotor_inertia, gear_ratio : float, (nv,) array or dict, optional
        Inertia of the motor (kg·m²) and its turns per unit of the joint, 1 if not given. ``G² · rotor_inertia`` with G
        that ratio is the armature, with the one given here added to it.
    stiffness : float, (nv,) array or dict, optional
        Of springs in joints of one degree of freedom (N·m/rad, N/m), which count always but in `gravity_forces` and
        regressors. One number is for all such joints.
    rest_position : float, (nq,) array or dict, optional
        Where these springs are relaxed (rad, m); entries of other joints make no difference.

    Raises
    ------
    ArgumentError
        If something is not a number, or not of that shape, negative or not finite.
    ModelError
        If there is no such joint, or one with several degrees of freedom is to have a spring.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5").with_joint_physics(damping=0.5, rotor_inertia={"elbow_joint": 1e-4}, gear_ratio=100)
    >>> robot.joint("elbow_joint").armature
    1.0
    >>> robot.with_friction().damping
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    >>> robot.with_joint_physics(stiffness={"elbow_joint": 200.0}, rest_position={"elbow_joint": 1.5}).rest_positions
    array([0. , 0. , 1.5, 0. , 0. , 0. ])
    """
    model = robot.model
    given = {"armature": armature, "damping": damping, "friction": friction, "rotor_inertia": rotor_inertia}
    figures = {what: _figures(model, what, value) for what, value in given.items() if value is not None}
    if gear_ratio is not None and rotor_inertia is None:
        raise ArgumentError("gear_ratio is given without rotor_inertia, which it multiplies")
    rotors = figures.pop("rotor_inertia", {})
    for name in gear_ratio if isinstance(gear_ratio, Mapping) else ():
        model.body_of_joint(name)  # is there such a joint?
        if name not in rotors:
            raise ArgumentError(f"gear_ratio is given for joint {name!r}, and rotor_inertia is not")
    for name, J in rotors.items():
        G = _ratio(model, name, gear_ratio)
        own = figures.setdefault("armature", {}).get(name, (0.0,) * len(J))
        figures["armature"][name] = felt = tuple(a + j * g * g for a, j, g in zip(own, J, G, strict=True))
        if not np.isfinite(felt).all():
            raise ArgumentError(f"gear_ratio² · rotor_inertia of joint {name!r} overflows")
    bodies = list(model.bodies)
    for i, body in enumerate(bodies):
        its = {what: of[body.joint_name] for what, of in figures.items() if body.joint_name in of}
        new: dict[str, Any] = {what: _felt(model, i, what, x) for what, x in its.items()}
        bodies[i] = replace(body, **new)
    model = replace(model, bodies=tuple(bodies))
    for what, value in (("stiffness", stiffness), ("rest_position", rest_position)):
        model = model if value is None else _with_springs(model, what, value)
    return changed(robot, model)


def with_limits(
    robot: R,
    *,
    lower: Values | None = None,
    upper: Values | None = None,
    velocity: Values | None = None,
    effort: Values | None = None,
) -> R:
    """Return this robot with other limits of its joints; infinite where there is none.

    Each is one number for all joints of one degree of freedom, an array as `Robot.lower_limits` and its like are, or a
    dict of numbers by the name of the joint, which leaves the others as they are. A joint that follows another (mimic)
    keeps its own limits of position and velocity, which narrow those of its leader; in a dict it can be given others.
    Effort is its leader's alone.

    Parameters
    ----------
    lower, upper : float, (nq,) array or dict, optional
        Positions (rad, m).
    velocity, effort : float, (nv,) array or dict, optional
        Largest speeds (rad/s, m/s) and joint forces (N·m, N).

    Raises
    ------
    ArgumentError
        If something is not a number, or not of that shape.
    ModelError
        If there is no such joint, it cannot have limits, its lower limit is above the upper one, a follower's limits
        leave its leader no room, or a limit of velocity or effort is 0, which files mean as none.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5").with_limits(velocity=1.5, upper={"elbow_joint": 3.0})
    >>> robot.joint("elbow_joint").limits
    JointLimits(lower=-3.141592653589793, upper=3.0, velocity=1.5, effort=150.0)
    """
    model = robot.model
    given = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
    limits = {what: _limits(model, what, value) for what, value in given.items() if value is not None}
    bodies = list(model.bodies)
    for i, body in enumerate(bodies):
        new = {what: x[body.joint_name] for what, x in limits.items() if body.joint_name in x}
        try:
            bodies[i] = replace(body, limits=JointLimits(**{**vars(body.limits), **new})) if new else body
        except ModelError as error:
            raise ModelError(f"joint {body.joint_name!r}: {error}") from None
    for i, body in enumerate(bodies):
        if i not in model.joint_order and body.joint.follows is not None:
            k = next(k for k in model.joint_order if bodies[k].v_index == body.v_index)
            if (bodies[k].limits, body.limits) != (model.bodies[k].limits, model.bodies[i].limits):
                bodies[k] = _within_follower(bodies[k], body, body.joint.follows)
    return changed(robot, replace(model, bodies=tuple(bodies)))


def _within_follower(leader: Body, follower: Body, follows: Follows) -> Body:
    """Return a leader within the limits that its follower leaves it."""
    limits = narrowed(leader.limits, follows, follower.limits)
    if limits is None:
        name, l, f = follower.joint_name, leader.limits, follower.limits
        raise ModelError(
            f"joint {name!r} follows {leader.joint_name!r}: between {l.lower} and {l.upper} that has no place where "
            f"{name!r} is between {f.lower} and {f.upper}; give limits of {name!r} too"
        )
    return replace(leader, limits=limits)


def _with_springs(model: Model, what: str, value: Values) -> Model:
    """Return the model with this stiffness, or rest_position, of springs."""
    field = "rest" if what == "rest_position" else what
    bodies = list(model.bodies)
    for name, x in value.items() if isinstance(value, Mapping) else ():
        i = model.body_of_joint(name)
        if not bodies[i].has_one_coordinate:
            raise ModelError(f"joint {name!r} has {len(bodies[i].v_index)} degrees of freedom: {ONE_HAS_SPRINGS}")
        joint, spring = bodies[i].joint, JointSpring(**{field: _of_joint(model, what, name, x)[0]})
        if i not in model.joint_order and joint.follows is not None:
            spring = spring_at_leader(joint.follows, spring)
        bodies[i] = replace(bodies[i], spring=replace(bodies[i].spring, **{field: getattr(spring, field)}))
    if isinstance(value, Mapping):
        return replace(model, bodies=tuple(bodies))
    array = _resistance(what, value, model.nq if field == "rest" else model.nv)
    for i, body in enumerate(bodies):
        if i not in model.joint_order:
            bodies[i] = replace(body, spring=replace(body.spring, stiffness=0.0))
        elif body.has_one_coordinate:
            (k,) = body.q_index if field == "rest" else body.v_index
            bodies[i] = replace(body, spring=replace(combined(model, body), **{field: float(array[k])}))
        elif field == "stiffness" and np.ndim(value) and array[list(body.v_index)].any():
            entries = f"joint {body.joint_name!r} has {len(body.v_index)} entries, which have no springs: give 0"
            raise ModelError(f"{what}: {entries}")
    return replace(model, bodies=tuple(bodies))


def _figures(model: Model, what: str, value: Values) -> ByJoint:
    """Return these figures by joint, where they change."""
    if isinstance(value, Mapping):
        return {name: _of_joint(model, what, name, x) for name, x in value.items()}
    array = _resistance(what, value, model.nv)
    found = {body.joint_name: (0.0,) * len(body.v_index) for body in model.bodies}  # the followers'
    for body in model.leading:
        found[body.joint_name] = tuple(array[list(body.v_index)].tolist())
        if np.ndim(value) == 0 and not body.joint.actuated:
            del found[body.joint_name]
    return found


def _ratio(model: Model, name: str, value: Values | None) -> tuple[float, ...]:
    """Return the gear ratio of each degree of freedom of a joint."""
    if value is None or isinstance(value, Mapping):
        return _of_joint(model, "gear_ratio", name, 1.0 if value is None else value.get(name, 1.0))
    v_index = model.bodies[model.body_of_joint(name)].v_index
    return tuple(_resistance("gear_ratio", value, model.nv)[list(v_index)].tolist())


def _of_joint(model: Model, what: str, name: str, value: ArrayLike) -> tuple[float, ...]:
    """Return the figures of a joint that is named, one a degree of freedom."""
    n = len(model.bodies[model.body_of_joint(name)].v_index)
    return tuple(_resistance(what, value, n, f" of joint {name!r}").tolist())


def _resistance(what: str, value: ArrayLike, n: int, of: str = "") -> Array:
    """Return the figures as n numbers, which are finite and, but for gear ratios and places, not negative."""
    array = _numbers(what + of, value, n)
    check_finite(what + of, array)
    if what not in ("gear_ratio", "rest_position") and (array < 0.0).any():
        raise ArgumentError(f"{what}{of} is {array.min()}, and cannot be negative")
    return array


def _numbers(what: str, value: ArrayLike, n: int) -> Array:
    array = real_array(what, value)
    if array.shape not in ((), (n,)):
        raise ArgumentError(
            f"{what} has shape {array.shape}: give one number, ({n},), or a dict by the name of the joint"
        )
    return np.broadcast_to(array, (n,))


def _felt(model: Model, i: int, what: str, values: tuple[float, ...]) -> tuple[float, ...]:
    """Return resistances at the speed of body i's joint as its coordinate feels them: a follower's at its leader's."""
    follows = model.bodies[i].joint.follows
    if i in model.joint_order or follows is None:
        return values
    scale = abs(follows[0]) if what == "friction" else follows[0] ** 2
    return tuple(x * scale for x in values)


def _limits(model: Model, what: str, value: Values) -> dict[str, float]:
    """Return these limits by joint, where they change."""
    if isinstance(value, Mapping):
        return {name: _limit(model, what, name, x) for name, x in value.items()}
    of_q = what in ("lower", "upper")
    array = _numbers(what, value, model.nq if of_q else model.nv)
    if what in ZERO_IS_NONE and (array == 0.0).any():
        raise ModelError(f"{what} holds a limit of 0: {ZERO_IS_NONE[what]}")
    found = {}
    for body in model.leading:
        index = list(body.q_index if of_q else body.v_index)
        if body.has_one_coordinate:
            found[body.joint_name] = float(array[index[0]])
        elif np.ndim(value) and np.isfinite(array[index]).any():
            raise ModelError(
                f"{what}: joint {body.joint_name!r} has {len(index)} entries, which have no limits: give inf"
            )
    return found


def _limit(model: Model, what: str, name: str, value: ArrayLike) -> float:
    i = model.body_of_joint(name)
    body = model.bodies[i]
    if i not in model.joint_order and what == "effort":
        leader = next(b.joint_name for b in model.leading if b.v_index == body.v_index)
        raise ModelError(f"joint {name!r} follows {leader!r}: give the effort limit of that one")
    if not body.has_one_coordinate:
        raise ModelError(f"joint {name!r} has {len(body.v_index)} degrees of freedom: only joints with one have limits")
    limit = float(real_array(f"{what} of joint {name!r}", value, batch=False))
    if what in ZERO_IS_NONE and limit == 0.0:
        raise ModelError(f"joint {name!r}: a limit of 0 of {what}: {ZERO_IS_NONE[what]}")
    return limit
