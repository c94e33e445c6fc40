"""Whether the constraints of a mechanism hold where a simulation begins."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot.mechanism import Mechanism
from kinetree.validation import Array

OPEN = 1e-3
"""Errors (m, rad) that are no rounding: the first step takes away smaller ones."""


def check_closed(mech: Mechanism, q: Array, active: Array | None) -> None:
    """Raise where a constraint that acts does not hold at the configurations q (n, nq)."""
    error = abs(mech.constraint_error(q))
    if active is not None:
        first = active[:, 0] if active.ndim == 3 else active
        error = error * (first[:, list(mech.model.constraint_of_row)] != 0.0)
    worst = error.max(axis=0)
    for name, rows in mech.row_slices.items():
        if (size := worst[rows].max(initial=0.0)) > OPEN:
            state = f" of state {np.argmax(error[:, rows].max(axis=1))}" if len(q) > 1 else ""
            raise ArgumentError(
                f"the simulation begins with {name!r} open by {size:.3g} (m or rad) at q{state}: give a configuration "
                "in which the constraints hold, or active = 0 for those that do not act"
            )
