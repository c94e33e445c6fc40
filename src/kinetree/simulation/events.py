"""Events: conditions on time and state whose zeros are located within a step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, warn_user
from kinetree.graph import Port
from kinetree.integrators import INTEGRATORS, StopReason
from kinetree.model import Model
from kinetree.motions.states import Happened
from kinetree.runtime.function import Function
from kinetree.scalars.functions import Scalar, select
from kinetree.signatures import told
from kinetree.simulation.controllers import GIVEN, checked_arguments
from kinetree.simulation.times import Times
from kinetree.validation import Array

LOGS = ("event_counts", "event_log")
"""What comes with records: how many events there were, and the last ones."""

FIRST_EVENT = 3
"""Why a robot has stopped, as carried from step to step, where it is the first event; others follow."""


@told
@dataclass(frozen=True)
class Event:
    """A condition whose zero is looked for while a robot is simulated: `simulate` with ``events=[...]``.

    Parameters
    ----------
    condition : Function
        A compiled function (`Robot.compile`) of any of ``q``, ``v``, ``t`` and further arguments, whose values are
        `inputs` of the simulation. It returns one number, and where that reaches zero or changes its sign is the event.
    name : str, optional
        That of the function if not given.
    stop : bool
        Whether the robot stops there. Others go on.
    direction : {-1, 0, 1}
        Only where the number falls (−1) or rises (1).
    most : int
        How many of a robot are kept from one record to the next, the last ones; all are counted.

    Raises
    ------
    ArgumentError
        If one of them is no such thing.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> @robot.compile
    ... def swings_back(v):
    ...     return v[1]
    >>> motion = robot.simulate([0, 0.5, 0, 0, 0, 0], duration=2.0, integrator="rk4", events=[kt.Event(swings_back)])
    >>> motion.events[0].name, bool(abs(motion.events[0].v[1]) < 1e-10)
    ('swings_back', True)
    """

    condition: Function
    name: str = ""
    stop: bool = False
    direction: int = 0
    most: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Function):
            raise ArgumentError(
                f"an event's condition is a compiled function (robot.compile makes one), not {self.condition!r}"
            )
        if not self.name:
            object.__setattr__(self, "name", self.condition.spec.name)
        if not isinstance(self.name, str) or not isinstance(self.stop, bool | np.bool_):
            raise ArgumentError(f"an event's name is a text and stop a bool, not {self.name!r} and {self.stop!r}")
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise ArgumentError(f"event {self.name!r}: direction is −1, 0 or 1, not {self.direction!r}")
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ArgumentError(f"event {self.name!r}: most is a whole number from 1 on, not {self.most!r}")

    @property
    def defaults(self) -> Mapping[str, Array]:
        """The values of arguments that need not be given."""
        return self.condition.spec.defaults

    @property
    def parameters(self) -> tuple[Port, ...]:
        """Arguments of the condition that the simulation does not know."""
        return tuple(port for port in self.condition.spec.ports(()) if port.name not in GIVEN)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return the condition's number, from the values of its arguments."""
        return self.condition(**{port.name: values[port.name] for port in self.condition.spec.ports(())})

    def log(self, model: Model) -> int:
        """Return how many numbers of its log are carried: the times in steps, q and v of the last ones."""
        return 0 if self.stop else self.most * (1 + model.nq + model.nv)

    def crosses(self, before: Scalar, after: Scalar) -> Scalar:
        """Return 1 where the number reaches zero or changes its sign on the way, 0 elsewhere."""
        rises = select((before < 0.0) & (after >= 0.0), 1.0, 0.0) if self.direction >= 0 else 0.0
        falls = select((before > 0.0) & (after <= 0.0), 1.0, 0.0) if self.direction <= 0 else 0.0
        return rises + falls


class EventWarning(UserWarning):
    """There were more events than are kept."""


def events_of(model: Model, events: Any) -> tuple[Event, ...]:
    """Return events, made of compiled functions too; `ArgumentError` where they cannot be events of this robot."""
    if isinstance(events, Event | Function) or not isinstance(events, Sequence):
        raise ArgumentError(f"events takes a list: [kt.Event(condition)]; it is {events!r}")
    made = tuple(event if isinstance(event, Event) else Event(event) for event in events)
    taken = {*StopReason}.union(*((name for name, _ in i.counts) for i in INTEGRATORS.values()))
    for event in made:
        spec = checked_arguments(model, event.condition, f"event {event.name!r}")
        if len(spec.outputs) != 1 or spec.outputs[0].shape:
            shown = ", ".join(f"{port.name} {port.shape}" for port in spec.outputs)
            raise ArgumentError(f"event {event.name!r}: {spec.name} returns {shown}: it must be one number")
        if sum(other.name == event.name for other in made) > 1:
            raise ArgumentError(f"events: {event.name!r} is the name of two; name= gives another one")
        if event.name in taken:
            raise ArgumentError(f"event {event.name!r}: a simulation uses this name; name= gives another one")
        if "dt" in (port.name for port in spec.ports(())):
            raise ArgumentError(f"event {event.name!r}: {spec.name} takes dt, which is no part of a state")
    return made


class History:
    """What happened in a simulation, taken from the logs that come with its records.

    What has been taken is replaced at once and as a whole, wherever Ctrl-C comes.
    """

    def __init__(self, model: Model, events: tuple[Event, ...], lead: tuple[int, ...], times: Times) -> None:
        self._found: list[Happened] = []
        self._model, self._events, self._lead, self._times = model, events, lead, times
        self._taken = 0, 0, np.zeros((math.prod(lead), len(events)))  # steps, events found in them, and their numbers

    def take(self, logs: Mapping[str, Array], done: int) -> None:
        """Take the logs of robots (n, records, size), of further records up to so many steps."""
        steps, known, before = self._taken
        if done > steps and logs:
            del self._found[known:]
            self._found += self._in(logs, before)
            counts = logs["event_counts"]
            self._taken = done, len(self._found), counts[:, -1] if counts.shape[1] else before

    def end(self, carried: Mapping[str, Array]) -> tuple[Happened, ...]:
        """Return all events in the order of time, with those after the last record and those that stopped a robot."""
        if not self._events:
            return ()
        _, known, before = self._taken
        last = {name: carried[name][:, None] for name in LOGS if name in carried}
        found, ends = self._found[:known] + self._in(last, before), np.hstack([carried[x] for x in ("step", "q", "v")])
        for k, event in enumerate(self._events):
            stopped = np.flatnonzero(carried["reason"] == FIRST_EVENT + k)
            found += [self._happened(event, int(robot), ends[robot]) for robot in stopped]
        for number, event in zip(carried["event_counts"].sum(axis=0), self._events, strict=True):
            if lost := int(number) - sum(e.name == event.name for e in found):
                warn_user(
                    f"event {event.name!r}: {lost} of {int(number)} were not kept, more than most={event.most} of a "
                    "robot from one record to the next: make most larger, or every of record smaller",
                    EventWarning,
                )
        return tuple(sorted(found, key=lambda event: (event.time, event.robot)))

    def _in(self, logs: Mapping[str, Array], before: Array) -> list[Happened]:
        """Return the events in these logs that did not stop a robot, after so many of each."""
        counts, first, found = logs["event_counts"], 0, []
        new = np.diff(counts, axis=1, prepend=before[:, None])
        for k, event in enumerate(self._events):
            log = logs.get("event_log", np.empty((*counts.shape[:2], 0)))[..., first : first + event.log(self._model)]
            first += event.log(self._model)
            for robot, row in np.argwhere(new[..., k] > 0) if not event.stop else ():
                entries = log[robot, row].reshape(event.most, -1)[: int(new[robot, row, k])]
                found += [self._happened(event, int(robot), entry) for entry in entries]
        return found

    def _happened(self, event: Event, robot: int, entry: Array) -> Happened:
        nq, times = self._model.nq, self._times
        index = tuple(int(i) for i in np.unravel_index(robot, self._lead)) if self._lead else ()
        time, q, v = float(times.of(entry[0] - times.first)), entry[1 : 1 + nq].copy(), entry[1 + nq :].copy()
        return Happened(time, event.name, index, q, v)
