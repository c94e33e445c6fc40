"""Rigid-body dynamics for Python: written like the textbook, compiled for your robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree._version import __version__
from kinetree.errors import ArgumentError, FormatError, KinetreeError, ModelError
from kinetree.loading import load
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.robot import Robot
from kinetree.spatial import Inertia

if TYPE_CHECKING:
    from kinetree.runtime import get_num_threads, set_num_threads

__all__ = [
    "ArgumentError",
    "FormatError",
    "Inertia",
    "JointLimits",
    "KinetreeError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Robot",
    "__version__",
    "get_num_threads",
    "load",
    "set_num_threads",
]


def __getattr__(name: str) -> Any:
    if name in ("get_num_threads", "set_num_threads"):
        from kinetree import runtime

        return getattr(runtime, name)
    raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
