"""How far a frame is from a singularity."""

from __future__ import annotations

from kinetree.algorithms.kinematics.jacobian import jacobian
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.glossary.symbols import ROWS
from kinetree.model import Model
from kinetree.scalars.orthogonal import volume
from kinetree.spatial import Scalar


@algorithm("manipulability", outputs="w")
def manipulability(model: Model, q: Vector, *, frame: str, rows: str = "pose") -> Scalar:
    """Yoshikawa's measure of manipulability of a frame, ``√det(J Jᵀ)``: the product of the singular values of J.

    It is 0 where J loses rank, but for rounding: at a singularity with six joints, and at every configuration of an arm
    of fewer joints than rows. Such an arm needs the `rows` that it is made for.

    Returns
    -------
    w
        Not negative, the same for all axes in which J may be given. Its unit is that of the rows multiplied: m³ for the
        pose and the position of an arm of revolute joints, rad being 1.

    References: Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics Research 4(2),
    1985.

    >>> straight, bent = [0.0] * 7, [0, 0.3, 0, -1.5, 0, 1.8, 0.8]
    >>> robot.manipulability([straight, bent], frame="panda_hand").round(6)
    array([0.      , 0.094873])
    """
    return volume(jacobian(model, q, frame=frame)[ROWS[rows]])
