"""The algorithms of the textbook, one page each, over any scalar.

Every module of this package is imported here, so that its algorithms are in the table.
"""

from importlib import import_module
from pkgutil import iter_modules

from kinetree.algorithms.aba import aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.declaration import ALGORITHMS, Algorithm, shape_of
from kinetree.algorithms.kinematics import forward_kinematics
from kinetree.algorithms.rnea import bias_forces, gravity_forces, rnea

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

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
