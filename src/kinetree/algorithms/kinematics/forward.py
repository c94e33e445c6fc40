"""Forward kinematics."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
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
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return [X.placement for X in world_transforms(model, states)]


def world_transforms(model: Model, states: Sequence[BodyState]) -> list[Transform]:
    """Return ``iX0``, from the world to every body."""
    X0: list[Transform] = []
    for body, state in zip(model.bodies, states, strict=True):
        X = state.X_J @ body.X_T
        X0.append(X if body.parent == WORLD else X @ X0[body.parent])
    return X0
