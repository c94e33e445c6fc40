"""Elementary functions as programs of basic operations, so that every backend and the interpreter give the same bits.

Each is written over a scalar that records (`record.Value`), without branches: what holds in each case is computed, and
one is selected. Their operations are evaluated as they stand, in float64 for every dtype, and no pass changes them.
The error is below one unit in the last place, for most arguments below 0.6; of powers, sines and cosines below 1.5.
"""

from __future__ import annotations

import functools
import inspect
from importlib import import_module

from kinetree.graph.graph import Program
from kinetree.locks import importing

FUNCTIONS = {
    **dict.fromkeys(("exp", "expm1", "sinh", "cosh", "tanh"), "exponential"),
    **dict.fromkeys(("log", "log1p", "power"), "logarithm"),
    **dict.fromkeys(("arcsin", "arccos", "arctan", "arctan2"), "arcs"),
    **dict.fromkeys(("cbrt", "hypot", "fmod"), "roots"),
    "sincos": "circular",
}
"""The names of the operations, and the modules here that have the formulas of these names.

A formula may have one result more: where it is above 708 or NaN, `RARE` has another formula.
"""

RARE = {
    **{"exp": "any_exp", "expm1": "far_expm1", "sinh": "far_sinh", "cosh": "far_cosh", "log": "any_log"},
    **{"log1p": "any_log1p", "arctan2": "any_arctan2", "power": "any_power", "fmod": "long_fmod"},
    "sincos": "far_sincos",
}
"""Formulas for arguments that are rare, too long to be computed always: special ones, and near the limits of range."""

RARE_ABOVE = 708.0
"""The limit of the last result: that of x where eˣ and e⁻ˣ are normal numbers."""


@functools.cache
def program(name: str) -> Program:
    """Return the program of this elementary function."""
    return _traced(name, name)


@functools.cache
def rare(name: str) -> Program | None:
    """Return the program for rare arguments, if there is one."""
    return _traced(name, RARE[name]) if name in RARE else None


def _traced(name: str, formula: str) -> Program:
    with importing:
        from kinetree.graph.elementary import record

        function = getattr(import_module(f"{__name__}.{FUNCTIONS[name]}"), formula)
    return record.program(function, len(inspect.signature(function).parameters), name)
