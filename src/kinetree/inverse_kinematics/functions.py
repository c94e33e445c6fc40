"""The solver and the differential step for sets of frames, made once for a robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from kinetree.algorithms.inverse_kinematics.goals import SHAPES, Goal
from kinetree.errors import ArgumentError, listed, unknown_name, warn_user
from kinetree.inverse_kinematics.compiled import differential_step, solver
from kinetree.inverse_kinematics.signatures import (
    SolutionFunction,
    SolutionFunctionByKind,
    StepFunction,
    StepFunctionByKind,
)
from kinetree.model import Model
from kinetree.options import names_of
from kinetree.robot.base import OPEN_LOOPS
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

T = TypeVar("T")
Kinds = str | Mapping[str, str | Sequence[str]]


@overload
def inverse_kinematics_solver(
    robot: Robot | Mechanism, frames: str, *, fixed: Sequence[str] = ()
) -> SolutionFunction: ...
@overload
def inverse_kinematics_solver(
    robot: Robot | Mechanism, frames: Mapping[str, str | Sequence[str]], *, fixed: Sequence[str] = ()
) -> SolutionFunctionByKind: ...
def inverse_kinematics_solver(
    robot: Robot | Mechanism, frames: Kinds, *, fixed: Sequence[str] = (), **others: Any
) -> Function:
    """Return inverse kinematics for these frames as one compiled function.

    It does what `inverse_kinematics` does, for numbers alone and without its checks: it takes ``q0`` and a target for
    each frame, and returns a named tuple of ``q``, ``converged`` (1 or 0), ``position_error``, ``orientation_error``,
    ``iterations`` and ``attempts``. It can be part of functions that `compile` makes, be called from C, written as C,
    and takes batches on all cores.

    Parameters
    ----------
    frames : str or dict
        The frame whose pose is wanted; or what is wanted of each frame: "pose", "orientation", "position", "look_at",
        or several of them.
    fixed : sequence of str
        Joints that stay as in q0 (the floating base, say), outside their limits too.

    Returns
    -------
    Function
        Its arguments are ``q0``, and ``target``, or of several frames ``target_<frame>``: a pose (4, 4), a rotation
        matrix (3, 3), a point (3,), or (2, 3) for "look_at": the point, and the axis of the frame that is to point at
        it. By name, if wanted: ``weights`` of the error's coordinates: (6,) of a pose, orientation first, or (3,) of
        an orientation, in the axes of what is wanted; (3,) of a point, in the world's; () of the angle of "look_at";
        0 or more, where a negative one gives no solution. Angles count in rad, and lengths in 0.6 of the robot's reach.
        ``position_tolerance``, ``orientation_tolerance``, ``max_iterations``, ``restarts``, ``seed``, ``dt``.

    Raises
    ------
    ArgumentError
        If a kind of target is unknown, or a joint in `fixed`, or an argument of the function that is returned is given.
    ModelError
        If there is no frame of a name.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> solve = robot.inverse_kinematics_solver("panda_hand")
    >>> target = robot.frame_placement(robot.random_configuration(seed=3), frame="panda_hand")
    >>> found = solve(robot.neutral(), target)
    >>> bool(found.converged), bool(found.position_error < 1e-9)
    (True, True)
    """
    _none_of("inverse_kinematics_solver", others)
    note_open_loops(robot)
    return remembered(robot, solver, goals_of(robot.model, frames), joints_of(robot.model, fixed))


@overload
def differential_inverse_kinematics(
    robot: Robot | Mechanism, frames: str, *, fixed: Sequence[str] = ()
) -> StepFunction: ...
@overload
def differential_inverse_kinematics(
    robot: Robot | Mechanism, frames: Mapping[str, str | Sequence[str]], *, fixed: Sequence[str] = ()
) -> StepFunctionByKind: ...
def differential_inverse_kinematics(
    robot: Robot | Mechanism, frames: Kinds, *, fixed: Sequence[str] = (), **others: Any
) -> Function:
    """Return one step of differential inverse kinematics for these frames as a compiled function.

    The step is damped least squares, ``min |J d − g e|² + (λ + c B(g e)) |d|²``, the best within the limits of
    position and, in the time ``dt``, of velocity (one of 0 is read as not given), and in what this leaves free goes
    towards a posture. It takes ``q``, a target for each frame and ``dt``, and returns a named tuple of the next ``q``,
    the velocity ``v`` that leads there, and ``position_error`` and ``orientation_error`` of the q that was given,
    *before* the step. Accelerations are not limited. It can be part of functions that `compile` makes, and be written
    as C. A joint that is outside a position limit goes back towards it, no faster than its velocity limit allows; where
    ``dt`` is not positive nothing moves, and v is 0.
    Joints of several degrees of freedom have no limits: a floating base goes all the way in one step, unless ``gain``
    is less or the base is in `fixed`.

    Parameters
    ----------
    frames, fixed
        As in `inverse_kinematics_solver`.

    Returns
    -------
    Function
        Its arguments are ``q``, the targets and weights of `inverse_kinematics_solver`, and ``dt`` (s). By
        name, if wanted: ``posture`` (nq,), where the joints are to go as far as the goals leave them free, g/10
        of the way in a step; ``gain``, the part g of the errors that the step is to take away (1): above 0 and up to
        1, less where q comes late; ``damping``, λ (1e-6): 0 or more, where less than 1e-13 of the trace of ``J Jᵀ``
        counts as that much; ``error_damping``, c (0.6), which lets the joints come to rest where the goals are out of
        reach: 0 or more. Where one of these or a weight is negative, ``v`` is NaN.

    Raises
    ------
    ArgumentError
        If a kind of target is unknown, or a joint in `fixed`, or an argument of the function that is returned is given.
    ModelError
        If there is no frame of a name.

    Notes
    -----
    The step of a mechanism keeps its loops closed: v is a velocity of the mechanism, ``J v = 0``, and q is closed after
    a step along it. Joints go past their limits no further than that.

    B(e) bounds the eigenvalues of ``Σ eᵢ ∂²eᵢ/∂q²``, what least squares leave out, from the columns of J alone. A c
    above ½ is enough for rest wherever the best place is, with any weights. Damping in proportion to the error is the
    Levenberg–Marquardt method of Fan and Yuan 2005, whose convergence is quadratic.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> step = robot.differential_inverse_kinematics("panda_hand")
    >>> q = np.array([0.3, 0.4, -0.2, -1.8, 0.1, 2.0, 0.5])
    >>> target = robot.frame_placement(q, frame="panda_hand")
    >>> target[2, 3] += 0.001
    >>> bool(np.abs(robot.frame_placement(step(q, target, 0.001).q, frame="panda_hand") - target).max() < 1e-5)
    True
    """
    _none_of("differential_inverse_kinematics", others)
    note_open_loops(robot)
    return remembered(robot, differential_step, goals_of(robot.model, frames), joints_of(robot.model, fixed))


def _none_of(name: str, others: Mapping[str, Any]) -> None:
    """Raise an error for arguments of the function that is returned."""
    if others:
        given = ", ".join(f"{key}=…" for key in others)
        raise ArgumentError(
            f"{name} takes frames and fixed, and returns a function. Give {given} when that one is called, if it has "
            "such an argument; a frame's name comes first, or a dict such as {'tool': 'position'}"
        )


def note_open_loops(robot: Robot | Mechanism) -> None:
    """Warn where a robot is the tree of a mechanism with closed loops."""
    if loops := robot.__dict__.get(OPEN_LOOPS):
        warn_user(
            f"{robot.model.name!r} is the tree of a mechanism: its inverse kinematics leaves open what the mechanism "
            f"closes ({listed(loops)}). Write mech.inverse_kinematics and the like, not mech.tree.inverse_kinematics",
            UserWarning,
        )


def remembered(robot: Robot | Mechanism, make: Callable[..., T], *shape: Any) -> T:
    """Return the result of `make` for a robot and these, computed once."""
    known: dict[Any, T] = robot.__dict__.setdefault("_inverse_kinematics", {})
    found = known.get((make, shape))
    return found if found is not None else known.setdefault((make, shape), make(robot, *shape))


def goals_of(model: Model, frames: Kinds) -> tuple[Goal, ...]:
    """Return the goals that are meant."""
    if isinstance(frames, str):
        frames = {frames: "pose"}
    if not isinstance(frames, Mapping) or not frames:
        raise ArgumentError(f"frames is {frames!r}: give the name of a frame, or a dict such as {{'tool': 'position'}}")
    found = []
    for name, kinds in frames.items():
        model.frame(name)
        if not kinds:
            raise ArgumentError(f"frames[{name!r}] is {kinds!r}: name what is wanted of it, of {', '.join(SHAPES)}")
        for kind in kinds if isinstance(kinds, Sequence) and not isinstance(kinds, str) else (kinds,):
            if kind not in SHAPES:
                raise ArgumentError(f"frames[{name!r}]: {unknown_name('kind of target', str(kind), SHAPES)}")
            found.append(Goal(name, kind))
    return tuple(found)


def joints_of(model: Model, fixed: Sequence[str]) -> tuple[str, ...]:
    """Return these names, if all are of joints with coordinates of their own."""
    fixed = names_of("fixed", fixed)
    for name in fixed:
        if name not in model.joint_names:
            follows = name in (body.joint_name for body in model.bodies)
            reason = f"{name!r} follows another joint" if follows else unknown_name("joint", name, model.joint_names)
            raise ArgumentError(f"fixed: {reason}")
    return fixed
