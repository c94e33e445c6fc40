"""A robot with some of its joints locked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, LimitWarning, warn_user
from kinetree.model import Model
from kinetree.model import edit as changes
from kinetree.robot.configurations import neutral
from kinetree.robot.edit import R, changed
from kinetree.robot.limits import beyond
from kinetree.validation import Array, real_array


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
    if told := beyond(locked, configuration):
        warn_user(
            f"locked outside the limits: {told}. Give positions by name, lock({{name: position}}), or q=", LimitWarning
        )
    return changed(robot, model, {name: q[left] for name, q in robot.configurations.items()})


def _put(model: Model, positions: Mapping[str, ArrayLike], q: Array) -> None:
    """Write the positions of joints into a configuration."""
    for name, position in positions.items():
        body = model.bodies[model.body_of_joint(name)]
        if body.joint.follows is not None:
            leader = next(b.joint_name for b in model.leading if b.q_index == body.q_index)
            raise ArgumentError(f"joint {name!r} follows {leader!r}: give the position of that one")
        what = f"the position of joint {name!r}"
        coordinates = np.atleast_1d(real_array(what, position))
        q[list(body.q_index)] = real_array(what, coordinates, len(body.q_index), batch=False)
