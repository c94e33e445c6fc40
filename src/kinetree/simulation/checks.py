"""Checks of single arguments of simulations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput
from kinetree.validation import Array


def count(name: str, value: object) -> int:
    """Return a whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ArgumentError(f"{name} is {value!r}, it must be a whole number from 1 on")
    return int(value)


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return one of several strings."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}; choose from {', '.join(choices)}")
    return str(value)


def by_name(name: str, given: Any) -> dict[str, Any]:
    """Return values by name: the names of arguments, or the robot's numbers that they are of."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"{name} takes a dict of values by the names of the controller's arguments, and by the robot's numbers: "
            f"{{'kp': 100.0, kt.gravity: (0, 0, -1.62)}}; it is {given!r:.100}"
        )
    found = {str(key.name if isinstance(key, ModelInput) else key): value for key, value in given.items()}
    if len(found) < len(given):
        shown = [key.name if isinstance(key, ModelInput) else str(key) for key in given]
        raise ArgumentError(f"{name}: these do not have different names: {shown}")
    return found


def check_finite(name: str, array: Array, consequence: str = "") -> None:
    """Raise where an array holds NaN or inf."""
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf), at {where}{consequence}")
