"""The algorithms of the textbook, one page each, over any scalar; a page is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetree.algorithms.table import ALGORITHMS, ALIASES
from kinetree.locks import importing

if TYPE_CHECKING:
    from kinetree.algorithms.dynamics.aba import aba
    from kinetree.algorithms.dynamics.crba import crba
    from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces, rnea
    from kinetree.algorithms.kinematics.forward import forward_kinematics
    from kinetree.algorithms.registry import Algorithm
    from kinetree.algorithms.symbols import shape_of

__all__ = [
    "ALGORITHMS",
    "ALIASES",
    "Algorithm",
    "aba",
    "bias_forces",
    "crba",
    "forward_kinematics",
    "gravity_forces",
    "rnea",
    "shape_of",
]

_LAZY = {
    "Algorithm": "registry",
    "shape_of": "symbols",
    **dict.fromkeys(("bias_forces", "gravity_forces", "rnea"), "dynamics.rnea"),
    "aba": "dynamics.aba",
    "crba": "dynamics.crba",
    "forward_kinematics": "kinematics.forward",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return __all__
