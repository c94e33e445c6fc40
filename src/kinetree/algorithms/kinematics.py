"""Forward kinematics."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.declaration import algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Scalar, Transform

Placement = tuple[tuple[Scalar, ...], ...]


@algorithm("forward_kinematics", inputs={"q": ("nq",)}, outputs={"placements": ("nb", 4, 4)})
def forward_kinematics(model: Model, q: Sequence[Scalar]) -> list[Placement]:
    """Pose of every moving body in the world.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., nb, 4, 4) array
        The homogeneous transform of each body's frame, in the order of ``robot.body_names``: its columns are the
        body's axes and origin (m) in the world.

    References
    ----------
    RBDA section 4.5: ``iX0 = iXλ λX0``.
    """
    X0: list[Transform] = []
    for i, body in enumerate(model.bodies):
        X = model.jcalc(i, q).X_J @ body.X_T
        X0.append(X if body.parent == WORLD else X @ X0[body.parent])
    return [X.placement for X in X0]
