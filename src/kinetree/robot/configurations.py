"""Configurations of a robot: neutral, random, and those that have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.validation import Array, Seed, Size, as_generator, as_lead

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot.robot import Robot

R = TypeVar("R", bound="Robot")


def neutral(robot: Robot) -> Array:
    """Return the configuration (nq,) in which every joint is at its zero."""
    q = np.empty(robot.nq)
    for body in robot.model.leading:
        q[list(body.q_index)] = body.joint.neutral()
    return q


def random_configuration(robot: Robot, seed: Seed = None, size: Size = ()) -> Array:
    """Return random configurations (``*size, nq``), uniform within the joints' limits.

    Where a joint has no limits it is within ±π rad or ±1 m; orientations are uniform over all rotations.
    """
    rng = as_generator(seed)
    lead = as_lead(size)
    q = np.empty((*lead, robot.nq))
    for body in robot.model.leading:
        lower, upper = ([body.limits.lower], [body.limits.upper]) if len(body.q_index) == 1 else (None, None)
        q[..., list(body.q_index)] = body.joint.random(rng, lower, upper, lead)
    return q


def random_state(robot: Robot, seed: Seed = None, size: Size = ()) -> tuple[Array, Array, Array]:
    """Return random q (``*size, nq``), v and a (``*size, nv``): q as `random_configuration`, v and a standard normal.

    Examples
    --------
    >>> import kinetree as kt
    >>> [x.shape for x in kt.load("g1").random_state(seed=0, size=10)]
    [(10, 36), (10, 35), (10, 35)]
    """
    rng = as_generator(seed)
    q = random_configuration(robot, rng, size)
    v, a = rng.normal(size=(2, *q.shape[:-1], robot.nv))
    return q, v, a


def configuration(robot: Robot, name: str) -> Array:
    """Return the configuration (nq,) of this name, read-only.

    Raises
    ------
    ModelError
        If there is none; the message has the nearest ones.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda").with_configuration("ready", [0, -0.785, 0, -2.356, 0, 1.571, 0.785])
    >>> robot.configuration("ready")[3]
    np.float64(-2.356)
    """
    if name not in list(robot.configurations):
        raise ModelError(unknown_name("configuration", name, robot.configurations))
    return robot.configurations[name]


def with_configuration(robot: R, name: str, q: ArrayLike) -> R:
    """Return this robot with a named configuration, in place of one that has this name.

    Parameters
    ----------
    name : str
    q : (nq,) array
        With unit quaternions; limits are not looked at.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5").with_configuration("up", [0, -1.57, 0, -1.57, 0, 0])
    >>> list(robot.configurations)
    ['up']
    """
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"the name of a configuration is a str; {name!r} was given")
    return type(robot)(robot.model, {**robot.configurations, name: q})
