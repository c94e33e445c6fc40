"""Placement, velocity and acceleration of a frame."""

from __future__ import annotations

from kinetree.algorithms.kinematics.forward import Placement
from kinetree.algorithms.recursions.motions import world_transforms
from kinetree.algorithms.recursions.path import path_to
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Scalar


@algorithm("frame_placement", outputs="placement")
def frame_placement(model: Model, q: Vector, point: Vector | None = None, *, frame: str) -> Placement:
    """Pose of a frame in the world.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``, along the path from the base to the frame.

    >>> robot.frame_placement(robot.neutral(), frame="panda_link8")[:3, 3].round(3)
    array([0.088, 0.   , 0.926])
    """
    return path_to(model, frame, q, point=point).transform().placement


@algorithm("frame_placements", outputs={"placements": ("nframes", 4, 4)})
def frame_placements(model: Model, q: Vector) -> list[Placement]:
    """Pose of every frame in the world, in one call.

    Returns
    -------
    placements
        Homogeneous transforms (columns: axes, origin in m); order: ``robot.frame_names``.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``.

    >>> placements = dict(zip(robot.frame_names, robot.frame_placements(q), strict=True))
    >>> bool((placements["panda_hand"] == robot.frame_placement(q, frame="panda_hand")).all())
    True
    """
    X0 = world_transforms(model, [model.jcalc(i, q) for i in range(model.nb)])
    return [(frame.X if frame.body == WORLD else frame.X @ X0[frame.body]).placement for frame in model.frames]


@algorithm("frame_velocity", outputs="velocity")
def frame_velocity(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Spatial velocity of a frame, ``J(q) v``, without the Jacobian.

    References: RBDA Table 5.1: ``v_i = iXλ v_λ + S_i ν_i``.
    """
    path = path_to(model, frame, q, v, point)
    v_i, _ = path.motion([0.0] * model.nv)
    return list(path.in_reference(v_i, reference))


@algorithm("frame_acceleration", outputs="acceleration")
def frame_acceleration(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    point: Vector | None = None,
    *,
    frame: str,
    reference: str = "body",
    kind: str = "spatial",
) -> list[Scalar]:
    """Acceleration of a frame; gravity is not included.

    References: RBDA Table 5.1: ``a_i = iXλ a_λ + S_i ν̇_i + c_J + v_i × v_J``; section 2.11 on the two kinds.
    """
    return list(path_to(model, frame, q, v, point).acceleration(a, reference, kind))
