"""The algorithms of the textbook, one page each, over any scalar; a page is imported when it is first used."""

from typing import TYPE_CHECKING, Any

from kinetree.algorithms.registry import Algorithm
from kinetree.algorithms.table import ALGORITHMS
from kinetree.errors import here_called
from kinetree.glossary.symbols import shape_of

if TYPE_CHECKING:
    from kinetree.algorithms.dynamics.aba import aba
    from kinetree.algorithms.dynamics.crba import crba
    from kinetree.algorithms.dynamics.rnea import bias_forces, gravity_forces, rnea
    from kinetree.algorithms.kinematics.frames import forward_kinematics

__all__ = ["ALGORITHMS", "Algorithm", "aba", "bias_forces", "crba", "forward_kinematics", "gravity_forces"]
__all__ += ["rnea", "shape_of"]


def __getattr__(name: str) -> Any:
    """Return the page of an algorithm by the name of the robot's function or its alias."""
    here = name if name in ALGORITHMS else next(iter(here_called(name, ALGORITHMS)), None)
    if here is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return ALGORITHMS[here].function


def __dir__() -> list[str]:
    return __all__
