"""The run of a simulation, natively or with a controller in Python, and the trajectory made of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, SimulationWarning, warn_user
from kinetree.integrators import StopReason
from kinetree.motions.states import End
from kinetree.motions.trajectory import Trajectory
from kinetree.simulation.choices import own
from kinetree.simulation.events import FIRST_EVENT, LOGS, History
from kinetree.simulation.given import check_configurations
from kinetree.simulation.plan import Planned
from kinetree.simulation.rollout import PIECE_SECONDS, Rollout
from kinetree.simulation.step import LINEAR, MOVING, NOT_FINITE, Plan, observer, remembered
from kinetree.validation import MASKED, Array, has_masked_entries

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


def run(s: Planned) -> Trajectory:
    """Return the motion that is asked for."""
    n, total, every = len(s.arrays["q"]), s.times.steps, s.record.every
    rows = total // every
    kept = {
        name: s.record.array(name, (*s.lead, 1 + rows, size)).reshape(n, 1 + rows, size)
        for name, size in s.kept.items()
    }
    start = {name: s.arrays[name].copy() for name in s.carried}
    if "memory" in start:
        start["memory"][...] = memory(s)
    observed = s.plan._replace(events=()).carried(s.robot.model) if {"a", "tau", "f"} & {*kept} else {}
    seen = ({*observed} - {"memory", "reason", "q", "v"}) | ({"memory"} if _impulses(s) else set())
    known = {name: np.empty((n, 1 + rows, start[name].shape[1])) for name in seen} | {x: kept[x] for x in ("q", "v")}
    for name, array in known.items():
        array[:, 0] = start[name]
    records, logs = {name: x[:, 1:] for name, x in known.items()}, {x: start[x] for x in LOGS if x in start}
    rollout = Rollout(s.step, start, s.given, records, logs)
    history = History(s.robot.model, s.plan.events, s.lead, s.times)
    hold = s.callback and functools.partial(_hold, s, s.callback, rollout, known.get("held"))
    shown = time.perf_counter()
    try:
        for _ in rollout.run(total, every, hold, s.period):
            history.take(rollout.logs, rollout.done)
            if s.progress is not None and (rollout.done == total or time.perf_counter() - shown > PIECE_SECONDS / 2):
                s.progress(rollout.done, total)
                shown = time.perf_counter()
        return _trajectory(s, kept, rollout, known, history)
    except KeyboardInterrupt:
        raise SimulationInterrupted(_trajectory(s, kept, rollout, known, history)) from None


def _hold(s: Planned, callback: Callable[..., Any], rollout: Rollout, recorded: Array | None) -> None:
    """Call a controller in Python, and hold its joint forces from now on; those of a robot that has stopped stay."""
    lead, done, carried = s.lead, rollout.done, rollout.carried
    q, v, held = carried["q"].reshape(*lead, -1).copy(), carried["v"].reshape(*lead, -1).copy(), carried["held"]
    tau, shape = callback(q, v, s.times.of(done)), (*lead, held.shape[1])
    moving: Any = not np.count_nonzero(carried["reason"]) or carried["reason"] == MOVING
    if moving is True and type(tau) is np.ndarray and tau.shape == shape and tau.dtype == np.float64:
        held[...] = tau.reshape(held.shape)
    else:
        np.copyto(held, _joint_forces(tau, shape).reshape(held.shape), where=moving)
    if done % s.record.every == 0 and recorded is not None:  # what is applied from this record on
        recorded[:, done // s.record.every] = held


def _joint_forces(tau: Any, shape: tuple[int, ...]) -> Array:
    """Return the joint forces that a controller in Python returned, for all robots."""
    if has_masked_entries(tau):
        raise ArgumentError(MASKED.format("controller: what it returned"))
    array = np.asarray(None)
    with contextlib.suppress(ValueError):  # of rows of different lengths, and of axes that do not fit
        array = np.asarray(tau)
        if array.dtype.kind in "biuf" and array.shape[-1:] == shape[-1:]:
            return np.broadcast_to(array.astype(np.float64, copy=False), shape)
    given = array.shape if array.ndim and array.dtype.kind in "biuf" else f"{tau!r:.100}"
    raise ArgumentError(
        f"controller: it returned {given}; joint forces of shape {shape} are needed (it is called with q, v, t)"
    )


# -- the trajectory --------------------------------------------------------------------------------------------------


def _trajectory(
    s: Planned, kept: dict[str, Array], rollout: Rollout, known: dict[str, Array], history: History
) -> Trajectory:
    """Return the records of the steps that have been done."""
    done = rollout.done
    history.take(rollout.logs, done)  # those of a piece that was just done when it was interrupted
    rows = 1 + done // s.record.every
    kept = {name: array[:, :rows] for name, array in kept.items()}
    observed = [name for name in ("tau", "a", "f") if name in kept]
    if _impulses(s):  # those of the steps that ended in the states that are kept, none at the beginning
        observed.remove("f")
        kept["f"][:, :1] = 0.0
        kept["f"][:, 1:] = known["memory"][:, 1:rows, : s.kept["f"]] / s.times.dt
    if observed:
        results = _observed(s, rollout, {name: x[:, :rows] for name, x in known.items()})
        for name in observed:
            kept[name][...] = getattr(results, name).reshape(kept[name].shape)
    return motion(s, kept, rollout.carried, done, history.end(rollout.carried))


def motion(
    s: Planned, kept: Mapping[str, Array], carried: dict[str, Array], done: int, events: Sequence[Any] = ()
) -> Trajectory:
    """Return the trajectory of what was kept (n, rows, …), and of what is carried after so many steps."""
    lead, rows = s.lead, kept["q"].shape[1]
    stopped_at, reasons = s.unstopped
    left = {name: x.copy() for name, x in carried.items() if name in ("memory", "event_counts")}
    counts = functools.partial(_counts, s.plan, left, lead)
    if stopped := np.count_nonzero(carried["reason"]):
        stopped_at, reasons = _stops(s, carried)
    unsolved = dict(s.plan.integrator.counts).get("unsolved")
    if stopped or (unsolved is not None and np.count_nonzero(carried["memory"][:, unsolved])):
        _warn(s, stopped_at, reasons, counts())
    return Trajectory.of_arrays(
        s.tree,
        s.record_times[:rows],
        {name: array.reshape(*lead, *array.shape[1:]) for name, array in kept.items()},
        stopped_at,
        reasons,
        events,
        counts,
        {i: _at_records(s, i.name, rows) for i in s.plan.inputs},
        _end(s, carried | left, s.times.of(done), not stopped),
    )


def _at_records(s: Planned, name: str, rows: int) -> Array:
    """Return the inputs in the states that are kept, with one row where they do not change."""
    array = s.arrays[name]
    if array.ndim == 3:
        array = array[:, np.minimum(np.arange(rows) * s.record.every, array.shape[1] - 1)]
    return array.reshape(*s.lead, -1, array.shape[-1]).copy()  # it may be the caller's


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
    constant = {name: array for name, array in s.given.items() if array.ndim == 2 and name != "begin"}
    found = hashlib.sha256(s.digest.encode())
    for name, array in sorted(constant.items()):
        found.update(name.encode() + array.tobytes())
    return found.hexdigest()


def _counts(plan: Plan, carried: Mapping[str, Array], lead: tuple[int, ...]) -> dict[str, Array]:
    """Return the counts for each robot: steps of the integrator's own, and events."""
    found: dict[str, Array] = {}
    for name, k in plan.integrator.counts:
        number = carried["memory"][:, k].reshape(lead)
        found[name] = number if name.startswith("worst") else number.astype(np.int64)
    for k, event in enumerate(plan.events):
        found[event.name] = carried["event_counts"][:, k].reshape(lead).astype(np.int64)
    return found


def _impulses(s: Planned) -> bool:
    """Return whether forces are to be kept that are impulses, which the integrator carries in its memory."""
    return "f" in s.kept and s.plan.integrator.impulses


def _observed(s: Planned, rollout: Rollout, known: dict[str, Array]) -> Any:
    """Return the joint forces and accelerations in the states that are kept."""
    function, carried, given = remembered(s.robot, observer, s.plan._replace(events=())), rollout.carried, s.given
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
    return function(
        **{p.name: values[p.name].reshape(*values[p.name].shape[:2], *p.shape) for p in function.spec.inputs}
    )


# -- robots that stop without being told to, and contacts that are not solved ----------------------------------------


def _stops(s: Planned, carried: Mapping[str, Array]) -> tuple[Array, Any]:
    """Return when and why robots have stopped: NaN and None where they have not."""
    reason, done = carried["reason"][:, 0].astype(np.intp), carried["step"][:, 0] - s.times.first
    why = np.array(s.plan.reasons, dtype=object)[reason]
    lost = np.flatnonzero(reason == NOT_FINITE)
    if lost.size:
        check_configurations(s.robot.model, carried["q"][lost[done[lost] == 0.0]])
        why[lost[_controller_failed(s, carried, lost)]] = StopReason.CONTROLLER
    at = np.where(reason == MOVING, math.nan, s.times.of(done))
    return at.reshape(s.lead), why.reshape(s.lead)


def _controller_failed(s: Planned, carried: Mapping[str, Array], robots: Any) -> Any:
    """Return for which of these robots the controller's forces are not finite, in the step that is not."""
    law, dt = s.plan.controller, s.times.dt
    q, v, step = (carried[name][robots] for name in ("q", "v", "step"))
    t, done = s.times.of(step[:, 0] - s.times.first), step[:, 0] - s.times.first
    if law is None:
        failed = ~np.isfinite(carried["held"][robots] if "held" in carried else np.zeros((len(robots), 1))).all(axis=1)
    else:
        states = [(t, q)]
        if not s.plan.sampled:
            states.append((t + dt, s.tree.integrate(q, dt * v)))
        failed = np.zeros(len(robots), bool)
        for at, x in states:
            known = {"q": x, "v": v, "t": at, "dt": np.full_like(t, s.period * dt)}
            tau, _ = law.parts(s.called(law.function, known, carried, robots, done.astype(np.intp)))
            failed |= ~np.isfinite(tau).all(axis=1)
        failed &= done % s.period == 0.0
    return failed & (abs(np.hstack([q, v])).max(axis=1) < HUGE)


def _warn(s: Planned, stopped_at: Array, reasons: Any, counts: Mapping[str, Array]) -> None:
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


def _which(s: Planned, k: int | np.intp, such: Any) -> str:
    """Return the name of a robot, with its index in the batch and how many such there are."""
    if not s.lead:
        return repr(s.tree.name)
    index = ", ".join(str(i) for i in np.unravel_index(int(k), s.lead))
    others = int(np.count_nonzero(such)) - 1
    return f"robot [{index}]" + (f" (and {others} more)" if others else "")
