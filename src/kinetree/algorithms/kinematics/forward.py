"""Forward kinematics."""

from __future__ import annotations

from kinetree.algorithms.recursions.motions import world_transforms
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar

Placement = tuple[tuple[Scalar, ...], ...]


@algorithm("forward_kinematics", outputs="placements")
def forward_kinematics(model: Model, q: Vector) -> list[Placement]:
    """Pose of every moving body in the world.

    References: RBDA section 4.5: ``iX0 = iXλ λX0``.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return [X.placement for X in world_transforms(model, states)]
