"""Configurations of a robot: neutral, random, and those that have names."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.joints import Joint
from kinetree.robot.base import BaseRobot, changed
from kinetree.validation import Array, Seed, Size, as_generator, as_lead

R = TypeVar("R", bound=BaseRobot)
T = TypeVar("T")


def neutral(robot: BaseRobot) -> Array:
    """Return the configuration (nq,) in which every joint is at its zero."""
    q: Array = _once(robot, "_neutral", _neutral)
    return q.copy()


def random_configuration(robot: BaseRobot, seed: Seed = None, size: Size = ()) -> Array:
    """Return random configurations (``*size, nq``), uniform within the joints' limits.

    Where a joint has no limits it is within ±π rad or ±1 m; orientations are uniform over all rotations.
    """
    rng, lead = as_generator(seed), as_lead(size)
    q = np.empty((*lead, robot.model.nq))
    for draw in _once(robot, "_draws", _draws):
        q[..., draw.entries] = draw(rng, lead)
    return q


class Uniform(NamedTuple):
    """Joints with one coordinate each, side by side in q: all their numbers in one go, which costs what one does."""

    entries: slice
    low: Array
    width: Array

    def __call__(self, rng: np.random.Generator, lead: tuple[int, ...]) -> Array:
        """Return random coordinates (*lead, n): the numbers that `Joint.random` of one joint after the other draws."""
        u = rng.random((len(self.low), *lead))
        return self.low + self.width * (np.moveaxis(u, 0, -1) if lead else u)


class ByItself(NamedTuple):
    """A joint that draws its numbers itself."""

    entries: slice
    joint: Joint
    lower: list[float] | None
    upper: list[float] | None

    def __call__(self, rng: np.random.Generator, lead: tuple[int, ...]) -> Array:
        """Return random coordinates (*lead, nq of the joint)."""
        return self.joint.random(rng, self.lower, self.upper, lead)


def _draws(robot: BaseRobot) -> list[Uniform | ByItself]:
    """Return the function that draws the entries of q, one after the other."""
    draws: list[Uniform | ByItself] = []
    for body in robot.model.leading:
        own, joint = len(body.q_index), body.joint
        entries, last = slice(body.q_index[0], body.q_index[0] + own), draws[-1] if draws else None
        lower, upper = ([body.limits.lower], [body.limits.upper]) if own == 1 else (None, None)
        low, high = map(np.array, joint.interval(lower, upper))
        with np.errstate(over="ignore"):
            width = high - low
        if own > 1 or type(joint).random is not Joint.random or np.isinf(width):  # NumPy refuses what is infinite
            draws.append(ByItself(entries, joint, lower, upper))
            continue
        one = Uniform(entries, low, width)
        if isinstance(last, Uniform):
            together = slice(last.entries.start, entries.stop)
            draws[-1] = Uniform(together, np.append(last.low, one.low), np.append(last.width, one.width))
        else:
            draws.append(one)
    return draws


def _neutral(robot: BaseRobot) -> Array:
    return np.array([x for body in robot.model.leading for x in body.joint.neutral()], dtype=np.float64)


def _once(robot: BaseRobot, key: str, make: Callable[[BaseRobot], T]) -> T:
    """Return the value that a function makes of a robot, computed at first use."""
    found = robot.__dict__.get(key)
    return robot.__dict__.setdefault(key, make(robot)) if found is None else found  # type: ignore[no-any-return]


def random_state(robot: BaseRobot, seed: Seed = None, size: Size = ()) -> tuple[Array, Array, Array]:
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


def configuration(robot: BaseRobot, name: str) -> Array:
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
    return changed(robot, robot.model, {**robot.configurations, name: q})
