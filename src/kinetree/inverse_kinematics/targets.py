"""Targets: what is wanted of frames, checked, and as the goals and arrays that the solver takes."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.inverse_kinematics.goals import Goal
from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.scalars.functions import select, select_less
from kinetree.signatures import friendly_call_errors
from kinetree.spatial.vector import Vec3
from kinetree.validation import Array, check_finite, check_poses, is_rotation, real_array


class FrameGoal:
    """What is wanted of one frame: a `FrameTarget` or a `LookAt`."""


@friendly_call_errors
@dataclass(frozen=True, eq=False)
class FrameTarget(FrameGoal):
    """Where a frame is wanted, and how much the parts of its pose count.

    Parameters
    ----------
    pose : (..., 4, 4) array
        The pose wanted in the world. With ``position=0`` a rotation matrix (..., 3, 3) is enough, with
        ``orientation=0`` a point (..., 3).
    position, orientation : float or (3,) array
        Weights of the errors in position (per ℓ, 0.6 of the robot's reach) and in orientation (per radian), or of their
        coordinates in the axes of the pose wanted (the world's for points). What has weight 0 is free. Others are
        within 1e-30 to 1e30.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetree.inverse_kinematics import FrameTarget
    >>> upright = FrameTarget(np.eye(3), position=0)
    >>> turning = FrameTarget(np.eye(4), orientation=[1, 1, 0])  # about its z, as it likes
    """

    pose: ArrayLike
    position: float | ArrayLike = 1.0
    orientation: float | ArrayLike = 1.0


@friendly_call_errors
@dataclass(frozen=True, eq=False)
class LookAt(FrameGoal):
    """A point that an axis of a frame is to point at; how it turns about this axis is free.

    Parameters
    ----------
    point : (..., 3) array
        In the world (m).
    axis : (3,) array
        In the frame, of any length.
    weight : float
        Of the angle between the axis and the direction to the point (per radian).

    Examples
    --------
    >>> from kinetree.inverse_kinematics import LookAt
    >>> watch = LookAt([1.0, 0.0, 0.5], axis=[0, 0, 1])
    """

    point: ArrayLike
    axis: ArrayLike = (0.0, 0.0, 1.0)
    weight: float = 1.0


One = ArrayLike | FrameGoal
Target = One | Sequence[FrameGoal]

FLOAT64 = np.dtype(np.float64)
LEAST, MOST = 1e-30, 1e30
"""The smallest and the largest weight: the squares of weighted errors stay numbers."""

SQUARE = (
    "{what} has shape {shape}, which may be an orientation or three points. Write FrameTarget(R, position=0) for a "
    "rotation matrix R, FrameTarget(points, orientation=0) for points; poses are (4, 4)"
)

SHAPE = "{what} has shape {shape}: poses are (..., 4, 4), points (..., 3)"

POINT = "{what} has shape {shape}, of points: give orientation=0 for a point, FrameTarget(point, orientation=0)"


class Wanted(NamedTuple):
    """A target, checked: the goal, its array with leading axes, and its weights unless all are 1."""

    goal: Goal
    array: Array
    weights: Array | None


def wanted_of(model: Model, target: Target | Mapping[str, Target], frame: str | None) -> list[Wanted]:
    """Return the goals; raise where they are impossible."""
    if isinstance(target, Mapping):
        if frame is not None:
            raise ArgumentError(f"the targets name their frames already: leave out frame={frame!r}")
        found = [w for name in target for w in _of_frame(model, target[name], name, f"target[{name!r}]")]
        if not target:
            raise ArgumentError("no target is given: the dict of targets by frame is empty")
    else:
        if frame is None:
            raise ArgumentError("give the frame that the target is for (frame=…), or a dict of targets by frame")
        found = _of_frame(model, target, frame, "target")
    if not found:
        raise ArgumentError("every weight is 0: there is nothing to reach")
    return found


def lead_of(wanted: Sequence[Wanted], lead: tuple[int, ...]) -> tuple[int, ...]:
    """Return the leading axes of all targets broadcast together with those of q0."""
    shapes = [w.array.shape[: w.array.ndim - len(w.goal.shape)] for w in wanted]
    try:
        return np.broadcast_shapes(lead, *shapes)
    except ValueError:
        given = ", ".join(f"{shape} for {w.goal.frame!r}" for shape, w in zip(shapes, wanted, strict=True))
        raise ArgumentError(f"the leading axes of the targets ({given}) and of q0 {lead} do not broadcast") from None


def _of_frame(model: Model, target: Target, frame: str, what: str) -> list[Wanted]:
    model.frame(frame)
    each: Sequence[Any] = [target]
    names = [what]
    if isinstance(target, (list, tuple)) and any(isinstance(t, (FrameTarget, LookAt)) for t in target):
        each, names = target, [f"{what}[{k}]" for k in range(len(target))]
    found = [
        _look_at(one, frame, name) if isinstance(one, LookAt) else _placed(one, frame, name)
        for one, name in zip(each, names, strict=True)
    ]
    return [w for w in found if w is not None]


def _look_at(target: LookAt, frame: str, what: str) -> Wanted | None:
    point, axis = finite(f"{what}.point", target.point, 3), finite(f"{what}.axis", target.axis, 3)
    if axis.ndim > 1 or not axis.any():
        raise ArgumentError(f"{what}.axis is {target.axis!r}: give a direction (3,) in the frame, not zero")
    weight = _weights(f"{what}.weight", target.weight, 1)
    if not weight.any():
        return None
    axis = axis / np.linalg.norm(axis)
    array = np.stack([point, np.broadcast_to(axis, point.shape)], axis=-2)
    return Wanted(Goal(frame, "look_at"), array, None if weight == 1.0 else weight[0])


def _placed(target: ArrayLike | FrameTarget, frame: str, what: str) -> Wanted | None:
    """Return the goal of a pose, a rotation matrix or points, with weights or bare."""
    if hasattr(target, "as_matrix"):  # SciPy's RigidTransform, or an orientation alone
        pose: Any = target
        target = FrameTarget(pose, position=0.0 if is_rotation(pose) else 1.0)
    if not isinstance(target, FrameTarget):
        try:
            array = real_array(what, target)
        except ArgumentError as error:
            hint = "; weights are given as FrameTarget(pose, position=…, orientation=…)" * isinstance(target, tuple)
            raise ArgumentError(f"{error}{hint}") from None
        if array.shape[-1:] == (3,) and array.shape[-2:] != (3, 3):
            return Wanted(Goal(frame, "position"), finite(what, array, 3), None)
        return Wanted(Goal(frame, "pose"), _poses(what, array), None)
    given: Any = target.pose
    array = real_array(f"{what}.pose", given.as_matrix() if hasattr(given, "as_matrix") else given)
    position = _weights(f"{what}.position", target.position, 3)
    orientation = _weights(f"{what}.orientation", target.orientation, 3)
    if not position.any() and array.shape[-2:] == (3, 3):
        pose = np.zeros((*array.shape[:-2], 4, 4))
        pose[..., :3, :3], pose[..., 3, 3] = array, 1.0
    elif not orientation.any() and array.shape[-1:] == (3,):
        return _if_counted(Goal(frame, "position"), finite(f"{what}.pose", array, 3), position)
    else:
        pose = array
    pose = _poses(f"{what}.pose", pose)
    if not position.any():
        return _if_counted(Goal(frame, "orientation"), pose[..., :3, :3], orientation)
    if not orientation.any() and np.ptp(position) == 0.0:
        return _if_counted(Goal(frame, "position"), pose[..., :3, 3], position)
    return _if_counted(Goal(frame, "pose"), pose, np.concatenate([orientation, position]))


def _if_counted(goal: Goal, array: Array, weights: Array) -> Wanted | None:
    if not weights.any():
        return None
    return Wanted(goal, np.ascontiguousarray(array), None if (weights == 1.0).all() else weights)


def bare_kind(target: Any) -> str | None:
    """Return the kind of a float64 array that needs no conversion: "pose" or "position"; None for all else."""
    if type(target) is not np.ndarray or target.dtype is not FLOAT64:
        return None
    if target.shape == (4, 4):
        return "pose" if _is_pose()(target) else None
    return "position" if target.shape == (3,) and math.isfinite(sum(target.tolist())) else None


def finite(what: str, value: ArrayLike, *shape: int) -> Array:
    """Return an array with these last axes, if all its numbers are finite."""
    array = real_array(what, value, *shape)
    if array.ndim == 1 and math.isfinite(sum(array.tolist())):
        return array  # quicker so for few numbers: a sum of others is not finite, or so large that it is not either
    check_finite(what, array)
    return array


def _poses(what: str, array: Array) -> Array:
    if array.shape[-2:] != (4, 4):
        text = SQUARE if array.shape[-2:] == (3, 3) else POINT if array.shape[-1:] == (3,) else SHAPE
        raise ArgumentError(text.format(what=what, shape=array.shape))
    valid = _is_pose()(array)
    if not (valid if array.ndim == 2 else valid.all()):
        finite(what, array, 4, 4)
        check_poses(what, array)
    return array


def _weights(what: str, value: Any, size: int) -> Array:
    weights = real_array(what, value)
    if weights.shape not in ((), (size,)) or not ((weights == 0) | ((weights >= LEAST) & (weights <= MOST))).all():
        per_axis = f", or {size} of these" if size > 1 else ""
        raise ArgumentError(f"{what} is {value!r}, it must be 0 or a number from {LEAST:g} to {MOST:g}{per_axis}")
    return np.broadcast_to(weights, size)


@functools.cache
def _is_pose() -> Function:
    """Return the compiled function that gives 1 where a matrix is a pose of finite numbers, up to 1e-6, else 0."""

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        *rows, last = given["T"]
        x, y, z, p = (Vec3(*column) for column in zip(*rows, strict=True))
        products = [x.dot(x) - 1.0, y.dot(y) - 1.0, z.dot(z) - 1.0, x.dot(y), x.dot(z), y.dot(z)]
        small = [*products, *(a - b for a, b in zip(last, (0.0, 0.0, 0.0, 1.0), strict=True))]
        valid: Any = select_less(0.0, x.cross(y).dot(z), 1.0, 0.0)
        for value, bound in [*((s, 1e-6) for s in small), *((c, sys.float_info.max) for c in p)]:
            valid = select((value <= bound) & (value >= -bound), valid, 0.0)
        return (valid,)

    ports = (Port("T", (4, 4)),), (Port("valid", ()),)
    return Function(FunctionSpec("is_pose", "Whether a matrix is a pose.", *ports, evaluate, lambda: b"is_pose"))
