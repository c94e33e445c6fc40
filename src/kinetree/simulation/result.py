"""What is made of a simulation that has run: the trajectory, what is observed along it, why robots have stopped."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import SimulationWarning, warn_user
from kinetree.integrators import StopReason
from kinetree.motions.states import End
from kinetree.motions.trajectory import Trajectory
from kinetree.simulation.choices import own
from kinetree.simulation.events import FIRST_EVENT
from kinetree.simulation.given import check_configurations
from kinetree.simulation.plan import Planned
from kinetree.simulation.step import LINEAR, MOVING, NOT_FINITE, Plan, observer, remembered
from kinetree.validation import Array

_NO_MORE = 2.0**60
"""A period, in steps, that does not end."""

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


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation.

    Attributes
    ----------
    trajectory : Trajectory
        What was computed until then.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        super().__init__(f"the simulation was interrupted at t = {trajectory.t[-1]:g} s: see trajectory")
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.trajectory,)


def observe(s: Planned, kept: dict[str, Array], carried: Mapping[str, Array], known: Mapping[str, Array]) -> None:
    """Find the joint forces, accelerations and constraint forces that are kept, in the states that are."""
    wanted = [name for name in ("tau", "a", "f") if name in kept]
    if "f" in kept and s.plan.integrator.impulses:  # those of the steps that ended in the states, none at the beginning
        wanted.remove("f")
        kept["f"][:, :1] = 0.0
        kept["f"][:, 1:] = known["memory"][:, 1:, : s.kept["f"]] / s.times.dt
    if not wanted:
        return
    function, given = remembered(s.robot, observer, s.plan._replace(events=())), s.given
    values = dict(known)
    for name in (port.name for port in function.spec.inputs if port.name not in known):
        array = carried[name] if name in carried else given[name]
        values[name] = array if array.ndim == 3 else array[:, None]
    if s.plan.controller is not None and s.plan.sampled:
        # at the end, and at events that stop a robot, joint forces are those still held: no step begins there
        reason = carried["reason"]
        ended = (values["step"] == carried["step"][:, None]) & ((reason == MOVING) | (reason >= FIRST_EVENT))[:, None]
        values["period"] = np.where(ended, _NO_MORE, values["period"])
    if changing := [name for name, array in given.items() if array.ndim == 3]:
        # the step in which each state is, and which part of it is done: 0 but at the very end, and where it stopped
        done = values["step"] - s.times.first
        step = np.minimum(np.floor(done).astype(np.intp), s.times.steps - 1)
        values |= {name: np.take_along_axis(values[name], step, axis=1) for name in changing}
        for name in (name for name in LINEAR if name + "_end" in changing):
            part, end = done - step, values[name + "_end"]
            values[name] = values[name + "_end"] = (1.0 - part) * values[name] + part * end
    ports = {port.name: port.shape for port in function.spec.inputs}
    results = function(**{name: values[name].reshape(*values[name].shape[:2], *ports[name]) for name in ports})
    for name in wanted:
        kept[name][...] = getattr(results, name).reshape(kept[name].shape)


# -- the trajectory --------------------------------------------------------------------------------------------------


def motion(
    s: Planned, kept: Mapping[str, Array], carried: dict[str, Array], done: int, events: Sequence[Any] = ()
) -> Trajectory:
    """Return the trajectory of what was kept (n, rows, …), and of what is carried after so many steps."""
    lead, rows = s.lead, kept["q"].shape[1]
    stopped_at, reasons = s.unstopped
    left = {name: x.copy() for name, x in carried.items() if name in ("memory", "event_counts")}
    counts = functools.partial(_counts, s.plan, s.lead, left)  # without the arrays of s
    if stopped := np.count_nonzero(carried["reason"]):
        stopped_at, reasons = _stops(s, carried)
    unsolved = dict(s.plan.integrator.counts).get("unsolved")
    if stopped or (unsolved is not None and np.count_nonzero(carried["memory"][:, unsolved])):
        _warn(s, stopped_at, reasons, counts())
    inputs = {}
    for i in s.plan.inputs:  # with one row where they do not change
        array = s.arrays[i.name]
        at = np.minimum(np.arange(rows) * s.record.every, array.shape[1] - 1)
        inputs[i] = (array if array.ndim == 2 else array[:, at]).reshape(*lead, -1, array.shape[-1]).copy()
    return Trajectory.of_arrays(
        s.tree,
        s.record_times[:rows],
        {name: array.reshape(*lead, *array.shape[1:]) for name, array in kept.items()},
        stopped_at,
        reasons,
        events,
        counts,
        inputs,
        _end(s, carried | left, s.times.of(done), not stopped),
    )


def _counts(plan: Plan, lead: tuple[int, ...], carried: Mapping[str, Array]) -> dict[str, Array]:
    """Return the counts for each robot: steps of the integrator's own, and events."""
    found = {name: carried["memory"][:, k].reshape(lead) for name, k in plan.integrator.counts}
    found |= {event.name: carried["event_counts"][:, k].reshape(lead) for k, event in enumerate(plan.events)}
    return {name: x if name.startswith("worst") else x.astype(np.int64) for name, x in found.items()}


def _end(s: Planned, carried: Mapping[str, Array], t: float, moving: bool) -> End:
    """Return the state to continue from in another simulation; without the integrator's where a robot has stopped."""
    lead = s.lead
    state = {port.name: carried[own(port)].reshape((*lead, *port.shape)).copy() for port in s.plan.state}
    q, v = carried["q"].copy(), carried["v"].copy()
    q.shape, v.shape = (*lead, q.shape[-1]), (*lead, v.shape[-1])
    if not (lead or moving):  # one robot, which goes on from where it stopped
        t = float(s.times.of(carried["step"].item() - s.times.first))
    memory = carried["memory"] if moving and "memory" in carried else np.empty(0)
    return End(t, q, v, state, memory, _acting(s) if memory.size else "")


def memory(s: Planned) -> Array | float:
    """Return the integrator's initial memory: its last one, where it continues under the same choices; else zeros."""
    before = s.before
    if before is None or before.memory.shape != s.arrays["memory"].shape or before.t != s.times.of(0):
        return 0.0
    return before.memory if before.acting == _acting(s) != "" else 0.0


def _acting(s: Planned) -> str:
    """Return a digest of all that acts on the robots, but for what changes from step to step; "" if it is not known.

    An integrator may have gone beyond the end under it; impulses, with which a solution begins, are good whatever acts.
    """
    if s.plan.integrator.impulses or not s.digest:
        return s.digest
    found = hashlib.sha256(s.digest.encode())
    for name, array in sorted(s.given.items()):
        if array.ndim == 2 and name != "begin":
            found.update(name.encode() + array.tobytes())
    return found.hexdigest()


# -- robots that stop without being told to, and contacts that are not solved ----------------------------------------


def _stops(s: Planned, carried: Mapping[str, Array]) -> tuple[Array, Any]:
    """Return when and why robots have stopped: NaN and None where they have not."""
    reason, done = carried["reason"][:, 0].astype(np.intp), carried["step"][:, 0] - s.times.first
    why = np.array(s.plan.reasons, dtype=object)[reason]
    lost = np.flatnonzero(reason == NOT_FINITE)
    if lost.size:
        check_configurations(s.robot.model, carried["q"][lost[done[lost] == 0.0]])
        why[lost[_controller_failed(s, carried, lost, done[lost])]] = StopReason.CONTROLLER
    at = np.where(reason == MOVING, math.nan, s.times.of(done))
    return at.reshape(s.lead), why.reshape(s.lead)


def _controller_failed(s: Planned, carried: Mapping[str, Array], robots: Any, done: Array) -> Any:
    """Return for which of these robots the controller's forces are not finite, in the step that is not."""
    law, dt, tau = s.plan.controller, s.times.dt, [np.zeros((len(robots), 1))]
    q, v, t = carried["q"][robots], carried["v"][robots], s.times.of(done)
    if law is None:
        tau += [carried["held"][robots]] if "held" in carried else []
    else:
        for at, x in [(t, q)] if s.plan.sampled else [(t, q), (t + dt, s.tree.integrate(q, dt * v))]:
            known = {"q": x, "v": v, "t": at, "dt": np.full_like(t, s.period * dt)}
            tau.append(law.parts(s.called(law.function, known, carried, robots, done.astype(np.intp)))[0])
    failed = ~np.isfinite(np.hstack(tau)).all(axis=1) & ((law is None) | (done % s.period == 0.0))
    return failed & (abs(np.hstack([q, v])).max(axis=1) < HUGE)


def _warn(s: Planned, stopped_at: Array, reasons: Any, counts: Mapping[str, Array]) -> None:
    """Warn of robots that nobody has asked to stop, and of contacts that were not solved: once of each."""

    def which(k: int | np.intp, such: Any) -> str:
        if not s.lead:
            return repr(s.tree.name)
        others = int(np.count_nonzero(such)) - 1
        index = ", ".join(str(i) for i in np.unravel_index(int(k), s.lead))
        return f"robot [{index}]" + (f" (and {others} more)" if others else "")

    for reason, advice in ADVICE.items():
        if (failed := reasons == reason).any():
            first = np.where(failed, stopped_at, math.inf)
            who = which(first.argmin(), failed)
            warn_user(f"{who} stopped at t = {first.min():g} s, {reason}: {advice}", SimulationWarning)
    if "unsolved" in counts and np.count_nonzero(unsolved := counts["unsolved"]):
        k = int(np.where(unsolved > 0, counts["worst_residual"], -1.0).argmax())
        number, worst, t = (float(np.ravel(counts[x])[k]) for x in ("unsolved", "worst_residual", "worst_at"))
        warn_user(
            f"contacts were not solved to the tolerance in {number:.0f} of {s.times.steps} steps of "
            f"{which(k, unsolved > 0)}; the largest residual is {worst:.2g} m/s, at t = {t:g} s: more "
            "max_iterations, a shorter dt or less friction (trajectory.counts has them all)",
            SimulationWarning,
        )
