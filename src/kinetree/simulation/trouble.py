"""What a simulation warns of: robots that stopped without being told to, and contacts that were not solved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import SimulationWarning, warn_user
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.simulation.plan import Simulation


def warn_of_trouble(s: Simulation, stopped_at: Array, reasons: Array, counts: Mapping[str, Array]) -> None:
    """Warn of motions that are no longer finite, and of contacts that were not solved: once of each."""
    for reason, advice in s.plan.failures.items():
        failed = np.asarray(reasons == reason)
        if failed.any():
            first = np.where(failed, stopped_at, math.inf)
            who = _which(s, first.argmin(), failed)
            warn_user(f"{who} stopped at t = {first.min():g} s, {reason}: {advice}", SimulationWarning)
    if "unsolved" in counts and np.count_nonzero(unsolved := counts["unsolved"]):
        k = int(np.where(unsolved > 0, counts["worst_residual"], -1.0).argmax())
        number, worst, t = (float(np.ravel(counts[x])[k]) for x in ("unsolved", "worst_residual", "worst_at"))
        warn_user(
            f"contacts were not solved to the tolerance in {number:.0f} of {s.times.steps} steps of "
            f"{_which(s, k, unsolved > 0)}; the largest residual is {worst:.2g} m/s, at t = {t:g} s: more "
            "max_iterations, a shorter dt or less friction (trajectory.counts has them all)",
            SimulationWarning,
        )


def _which(s: Simulation, k: int | np.intp, such: Any) -> str:
    """Return the name of a robot, with its index in the batch and how many such there are."""
    if not s.lead:
        return repr(s.tree.name)
    index = ", ".join(str(i) for i in np.unravel_index(int(k), s.lead))
    others = int(np.count_nonzero(such)) - 1
    return f"robot [{index}]" + (f" (and {others} more)" if others else "")
