"""Another robot from a robot: gravity, base, friction, payloads and grippers, joints that are locked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, LimitWarning, warn_user
from kinetree.model import JointFriction, Model
from kinetree.model import edit as changes
from kinetree.model.checks import Pose, as_transform, as_vector
from kinetree.robot.base import BaseRobot, R, beyond_limits, changed
from kinetree.robot.configurations import neutral
from kinetree.spatial import Inertia, Transform
from kinetree.validation import Array, as_poses, positive, real_array


def with_gravity(robot: R, gravity: ArrayLike) -> R:
    """Return this robot under another gravity.

    Parameters
    ----------
    gravity : (3,) array-like
        Acceleration of gravity in the world's axes (m/s²).

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("ur5").with_gravity([0, 0, 0]).gravity
    (0.0, 0.0, 0.0)
    """
    g = real_array("gravity", gravity, 3, batch=False)
    return changed(robot, replace(robot.model, gravity=as_vector(g.tolist(), "gravity")))


def with_base_pose(robot: R, pose: Pose) -> R:
    """Return this robot with its root link at this pose in the world; for a fixed base.

    Parameters
    ----------
    pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation

    Raises
    ------
    ModelError
        If the base floats.

    Examples
    --------
    >>> import kinetree as kt
    >>> ceiling = kt.load("ur5").with_base_pose([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 3], [0, 0, 0, 1]])
    >>> float(ceiling.frame_placement(ceiling.neutral(), frame="base_link")[2, 3])
    3.0
    """
    return changed(robot, changes.with_base_pose(robot.model, as_poses("base_pose", pose, batch=False).tolist()))


def with_friction(robot: R, *, damping: bool = True, coulomb: bool = True, smoothing: float = 1e-3) -> R:
    """Return this robot with the friction of its joints counted in all dynamics.

    The figures are `Robot.damping` and `Robot.friction`: those of the file, or of `Robot.with_joint_physics`.

    Parameters
    ----------
    damping : bool
        Viscous friction: damping times velocity.
    coulomb : bool
        Coulomb friction, smooth around zero: ``f v / sqrt(v² + s²)``.
    smoothing : float
        The speed s (rad/s, m/s), from 1e-18 to 1e18; within 1 % of the full force beyond 7 s.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("ur5").with_friction(coulomb=False).model.friction.damping
    True
    """
    speed = positive("smoothing", smoothing)
    if not 1e-18 <= speed <= 1e18:  # float32 holds the squares of these
        raise ArgumentError(f"smoothing must be from 1e-18 to 1e18; {smoothing!r} was given")
    for what, value in (("damping", damping), ("coulomb", coulomb)):
        if not isinstance(value, bool | np.bool_):
            figure = "friction" if what == "coulomb" else what
            raise ArgumentError(
                f"{what} is {value!r}: with_friction turns it on or off and takes True or False; "
                f"with_joint_physics({figure}=…) gives it other figures"
            )
    friction = JointFriction(bool(damping), bool(coulomb), speed)
    return changed(robot, replace(robot.model, friction=friction))


def attach(robot: R, what: BaseRobot | Inertia, frame: str, *, placement: Pose | None = None, prefix: str = "") -> R:
    """Return this robot with something fixed to a frame: a payload, or another robot such as a gripper.

    Parameters
    ----------
    what : Inertia or Robot
        A payload's inertia (a negative mass takes something away), or a robot with a fixed base, whose root link is
        put there. Its joints come after this robot's in q and v; gravity and what friction counts are this robot's,
        and so are the named configurations, in which it stands as in its own of the same name, else at its zero.
    frame : str
        Where.
    placement : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the thing in the frame; the frame's own if not given.
    prefix : str
        Put before the names of an attached robot, so that all names differ.

    Raises
    ------
    ModelError
        If there is no such frame, or two names are the same.

    Warns
    -----
    NonPhysicalInertiaWarning
        If no body can have the inertia that results.

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = kt.Inertia(1.0, [0, 0, 0.05], [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]])
    >>> robot = kt.load("panda")
    >>> round(robot.attach(ball, "panda_hand").mass - robot.mass, 12)
    1.0
    """
    X = _placement(placement)
    if isinstance(what, BaseRobot):
        model = changes.with_attached(robot.model, what.model, frame, X, _name("prefix", prefix))
        rest = neutral(what)
        together = {
            name: np.concatenate([q, what.configurations.get(name, rest)]) for name, q in robot.configurations.items()
        }
        return changed(
            robot,
            model,
            together,
            geometry=lambda: robot.geometry.beside(what.geometry, prefix),
            actuators=(
                *robot.actuators,
                *(replace(a, name=prefix + a.name, joint=prefix + a.joint) for a in what.actuators),
            ),
        )
    if not isinstance(what, Inertia):
        given = f"{type(what).__module__}.{type(what).__name__}"
        raise ArgumentError(f"attach takes a Robot or a kinetree.Inertia; {given} was given")
    if prefix:
        raise ArgumentError(f"prefix={prefix!r} is for the names of an attached robot: an Inertia has none")
    return changed(robot, changes.with_payload(robot.model, X.T @ what, frame))


def with_inertia(robot: R, link: str, inertia: Inertia) -> R:
    """Return this robot with another inertia of a link.

    Parameters
    ----------
    link : str
        Its name. Links that are fixed to each other are one body, which has one inertia: this one.
    inertia : Inertia
        Of that whole body, in the frame of the link: about its axes, and with the centre of mass from its origin.

    Raises
    ------
    ModelError
        If there is no such link.

    Warns
    -----
    NonPhysicalInertiaWarning
        If no body can have it.

    Examples
    --------
    >>> import kinetree as kt
    >>> rod = kt.Inertia(2.0, [0, 0, 0.25], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]])
    >>> robot = kt.load("ur5").with_inertia("forearm_link", rod)
    >>> float(robot.inertial_parameters.reshape(-1, 10)[robot.body_names.index("forearm_link"), 0])
    2.0
    """
    if not isinstance(inertia, Inertia):
        raise ArgumentError(f"with_inertia takes an Inertia(mass, com, inertia about it); {inertia!r} was given")
    return changed(robot, changes.with_inertia(robot.model, link, inertia))


def with_frame(robot: R, name: str, *, on: str, placement: Pose | None = None) -> R:
    """Return this robot with one more named frame.

    Parameters
    ----------
    name : str
        Its name, which no other frame has.
    on : str
        The frame that carries it.
    placement : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose in that frame; the same place if not given.

    Raises
    ------
    ModelError
        If there is no frame `on`, or one of the new name already.

    Examples
    --------
    >>> import kinetree as kt
    >>> tip = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]]
    >>> robot = kt.load("panda").with_frame("tip", on="panda_hand", placement=tip)
    >>> robot.jacobian(robot.neutral(), frame="tip").shape
    (6, 7)
    """
    return changed(robot, changes.with_frame(robot.model, _name("name", name), on, _placement(placement)))


def _placement(placement: Pose | None) -> Transform:
    return as_transform(None if placement is None else as_poses("placement", placement, batch=False), "placement")


def _name(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{what} is {value!r}, it must be a str")
    return value


def with_inertial_parameters(robot: R, parameters: ArrayLike) -> R:
    """Return this robot with other inertial parameters.

    Parameters
    ----------
    parameters : (10 nb,) array-like
        Those of all bodies, as in `inertial_parameters`.

    Warns
    -----
    NonPhysicalInertiaWarning
        If no body can have one of those that change.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> twice = robot.with_inertial_parameters(2 * robot.inertial_parameters)
    >>> round(twice.mass / robot.mass, 12)
    2.0
    """
    what = f"parameters, ten for each of the nb = {robot.nb} bodies,"
    ten = real_array(what, parameters, 10 * robot.nb, batch=False)
    return changed(robot, changes.with_inertial_parameters(robot.model, ten.tolist()))


def lock(robot: R, joints: Sequence[str] | Mapping[str, ArrayLike], q: ArrayLike | None = None) -> R:
    """Return this robot with some joints fixed, and so with fewer coordinates.

    Parameters
    ----------
    joints : sequence of str, or mapping of str to number
        Their names, or their positions by name: a number, of a joint with several coordinates an array of them. A
        joint that follows another one (mimic) is fixed with it, and the other one and all its followers with the
        follower where only that is named.
    q : (nq,) array, optional
        The configuration in which they are fixed, of this whole robot; neutral if not given. Only with names.

    Returns
    -------
    Robot
        Its named configurations are this robot's at the joints that are left.

    Warns
    -----
    LimitWarning
        If a joint is fixed outside its limits: zero is for some.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("panda").lock(["panda_joint3", "panda_joint5"]).joint_names
    ('panda_joint1', 'panda_joint2', 'panda_joint4', 'panda_joint6', 'panda_joint7')
    >>> kt.load("panda").lock({"panda_joint4": -1.5, "panda_joint6": 1.6}).nq
    5
    """
    if isinstance(joints, str) or not isinstance(joints, Collection):
        raise ArgumentError(
            f"joints takes a list of names, and q= the configuration to lock them in, or a mapping of names to "
            f"positions; not {joints!r}"
        )
    if isinstance(joints, Mapping) and q is not None:
        raise ArgumentError("joints has the positions by name already: q= is for a list of names")
    configuration = neutral(robot) if q is None else real_array("q", q, robot.nq, batch=False)
    if isinstance(joints, Mapping):
        _put(robot.model, joints, configuration)
    if not np.isfinite(configuration).all():
        raise ArgumentError("lock takes finite positions; one is NaN or inf")
    try:
        model = changes.locked(robot.model, list(joints), configuration.tolist())
    except ZeroDivisionError:
        raise ArgumentError(
            "q holds a quaternion of norm zero, which is not an orientation to lock a joint in"
        ) from None
    names = set(model.joint_names)
    left = [k for body in robot.model.leading if body.joint_name in names for k in body.q_index]
    locked = [body for body in robot.model.leading if body.joint_name not in names]
    if told := beyond_limits(locked, configuration):
        warn_user(
            f"locked outside the limits: {told}. Give positions by name, lock({{name: position}}), or q=", LimitWarning
        )
    return changed(
        robot,
        model,
        {name: q[left] for name, q in robot.configurations.items()},
        actuators=[a for a in robot.actuators if a.joint in model._body_of_joint],
    )


def _put(model: Model, positions: Mapping[str, ArrayLike], q: Array) -> None:
    """Write the positions of joints into a configuration."""
    for name, position in positions.items():
        body = model.bodies[model.body_of_joint(name)]
        if body.joint.follows is not None:
            leader = model.leader(body).joint_name
            raise ArgumentError(f"joint {name!r} follows {leader!r}: give the position of that one")
        what = f"the position of joint {name!r}"
        coordinates = np.atleast_1d(real_array(what, position))
        q[list(body.q_index)] = real_array(what, coordinates, len(body.q_index), batch=False)
