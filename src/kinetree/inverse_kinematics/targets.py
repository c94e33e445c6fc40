"""Targets: desired poses of frames, validated and broadcast to a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.model import Model
from kinetree.validation import Array, as_poses, is_rotation, real_array


@dataclass(frozen=True, eq=False)
class FrameTarget:
    """Where a frame is wanted, and how much its parts count.

    Parameters
    ----------
    pose : (..., 4, 4) array
        The pose wanted in the world.
    position, orientation : float
        Weights of the errors in position (per metre) and in orientation (per radian); a part with weight 0 is free.
        Others are within 1e-30 to 1e30.

    Examples
    --------
    >>> upright = FrameTarget([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], position=0)
    >>> upright.orientation
    1.0
    """

    pose: ArrayLike
    position: float = 1.0
    orientation: float = 1.0


Target = ArrayLike | FrameTarget

LEAST = 1e-30
"""The smallest weight, and the inverse of the largest: the squares of weighted errors stay numbers."""


@dataclass(frozen=True, eq=False)
class Goal:
    """A target of a frame, checked.

    Attributes
    ----------
    frame : str
    pose : (n, 4, 4) array
        One a problem of the batch.
    weights : dict of str to float
        Of "orientation" and "position", those that count, in this order.
    """

    frame: str
    pose: Array
    weights: dict[str, float]


def goals_of(
    model: Model, target: Target | Mapping[str, Target], frame: str | None, lead: tuple[int, ...]
) -> tuple[list[Goal], tuple[int, ...]]:
    """Return the goals, and the leading axes of all targets broadcast together with `lead`."""
    wanted = {name: _as_target(value, name) for name, value in _by_frame(target, frame).items()}
    for name in wanted:
        model.frame(name)
    poses = {name: _pose(t.pose, name) for name, t in wanted.items()}
    shapes = {name: pose.shape[:-2] for name, pose in poses.items()}
    try:
        lead = np.broadcast_shapes(lead, *shapes.values())
    except ValueError:
        given = ", ".join(f"{shape} for {name!r}" for name, shape in shapes.items())
        raise ArgumentError(f"the leading axes of the targets ({given}) and of q0 {lead} do not broadcast") from None
    goals = [Goal(name, np.broadcast_to(poses[name], (*lead, 4, 4)), _weights(t, name)) for name, t in wanted.items()]
    if not any(goal.weights for goal in goals):
        raise ArgumentError("every weight is 0: there is nothing to reach")
    return [Goal(g.frame, g.pose.reshape(-1, 4, 4), g.weights) for g in goals if g.weights], lead


def _by_frame(target: Target | Mapping[str, Target], frame: str | None) -> Mapping[str, Target]:
    if not isinstance(target, Mapping):
        if frame is None:
            raise ArgumentError("give the frame that the target is for (frame=…), or a dict of targets by frame")
        return {frame: target}
    if frame is not None:
        raise ArgumentError(f"the targets name their frames already: leave out frame={frame!r}")
    if not target:
        raise ArgumentError("no target is given: the dict of targets by frame is empty")
    return target


def _as_target(value: Target, frame: str) -> FrameTarget:
    """Return a bare array as a target: poses (..., 4, 4) as they are, points (..., 3) with the orientation free."""
    if isinstance(value, FrameTarget):
        if value.position != 0 and is_rotation(value.pose):
            raise ArgumentError(f"the target for {frame!r} is an orientation alone: FrameTarget(…, position=0)")
        return value
    if hasattr(value, "as_matrix"):  # SciPy's RigidTransform, or an orientation alone
        return FrameTarget(value, position=0.0 if is_rotation(value) else 1.0)
    array = real_array(f"the target for {frame!r}", value)
    if array.ndim and array.shape[-1] == 3:
        pose = np.broadcast_to(np.eye(4), (*array.shape[:-1], 4, 4)).copy()
        pose[..., :3, 3] = array
        return FrameTarget(pose, orientation=0.0)
    return FrameTarget(array)


def _pose(value: ArrayLike, frame: str) -> Array:
    return as_poses(f"the target for {frame!r}", value)


def _weights(target: FrameTarget, frame: str) -> dict[str, float]:
    weights = {}
    for part in ("orientation", "position"):
        weight = getattr(target, part)
        if not isinstance(weight, int | float | np.number) or not (weight == 0 or LEAST <= weight <= 1.0 / LEAST):
            raise ArgumentError(
                f"the weight of the {part} of {frame!r} is {weight!r}, "
                f"it must be 0 or a number from {LEAST:g} to {1.0 / LEAST:g}"
            )
        if weight > 0:
            weights[part] = float(weight)
    return weights
