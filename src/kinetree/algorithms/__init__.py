"""The algorithms of the textbook, one page each, over any scalar.

Every module of this package is imported here, so that its algorithms are in the table.
"""

from importlib import import_module
from pkgutil import walk_packages

from kinetree.algorithms.dynamics.aba import aba
from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces, rnea
from kinetree.algorithms.kinematics.forward import forward_kinematics
from kinetree.algorithms.registry import ALGORITHMS, Algorithm, shape_of

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

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


ELSEWHERE = {
    "rnea": "inverse_dynamics",
    "aba": "forward_dynamics",
    "crba": "mass_matrix",
    "fk": "forward_kinematics",
    "ik": "inverse_kinematics",
    "nonLinearEffects": "bias_forces",
    "com": "center_of_mass",
}
"""Names that people know from other libraries."""
