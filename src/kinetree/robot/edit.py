"""Another robot from a robot: gravity, base, friction, locked joints, payloads and grippers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.model import JointFriction
from kinetree.model import edit as changes
from kinetree.model.checks import as_transform, as_vector
from kinetree.robot.robot import Robot
from kinetree.spatial import Inertia
from kinetree.validation import positive, real_array

R = TypeVar("R", bound=Robot)


def with_gravity(robot: R, gravity: Sequence[float]) -> R:
    """Return this robot under another gravity (m/s², world axes)."""
    return type(robot)(replace(robot.model, gravity=as_vector(gravity, "gravity")))


def with_base_pose(robot: R, pose: ArrayLike) -> R:
    """Return this robot with its root link at this (4, 4) pose in the world; for a fixed base."""
    return type(robot)(changes.with_base_pose(robot.model, real_array("base_pose", pose).tolist()))


def with_friction(robot: R, *, damping: bool = True, coulomb: bool = True, smoothing: float = 1e-3) -> R:
    """Return this robot with the friction of its joints counted in all dynamics.

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
    friction = JointFriction(bool(damping), bool(coulomb), speed)
    return type(robot)(replace(robot.model, friction=friction))


def lock(robot: R, joints: Sequence[str], q: ArrayLike | None = None) -> R:
    """Return this robot with some joints fixed, and so with fewer coordinates.

    Parameters
    ----------
    joints : sequence of str
        Their names; joints that mimic one of them are fixed too.
    q : (nq,) array, optional
        The configuration in which they are fixed, of this whole robot; neutral if not given.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("panda").lock(["panda_joint3", "panda_joint5"]).joint_names
    ('panda_joint1', 'panda_joint2', 'panda_joint4', 'panda_joint6', 'panda_joint7')
    """
    if isinstance(joints, str | Mapping) or not isinstance(joints, Collection):
        raise ArgumentError(f"joints takes a list of names, and q= the configuration to lock them in; not {joints!r}")
    configuration = robot.neutral() if q is None else real_array("q", q, robot.nq, batch=False)
    if not np.isfinite(configuration).all():
        raise ArgumentError("lock takes a finite configuration; q holds NaN or inf")
    return type(robot)(changes.locked(robot.model, list(joints), configuration.tolist()))


def attach(robot: R, what: Robot | Inertia, frame: str, *, placement: ArrayLike | None = None, prefix: str = "") -> R:
    """Return this robot with something fixed to a frame: a payload, or another robot such as a gripper.

    Parameters
    ----------
    what : Inertia or Robot
        A payload's inertia, or a robot with a fixed base, whose root link is put there. Its joints come after
        this robot's in q and v; gravity and what friction counts are this robot's.
    frame : str
        Where.
    placement : (4, 4) array, optional
        Pose of the thing in the frame; the frame's own if not given.
    prefix : str
        Put before the names of an attached robot, so that all names differ.

    Raises
    ------
    ModelError
        If there is no such frame, or two names are the same.

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = kt.Inertia.from_com(1.0, [0, 0, 0.05], [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]])
    >>> robot = kt.load("panda")
    >>> round(robot.attach(ball, "panda_hand").mass - robot.mass, 12)
    1.0
    """
    X = as_transform(None if placement is None else real_array("placement", placement).tolist(), "placement")
    if isinstance(what, Robot):
        return type(robot)(changes.with_attached(robot.model, what.model, frame, X, prefix))
    if not isinstance(what, Inertia):
        raise ArgumentError(f"attach takes a Robot or an Inertia; {type(what).__name__} was given")
    return type(robot)(changes.with_payload(robot.model, X.T @ what, frame))


def with_inertial_parameters(robot: R, parameters: ArrayLike) -> R:
    """Return this robot with these (10 nb,) inertial parameters, as in `inertial_parameters`."""
    what = f"parameters, ten for each of the nb = {robot.nb} bodies,"
    ten = real_array(what, parameters, 10 * robot.nb, batch=False)
    return type(robot)(changes.with_inertial_parameters(robot.model, ten.tolist()))
