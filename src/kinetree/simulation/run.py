"""Running a simulation: the native loop over its steps, piece by piece or at once, in memory that stays where it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.backends.base import Steps, Stops
from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import RANGES
from kinetree.lazy import cached_property
from kinetree.motions.trajectory import Trajectory
from kinetree.runtime.batch import address
from kinetree.runtime.function import Function
from kinetree.runtime.spec import Variant
from kinetree.runtime.steps import ScanKernel, Tables, run_steps, tables
from kinetree.simulation.choices import Forces, by_name, chosen
from kinetree.simulation.events import LOGS, History
from kinetree.simulation.given import Start, arrays_of, as_given, contacts_of
from kinetree.simulation.plan import Planned
from kinetree.simulation.result import SimulationInterrupted, memory, motion, observe
from kinetree.simulation.step import MOVING, label
from kinetree.validation import Array, check_finite, real_array

PIECE_SECONDS = 0.1
"""How long one piece takes, about: what an interrupt loses."""

CHECKED = ("q", "v")
"""What must be finite: a robot whose state is not stops."""

VARIANT = Variant((), (), "float64")


class _Turn(NamedTuple):
    """A call of the kernel from memory that stays where it is: what is given over time, and records, move on in it."""

    tables: Tables
    last: dict[str, Array]
    over_time: list[tuple[int, Array]]


class Rollout:
    """Many steps of n robots; what has been done is replaced at once, and fits together wherever Ctrl-C comes.

    What is carried (n, size) begins with `first`; what is given may have an axis of steps too. The step's outputs that
    are `recorded` are written to the memory that `begin` is given; `logged` ones are those of the last piece.
    """

    def __init__(
        self, step: Function, first: dict[str, Array], given: Mapping[str, Array], recorded: Sequence[str],
        logged: Sequence[str],
    ) -> None:  # fmt: skip
        self.step, self.given, self._first, self._logged = step, given, first, logged
        names, outputs = ([port.name for port in ports] for ports in (step.spec.inputs, step.spec.outputs))
        self._steps = Steps(
            tuple((names.index(name), outputs.index(name)) for name in first),
            tuple(outputs.index(name) for name in (*recorded, *logged)),
            Stops(names.index("reason"), outputs.index("trouble"), tuple(outputs.index(name) for name in CHECKED)),
        )
        self._sets: list[dict[str, Array]] = []
        self._turns: dict[int, _Turn] = {}

    @cached_property
    def _kernel(self) -> ScanKernel:
        """The compiled loop: a controller in Python is called first, and what it returns is checked."""
        return self.step._kernels.scan(VARIANT, self._steps, len(self._first["reason"]))

    def begin(self, records: Mapping[str, Array]) -> None:
        """Begin anew, from what the first values are now, with other memory for what is written."""
        self.records, self.carried, self.done, self.logs = records, self._first, 0, dict[str, Array]()

    def run(self, steps: int, every: int, hold: Callable[[], None] | None = None, period: int = 1) -> Iterator[None]:
        """Run steps until all robots have stopped, yielding after each piece; `hold` is called first in each period."""
        most = 64
        while (done := self.done) < steps:
            left, to_record = steps - done, every - done % every
            if hold is not None:
                if done % period == 0:
                    hold()
                left = min(left, period - done % period)
            whole = to_record == every <= most
            count = min(left, most // every * every if whole else min(most, to_record))
            if self.again(count, every):
                most = 8 * count
            else:
                begin = time.perf_counter()
                self._piece(count, every)
                most = max(1, int(count * min(8.0, PIECE_SECONDS / max(time.perf_counter() - begin, 1e-6))))
            if np.count_nonzero(reason := self.carried["reason"]) == len(reason):
                for name, record in self.records.items():
                    record[:, self.done // every :] = self.carried[name][:, None]
                self.done = steps
            yield

    def _finish(self, done: int, carried: dict[str, Array], logs: dict[str, Array]) -> None:
        """Replace what has been done, as one operation that no signal interrupts."""
        self.__dict__.update({"done": done, "carried": carried, "logs": logs})

    def _inputs(self, carried: Mapping[str, Array]) -> list[Array]:
        """Return the arrays of all inputs in order, with these in the place of what is carried."""
        return [carried[x.name] if x.name in carried else self.given[x.name] for x in self.step.spec.inputs]

    def _piece(self, count: int, every: int) -> None:
        """Run so many steps of all states, on all cores."""
        done = self.done
        rows = slice(done // every, (done + count) // every)
        between = every if done % every == 0 else count + (rows.start == rows.stop)
        inputs = [x[:, done : done + count] if x.ndim == 3 else x for x in self._inputs(self.carried)]
        last = {name: np.empty(array.shape) for name, array in self.carried.items()}
        shapes = {name: self.carried[name].shape for name in self._logged}
        logs = {name: np.empty((n, rows.stop - rows.start, size)) for name, (n, size) in shapes.items()}
        recorded = [*(record[:, rows] for record in self.records.values()), *logs.values()]
        run_steps(self._kernel, self._steps, inputs, [*last.values()], recorded, count, between)
        self._finish(done + count, last, logs)

    def again(self, count: int, every: int) -> bool:
        """Run so few steps by a call whose tables are there; False, and nothing, where they are too many for that."""
        done, n = self.done, len(self.carried["reason"])
        if not self._kernel.is_short(n, count) or self._logged:
            return False
        rows = (done + count) // every - done // every
        turn = self._turns.get(id(self.carried)) or self._turn()
        for k, array in turn.over_time:
            turn.tables.ins[k] = address(array) + done * array.strides[1]
        for k, array in enumerate(self.records.values() if rows else (), len(turn.last)):
            turn.tables.outs[k] = address(array) + done // every * array.strides[1]
        between = every if done % every == 0 else count + (not rows)
        self._kernel.run(turn.tables, n, count, between, with_gil=self._kernel.long)
        self._finish(done + count, turn.last, {})
        return True

    def _turn(self) -> _Turn:
        """Return a call from the present values, which are the first ones or are in one of two sets of memory."""
        if not self._sets:
            self._sets = [{name: np.empty_like(array) for name, array in self._first.items()} for _ in range(2)]
        (one, other), carried = self._sets, self.carried
        if carried is not self._first and carried is not one and carried is not other:  # those of a piece
            for name, array in carried.items():
                one[name][...] = array
            carried = one
        if id(carried) not in self._turns:
            last, inputs = other if carried is one else one, self._inputs(carried)
            over_time = [(i, x) for i, x in enumerate(inputs) if x.ndim == 3]
            made = tables(inputs, [*last.values()], [*self.records.values()])
            self._turns[id(carried)] = _Turn(made, last, over_time)
        return self._turns[id(carried)]


class Run:
    """A simulation in memory that stays where it is, with the tables of its addresses: it may run again and again.

    If all of that memory is its own, calls write into it what they give.
    """

    def __init__(self, made: Planned, *, own: bool = False) -> None:
        arrays = {name: np.array(x, order="C") if own or name in made.carried else x for name, x in made.arrays.items()}
        s = self.s = made.at(arrays=arrays, before=None if own else made.before)
        rows, n = 1 + s.times.steps // s.record.every, len(arrays["q"])
        self.shapes = [(name, (*s.lead, rows, size), (n, rows, size)) for name, size in s.kept.items()]
        self.observed = {"tau", "a", "f"} & {*s.kept}
        needed = s.plan._replace(events=()).carried(s.robot.model) if self.observed else ("q", "v")
        impulses = "f" in s.kept and s.plan.integrator.impulses  # these are forces times dt, in its memory
        self.seen = [x for x in needed if x != "reason" and (x != "memory" or impulses)]
        self.callback = s.callback
        self.at_once = not (self.observed or s.callback or s.plan.events or s.progress)
        self._made, self._changed = made, set[str]()

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
            if "_kernel" not in vars(rollout):
                raise  # while it was compiled: nothing has moved
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

    @cached_property
    def _views(self) -> dict[str, tuple[Array, Array, Array, tuple[int, ...]]]:
        """What calls may give: as users see it, the array itself, the usual values, and the shape of one state's."""
        lead, arrays = (
            self._made.lead,
            ((name, port, self.s.arrays[port.name]) for name, port in self._made.places.items()),
        )
        return {
            name: (x.reshape((*lead, *x.shape[1:-1], *port.shape)), x, self._made.arrays[port.name], port.shape)
            for name, port, x in arrays
        }

    def called(self, q: Any, v: Any, forces: Any, inputs: Any, contacts: ContactInputs | None) -> Trajectory:
        """Return the motion from these states."""
        made, start = self._made, Start.of(self._made.robot, q, v)
        given = start.states
        if start.before is not None:
            given |= {label(name): x for name, x in start.own(made.plan.state).items()}
        if forces is not None:
            forces = chosen(Forces, forces)
            as_made = {"frame": made.plan.f_ext_frame, "interpolation": "linear" if made.plan.linear else "held"}
            for name, value in as_made.items() if forces.f_ext is not None else ():
                if getattr(forces, name) != value:
                    raise ArgumentError(f"{name} is {getattr(forces, name)!r}; this simulation was made with {value!r}")
            given |= forces.arrays(made.robot)
        if contacts is not None:
            given |= arrays_of(contacts_of(made.robot, contacts))
        for name, value in by_name("inputs", inputs).items() if inputs is not None else ():
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


def _joint_forces(tau: Any, shape: tuple[int, ...]) -> Array:
    """Return the joint forces that a controller in Python returned, for all robots."""
    needed = f"joint forces of shape {shape} are needed (it is called with q, v, t)"
    try:
        return np.broadcast_to(real_array("controller: what it returned", tau, shape[-1]), shape)
    except ArgumentError as error:
        raise ArgumentError(f"{error}; {needed}") from None
    except ValueError:
        raise ArgumentError(f"controller: what it returned has shape {np.shape(tau)}; {needed}") from None
