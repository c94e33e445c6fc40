"""Another robot from a robot: friction, rotors, springs and limits of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, ModelError
from kinetree.model import Body, JointLimits, JointSpring, Model
from kinetree.model.tree import Follows, narrowed, spring_at_leader
from kinetree.robot.base import R, changed, combined
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
    rotors, ratios = (
        figures.pop("rotor_inertia", {}),
        _by_joint(model, "gear_ratio", 1.0 if gear_ratio is None else gear_ratio),
    )
    for name in ratios.keys() - rotors.keys() if isinstance(gear_ratio, Mapping) else ():
        raise ArgumentError(f"gear_ratio is given for joint {name!r}, and rotor_inertia is not")
    for name, J in rotors.items():
        own, G = (of.get(name, (x,) * len(J)) for of, x in ((figures.setdefault("armature", {}), 0.0), (ratios, 1.0)))
        figures["armature"][name] = felt = tuple(a + j * g * g for a, j, g in zip(own, J, G, strict=True))
        if not np.isfinite(felt).all():
            raise ArgumentError(f"gear_ratio² · rotor_inertia of joint {name!r} overflows")
    bodies = list(model.bodies)
    for i, body in enumerate(bodies):
        its = {what: of[body.joint_name] for what, of in figures.items() if body.joint_name in of}
        new: dict[str, Any] = {what: _felt(_follows(model, body), what, x) for what, x in its.items()}
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
        if (follows := _follows(model, model.bodies[i])) is not None:
            k = model.bodies.index(model.leader(model.bodies[i]))
            if (bodies[k].limits, body.limits) != (model.bodies[k].limits, model.bodies[i].limits):
                bodies[k] = _within_follower(bodies[k], body, follows)
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
    figures = _of_one(model, what, value, "springs")
    bodies = list(model.bodies)
    for i, body in enumerate(bodies):
        spring, follows = body.spring, _follows(model, body)
        if isinstance(value, Mapping):
            if body.joint_name in figures:
                own = JointSpring(**{field: figures[body.joint_name]})
                own = own if follows is None else spring_at_leader(follows, own)
                spring = replace(spring, **{field: getattr(own, field)})
        elif follows is not None:
            spring = replace(spring, stiffness=0.0)
        elif body.has_one_coordinate:
            spring = replace(combined(model, body), **{field: figures[body.joint_name]})
        bodies[i] = replace(body, spring=spring)
    return replace(model, bodies=tuple(bodies))


def _limits(model: Model, what: str, value: Values) -> dict[str, float]:
    """Return these limits by joint, where they change."""
    for name in value if isinstance(value, Mapping) and what == "effort" else ():
        body = model.bodies[model.body_of_joint(name)]
        if _follows(model, body) is not None:
            leader = model.leader(body).joint_name
            raise ModelError(f"joint {name!r} follows {leader!r}: give the effort limit of that one")
    found = _of_one(model, what, value, "limits")
    for name, x in found.items() if what in ZERO_IS_NONE else ():
        if x == 0.0:
            raise ModelError(f"joint {name!r}: a limit of 0 of {what}: {ZERO_IS_NONE[what]}")
    return found if isinstance(value, Mapping) else {name: found[name] for name in model.joint_names if name in found}


def _figures(model: Model, what: str, value: Values) -> ByJoint:
    """Return these resistances by joint, where they change."""
    found = _by_joint(model, what, value)
    if isinstance(value, Mapping):
        return found
    for body in model.bodies:
        if _follows(model, body) is not None:
            found[body.joint_name] = (0.0,) * len(body.v_index)
        elif np.ndim(value) == 0 and not body.joint.actuated:
            del found[body.joint_name]
    return found


def _of_one(model: Model, what: str, value: Values, things: str) -> dict[str, float]:
    """Return a figure by joint: those of one degree of freedom have these things."""
    found, nothing = {}, 0.0 if what == "stiffness" else np.inf
    for name, x in _by_joint(model, what, value).items():
        if model.bodies[model.body_of_joint(name)].has_one_coordinate:
            found[name] = x[0]
        elif isinstance(value, Mapping):
            raise ModelError(f"joint {name!r} has {len(x)} degrees of freedom: only joints with one have {things}")
        elif what != "rest_position" and np.ndim(value) and any(np.isfinite(y) and y != nothing for y in x):
            raise ModelError(f"{what}: joint {name!r} has {len(x)} entries, which have no {things}: give {nothing:g}")
    return found


def _by_joint(model: Model, what: str, value: Values) -> ByJoint:
    """Return the figures of the joints that are named, else of all, one for each of its entries."""
    if isinstance(value, Mapping):
        bodies = {name: model.bodies[model.body_of_joint(name)] for name in value}
        return {
            name: tuple(_numbers(what, x, len(bodies[name].v_index), f" of joint {name!r}").tolist())
            for name, x in value.items()
        }
    of_q = what in ("lower", "upper", "rest_position")
    array = _numbers(what, value, model.nq if of_q else model.nv)
    return {
        body.joint_name: tuple(array[list(body.q_index if of_q else body.v_index)].tolist()) for body in model.bodies
    }


def _numbers(what: str, value: ArrayLike, n: int, of: str = "") -> Array:
    """Return n numbers from one or n; limits may be infinite, and inertias, friction and stiffness not negative."""
    array = real_array(what + of, value)
    if array.shape not in ((), (n,)):
        raise ArgumentError(
            f"{what}{of} has shape {array.shape}: give one number, ({n},), or a dict by the name of the joint"
        )
    if what not in ("lower", "upper", "velocity", "effort"):
        check_finite(what + of, array)
    if what in ("armature", "damping", "friction", "rotor_inertia", "stiffness") and (array < 0.0).any():
        raise ArgumentError(f"{what}{of} is {array.min()}, and cannot be negative")
    return np.broadcast_to(array, (n,))


def _felt(follows: Follows | None, what: str, values: tuple[float, ...]) -> tuple[float, ...]:
    """Return resistances at a joint's speed as its coordinate feels them: a follower's at its leader's."""
    if follows is None:
        return values
    factor = follows[0]
    return tuple(x * (abs(factor) if what == "friction" else factor**2) for x in values)


def _follows(model: Model, body: Body) -> Follows | None:
    """Return the factor and the offset of a joint that follows another one of the model."""
    return None if model.leader(body) is body else body.joint.follows
