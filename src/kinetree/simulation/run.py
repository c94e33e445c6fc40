"""Simulations that run, natively or with a controller in Python, and go on running: their memory stays where it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import RANGES
from kinetree.lazy import cached_property
from kinetree.motions.trajectory import Trajectory
from kinetree.signatures import friendly_call_errors
from kinetree.simulation.choices import Forces, by_name, chosen
from kinetree.simulation.events import LOGS, History
from kinetree.simulation.given import Start, arrays_of, as_given, contacts_of
from kinetree.simulation.plan import Planned
from kinetree.simulation.result import SimulationInterrupted, memory, motion, observe
from kinetree.simulation.rollout import PIECE_SECONDS, Rollout
from kinetree.simulation.step import MOVING, label
from kinetree.validation import Array, check_finite, real_array


class Run:
    """A simulation in memory that stays where it is, with the tables of its addresses: it may run again and again."""

    def __init__(self, s: Planned) -> None:
        self.s, rows, n = s, 1 + s.times.steps // s.record.every, len(s.arrays["q"])
        self.shapes = [(name, (*s.lead, rows, size), (n, rows, size)) for name, size in s.kept.items()]
        self.observed = {"tau", "a", "f"} & {*s.kept}
        needed = s.plan._replace(events=()).carried(s.robot.model) if self.observed else ("q", "v")
        impulses = "f" in s.kept and s.plan.integrator.impulses  # these are forces times dt, in its memory
        self.seen = [x for x in needed if x != "reason" and (x != "memory" or impulses)]
        self.callback = s.callback
        self.at_once = not (self.observed or s.callback or s.plan.events or s.progress)

    @cached_property
    def rollout(self) -> Rollout:
        """The loop over the compiled step."""
        s, logs = self.s, [name for name in LOGS if name in self.s.carried]
        return Rollout(s.step, {name: s.arrays[name] for name in s.carried}, s.given, self.seen, logs)

    def __call__(self) -> Trajectory:
        """Return the motion from the states in memory; all that is given is checked before anything is compiled."""
        s, total, every = self.s, self.s.times.steps, self.s.record.every
        kept = {name: s.record.array(name, shape, flat) for name, shape, flat in self.shapes}
        rollout = self.rollout
        if "memory" in s.arrays:
            s.arrays["memory"][...] = memory(s)
        known = {}
        for name in self.seen:
            first = s.arrays[name]
            known[name] = array = kept[name] if name in kept else np.empty((*kept["q"].shape[:2], first.shape[1]))
            array[:, 0] = first
        rollout.begin({name: x[:, 1:] for name, x in known.items()})
        if self.at_once and rollout.again(total, every):
            return motion(s, kept, rollout.carried, total)
        history, shown = History(s.robot.model, s.plan.events, s.lead, s.times), time.perf_counter()

        def trajectory() -> Trajectory:
            done, carried = rollout.done, rollout.carried
            history.take(rollout.logs, done)  # those of a piece that was just done when it was interrupted
            rows = 1 + done // every
            found = {name: array[:, :rows] for name, array in kept.items()}
            if self.observed:
                observe(s, found, carried, {name: array[:, :rows] for name, array in known.items()})
            return motion(s, found, carried, done, history.end(carried))

        try:
            for _ in rollout.run(total, every, self.callback and (lambda: self.hold(known.get("held"))), s.period):
                history.take(rollout.logs, rollout.done)
                late = s.progress is not None and time.perf_counter() - shown > PIECE_SECONDS / 2
                if s.progress is not None and (late or rollout.done == total):
                    s.progress(rollout.done, total)
                    shown = time.perf_counter()
            return trajectory()
        except KeyboardInterrupt:
            raise SimulationInterrupted(trajectory()) from None

    def hold(self, recorded: Array | None) -> None:
        """Call the controller in Python, and hold its joint forces from now on; those of stopped robots stay."""
        s, lead, done, carried = self.s, self.s.lead, self.rollout.done, self.rollout.carried
        q, v, held = carried["q"].reshape(*lead, -1).copy(), carried["v"].reshape(*lead, -1).copy(), carried["held"]
        assert self.callback is not None
        tau, shape = self.callback(q, v, s.times.of(done)), (*lead, held.shape[1])
        moving: Any = not np.count_nonzero(carried["reason"]) or carried["reason"] == MOVING
        if moving is True and type(tau) is np.ndarray and tau.shape == shape and tau.dtype == np.float64:
            held[...] = tau.reshape(held.shape)
        else:
            np.copyto(held, _joint_forces(tau, shape).reshape(held.shape), where=moving)
        if done % s.record.every == 0 and recorded is not None:  # what is applied from this record on
            recorded[:, done // s.record.every] = held


def _joint_forces(tau: Any, shape: tuple[int, ...]) -> Array:
    """Return the joint forces that a controller in Python returned, for all robots."""
    needed = f"joint forces of shape {shape} are needed (it is called with q, v, t)"
    try:
        return np.broadcast_to(real_array("controller: what it returned", tau, shape[-1]), shape)
    except ArgumentError as error:
        raise ArgumentError(f"{error}; {needed}") from None
    except ValueError:
        raise ArgumentError(f"controller: what it returned has shape {np.shape(tau)}; {needed}") from None


class Bound(Run):
    """A simulation in memory of its own, into which calls write what they give."""

    def __init__(self, made: Planned) -> None:
        super().__init__(made.at(arrays={name: np.array(x, order="C") for name, x in made.arrays.items()}, before=None))
        self._made, self._rest, self._changed, self._views = made, np.zeros(made.robot.nv), set[str](), {}
        for name, port in made.places.items():
            array = self.s.arrays[port.name]
            view = array.reshape((*made.lead, *array.shape[1:-1], *port.shape))
            self._views[name] = view, array, made.arrays[port.name], port.shape

    def called(
        self, q: Any, v: Any, forces: Any, inputs: Mapping[Any, Any], contacts: ContactInputs | None
    ) -> Trajectory:
        """Return the motion from these states."""
        made, start = self._made, Start.of(self._made.robot, q, v)
        given = {"q": start.q, "v": self._rest if start.v is None else start.v}
        if start.before is not None:
            carried = start.before.controller
            given |= {label(port.name): carried[port.name] for port in made.plan.state if port.name in carried}
        if forces is not None:
            forces = chosen(Forces, forces)
            as_made = {"frame": made.plan.f_ext_frame, "interpolation": "linear" if made.plan.linear else "held"}
            for name, value in as_made.items() if forces.f_ext is not None else ():
                if getattr(forces, name) != value:
                    raise ArgumentError(f"{name} is {getattr(forces, name)!r}; this simulation was made with {value!r}")
            given |= forces.arrays(made.robot)
        if contacts is not None:
            given |= arrays_of(contacts_of(made.robot, contacts))
        for name, value in by_name("inputs", inputs).items() if inputs else ():
            if label(name) not in self._views:
                raise ArgumentError(f"inputs: {unknown_name('argument', name, made.plan.arguments(made.robot.model))}")
            given[label(name)] = value
        if unknown := given.keys() - self._views.keys():
            raise ArgumentError(
                f"{unknown_name('argument', min(unknown), self._views)}; what changes from call to call is given when "
                "the simulation is made"
            )
        self._begin(start)
        for name in self._changed.difference(given):
            _, array, usual, _ = self._views[name]
            array[...] = usual
        self._changed = {*given}
        for name, value in given.items():
            self._write(name, value)
        self.s.begin()
        return self()

    def _begin(self, start: Start) -> None:
        """Let the steps begin at some time, and go on from an end if there is one."""
        last, times = self.s, self._made.times
        clock = times if start.t is None else times.starting(start.t)
        if clock != last.times or start.before is not last.before:
            self.s = last.at(times=clock, before=start.before)
        if clock != last.times:
            last.arrays["step"][...] = clock.first
            for name, value in self.s.clocked().items():
                if name in last.arrays:
                    last.arrays[name][...] = value

    def _write(self, name: str, value: Any) -> None:
        """Write what is given for all robots, or for each."""
        view, array, _, shape = self._views[name]
        if type(value) is np.ndarray and value.shape == view.shape and value.dtype == np.float64:
            view[...] = value
        else:
            given = as_given(self._made.robot.model, name, value, shape, self._made.lead)
            if given.shape[:-1] != array.shape[:-1]:
                made = f"made with {array.shape[1]} steps" if array.ndim == 3 else "made without an axis of steps"
                raise ArgumentError(f"{name} has shape {np.shape(value)}; this simulation was {made}")
            array[...] = given
        if np.count_nonzero(np.isfinite(array)) < array.size:
            check_finite(name, view)
        if name in RANGES:
            RANGES[name].check(name, array)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Planned):
    """A simulation whose choices are made: called with states, and with what changes from call to call.

    `Robot.simulation` makes one. A short call costs some microseconds more than its steps, so that it serves control
    loops and planners.

    Attributes
    ----------
    robot : Robot or Mechanism
    plan : Plan
        What its compiled step depends on.
    times : Times
    lead : tuple of int
        The leading axes of the states.
    arrays : dict of array
        By the names of the step (see `Plan`): the first values of what goes from step to step, and all else; n to a
        row, with an axis of steps if they change from step to step, and flat.
    kept : dict of int
        What is kept, and its length.
    record : Record
    controller : Controller, or None
    before : End, or None
        Where the trajectory ended from which it goes on.
    progress : callable, or None
    """

    _bound: list[Bound] = field(default_factory=list, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self) if x.init)

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.lead))} robots, " if self.lead else ""
        return f"<Simulation of {self.tree.name!r}: {of}{self.times.steps} steps of {self.times.dt:g} s>"

    def run(self) -> Trajectory:
        """Return the motion from the states that it was made with."""
        carried = {name: self.arrays[name].copy() for name in self.carried}  # threads may run it at the same time
        return Run(self.at(arrays={**self.arrays, **carried}))()

    @friendly_call_errors
    def __call__(
        self,
        q: Any,
        v: Any = None,
        *,
        forces: Any = None,
        inputs: Mapping[Any, Any] | None = None,
        contacts: ContactInputs | None = None,
    ) -> Trajectory:
        """Return the motion from other states; what is not given is as it was when this was made.

        Parameters
        ----------
        q : (..., nq) array-like, Trajectory or State
            With the leading axes that it was made with, or the same for all. It goes on from a trajectory; from a state
            it begins at its time.
        v : (..., nv) array-like, optional
            Zero if not given.
        forces : array-like, dict or Forces, optional
            Other joint forces, and other wrenches if some were given when this was made.
        inputs : dict, optional
            Other values of some of the inputs.
        contacts : ContactInputs, optional
            Other values of the arrays for constraints that were given when this was made.

        Raises
        ------
        ArgumentError
            If a name is not known, or a value has another shape or is not finite.
        """
        bound = self._bound.pop() if self._bound else Bound(self)  # one for each thread that calls at the same time
        try:
            return bound.called(q, v, forces, {} if inputs is None else inputs, contacts)
        finally:
            self._bound.append(bound)
