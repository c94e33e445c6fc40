"""What a simulation warns of: robots that stopped without being told to, and contacts that were not solved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import SimulationWarning, warn_user
from kinetree.integrators import StopReason
from kinetree.simulation.compiled import MOVING, NOT_FINITE
from kinetree.simulation.starting import check_configurations
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.simulation.plan import Simulation


ADVICE = {
    StopReason.NOT_FINITE: "try a shorter dt, integrator='implicit_euler' for stiff joints, or smaller forces and "
    "gains",
    StopReason.CONTROLLER: "its joint forces must be finite in all states on the way",
    StopReason.TOO_MANY_STEPS: "try a larger rtol, joints without 'friction', or integrator='implicit_euler' for what "
    "is stiff",
}
"""What to do about reasons that nobody has asked for."""

HUGE = 1e50
"""Coordinates and velocities beyond this one are of a motion that diverges, whatever a controller makes of them."""


def stops(s: Simulation, carried: Mapping[str, Array]) -> tuple[Array, Any]:
    """Return when and why robots have stopped: NaN and None where they have not."""
    reason, done = carried["reason"][:, 0].astype(np.intp), carried["step"][:, 0] - s.times.first
    why = np.array(s.plan.reasons, dtype=object)[reason]
    lost = np.flatnonzero(reason == NOT_FINITE)
    if lost.size:
        check_configurations(s.robot.model, carried["q"][lost[done[lost] == 0.0]])
        why[lost[_controller_failed(s, carried, lost)]] = StopReason.CONTROLLER
    at = np.where(reason == MOVING, math.nan, s.times.of(done))
    return at.reshape(s.lead), why.reshape(s.lead)


def _controller_failed(s: Simulation, carried: Mapping[str, Array], robots: Any) -> Any:
    """Return for which of these robots the controller's forces are not finite, in the step that is not."""
    law, dt = s.law.compiled, s.times.dt
    q, v, step = (carried[name][robots] for name in ("q", "v", "step"))
    t, done = s.times.of(step[:, 0] - s.times.first), step[:, 0] - s.times.first
    if law is None:
        failed = ~np.isfinite(carried["held"][robots] if "held" in carried else np.zeros((len(robots), 1))).all(axis=1)
    else:
        values = s.arguments((*law.parameters, *law.state), carried, robots, done.astype(np.intp))
        states, period = [(t, q)], s.law.period or 1
        if not s.plan.sampled:
            states.append((t + dt, s.tree.integrate(q, dt * v)))
        forces = [law({"q": x, "v": v, "t": y, "dt": np.full_like(t, period * dt)} | values)[0] for y, x in states]
        failed = ~np.isfinite(np.hstack(forces)).all(axis=1)
        failed &= done % period == 0.0
    return failed & (abs(np.hstack([q, v])).max(axis=1) < HUGE)


def warn_of_trouble(s: Simulation, stopped_at: Array, reasons: Any, counts: Mapping[str, Array]) -> None:
    """Warn of robots that nobody has asked to stop, and of contacts that were not solved: once of each."""
    for reason, advice in ADVICE.items():
        failed = np.array([x is reason for x in reasons.ravel()]).reshape(reasons.shape)
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
