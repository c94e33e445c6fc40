"""Rigid-body dynamics for Python: written like the textbook, compiled for your robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree._version import __version__
from kinetree.errors import ArgumentError, FormatError, KinetreeError, ModelError
from kinetree.loading import load
from kinetree.locks import importing
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.robot import Robot
from kinetree.spatial import Inertia

if TYPE_CHECKING:
    from kinetree import conventions, modern_robotics
    from kinetree.formats import FormatWarning, NonPhysicalInertiaWarning, RobotNotFoundError
    from kinetree.formats.chains.dh import DHLink
    from kinetree.functions.model_inputs import gravity, inertia, payload
    from kinetree.functions.of_user import compile
    from kinetree.runtime import get_num_threads, set_num_threads
    from kinetree.tables import from_dh, from_screws
    from kinetree.tracing.functions import abs, maximum, minimum, solve, where

__all__ = [
    "ArgumentError",
    "DHLink",
    "FormatError",
    "FormatWarning",
    "Inertia",
    "JointLimits",
    "KinetreeError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "NonPhysicalInertiaWarning",
    "Robot",
    "RobotNotFoundError",
    "__version__",
    "abs",
    "compile",
    "conventions",
    "from_dh",
    "from_screws",
    "get_num_threads",
    "gravity",
    "inertia",
    "load",
    "maximum",
    "minimum",
    "modern_robotics",
    "payload",
    "set_num_threads",
    "solve",
    "where",
]


_FUNCTIONS = ("abs", "maximum", "minimum", "solve", "where")
_INPUTS = ("gravity", "inertia", "payload")
_LATER = {  # imported when first asked for, so that `import kinetree` stays quick
    "DHLink": "kinetree.formats.chains.dh",
    **dict.fromkeys(_FUNCTIONS, "kinetree.tracing.functions"),
    **dict.fromkeys(_INPUTS, "kinetree.functions.model_inputs"),
    "compile": "kinetree.functions.of_user",
    "FormatWarning": "kinetree.formats",
    "NonPhysicalInertiaWarning": "kinetree.formats",
    "RobotNotFoundError": "kinetree.formats",
    "from_dh": "kinetree.tables",
    "from_screws": "kinetree.tables",
    "get_num_threads": "kinetree.runtime",
    "set_num_threads": "kinetree.runtime",
}
_SUBMODULES = ("conventions", "modern_robotics")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    with importing:
        if name in _LATER:
            return getattr(import_module(_LATER[name]), name)
        if name in _SUBMODULES:
            return import_module(f"kinetree.{name}")
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
