"""Robots of the package `robot_descriptions`, which fetches a repository when one is asked for first."""

from __future__ import annotations

import importlib

from kinetree.errors import FormatError
from kinetree.locks import importing


def described_names() -> list[str]:
    """Return the names that the package knows; none where it is not installed."""
    try:
        with importing:
            package = importlib.import_module("robot_descriptions")
    except ImportError:
        return []
    return list(package.DESCRIPTIONS)


def description_path(name: str) -> str:
    """Return the path of a robot's URDF file, which may be downloaded for it."""
    try:
        with importing:
            module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # git, the network, the disk: anything may go wrong in there
        raise FormatError(
            f"robot_descriptions could not fetch {name!r} ({type(error).__name__}: {error}); "
            "download the robot yourself and give its file"
        ) from error
    path = getattr(module, "URDF_PATH", None)
    if path is None:
        raise FormatError(f"robot_descriptions has no ready URDF file for {name!r} (xacro or MJCF only)")
    return str(path)
