"""Names of the joints that a check is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinetree.robot import Robot


def named(robot: Robot, there: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of the entries of v that are there."""
    return tuple(name for name, is_there in zip(robot.v_names, there, strict=True) if is_there)
