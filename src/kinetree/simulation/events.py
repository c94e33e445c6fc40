"""Events: conditions on time and state whose zeros are located within a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.scalars.functions import Scalar, select
from kinetree.simulation.controllers import GIVEN, checked_arguments
from kinetree.simulation.times import Times
from kinetree.validation import Array

FIRST_EVENT = 3
"""Why a robot has stopped, as carried from step to step, where it is the first event; others follow."""


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
        How many events of a robot are kept, the first ones; all are counted.

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
    most: int = 16

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Function):
            raise ArgumentError(
                f"an event's condition is a compiled function (robot.compile makes one), not {self.condition!r}"
            )
        if not self.name:
            object.__setattr__(self, "name", self.condition.spec.name)
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
        """Return how many numbers of its log are carried: the time in steps, q and v of each one kept."""
        return 0 if self.stop else self.most * (1 + model.nq + model.nv)

    def crosses(self, before: Scalar, after: Scalar) -> Scalar:
        """Return 1 where the number reaches zero or changes its sign on the way, 0 elsewhere."""
        rises = select((before < 0.0) & (after >= 0.0), 1.0, 0.0) if self.direction >= 0 else 0.0
        falls = select((before > 0.0) & (after <= 0.0), 1.0, 0.0) if self.direction <= 0 else 0.0
        return rises + falls


class Happened(NamedTuple):
    """An event of a robot: its name, the index of the robot (empty if there is one only), time (s), q and v."""

    time: float
    name: str
    robot: tuple[int, ...]
    q: Array
    v: Array


def events_of(model: Model, events: Any) -> tuple[Event, ...]:
    """Return events, made of compiled functions too; `ArgumentError` where they cannot be events of this robot."""
    if isinstance(events, Event | Function) or not isinstance(events, Sequence):
        raise ArgumentError(f"events takes a list: [kt.Event(condition)]; it is {events!r}")
    made = tuple(event if isinstance(event, Event) else Event(event) for event in events)
    for event in made:
        spec = checked_arguments(model, event.condition, f"event {event.name!r}")
        if len(spec.outputs) != 1 or spec.outputs[0].shape:
            shown = ", ".join(f"{port.name} {port.shape}" for port in spec.outputs)
            raise ArgumentError(f"event {event.name!r}: {spec.name} returns {shown}: it must be one number")
        if sum(other.name == event.name for other in made) > 1:
            raise ArgumentError(f"events: {event.name!r} is the name of two; name= gives another one")
        if "dt" in (port.name for port in spec.ports(())):
            raise ArgumentError(f"event {event.name!r}: {spec.name} takes dt, which is no part of a state")
    return made


def happened(
    model: Model, events: Sequence[Event], carried: Mapping[str, Array], lead: tuple[int, ...], times: Times
) -> tuple[Happened, ...]:
    """Return the events that were kept, and those that stopped a robot, in the order of time."""
    if not events:
        return ()
    found = []
    nq, size, first = model.nq, 1 + model.nq + model.nv, 0
    ends = np.concatenate([carried["step"], carried["q"], carried["v"]], axis=1)
    for k, event in enumerate(events):
        if event.stop:
            log, there = ends[:, None], carried["reason"] == FIRST_EVENT + k
        else:
            log = carried["event_log"][:, first : first + event.log(model)].reshape(len(ends), event.most, size)
            first += event.log(model)
            there = np.arange(event.most) < carried["event_counts"][:, k : k + 1]
        for robot, row in np.argwhere(there):
            time, q, v = log[robot, row, 0], log[robot, row, 1 : 1 + nq], log[robot, row, 1 + nq :]
            index = tuple(int(i) for i in np.unravel_index(robot, lead)) if lead else ()
            found.append(Happened(float(times.of(time - times.first)), event.name, index, q, v))
    return tuple(sorted(found, key=lambda event: (event.time, event.robot)))
