"""Elementary functions as programs of basic operations, so that every backend and the interpreter give the same bits.

Each is written over a scalar that records (`record.Value`), without branches: what holds in each case is computed, and
one is selected. Their operations are evaluated as they stand, in float64 for every dtype, and no pass changes them.
The error is below one unit in the last place, for most arguments below 0.55.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from kinetree.graph.elementary import arcs, exponential, logarithm, record, remainder, roots
from kinetree.graph.graph import Program

FUNCTIONS: dict[str, Callable[..., record.Value | tuple[record.Value, ...]]] = {
    "exp": exponential.exp,
    "expm1": exponential.expm1,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "log": logarithm.log,
    "log1p": logarithm.log1p,
    "power": logarithm.power,
    "arcsin": arcs.arcsin,
    "arccos": arcs.arccos,
    "arctan": arcs.arctan,
    "arctan2": arcs.arctan2,
    "cbrt": roots.cbrt,
    "hypot": roots.hypot,
    "fmod": remainder.fmod,
}
"""The names of the operations to their formulas. A second result is not zero where `RARE` has another formula."""

RARE: dict[str, Callable[..., record.Value]] = {"fmod": remainder.long_fmod}
"""Formulas for arguments that are rare, too long to be computed always."""


@functools.cache
def program(name: str) -> Program:
    """Return the program of this elementary function.

    Examples
    --------
    >>> program("hypot").op_count()["sqrt"]
    1
    """
    return _traced(FUNCTIONS[name], name)


@functools.cache
def rare(name: str) -> Program | None:
    """Return the program for rare arguments, if there is one."""
    return _traced(RARE[name], name) if name in RARE else None


def _traced(function: Callable[..., record.Value | tuple[record.Value, ...]], name: str) -> Program:
    return record.program(function, len(inspect.signature(function).parameters), name)
