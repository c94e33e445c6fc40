"""States and numbers with which the laws of joints are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.joints.base import Joint, JointState
from kinetree.scalars.dual import Dual, value_of

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""What rounding may differ by, relative to the size of the numbers."""


class State(NamedTuple):
    """A joint at q, moving at ν: what `jcalc` gives there, and what it gives as dual numbers along `integrate`."""

    q: list[float]
    v: Array
    state: JointState
    ahead: JointState

    def __str__(self) -> str:
        return f"at q = {show(self.q)}, ν = {show(self.v)}"


def states(joint: Joint) -> list[State]:
    """Return the joint in a few random states, always the same."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = np.asarray(joint.random(rng)).tolist(), rng.normal(size=joint.nv)
        along = joint.integrate([Dual(x, 0.0) for x in q], [Dual(0.0, x) for x in v.tolist()])
        found.append(State(q, v, joint.jcalc(q, v.tolist()), joint.jcalc(along, v.tolist())))
    return found


def matrix(rows: Iterable[Any], part: Callable[[Any], Any] = value_of) -> Array:
    """Return numbers, or rows of them, as an array: their values, or their rates; no rows are (0, 6)."""
    listed = [[part(x) for x in row] if isinstance(row, Iterable) else part(row) for row in rows]
    return np.array(listed, dtype=np.float64) if listed else np.zeros((0, 6))


def unit_rows(rows: Array) -> Array:
    """Return the rows with length one."""
    unit: Array = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return unit


def same(a: Array, b: Array) -> bool:
    """Return whether two arrays are equal up to rounding."""
    size = 1.0 + max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return bool(a.size == b.size == 0 or (np.abs(a - b) <= TOLERANCE * size).all())


def show(numbers: Iterable[Any]) -> str:
    """Return numbers for a message."""
    return f"({', '.join(f'{float(x) + 0.0:.6g}' for x in numbers)})"
