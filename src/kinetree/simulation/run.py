"""The run of a simulation, natively or with a controller in Python, and the trajectory made of it."""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation.calls import own
from kinetree.simulation.compiled import MOVING, Plan, observer, step_function
from kinetree.simulation.events import FIRST_EVENT, LOGS, History
from kinetree.simulation.request import Request
from kinetree.simulation.rollout import PIECE_SECONDS, Rollout
from kinetree.trajectories.states import End
from kinetree.trajectories.trajectory import Trajectory
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

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


def run(request: Request, progress: Callable[[int, int], object] | None) -> Trajectory:
    """Return the motion that is asked for."""
    n, total = len(request.carried["q"]), request.times.steps
    observed = request.plan.without_events.carried(request.robot.model) if {"a", "tau", "f"} & {*request.kept} else {}
    seen = {"q", "v"} | ({*observed} - {"memory", "reason"}) | ({"memory"} if impulses(request) else set())
    records = {
        name: np.empty((n, total // request.every, request.carried[name].shape[1])) for name in seen - {"q", "v"}
    }
    for name in ("q", "v"):
        kept = request.kept[name].reshape(n, 1 + total // request.every, request.carried[name].shape[1])
        kept[:, 0] = request.carried[name]
        records[name] = kept[:, 1:]
    first = {name: request.carried[name] for name in records}
    step = remembered(request.robot, step_function, request.plan)
    before, acting = request.before, _acting(request, step)
    if before is not None and before.memory.size and before.acting == acting != "" and before.t == request.times.of(0):
        request.carried["memory"] = before.memory
    logs = {name: request.carried[name] for name in LOGS if name in request.carried}
    rollout = Rollout(step, dict(request.carried), request.given, records, logs)
    history = History(request.robot.model, request.plan.events, request.lead, request.times)
    pieces = rollout.run(total, request.every) if request.callback is None else with_callback(request, rollout, first)
    told = time.perf_counter()
    try:
        for _ in pieces:
            history.take(rollout.logs, rollout.done)
            if progress is not None and (rollout.done == total or time.perf_counter() - told > PIECE_SECONDS / 2):
                progress(rollout.done, total)
                told = time.perf_counter()
        return _trajectory(request, rollout, first, history)
    except KeyboardInterrupt:
        raise SimulationInterrupted(_trajectory(request, rollout, first, history)) from None


def with_callback(request: Request, rollout: Rollout, first: dict[str, Array]) -> Iterator[None]:
    """Call a controller in Python at each step or every so many, and yield after each step."""
    shape, period = (*request.lead, request.robot.nv), request.period or 1
    while (done := rollout.done) < request.times.steps:
        if done % period == 0:
            q, v = (rollout.carried[name].reshape(*request.lead, -1).copy() for name in ("q", "v"))
            tau = request.callback(q, v, request.times.of(done))  # type: ignore[misc]  # there is one
            held = _joint_forces(tau, shape).reshape(rollout.carried["held"].shape)
            moving = rollout.carried["reason"] == MOVING
            rollout.carried["held"] = np.where(moving, held, rollout.carried["held"])
        if done % request.every == 0 and "held" in first:  # what is applied from this record on
            row = done // request.every
            (rollout.records["held"][:, row - 1] if row else first["held"])[...] = rollout.carried["held"]
        rollout.one(request.every)
        rollout.end(request.times.steps, request.every)
        yield


def _joint_forces(tau: Any, shape: tuple[int, ...]) -> Array:
    """Return what a controller in Python returned, for all robots."""
    try:
        array = np.asarray(tau)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind in "biuf":
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


def _trajectory(request: Request, rollout: Rollout, first: dict[str, Array], history: History) -> Trajectory:
    """Return what was kept of the steps that have been done."""
    every, lead, done = request.every, request.lead, rollout.done
    history.take(rollout.logs, done)  # those of a piece that was just done when it was interrupted
    rows = 1 + done // every
    t = request.times.of(np.arange(rows) * every)
    kept = {name: array[..., :rows, :] for name, array in request.kept.items()}
    if impulses(request):
        kept["f"][...] = _forces(request, rollout, rows).reshape(kept["f"].shape)
    observed = [name for name in ("tau", "a", "f") if name in kept and not (name == "f" and impulses(request))]
    if observed:
        results = _observed(request, rollout, first, rows)
        for name in observed:
            kept[name][...] = getattr(results, name).reshape(kept[name].shape)
    reason, plan = rollout.carried["reason"].reshape(lead), request.plan
    reasons = np.array([None, "not finite", plan.integrator.failure, *(e.name for e in plan.events)], dtype=object)
    ended = request.times.of(rollout.carried["step"].reshape(lead) - request.times.first)
    return Trajectory(
        request.tree,
        t,
        kept["q"],
        kept["v"],
        kept.get("a"),
        kept.get("tau"),
        f=kept.get("f"),
        stopped_at=np.where(reason == MOVING, math.nan, ended),
        reasons=reasons[reason.astype(np.intp)],
        events=history.end(rollout.carried),
        counts={name: x.reshape(lead) for name, x in _counts(plan, rollout.carried)},
        inputs={i: _at_records(request, i.name, rows) for i in plan.inputs},
        end=_end(request, rollout, request.times.of(done)),
    )


def _at_records(request: Request, name: str, rows: int) -> Array:
    """Return what is given in the states that are kept, with one row where it does not change."""
    array = request.given[name]
    if array.ndim == 3:
        array = array[:, np.minimum(np.arange(rows) * request.every, array.shape[1] - 1)]
    return array.reshape(*request.lead, -1, array.shape[-1]).copy()  # it may be the caller's


def _end(request: Request, rollout: Rollout, t: float) -> End:
    """Return what another simulation goes on from; nothing of the integrator's where a robot has stopped."""
    carried, lead = rollout.carried, request.lead
    state = {port.name: carried[own(port)].reshape((*lead, *port.shape)) for port in request.plan.state}
    q, v = (carried[name].reshape(*lead, -1) for name in ("q", "v"))
    moving = bool((carried["reason"] == MOVING).all())
    if not (lead or moving):  # one robot, which goes on from where it stopped
        t = float(request.times.of(carried["step"].item() - request.times.first))
    memory = carried["memory"] if moving and "memory" in carried else np.empty(0)
    return End(t, q, v, state, memory, _acting(request, rollout.step))


def _acting(request: Request, step: Function) -> str:
    """Return a digest of all that acts on the robots, but for what changes from step to step; "" if it is not known.

    An integrator with steps of its own may have gone beyond the end of a simulation, under what acted in it.
    """
    identity = step.spec.identity()
    if identity is None:
        return ""
    constant = {name: array for name, array in request.given.items() if array.ndim == 2 and name != "begin"}
    found = hashlib.sha256(identity)
    for name, array in sorted(constant.items()):
        found.update(name.encode() + array.tobytes())
    return found.hexdigest()


def _counts(plan: Plan, carried: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Yield what was counted: steps of the integrator's own, and events."""
    for name, k in plan.integrator.counts:
        number = carried["memory"][:, k]
        yield name, number if name.startswith("worst") else number.astype(np.int64)
    for k, event in enumerate(plan.events):
        yield event.name, carried["event_counts"][:, k].astype(np.int64)


def impulses(request: Request) -> bool:
    """Return whether forces are to be kept that are impulses, which the integrator carries in its memory."""
    return "f" in request.kept and request.plan.integrator.impulses


def _forces(request: Request, rollout: Rollout, rows: int) -> Array:
    """Return the forces in the states that are kept: those of the steps that ended there, none at the beginning."""
    found = np.zeros((len(request.carried["q"]), rows, request.kept["f"].shape[-1]))
    found[:, 1:] = rollout.records["memory"][:, : rows - 1, : found.shape[-1]] / request.times.dt
    return found


def _observed(request: Request, rollout: Rollout, first: dict[str, Array], rows: int) -> Any:
    """Return the joint forces and accelerations in the states that are kept."""
    values = {}
    function = remembered(request.robot, observer, request.plan.without_events)
    for port in function.spec.inputs:
        name = port.name
        if name in rollout.records:
            array = np.concatenate([first[name][:, None], rollout.records[name][:, : rows - 1]], axis=1)
        elif name in rollout.carried:
            array = rollout.carried[name][:, None]
        else:
            array = request.given[name]
            array = array[:, None] if array.ndim == 2 else array
        values[name] = array
    if request.plan.controller is not None and request.plan.sampled:
        # at the end, and at events that stop a robot, joint forces are those still held: no step begins there
        reason = rollout.carried["reason"]
        ended = (values["step"] == rollout.carried["step"][:, None]) & ((reason == MOVING) | (reason >= FIRST_EVENT))[
            :, None
        ]
        values["period"] = np.where(ended, _NO_MORE, values["period"])
    changing = [name for name, array in request.given.items() if array.ndim == 3]
    if changing:
        # the step in which each state is, and which part of it is done: 0 but at the very end, and where it stopped
        done = values["step"] - request.times.first
        step = np.minimum(np.floor(done).astype(np.intp), request.times.steps - 1)
        values |= {name: np.take_along_axis(values[name], step, axis=1) for name in changing}
        for name in (name for name in ("tau", "f_ext") if name + "_end" in changing):
            part, end = done - step, values[name + "_end"]
            values[name] = values[name + "_end"] = (1.0 - part) * values[name] + part * end
    for port in function.spec.inputs:
        values[port.name] = values[port.name].reshape(*values[port.name].shape[:2], *port.shape)
    return function(**values)
