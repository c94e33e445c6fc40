"""The run of a simulation, natively or with a controller in Python, and the trajectory made of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.motions.states import End
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation.calls import own
from kinetree.simulation.compiled import MOVING, Plan, observer
from kinetree.simulation.events import FIRST_EVENT, LOGS, History
from kinetree.simulation.rollout import PIECE_SECONDS, Rollout
from kinetree.simulation.trouble import stops, warn_of_trouble
from kinetree.validation import MASKED, Array, has_masked_entries

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism
    from kinetree.simulation.plan import Simulation

_NO_MORE = 2.0**60
"""A period, in steps, that does not end."""

_REMEMBERED = 16
"""Compiled simulations that a robot keeps."""


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


def run(s: Simulation) -> Trajectory:
    """Return the motion that is asked for."""
    n, total = len(s.start["q"]), s.times.steps
    rows = total // s.record.every
    kept = {
        name: s.record.array(name, (*s.lead, 1 + rows, size)).reshape(n, 1 + rows, size)
        for name, size in s.kept.items()
    }
    observed = s.plan.without_events.carried(s.robot.model) if {"a", "tau", "f"} & {*kept} else {}
    seen = ({*observed} - {"memory", "reason"}) | ({"memory"} if _impulses(s) else set())
    start = {name: x.copy() for name, x in s.start.items()}
    if "memory" in start:
        start["memory"][...] = memory(s, s.before)
    records = {name: np.empty((n, rows, start[name].shape[1])) for name in seen - {"q", "v"}}
    for name in ("q", "v"):
        kept[name][:, 0] = start[name]
        records[name] = kept[name][:, 1:]
    first = {name: start[name].copy() for name in records}
    logs = {name: start[name] for name in LOGS if name in start}
    rollout = Rollout(s.step, start, s.given, records, logs)
    history = History(s.robot.model, s.plan.events, s.lead, s.times)
    pieces = rollout.run(total, s.record.every) if s.law.callback is None else with_callback(s, rollout, first)
    told = time.perf_counter()
    try:
        for _ in pieces:
            history.take(rollout.logs, rollout.done)
            if s.progress is not None and (rollout.done == total or time.perf_counter() - told > PIECE_SECONDS / 2):
                s.progress(rollout.done, total)
                told = time.perf_counter()
        return _trajectory(s, kept, rollout, first, history)
    except KeyboardInterrupt:
        raise SimulationInterrupted(_trajectory(s, kept, rollout, first, history)) from None


def with_callback(s: Simulation, rollout: Rollout, first: dict[str, Array]) -> Iterator[None]:
    """Call a controller in Python at each step or every so many, and yield after each step."""
    shape, period = (*s.lead, s.robot.nv), s.law.period or 1
    callback = s.law.callback
    assert callback is not None
    while (done := rollout.done) < s.times.steps:
        if done % period == 0:
            q, v = (rollout.carried[name].reshape(*s.lead, -1).copy() for name in ("q", "v"))
            held, tau = rollout.carried["held"], callback(q, v, s.times.of(done))
            moving = None if rollout.all_move else rollout.carried["reason"] == MOVING
            if moving is None and type(tau) is np.ndarray and tau.shape == shape and tau.dtype == np.float64:
                held[...] = tau.reshape(held.shape)
            else:
                np.copyto(held, _joint_forces(tau, shape).reshape(held.shape), where=True if moving is None else moving)
        if done % s.record.every == 0 and "held" in first:  # what is applied from this record on
            row = done // s.record.every
            (rollout.records["held"][:, row - 1] if row else first["held"])[...] = rollout.carried["held"]
        rollout.one(s.record.every)
        rollout.end(s.times.steps, s.record.every)
        yield


def _joint_forces(tau: Any, shape: tuple[int, ...]) -> Array:
    """Return what a controller in Python returned, for all robots."""
    if has_masked_entries(tau):
        raise ArgumentError(MASKED.format("controller: what it returned"))
    try:
        array = np.asarray(tau)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind in "biuf" and array.shape[-1:] == shape[-1:]:
        with contextlib.suppress(ValueError):
            return np.broadcast_to(array.astype(np.float64, copy=False), shape)
    given = array.shape if array.ndim and array.dtype.kind in "biuf" else f"{tau!r:.100}"
    raise ArgumentError(f"controller: it returned {given}; joint forces of shape {shape} are needed")


def remembered(robot: Robot | Mechanism, make: Callable[..., Function], plan: Plan) -> Function:
    """Return a compiled function of this robot and plan, the same one each time."""
    known: dict[Any, Function] = robot.__dict__.setdefault("_simulations", {})
    key = make.__name__, plan
    found = known.get(key)
    if found is None:
        for old in list(known)[: max(len(known) - _REMEMBERED + 1, 0)]:
            known.pop(old, None)  # which another thread may have done
        found = known.setdefault(key, make(robot.model, plan))
    return found


def _trajectory(
    s: Simulation, kept: dict[str, Array], rollout: Rollout, first: dict[str, Array], history: History
) -> Trajectory:
    """Return what was kept of the steps that have been done."""
    done = rollout.done
    history.take(rollout.logs, done)  # those of a piece that was just done when it was interrupted
    rows = 1 + done // s.record.every
    kept = {name: array[:, :rows] for name, array in kept.items()}
    if _impulses(s):
        kept["f"][...] = _forces(s, rollout, rows)
    observed = [name for name in ("tau", "a", "f") if name in kept and not (name == "f" and _impulses(s))]
    if observed:
        results = _observed(s, rollout, first, rows)
        for name in observed:
            kept[name][...] = getattr(results, name).reshape(kept[name].shape)
    return motion(s, kept, rollout.carried, done, history.end(rollout.carried))


def motion(
    s: Simulation, kept: Mapping[str, Array], carried: dict[str, Array], done: int, events: Sequence[Any] = ()
) -> Trajectory:
    """Return the trajectory of what was kept (n, rows, …), and of what is carried after so many steps."""
    lead, rows = s.lead, kept["q"].shape[1]
    stopped_at, reasons = s.unstopped
    left = {name: x.copy() for name, x in carried.items() if name in ("memory", "event_counts")}
    counts = functools.partial(_counts, s.plan, left, lead)
    if stopped := np.count_nonzero(carried["reason"]):
        stopped_at, reasons = stops(s, carried)
    if stopped or _unsolved(s.plan, carried):
        warn_of_trouble(s, stopped_at, reasons, counts())
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


def _at_records(s: Simulation, name: str, rows: int) -> Array:
    """Return what is given in the states that are kept, with one row where it does not change."""
    array = s.values[name]
    if array.ndim == 3:
        array = array[:, np.minimum(np.arange(rows) * s.record.every, array.shape[1] - 1)]
    return array.reshape(*s.lead, -1, array.shape[-1]).copy()  # it may be the caller's


def _end(s: Simulation, carried: Mapping[str, Array], t: float, moving: bool) -> End:
    """Return what another simulation goes on from; nothing of the integrator's where a robot has stopped."""
    lead = s.lead
    state = {port.name: carried[own(port)].reshape((*lead, *port.shape)).copy() for port in s.plan.state}
    q, v = carried["q"].copy(), carried["v"].copy()
    q.shape, v.shape = (*lead, q.shape[-1]), (*lead, v.shape[-1])
    if not (lead or moving):  # one robot, which goes on from where it stopped
        t = float(s.times.of(carried["step"].item() - s.times.first))
    memory = carried["memory"] if moving and "memory" in carried else np.empty(0)
    return End(t, q, v, state, memory, _acting(s) if memory.size else "")


def memory(s: Simulation, before: End | None) -> Array | float:
    """Return what the integrator begins with: what it carried, where it goes on under the same; else zeros."""
    if before is None or before.memory.shape != s.start["memory"].shape or before.t != s.times.of(0):
        return 0.0
    return before.memory if before.acting == _acting(s) != "" else 0.0


def _acting(s: Simulation) -> str:
    """Return a digest of all that acts on the robots, but for what changes from step to step; "" if it is not known.

    An integrator with steps of its own may have gone beyond the end of a simulation, under what acted in it. Impulses,
    with which a solution begins, are good to begin with whatever acts.
    """
    if s.plan.integrator.impulses or not s.digest:
        return s.digest
    constant = {name: array for name, array in s.given.items() if array.ndim == 2 and name != "begin"}
    found = hashlib.sha256(s.digest.encode())
    for name, array in sorted(constant.items()):
        found.update(name.encode() + array.tobytes())
    return found.hexdigest()


def _counts(plan: Plan, carried: Mapping[str, Array], lead: tuple[int, ...]) -> dict[str, Array]:
    """Return what was counted, for each robot: steps of the integrator's own, and events."""
    found: dict[str, Array] = {}
    for name, k in plan.integrator.counts:
        number = carried["memory"][:, k].reshape(lead)
        found[name] = number if name.startswith("worst") else number.astype(np.int64)
    for k, event in enumerate(plan.events):
        found[event.name] = carried["event_counts"][:, k].reshape(lead).astype(np.int64)
    return found


def _unsolved(plan: Plan, carried: Mapping[str, Array]) -> bool:
    """Return whether there are contacts that were not solved."""
    k = dict(plan.integrator.counts).get("unsolved")
    return k is not None and bool(np.count_nonzero(carried["memory"][:, k]))


def _impulses(s: Simulation) -> bool:
    """Return whether forces are to be kept that are impulses, which the integrator carries in its memory."""
    return "f" in s.kept and s.plan.integrator.impulses


def _forces(s: Simulation, rollout: Rollout, rows: int) -> Array:
    """Return the forces in the states that are kept: those of the steps that ended there, none at the beginning."""
    found = np.zeros((len(s.start["q"]), rows, s.kept["f"]))
    found[:, 1:] = rollout.records["memory"][:, : rows - 1, : found.shape[-1]] / s.times.dt
    return found


def _observed(s: Simulation, rollout: Rollout, first: dict[str, Array], rows: int) -> Any:
    """Return the joint forces and accelerations in the states that are kept."""
    values, given = {}, s.given
    function = remembered(s.robot, observer, s.plan.without_events)
    for port in function.spec.inputs:
        name = port.name
        if name in rollout.records:
            array = np.concatenate([first[name][:, None], rollout.records[name][:, : rows - 1]], axis=1)
        elif name in rollout.carried:
            array = rollout.carried[name][:, None]
        else:
            array = given[name]
            array = array[:, None] if array.ndim == 2 else array
        values[name] = array
    if s.plan.controller is not None and s.plan.sampled:
        # at the end, and at events that stop a robot, joint forces are those still held: no step begins there
        reason = rollout.carried["reason"]
        ended = (values["step"] == rollout.carried["step"][:, None]) & ((reason == MOVING) | (reason >= FIRST_EVENT))[
            :, None
        ]
        values["period"] = np.where(ended, _NO_MORE, values["period"])
    changing = [name for name, array in given.items() if array.ndim == 3]
    if changing:
        # the step in which each state is, and which part of it is done: 0 but at the very end, and where it stopped
        done = values["step"] - s.times.first
        step = np.minimum(np.floor(done).astype(np.intp), s.times.steps - 1)
        values |= {name: np.take_along_axis(values[name], step, axis=1) for name in changing}
        for name in (name for name in ("tau", "f_ext") if name + "_end" in changing):
            part, end = done - step, values[name + "_end"]
            values[name] = values[name + "_end"] = (1.0 - part) * values[name] + part * end
    for port in function.spec.inputs:
        values[port.name] = values[port.name].reshape(*values[port.name].shape[:2], *port.shape)
    return function(**values)
