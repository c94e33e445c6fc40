"""One frame against another: placement and Jacobian."""

from __future__ import annotations

from kinetree.algorithms.kinematics.forward import Placement
from kinetree.algorithms.kinematics.jacobian import accumulate
from kinetree.algorithms.recursions.path import path_to, reference_transforms, without_common
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Model


@algorithm("relative_jacobian", options={"reference": ("body", "relative_to", "aligned")}, outputs="J")
def relative_jacobian(
    model: Model, q: Vector, point: Vector | None = None, *, frame: str, relative_to: str, reference: str = "body"
) -> Matrix:
    """Jacobian of a frame relative to another one: ``J(q) v`` is the twist of `frame` observed from `relative_to`.

    Parameters
    ----------
    reference
        Axes, and the point whose relative velocity the last three rows give: those of `frame`; those of
        `relative_to`, which takes the role of the world; or the axes of `relative_to` with the origin of `frame`.

    Returns
    -------
    J
        Three rows of angular, three of linear velocity; zero for joints that move both frames or neither. In body axes
        ``J_frame − X J_relative_to``, with X the transform from `relative_to` to `frame`.
    """
    ours, theirs = without_common(path_to(model, frame, q, point=point), path_to(model, relative_to, q))
    to_ours, to_theirs = reference_transforms(ours, theirs, reference)
    J: Matrix = [[0.0] * model.nv for _ in range(6)]
    for k, column in ours.columns(to_ours):
        accumulate(J, k, column)
    for k, column in theirs.columns(to_theirs):
        accumulate(J, k, column * -1.0)
    return J


@algorithm("relative_placement", outputs="placement")
def relative_placement(
    model: Model, q: Vector, point: Vector | None = None, *, frame: str, relative_to: str
) -> Placement:
    """Pose of a frame in another frame."""
    ours, theirs = without_common(path_to(model, frame, q, point=point), path_to(model, relative_to, q))
    return (ours.transform() @ theirs.transform().inverse()).placement
