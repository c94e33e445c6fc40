"""The algorithms of the textbook, one page each, over any scalar."""

from kinetree.algorithms.aba import aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.declaration import ALGORITHMS, Algorithm, shape_of
from kinetree.algorithms.kinematics import forward_kinematics
from kinetree.algorithms.rnea import bias_forces, gravity_forces, rnea

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "aba",
    "bias_forces",
    "crba",
    "forward_kinematics",
    "gravity_forces",
    "rnea",
    "shape_of",
]
