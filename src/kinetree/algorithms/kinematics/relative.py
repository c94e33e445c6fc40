"""One frame against another: placement and Jacobian."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics.forward import Placement
from kinetree.algorithms.kinematics.jacobian import Matrix, accumulate, columns, views, zeros
from kinetree.algorithms.recursions.path import path_to, placement_of, without_common
from kinetree.algorithms.registry import OneFrame, algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar


@algorithm(
    "relative_jacobian",
    inputs={"q": ("nq",)},
    options={"frame": OneFrame(), "relative_to": OneFrame(), "reference": ("body", "relative_to", "aligned")},
    outputs={"J": (6, "nv")},
)
def relative_jacobian(
    model: Model, q: Sequence[Scalar], *, frame: str, relative_to: str, reference: str = "body"
) -> Matrix:
    """Jacobian of a frame as it moves against another frame: ``J(q) v`` is the twist of the one seen from the other.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame, relative_to : str
        Names of the frames (``robot.frame_names``).
    reference : {"body", "relative_to", "aligned"}
        The axes, and the point whose velocity against `relative_to` the last three rows give: those of `frame`;
        those of `relative_to`, which takes the part of the world; or its axes with the origin of `frame`.

    Returns
    -------
    (..., 6, nv) array
        Rows: three of angular velocity, three of linear. Columns of joints that carry both frames or none are zero.

    Raises
    ------
    ModelError
        If there is no frame of that name.

    Notes
    -----
    In body axes ``J = J_frame − X J_relative_to``, with X the transform from the one frame to the other.
    """
    ours, theirs = without_common(path_to(model, frame, q), path_to(model, relative_to, q))
    to_ours, to_theirs = views(ours, theirs, reference)
    J = zeros(model)
    for column, k in columns(ours, to_ours):
        accumulate(J, k, column)
    for column, k in columns(theirs, to_theirs):
        accumulate(J, k, column * -1.0)
    return J


@algorithm(
    "relative_placement",
    inputs={"q": ("nq",)},
    options={"frame": OneFrame(), "relative_to": OneFrame()},
    outputs={"placement": (4, 4)},
)
def relative_placement(model: Model, q: Sequence[Scalar], *, frame: str, relative_to: str) -> Placement:
    """Pose of a frame in another frame.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame, relative_to : str
        Names of the frames (``robot.frame_names``).

    Returns
    -------
    (..., 4, 4) array
        The homogeneous transform of `frame` in the axes of `relative_to`, from its origin (m).

    Raises
    ------
    ModelError
        If there is no frame of that name.
    """
    ours, theirs = without_common(path_to(model, frame, q), path_to(model, relative_to, q))
    return (placement_of(ours) @ placement_of(theirs).inverse()).placement
